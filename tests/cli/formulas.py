"""The operators as the paper defines them, in plain Python floats: slow, short, independent of ours.

x[b][t][c] nested lists. Sources after the target are invisible when causal.
"""
import math


def nested(tensor):
    _, shape, values = tensor
    return _fold(values, shape)


def _fold(values, shape):
    if len(shape) == 1:
        return list(values)
    step = len(values) // shape[0]
    return [_fold(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def flat(values):
    return [v for row in values for v in flat(row)] if isinstance(values, list) else [values]


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def softmax_mean(scores, values):
    """sum exp(s) v / sum exp(s), with the largest s taken out."""
    top = max(scores)
    weights = [math.exp(s - top) for s in scores]
    return sum(a * v for a, v in zip(weights, values)) / sum(weights)


def aft(q, k, v, bias, causal):
    """Eq. 2; bias(t, j, c) -> w, k(b, j, c) -> key."""
    out = []
    for b, sample in enumerate(v):
        T, d = len(sample), len(sample[0])
        rows = []
        for t in range(T):
            seen = [j for j in range(T) if not causal or j <= t]
            rows.append([sigmoid(q[b][t][c]) * softmax_mean([k(b, j, c) + bias(t, j, c) for j in seen],
                                                            [sample[j][c] for j in seen]) for c in range(d)])
        out.append(rows)
    return out


def apply(name, tensors, causal=False, window=0, grid=None):
    x = {n: nested(t) for n, t in tensors.items()}
    q, v = x["q"], x["v"]
    T, d = len(v[0]), len(v[0][0])
    key = lambda b, j, c: x["k"][b][j][c]
    if name == "simple":
        return aft(q, key, v, lambda t, j, c: 0.0, causal)
    if name in ("full", "local"):
        w = x["w"] if "w" in x else [[sum(a * b for a, b in zip(u, r)) for r in x["r"]] for u in x["u"]]
        inside = (lambda t, j: True) if name == "full" else (lambda t, j: abs(t - j) < window)
        return aft(q, key, v, lambda t, j, c: w[t][j] if inside(t, j) else 0.0, causal)
    if name in ("conv1d", "conv2d"):
        heads = len(x["w"])
        head_key = lambda b, j, c: x["k"][b][j][c * heads // d]
        bias = _conv_bias(name, x["w"], heads, d, causal, grid)
        return aft(q, head_key, v, bias, causal)
    return _baseline(name, x, T, d, causal)


def _conv_bias(name, w, heads, d, causal, grid):
    s = len(w[0])

    def one(t, j, c):
        o = j - t + (s - 1 if causal else s // 2)
        return w[c * heads // d][o] if 0 <= o < s else 0.0

    def two(t, j, c):
        a = j // grid[1] - t // grid[1] + s // 2
        b = j % grid[1] - t % grid[1] + s // 2
        return w[c * heads // d][a][b] if 0 <= a < s and 0 <= b < s else 0.0

    return one if name == "conv1d" else two


def _baseline(name, x, T, d, causal):
    feature = lambda z: z + 1 if z > 0 else math.exp(z)  # elu + 1
    out = []
    for q, k, v in zip(x["q"], x["k"], x["v"]):
        rows = []
        for t in range(T):
            seen = [j for j in range(T) if not causal or j <= t]
            if name == "softmax":
                scores = [sum(a * b for a, b in zip(q[t], k[j])) / math.sqrt(d) for j in seen]
            else:
                scores = [math.log(sum(feature(a) * feature(b) for a, b in zip(q[t], k[j]))) for j in seen]
            rows.append([softmax_mean(scores, [v[j][c] for j in seen]) for c in range(d)])
        out.append(rows)
    return out
