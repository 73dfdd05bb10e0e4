"""`afterimage op` against the formulas in plain Python, forward and (by differences) backward."""
import formulas
import tensors


def inputs(name, B=2, T=6, d=4, heads=2, dtype="F64"):
    x = {n: tensors.normal(i, (B, T, d), dtype) for i, n in enumerate(("q", "k", "v"))}
    if name in ("full", "local"):
        x["w"] = tensors.normal(5, (T, T), dtype)
    if name in ("conv1d", "conv2d"):
        x["k"] = tensors.normal(6, (B, T, heads), dtype)
        x["w"] = tensors.normal(7, (heads, 3) if name == "conv1d" else (heads, 3, 3), dtype)
    return x


CASES = {
    "simple": {}, "full": {}, "local": {"window": 2}, "conv1d": {}, "conv2d": {"grid": (2, 3)},
    "softmax": {}, "linear": {},
}


def flags(options, causal):
    args = ["--causal"] if causal else []
    if "window" in options:
        args += ["--window", options["window"]]
    if "grid" in options:
        args += ["--grid", "{}x{}".format(*options["grid"])]
    return args


def worst(a, b):
    return max(abs(x - y) for x, y in zip(a, b)) if len(a) == len(b) else float("inf")


def forward(cli, name, causal):
    x = inputs(name)
    options = CASES[name]
    tensors.write(cli.folder / "in.safetensors", x)
    label = f"op {name}{' causal' if causal else ''}"
    result = cli.ok(label, "op", name, "in.safetensors", "out.safetensors", "--precision", "fp64", "--json",
                    *flags(options, causal))
    if result.code != 0:
        return
    out, _ = tensors.read(cli.folder / "out.safetensors")
    wanted = formulas.flat(formulas.apply(name, x, causal=causal, **options))
    error = worst(out["y"][2], wanted) if "y" in out else "no y"
    cli.check(label + " equals the formula", error != "no y" and error < 1e-10, error)
    cli.check(label + " --json is one object", result.json() is not None, result)


def gradient(cli, name):
    """d(y . dy)/dx of the file's gradients against central differences of the formula."""
    x = inputs(name, B=1, T=4, d=2) if name != "conv2d" else inputs(name, B=1, T=6, d=2)
    options = dict(CASES[name])
    x["dy"] = tensors.normal(9, x["v"][1])
    tensors.write(cli.folder / "in.safetensors", x)
    args = ["op", name, "in.safetensors", "out.safetensors", "--precision", "fp64", "--grad", *flags(options, True)]
    if cli.ok(f"op {name} --grad", *args).code != 0:
        return
    out, _ = tensors.read(cli.folder / "out.safetensors")

    def score(changed):
        y = formulas.flat(formulas.apply(name, changed, causal=True, **options))
        return sum(a * b for a, b in zip(y, x["dy"][2]))

    plain = {n: t for n, t in x.items() if n != "dy"}
    for n, (dtype, shape, values) in plain.items():
        step, wanted = 1e-5, []
        for i in range(len(values)):
            ends = [score({**plain, n: (dtype, shape, values[:i] + [values[i] + s] + values[i + 1:])})
                    for s in (step, -step)]
            wanted.append((ends[0] - ends[1]) / (2 * step))
        got = out.get("d" + n, (0, 0, []))[2]
        cli.check(f"op {name} d{n} equals differences", worst(got, wanted) < 1e-7, f"{worst(got, wanted)}")


def precisions(cli):
    x = inputs("full", dtype="F32")
    tensors.write(cli.folder / "in.safetensors", x)
    wanted = formulas.flat(formulas.apply("full", x))
    for precision, limit in (("fp32", 1e-5), ("bf16", 1e-2)):
        cli.ok(f"op full {precision}", "op", "full", "in.safetensors", "out.safetensors", "--precision", precision)
        out, _ = tensors.read(cli.folder / "out.safetensors")
        cli.check(f"op full {precision} answers in float32", out["y"][0] == "F32", out["y"][0])
        error = worst(out["y"][2], wanted) / max(map(abs, x["v"][2]))
        cli.check(f"op full {precision} within {limit}", error < limit, error)


def factors(cli):
    x = inputs("full")
    T = x["w"][1][0]
    del x["w"]
    x["u"], x["r"] = tensors.normal(11, (T, 2)), tensors.normal(12, (T, 2))
    tensors.write(cli.folder / "in.safetensors", x)
    cli.ok("op full with u, r", "op", "full", "in.safetensors", "out.safetensors", "--precision", "fp64")
    out, _ = tensors.read(cli.folder / "out.safetensors")
    error = worst(out["y"][2], formulas.flat(formulas.apply("full", x)))
    cli.check("op full with u, r equals the formula", error < 1e-10, error)


