"""Mixers of an Attention Free Transformer as modules: AFTFull, AFTLocal, AFTSimple, AFTConv; x [B, T, dim] to the same.

Parameters carry Afterimage's canonical names (q, k, v, o; w or u, r; kernel, gamma, beta), so that `Run.save` and a
mapping file know them. Each runs one operator of afterimage.operators on the processor. `Run.save` and `Run.watch` take
them as biases={"layer 0": mixer}: bias_map() says what they then write.
"""
from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Tuple

import torch
from torch import nn
from torch.nn import functional as F

from . import operators
from .errors import Error
from .maps import Map


class _Mixer(nn.Module):
    """Projections around an operator: y = o(sigmoid(q(x)) * average of v(x))."""

    def __init__(self, dim: int, inner: Optional[int], keys: Optional[int], gate: bool, output: bool,
                 bias: bool) -> None:
        super().__init__()
        inner = dim if inner is None else inner
        if min(dim, inner) < 1:
            raise Error(f"dim and inner are {dim} and {inner}; at least 1")
        if not output and inner != dim:
            raise Error(f"without an output projection inner is dim, {dim}; found {inner}")
        self.q = nn.Linear(dim, inner, bias=bias) if gate else None
        self.k = nn.Linear(dim, inner if keys is None else keys, bias=bias)
        self.v = nn.Linear(dim, inner, bias=bias)
        self.o = nn.Linear(inner, dim) if output else None

    def mix(self, q: Optional[torch.Tensor], k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """The operator between the projections: q [B, T, inner] or None without a gate, k [B, T, inner] (conv:
        [B, T, heads]), v [B, T, inner] -> y [B, T, inner], in their dtype. Raises Error as the operator does."""
        raise NotImplementedError

    def bias_map(self, grid: Optional[Sequence[int]]) -> Map:
        """The effective position bias as it is now, as a map (docs/format.md). grid: sizes of product T, or None.
        Raises Error on a mixer without one."""
        raise Error(f"{type(self).__name__} has no position bias; leave it out")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x [B, T, dim] on the processor -> y [B, T, dim], in its dtype. Raises Error on another shape, as mix()."""
        if x.dim() != 3 or x.shape[2] != self.k.in_features:
            raise Error(f"x is {list(x.shape)}, expected [B, T, {self.k.in_features}]")
        y = self.mix(None if self.q is None else self.q(x), self.k(x), self.v(x))
        return y if self.o is None else self.o(y)


class _TableMixer(_Mixer):
    """With a learned position bias for up to `length` tokens: w [length, length], or its factors u, r."""

    def __init__(self, dim: int, length: int, factors: int, std: float, **projections: Any) -> None:
        super().__init__(dim, keys=None, **projections)
        if length < 1 or factors < 0:
            raise Error(f"length and factors are {length} and {factors}; at least 1 and 0")
        self.length = length
        if factors:
            self.u, self.r = (nn.Parameter(std * torch.randn(length, factors)) for _ in range(2))
            self.w = None
        else:
            self.w = nn.Parameter(std * torch.randn(length, length))
            self.u = self.r = None

    def bias(self, T: int) -> Tuple[Optional[torch.Tensor], Optional[torch.Tensor], Optional[torch.Tensor]]:
        """w [T, T], u [T, factors], r [T, factors] of the first T positions, in nats; None what this module does not
        have. Raises Error where T is above `length`."""
        if T > self.length:
            raise Error(f"the sequence has {T} tokens, the position bias of this module only {self.length}")
        if self.w is not None:
            return self.w[:T, :T], None, None
        return None, self.u[:T], self.r[:T]

    def weight(self) -> torch.Tensor:
        """w of every target and source in nats, [length, length]: factors are multiplied, w = u r^T. What a causal
        mixer hides is there all the same."""
        return self.w if self.w is not None else self.u @ self.r.t()

    def first_weights(self, grid: Optional[Sequence[int]]) -> torch.Tensor:
        """weight() of the first T positions, [T, T]: T of the grid, at most `length`. Without gradients, and not in the
        precision of autocast."""
        with torch.no_grad(), torch.autocast(self.k.weight.device.type, enabled=False):
            T = self.length if grid is None else min(math.prod(grid), self.length)
            return self.weight()[:T, :T]

    def bias_map(self, grid: Optional[Sequence[int]]) -> Map:
        return Map(self.first_weights(grid), grid, "row", "full")


class AFTFull(_TableMixer):
    """aft-full (Zhai et al. 2021, Eq. 2): a learned position bias for every pair of target and source.

    length: most tokens of a sequence. factors: w = u r^T of that rank (Eq. 7), 0 for w itself. causal: a target sees
    sources up to itself. gate: sigmoid(q). output: a projection after the mixer. inner: width of q, k, v (dim). bias:
    q, k and v add one. bias_std: deviation of w, or of u and r, at the start. Cost O(B T^2 d) time, O(B T d) memory.
    Raises Error on sizes below 1, and where inner differs from dim without an output projection.
    """

    def __init__(self, dim: int, length: int, *, factors: int = 0, causal: bool = False, gate: bool = True,
                 output: bool = True, inner: Optional[int] = None, bias: bool = True, bias_std: float = 0.01) -> None:
        super().__init__(dim, length, factors, bias_std, inner=inner, gate=gate, output=output, bias=bias)
        self.causal = causal

    def mix(self, q: Optional[torch.Tensor], k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return operators.aft_full(q, k, v, *self.bias(v.shape[1]), causal=self.causal)


class AFTLocal(_TableMixer):
    """aft-local (Eq. 4): the bias counts where |t - t'| < window; outside it is 0, so that every source still counts,
    or with outside_hidden those sources are invisible. The other arguments and errors are those of AFTFull; window:
    tokens, at least 1. Cost O(B T window d) time, O(B T d) memory."""

    def __init__(self, dim: int, length: int, window: int, *, factors: int = 0, causal: bool = False, gate: bool = True,
                 output: bool = True, inner: Optional[int] = None, bias: bool = True, bias_std: float = 0.01,
                 outside_hidden: bool = False) -> None:
        super().__init__(dim, length, factors, bias_std, inner=inner, gate=gate, output=output, bias=bias)
        if window < 1:
            raise Error(f"window is {window}; at least 1 (AFTSimple has no position bias)")
        self.window, self.causal, self.outside_hidden = window, causal, outside_hidden

    def weight(self) -> torch.Tensor:
        """w of every target and source in nats, [length, length]: 0 outside the window, -infinity with outside_hidden.
        What a causal mixer hides is there all the same."""
        w = super().weight()
        t = torch.arange(self.length, device=w.device)
        is_outside = (t.unsqueeze(1) - t).abs() >= self.window
        return w.masked_fill(is_outside, -math.inf if self.outside_hidden else 0)

    def bias_map(self, grid: Optional[Sequence[int]]) -> Map:
        """A band, beyond which w is 0: a constant added to a row of it changes the model. Where every source that a
        target sees is in its window, pair by pair."""
        w = self.first_weights(grid)
        if self.outside_hidden or self.window >= len(w):
            return Map(w, grid, "row", "full")
        t = torch.arange(len(w), device=w.device).unsqueeze(1)
        j = t + torch.arange(1 - self.window, self.window, device=w.device)  # [T, 2 window - 1]
        band = w.gather(1, j.clamp(0, len(w) - 1)).masked_fill((j < 0) | (j >= len(w)), 0)
        return Map(band.unsqueeze(0), [len(w)] if grid is None else grid, "none", "band")

    def mix(self, q: Optional[torch.Tensor], k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return operators.aft_local(q, k, v, *self.bias(v.shape[1]), window=self.window, causal=self.causal,
                                   outside_hidden=self.outside_hidden)


class AFTSimple(_Mixer):
    """aft-simple (Eq. 5): no position bias. O(B T d) time and memory, for any length. Arguments and errors as
    AFTFull."""

    def __init__(self, dim: int, *, causal: bool = False, gate: bool = True, output: bool = True,
                 inner: Optional[int] = None, bias: bool = True) -> None:
        super().__init__(dim, inner, None, gate, output, bias)
        self.causal = causal

    def mix(self, q: Optional[torch.Tensor], k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return operators.aft_simple(q, k, v, causal=self.causal)


class AFTConv(_Mixer):
    """aft-conv (Eq. 6): one bias kernel per head over offsets, of the sequence or, with grid=(height, width), of the
    picture; one key per head. The kernel is reparameterised (Eq. 8) unless naive. O(B T taps d) time.

    heads: divides the channels. window: taps of a kernel, or its side in tokens, odd. grid: T = height * width tokens
    in raster order; None: any T. The other arguments are those of AFTFull. Raises Error on heads that do not divide.
    """

    def __init__(self, dim: int, heads: int, window: int, *, grid: Optional[Tuple[int, int]] = None,
                 causal: bool = False, gate: bool = True, output: bool = True, inner: Optional[int] = None,
                 bias: bool = True, naive: bool = False) -> None:
        width = dim if inner is None else inner
        if heads < 1 or width % heads:
            raise Error(f"heads is {heads}: it must divide the {width} channels")
        super().__init__(dim, inner, heads, gate, output, bias)
        shape = (heads, window) if grid is None else (heads, window, window)
        self.grid, self.causal = grid, causal
        self.kernel = nn.Parameter(torch.randn(shape) * (0.01 if naive else 1))
        self.gamma, self.beta = (None if naive else nn.Parameter(torch.zeros(heads)) for _ in range(2))

    def weight(self) -> torch.Tensor:
        """w of every tap in nats, [heads, s] or [heads, s, s]: gamma (k - mean k) / std k + beta.

        Over a sequence tap o is the source at offset o - s // 2, causal at o - (s - 1). Maps of a run read every kernel
        centred: give `Run` the mixer itself, as in biases={"layer 0": mixer}; these weights of a causal one would be
        shown at wrong offsets.
        """
        if self.gamma is None:
            return self.kernel
        flat = self.kernel.flatten(1)
        centred = flat - flat.mean(1, keepdim=True)
        variance = centred.square().sum(1, keepdim=True) / max(flat.shape[1] - 1, 1)
        w = self.gamma.unsqueeze(1) * torch.rsqrt(variance + 1e-5) * centred + self.beta.unsqueeze(1)
        return w.view_as(self.kernel)

    def bias_map(self, grid: Optional[Sequence[int]]) -> Map:
        """The kernel around its centre, -infinity at offsets that a causal mixer hides. Elsewhere w is 0, so that a
        constant added to it changes the model. Without a grid of its own the sequence needs one, (T,)."""
        w = self.weight().detach()
        if self.grid is None:
            return Map(F.pad(w, (0, w.shape[1] - 1), value=-math.inf) if self.causal else w, grid, "none", "kernel1d")
        if self.causal:
            s = w.shape[1]
            is_later = torch.arange(s * s, device=w.device).view(s, s) > s * s // 2  # in raster order
            w = w.masked_fill(is_later, -math.inf)
        is_of_grid = grid is not None and (grid[0], math.prod(grid[1:])) == tuple(self.grid)
        return Map(w, grid if is_of_grid else list(self.grid), "none", "kernel2d")

    def mix(self, q: Optional[torch.Tensor], k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        if self.grid is None:
            return operators.aft_conv1d(q, k, v, self.weight(), causal=self.causal)
        return operators.aft_conv2d(q, k, v, self.weight(), causal=self.causal, grid_height=self.grid[0],
                                    grid_width=self.grid[1])
