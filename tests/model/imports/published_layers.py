"""Two AFT layers that are in no package, written down from what their authors publish: the
names and shapes of their tensors, and the formula. For make_fixtures.py alone.
"""
import torch
from torch import nn


class XmuAft(nn.Module):
    """AFT_FULL of xmu-xiaoma666/External-Attention-pytorch: y_t = sigmoid(q_t) times the mean of v_j
    weighted by exp(k_j + w[t, j]) over all j; no output projection; w of ones at the start. With
    `simple` w stays at ones and is no parameter, so that it is in no file.
    """

    def __init__(self, dim, tokens, simple=False):
        super().__init__()
        self.fc_q, self.fc_k, self.fc_v = (nn.Linear(dim, dim) for _ in range(3))
        ones = torch.ones(tokens, tokens)
        if simple:
            self.plain = (ones,)
        else:
            self.position_biases = nn.Parameter(ones)
        self.is_simple = simple

    def forward(self, x):  # [B, T, d]
        q, k, v = self.fc_q(x), self.fc_k(x), self.fc_v(x)
        w = self.plain[0] if self.is_simple else self.position_biases
        weights = torch.exp(k.unsqueeze(1) + w[None, :, :, None])  # [B, T, T, d], target first
        return torch.sigmoid(q) * (weights * v.unsqueeze(1)).sum(2) / weights.sum(2)


class PosBiasAft(nn.Module):
    """The causal layer with the factors pos_bias_u, pos_bias_v [T, R], w = u v^T: no bias in q, k and v,
    an output projection with one. With a window, w counts where t - j is below it and is 0 beyond, and
    what comes after t is hidden afterwards. Keys less their largest, and 1e-9 added to the denominator.
    """

    def __init__(self, dim, tokens, factors, window=None):
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.out_proj = nn.Linear(dim, dim)
        self.pos_bias_u = nn.Parameter(0.01 * torch.randn(tokens, factors))
        self.pos_bias_v = nn.Parameter(0.01 * torch.randn(tokens, factors))
        self.window = window

    def forward(self, x):  # [B, T, d]
        tokens = x.size(1)
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        w = self.pos_bias_u @ self.pos_bias_v.t()
        distance = torch.arange(tokens)[:, None] - torch.arange(tokens)[None, :]
        if self.window is not None:
            w = w.masked_fill(distance.abs() >= self.window, 0)
        w = w.masked_fill(distance < 0, float("-inf"))
        k = k - k.amax(1, keepdim=True)
        weights = torch.exp(k.unsqueeze(1) + w[None, :, :, None])  # [B, T, T, d], target first
        y = (weights * v.unsqueeze(1)).sum(2) / (weights.sum(2) + 1e-9)
        return self.out_proj(torch.sigmoid(q) * y)