def beyond_the_promise(cli):
    """K or w over 1000: finite, and one warning that names the tensor; none up to 1000."""
    for name, which, size in (("full", "w", 3000), ("full", "k", 3000), ("conv1d", "w", 3000), ("conv2d", "k", 3000),
                              ("full", "w", 1000), ("local", "k", 1000), ("conv2d", "k", 1000), ("simple", "k", 3000)):
        x = inputs(name, dtype="F32")
        dtype, shape, values = x[which]
        x[which] = (dtype, shape, [size if i % 3 else v for i, v in enumerate(values)])
        tensors.write(cli.folder / "in.safetensors", x)
        label = f"op {name} with {which} = {size}"
        result = cli.ok(label, "--device", "cpu", "op", name, "in.safetensors", "out.safetensors", "--backend", "cpu",
                        *flags(CASES[name], False))
        out, _ = tensors.read(cli.folder / "out.safetensors")
        cli.check(label + " is finite", all(abs(y) < 1e3 for y in out["y"][2]), out["y"][2][:4])
        warnings = [line for line in result.err.splitlines() if line.startswith("afterimage: warning: ")]
        wanted = 1 if size > 1000 and name != "simple" else 0
        cli.check(label + f" warns {wanted} times", len(warnings) == wanted, result.err)
        if warnings:
            cli.check(label + " says what and how much", f" {which.upper() if which == 'k' else which} holds "
                      in warnings[0] and "300" in warnings[0] and "1000" in warnings[0], warnings[0])


def comparing(cli):
    """--compare: one wrong value is found, at its place; what is right agrees; bad files are named."""
    x = inputs("full")
    y = formulas.flat(formulas.apply("full", x, causal=True))
    file = cli.folder / "mine.safetensors"
    args = ["op", "full", file, "--causal", "--compare", "--precision", "fp64", "--json"]
    shape = x["v"][1]
    tensors.write(file, {**x, "y": ("F64", shape, y)})
    found = cli.ok("op --compare", *args).json()
    cli.check("op --compare agrees with the formula", found["agrees"] and found["differences"][0]["relative"] < 1e-10,
              found)
    largest = max(map(abs, y))
    wrong = list(y)
    wrong[(1 * 6 + 4) * 4 + 3] += 0.01 * largest
    tensors.write(file, {**x, "y": ("F64", shape, wrong)})
    result = cli.run(*args)
    one = (result.json() or {"differences": [{}]})["differences"][0]
    cli.check("op --compare finds the wrong value", result.code == 1 and one.get("at") == [1, 4, 3]
              and abs(one["relative"] - 0.01) < 1e-9 and abs(one["yours"] - one["ours"] - 0.01 * largest) < 1e-9, result)
    cli.check("op --compare --within", cli.run(*args, "--within", "0.02").code == 0)
    tensors.write(file, {**x, "y": ("F64", shape, [float("nan"), *y[1:]])})
    result = cli.run(*args, "--within", "1e300")
    one = (result.json() or {"differences": [{}]})["differences"][0]
    cli.check("op --compare: NaN never agrees", result.code == 1 and one.get("yours_not_finite") == 1
              and one.get("at") == [0, 0, 0], result)
    cli.bad("op --compare without y", ["op", "full", cli.folder / "good.safetensors", "--compare"], [1], "'y'", "--compare")
    tensors.write(file, {**x, "y": ("F64", [shape[0], shape[1], shape[2] * 2], y * 2)})
    cli.bad("op --compare y of another size", ["op", "full", file, "--compare"], [1], "'y'", "[2, 6, 8]", "[2, 6, 4]")
    cli.bad("op --within alone", ["op", "full", file, "never.safetensors", "--within", "1"], [2], "--within", "--compare")
    cli.bad("op without OUT", ["op", "full", file], [2], "OUT", "--compare")


def nonsense(cli):
    x = inputs("full")
    good = cli.folder / "good.safetensors"
    tensors.write(good, x)
    out = cli.folder / "never.safetensors"
    cli.bad("op unknown name", ["op", "fulll", good, out], [2], "fulll", "full", "softmax")
    cli.bad("op missing file", ["op", "full", "nofile.safetensors", out], [1], "nofile.safetensors")
    cli.bad("op missing backend", ["op", "full", good, out, "--backend", "abacus"], [2], "abacus", "reference")
    cli.bad("op bad precision", ["op", "full", good, out, "--precision", "fp7"], [2], "--precision", "fp7")
    cli.bad("op conv2d without a grid", ["op", "conv2d", good, out], [1, 2], "grid")
    cli.bad("op bad grid", ["op", "conv2d", good, out, "--grid", "3by4"], [2], "--grid", "3by4")
    cli.bad("op local bad window", ["op", "local", good, out, "--window", "-1"], [2], "--window", "-1")
    cli.bad("op local without a window", ["op", "local", good, out], [2], "--window N", "local")
    for gone in ("q", "v", "w"):
        name = cli.folder / f"without-{gone}.safetensors"
        tensors.write(name, {n: t for n, t in x.items() if n != gone})
        cli.bad(f"op without {gone}", ["op", "full", name, out], [1], name.name, gone)
    cli.bad("op --grad without dy", ["op", "full", good, out, "--grad"], [1], "dy")
    tensors.write(cli.folder / "shape.safetensors", {**x, "w": tensors.normal(5, (5, 5))})
    cli.bad("op w of another size", ["op", "full", cli.folder / "shape.safetensors", out], [1], "w")
    cli.bad("op into a folder that is not there", ["op", "full", good, "no/such/out.safetensors"], [1, 2], "no/such")
    cli.check("op leaves nothing behind after an error", not out.exists())


def run(cli):
    for name in CASES:
        for causal in (False, True):
            cli.part(forward, name, causal)
        cli.part(gradient, name)
    for group in (precisions, factors, beyond_the_promise, nonsense, comparing):
        cli.part(group)
