"""The definition of the operators in float64 and log space, as PyTorch calls: for float64 tensors, for entries that
float32 cannot scale, and for gradients that have lost their digits. O(B T^2 d) time; rows are taken in blocks, so that
memory stays at about 128 MB beside the tensors."""
from __future__ import annotations

from typing import Any, Optional

import torch

from . import library
from .library import Shape

MaybeTensor = Optional[torch.Tensor]

BLOCK = 1 << 24  # float64 numbers of a block of rows


def _places(shape: Shape, first: int, end: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Targets [R, 1] and sources [1, T] of a block of rows."""
    return torch.arange(first, end).unsqueeze(1), torch.arange(shape.length).unsqueeze(0)


def _taps(shape: Shape, t: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    """Place of source j in the kernel of target t, flattened, [R, T]; the number of taps where it is outside."""
    s = shape.window
    if shape.kind == library.CONV1D:
        tap = j - t + (s - 1 if shape.causal else s // 2)
        return torch.where((tap >= 0) & (tap < s), tap, s)
    W = shape.grid_width
    a, b = j // W - t // W + s // 2, j % W - t % W + s // 2
    return torch.where((a >= 0) & (a < s) & (b >= 0) & (b < s), a * s + b, s * s)


def bias_rows(shape: Shape, w: MaybeTensor, u: MaybeTensor, r: MaybeTensor, first: int, end: int) -> torch.Tensor:
    """w of targets [first, end): [G, R, T] with -inf where a source is hidden; G = 1 or the heads."""
    t, j = _places(shape, first, end)
    if shape.kind == library.SIMPLE:
        rows = torch.zeros(1, end - first, shape.length, dtype=torch.float64)
    elif shape.kind in (library.FULL, library.LOCAL):
        rows = (w[first:end] if w is not None else u[first:end] @ r.t()).unsqueeze(0)
        if shape.kind == library.LOCAL:
            outside = float("-inf") if shape.outside_hidden else 0.0
            rows = rows.masked_fill((t - j).abs() >= shape.window, outside)
    else:
        flat = torch.cat([w.reshape(shape.heads, -1), w.new_zeros(shape.heads, 1)], 1)
        rows = flat[:, _taps(shape, t, j).flatten()].view(shape.heads, end - first, shape.length)
    return rows.masked_fill(j > t, float("-inf")) if shape.causal else rows


def _blocks(shape: Shape, k: torch.Tensor) -> list[tuple[int, int]]:
    rows = max(1, BLOCK // max(1, k.shape[0] * k.shape[2] * shape.length))
    return [(i, min(i + rows, shape.length)) for i in range(0, shape.length, rows)]


def _by_group(x: torch.Tensor, groups: int) -> torch.Tensor:
    """[B, T, d] -> [B, G, T, d / G]: the channels that share a key."""
    return x.view(x.shape[0], x.shape[1], groups, -1).transpose(1, 2)


def _weights(shape: Shape, k: torch.Tensor, w: MaybeTensor, u: MaybeTensor, r: MaybeTensor,
             rows: tuple[int, int]) -> torch.Tensor:
    """p [B, G, R, T] of a block of rows: softmax over the sources of K + w."""
    bias = bias_rows(shape, w, u, r, *rows)
    return torch.softmax(bias.unsqueeze(0) + k.transpose(1, 2).unsqueeze(2), -1)


def forward(shape: Shape, q: MaybeTensor, k: torch.Tensor, v: torch.Tensor, w: MaybeTensor, u: MaybeTensor,
            r: MaybeTensor) -> torch.Tensor:
    """y [B, T, d], float64; inputs float64, q may be None."""
    values = _by_group(v, k.shape[2])
    parts = [torch.matmul(_weights(shape, k, w, u, r, rows), values) for rows in _blocks(shape, k)]
    y = torch.cat(parts, 2).transpose(1, 2).flatten(2)
    return y if q is None else torch.sigmoid(q) * y


def _add_bias_gradient(shape: Shape, given: tuple[MaybeTensor, MaybeTensor, MaybeTensor], rows: tuple[int, int],
                       g: torch.Tensor, out: list[Any]) -> None:
    """g: gradient of the logits [G, R, T], summed over the batch (and over channels that share w)."""
    w, u, r = given
    first, end = rows
    t, j = _places(shape, first, end)
    if shape.kind in (library.FULL, library.LOCAL):
        g = g.sum(0)
        if shape.kind == library.LOCAL:
            g = g.masked_fill((t - j).abs() >= shape.window, 0)
        if w is not None:
            out[0][first:end] += g
        else:
            out[1][first:end] += g @ r
            out[2].addmm_(g.t(), u[first:end])
    elif w is not None:
        place = _taps(shape, t, j).flatten()
        sums = g.new_zeros(shape.heads, w[0].numel() + 1)
        sums.index_add_(1, place, g.flatten(1))
        out[0] += sums[:, :-1].view_as(w)


def backward(shape: Shape, q: MaybeTensor, k: torch.Tensor, v: torch.Tensor, w: MaybeTensor, u: MaybeTensor,
             r: MaybeTensor, dy: torch.Tensor) -> list[MaybeTensor]:
    """Gradients of q, k, v, w, u, r in float64; None where the input is. With p the weights, A the average and P the
    gradient of A: dV = p^T P, dlogit[t,j] = p[t,j] (P[t] V[j] - P[t] A[t]), dK and dw are its sums."""
    groups = k.shape[2]
    gate = None if q is None else torch.sigmoid(q)
    values, upstream = _by_group(v, groups), _by_group(dy if q is None else dy * gate, groups)
    dq = None if q is None else torch.empty_like(q)
    dk, dv = torch.zeros_like(k), torch.zeros_like(values)
    of_bias = [None if x is None else torch.zeros_like(x) for x in (w, u, r)]
    for first, end in _blocks(shape, k):
        p = _weights(shape, k, w, u, r, (first, end))
        average = torch.matmul(p, values)  # [B, G, R, d / G]
        P = upstream[:, :, first:end]
        dv += torch.matmul(p.transpose(2, 3), P)
        g = p * (torch.matmul(P, values.transpose(2, 3)) - (P * average).sum(-1, keepdim=True))
        dk += g.sum(2).transpose(1, 2)
        _add_bias_gradient(shape, (w, u, r), (first, end), g.sum(0), of_bias)
        if dq is not None:
            A, s = average.transpose(1, 2).flatten(2), gate[:, first:end]
            dq[:, first:end] = dy[:, first:end] * A * s * (1 - s)
    return [dq, dk, dv.transpose(1, 2).flatten(2), *of_bias]
