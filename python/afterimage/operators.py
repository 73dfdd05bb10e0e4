"""Afterimage's operators for PyTorch: torch.ops.afterimage.aft_full, aft_local, aft_simple, aft_conv1d, aft_conv2d.

They run the program's own kernels (libafterimage_ops.so) on the processor, with gradients, under torch.compile,
torch.export, autocast and gradcheck.
    Y[t,c] = sigmoid(Q[t,c]) sum_t' exp(K[t',c] + w[t,t']) V[t',c] / sum_t' exp(K[t',c] + w[t,t'])
the paper's Eq. 2 and 4 to 8, for any finite K and w: where float32 cannot scale an entry it is computed again in
float64.

What all five share:
    q, v, y    [B, T, d] in float32, bfloat16, float16 (computed in float32) or float64 (by the definition, for
               gradcheck). q None: no gate. q, k and v have one dtype; under torch.autocast("cpu") they take its dtype.
    k          [B, T, d]; conv: [B, T, heads], heads divides d
    w, u, r    position biases in nats, float32 (float64 with float64), target by source: w[t, t'] is how much target t
               attends to source t'
    causal     target t has the sources up to itself alone
Gradients of q, k, v and the biases; there are no second ones. Raises Error that names the tensor, what was found and
what is expected: on shapes, on dtypes, on tensors of another device than the processor, where the library is not there.
"""
from typing import Optional

import torch

from . import library
from .kernel_calls import call

_library = torch.library.Library("afterimage", "FRAGMENT")
_BIAS = "Tensor? q, Tensor k, Tensor v, Tensor? w=None, Tensor? u=None, Tensor? r=None"
_OPERATORS = {
    f"aft_full({_BIAS}, *, bool causal=False) -> Tensor":
        lambda q, k, v, w=None, u=None, r=None, *, causal=False:
            call(library.FULL, q, k, v, w, u, r, causal=causal),
    f"aft_local({_BIAS}, *, int window, bool causal=False, bool outside_hidden=False) -> Tensor":
        lambda q, k, v, w=None, u=None, r=None, *, window, causal=False, outside_hidden=False:
            call(library.LOCAL, q, k, v, w, u, r, causal=causal, window=window, hidden=outside_hidden),
    "aft_simple(Tensor? q, Tensor k, Tensor v, *, bool causal=False) -> Tensor":
        lambda q, k, v, *, causal=False: call(library.SIMPLE, q, k, v, causal=causal),
    "aft_conv1d(Tensor? q, Tensor k, Tensor v, Tensor w, *, bool causal=False) -> Tensor":
        lambda q, k, v, w, *, causal=False: call(library.CONV1D, q, k, v, w, causal=causal),
    "aft_conv2d(Tensor? q, Tensor k, Tensor v, Tensor w, *, int grid_height, int grid_width, bool causal=False)"
    " -> Tensor":
        lambda q, k, v, w, *, grid_height, grid_width, causal=False:
            call(library.CONV2D, q, k, v, w, causal=causal, grid_height=grid_height, grid_width=grid_width),
}
for _schema, _function in _OPERATORS.items():
    _library.define(_schema)
    _library.impl(_schema.split("(")[0], _function, "CompositeImplicitAutograd")


def aft_full(q: Optional[torch.Tensor], k: torch.Tensor, v: torch.Tensor, w: Optional[torch.Tensor] = None,
             u: Optional[torch.Tensor] = None, r: Optional[torch.Tensor] = None, *,
             causal: bool = False) -> torch.Tensor:
    """aft-full (Eq. 2): a bias for every pair of target and source. -> y [B, T, d] in the dtype of v.

    q [B, T, d] or None, k [B, T, d], v [B, T, d]. w [T, T], or its factors u [T, d'], r [T, d']: w = u r^T (Eq. 7).
    Time O(B T^2 d), memory O(B T d) beside w. Raises Error on what the module's first lines say, and where neither w
    nor both factors are given.
    """
    return torch.ops.afterimage.aft_full(q, k, v, w, u, r, causal=causal)


def aft_local(q: Optional[torch.Tensor], k: torch.Tensor, v: torch.Tensor, w: Optional[torch.Tensor] = None,
              u: Optional[torch.Tensor] = None, r: Optional[torch.Tensor] = None, *, window: int, causal: bool = False,
              outside_hidden: bool = False) -> torch.Tensor:
    """aft-local (Eq. 4): the bias counts where |t - t'| < window. -> y [B, T, d] in the dtype of v.

    q, k, v, w or u, r: as in aft_full; entries of w outside the window do not count. window: tokens, at least 1.
    Outside it w is 0, so that every source still counts; with outside_hidden those sources are invisible. Time
    O(B T window d), memory O(B T d) beside w. Raises Error as aft_full, and on a window below 1.
    """
    return torch.ops.afterimage.aft_local(q, k, v, w, u, r, window=window, causal=causal, outside_hidden=outside_hidden)


def aft_simple(q: Optional[torch.Tensor], k: torch.Tensor, v: torch.Tensor, *, causal: bool = False) -> torch.Tensor:
    """aft-simple (Eq. 5): no position bias. -> y [B, T, d] in the dtype of v.

    q [B, T, d] or None, k [B, T, d], v [B, T, d]. Time and memory O(B T d). Raises Error on what the module's first
    lines say.
    """
    return torch.ops.afterimage.aft_simple(q, k, v, causal=causal)


def aft_conv1d(q: Optional[torch.Tensor], k: torch.Tensor, v: torch.Tensor, w: torch.Tensor, *,
               causal: bool = False) -> torch.Tensor:
    """aft-conv over a sequence (Eq. 6): a kernel of biases over offsets for each head. -> y [B, T, d] as v.

    q [B, T, d] or None, v [B, T, d]; k [B, T, heads]: channels [h d / heads, (h + 1) d / heads) share key and kernel h.
    w [heads, s]: tap o is the source at offset o - s // 2, s odd; causal at o - (s - 1), any s. Elsewhere w is 0. Time
    O(B T s d). Raises Error on what the module's first lines say, and where heads does not divide d.
    """
    return torch.ops.afterimage.aft_conv1d(q, k, v, w, causal=causal)


def aft_conv2d(q: Optional[torch.Tensor], k: torch.Tensor, v: torch.Tensor, w: torch.Tensor, *, grid_height: int,
               grid_width: int, causal: bool = False) -> torch.Tensor:
    """aft-conv over a picture (Eq. 6): tokens in raster order, kernels over rows and columns. -> y [B, T, d] as v.

    q, k, v: as in aft_conv1d, T = grid_height * grid_width. w [heads, s, s], s odd: tap (a, b) is the source
    (a - s // 2, b - s // 2) rows and columns away, and counts inside the grid alone; elsewhere w is 0. Time
    O(B T s^2 d). Raises Error as aft_conv1d, and where the grid does not have T tokens.
    """
    return torch.ops.afterimage.aft_conv2d(q, k, v, w, grid_height=grid_height, grid_width=grid_width, causal=causal)
