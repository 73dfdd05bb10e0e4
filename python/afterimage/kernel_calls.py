"""How the kernels of libafterimage_ops.so become operators of PyTorch: torch.ops.afterimage.aft_forward, aft_backward,
one pair for all kinds, with checks, memory, fake implementations, gradients and autocast. Called by operators.py.

The kernels run on the processor and know pointers alone. Where float32 cannot scale an entry, a gradient has lost its
digits or the tensors are float64, exact.py computes the definition in its place.
"""
import math
from typing import Any, NoReturn, Optional, Sequence

import torch

from . import exact, library
from .errors import Error

if not hasattr(torch.library, "custom_op"):
    raise Error(f"PyTorch {torch.__version__} is too old for these operators: 2.4 or newer is needed")

MaybeTensor = Optional[torch.Tensor]
_DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)


def _problem(words: str) -> NoReturn:
    raise Error(f"afterimage: {words}")


def _shape(kind: int, k: torch.Tensor, v: torch.Tensor, w: MaybeTensor, u: MaybeTensor, causal: bool, window: int,
           hidden: bool, grid_height: int, grid_width: int) -> library.Shape:
    is_conv = kind in (library.CONV1D, library.CONV2D)
    shape = library.Shape(kind=kind, causal=int(causal), outside_hidden=int(hidden), bf16=0,
                          threads=torch.get_num_threads(), batch=v.shape[0], length=v.shape[1], channels=v.shape[2],
                          window=w.shape[-1] if is_conv else window, heads=k.shape[2] if is_conv else 1,
                          factors=0 if u is None else u.shape[1], grid_height=grid_height, grid_width=grid_width)
    return shape


def _check(kind: int, q: MaybeTensor, k: torch.Tensor, v: torch.Tensor, w: MaybeTensor, u: MaybeTensor,
           r: MaybeTensor) -> None:
    """Errors that name the tensor, its shape and what is allowed."""
    def has(name: str, x: MaybeTensor, sizes: Sequence[int]) -> None:
        if x is None or tuple(x.shape) != tuple(sizes):
            _problem(f"{name} is {None if x is None else list(x.shape)}, expected {list(sizes)}")
    if v.dim() != 3:
        _problem(f"v is {list(v.shape)}, expected [B, T, d]")
    for name, x in (("q", q), ("k", k), ("v", v), ("w", w), ("u", u), ("r", r)):
        if x is not None and x.device.type not in ("cpu", "meta"):
            _problem(f"{name} is on {x.device}: these kernels run on the processor only")
        if x is not None and (x.layout != torch.strided or x.dtype not in _DTYPES):
            _problem(f"{name} is {x.dtype}, {x.layout}: dense float32, bfloat16, float16 and float64 only")
    B, T, d = v.shape
    if q is not None:
        has("q", q, (B, T, d))
    if kind in (library.CONV1D, library.CONV2D):
        if w is None or w.dim() != kind - library.CONV1D + 2:
            _problem(f"w is {None if w is None else list(w.shape)}, expected "
                     f"{'[heads, s]' if kind == library.CONV1D else '[heads, s, s]'}")
        has("k", k, (B, T, w.shape[0]))
        return
    has("k", k, (B, T, d))
    if kind == library.SIMPLE:
        return
    if (w is None) == (u is None) or (u is None) != (r is None):
        _problem("give w, or both of its factors u and r")
    if w is not None:
        has("w", w, (T, T))
    else:
        has("u", u, (T, u.shape[-1]))
        has("r", r, u.shape)


def _pointers(q: MaybeTensor, k: torch.Tensor, v: torch.Tensor, w: MaybeTensor, u: MaybeTensor,
              r: MaybeTensor) -> library.Tensors:
    at = lambda x: None if x is None else x.data_ptr()
    return library.Tensors(q=at(q), k=at(k), v=at(v), w=at(w), u=at(u), r=at(r))


def _ready(shape: library.Shape, q: MaybeTensor, k: torch.Tensor, v: torch.Tensor, w: MaybeTensor, u: MaybeTensor,
           r: MaybeTensor) -> list[Any]:
    """Contiguous, and in a dtype that the kernels store: float32 or bfloat16; biases float32."""
    kind = torch.bfloat16 if v.dtype == torch.bfloat16 else torch.float32
    shape.bf16 = int(kind == torch.bfloat16)
    store = lambda x, dtype: None if x is None else x.detach().to(dtype).contiguous()
    return [store(x, kind) for x in (q, k, v)] + [store(x, torch.float32) for x in (w, u, r)]


def _double(*tensors: MaybeTensor) -> list[Any]:
    return [None if x is None else x.detach().double() for x in tensors]


def _nothing(like: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return like.new_empty(0, dtype=dtype)


_STATE_ROWS = 32  # rows of aft_simple between two kept states (ScanShape::kept)


def _new_kept(kind: int, k: torch.Tensor, v: torch.Tensor, causal: bool) -> list[torch.Tensor]:
    """average, denominator, states, safe: what the gradient needs, not filled. Their sizes follow from the shapes."""
    if v.dtype == torch.float64:
        return [v.new_empty(0, dtype=torch.float32) for _ in range(3)] + [v.new_zeros(1, dtype=torch.uint8)]
    empty = lambda *sizes: v.new_empty(sizes, dtype=torch.float32)
    safe = v.new_zeros(1, dtype=torch.uint8)
    if kind != library.SIMPLE:
        return [empty(*v.shape), empty(*k.shape), empty(0), safe]
    B, T, d = v.shape
    rows = (T + _STATE_ROWS - 1) // _STATE_ROWS if causal else 1
    return [empty(0), empty(0), empty(B * rows * 3 * d), safe]


@torch.library.custom_op("afterimage::aft_forward", mutates_args=(), device_types="cpu")
def aft_forward(kind: int, q: torch.Tensor | None, k: torch.Tensor, v: torch.Tensor, w: torch.Tensor | None,
                u: torch.Tensor | None, r: torch.Tensor | None, causal: bool, window: int, hidden: bool,
                grid_height: int, grid_width: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor,
                                                                  torch.Tensor]:
    """y, and what the gradient needs: average, denominator, states, and whether float32 was enough ([1], 0 or 1)."""
    _check(kind, q, k, v, w, u, r)
    shape = _shape(kind, k, v, w, u, causal, window, hidden, grid_height, grid_width)
    if v.dtype == torch.float64 or v.numel() == 0:
        y = exact.forward(shape, *_double(q, k, v, w, u, r)).to(v.dtype) if v.numel() else torch.empty_like(v)
        return y, *_new_kept(kind, k, v, causal)
    lib = library.load_library()
    tensors = _ready(shape, q, k, v, w, u, r)
    if words := library.problem(lib, shape):
        _problem(words)
    y = torch.empty_like(tensors[2])
    average, denominator, states, is_safe = _new_kept(kind, k, v, causal)
    if states.numel() != lib.aft_ops_states(shape):
        _problem(f"{library.NAME} keeps {lib.aft_ops_states(shape)} numbers, this package expects {states.numel()}")
    at = lambda x: x.data_ptr() if x.numel() else None
    kept = library.Kept(average=at(average), denominator=at(denominator), states=at(states))
    safe = lib.aft_ops_forward(shape, _pointers(*tensors), y.data_ptr(), kept)
    if safe < 0:
        _problem("the kernels cannot compute this call: not enough memory")
    if safe == 0:  # the gradient is exact then, too
        y = exact.forward(shape, *_double(q, k, v, w, u, r)).to(y.dtype)
    is_safe.fill_(safe)
    return y.to(v.dtype), average, denominator, states, is_safe


@aft_forward.register_fake
def _(kind: int, q: MaybeTensor, k: torch.Tensor, v: torch.Tensor, w: MaybeTensor, u: MaybeTensor, r: MaybeTensor,
      causal: bool, window: int, hidden: bool, grid_height: int, grid_width: int) -> tuple[torch.Tensor, ...]:
    _check(kind, q, k, v, w, u, r)
    return torch.empty_like(v, memory_format=torch.contiguous_format), *_new_kept(kind, k, v, causal)


def _scale(dy: torch.Tensor) -> float:
    """A power of two that brings dy near 2^20, the middle of the range of products with 1 / D."""
    largest = float(dy.abs().max())
    if not math.isfinite(largest) or largest == 0:
        return 2.0 ** 20
    return 2.0 ** (20 - max(-100, min(100, math.frexp(largest)[1] - 1)))


def _trusted(shape: library.Shape, gradients: library.Gradients, tensors: Sequence[MaybeTensor]) -> bool:
    """dK is a difference of two sums that cancel where almost every target attends to one source."""
    g, shared = gradients, shape.kind in (library.CONV1D, library.CONV2D)
    if not (math.isfinite(g.left) and math.isfinite(g.part)):
        return False
    if not all(bool(torch.isfinite(x).all()) for x in tensors if x is not None):
        return False
    return math.sqrt(g.left) >= (0.05 if shared else 0.02) * math.sqrt(g.part)


def _kernel_gradient(shape: library.Shape, tensors: Sequence[Any], kept: Sequence[torch.Tensor],
                     dy: torch.Tensor) -> Optional[list[Any]]:
    """Gradients by the kernels, or None where they are not to be trusted."""
    lib = library.load_library()
    q, k, v, w, u, r = tensors
    out = [None if x is None else torch.empty_like(x) for x in tensors]
    if w is not None and shape.kind in (library.FULL, library.LOCAL):
        out[3].zero_()
    dy = dy.to(v.dtype).contiguous()
    mean = v.float().mean(1).nan_to_num_(0, 0, 0)
    at = lambda x: x.data_ptr() if x.numel() else None
    average, denominator, states = kept
    saved = library.Kept(average=at(average), denominator=at(denominator), states=at(states))
    place = lambda x: None if x is None else x.data_ptr()
    into = library.Gradients(dy=dy.data_ptr(), mean=mean.data_ptr(), scale=_scale(dy), dq=place(out[0]),
                             dk=place(out[1]), dv=place(out[2]), dw=place(out[3]), du=place(out[4]), dr=place(out[5]))
    if lib.aft_ops_backward(shape, _pointers(*tensors), saved, into) < 0:
        _problem("the kernels cannot compute this gradient: not enough memory")
    return out if _trusted(shape, into, out[3:]) else None


@torch.library.custom_op("afterimage::aft_backward", mutates_args=(), device_types="cpu")
def aft_backward(kind: int, q: torch.Tensor | None, k: torch.Tensor, v: torch.Tensor, w: torch.Tensor | None,
                 u: torch.Tensor | None, r: torch.Tensor | None, causal: bool, window: int, hidden: bool,
                 grid_height: int, grid_width: int, average: torch.Tensor, denominator: torch.Tensor,
                 states: torch.Tensor, is_safe: torch.Tensor, dy: torch.Tensor) -> list[torch.Tensor]:
    """Gradients of q, k, v, w, u, r; empty where the input is None."""
    shape = _shape(kind, k, v, w, u, causal, window, hidden, grid_height, grid_width)
    inputs = (q, k, v, w, u, r)
    few = v.numel() <= 256 and kind != library.SIMPLE or (u is not None and v.shape[1] <= 4)
    gradients = None
    if int(is_safe) and not few:
        gradients = _kernel_gradient(shape, _ready(shape, *inputs), (average, denominator, states), dy)
    if gradients is None:
        gradients = exact.backward(shape, *_double(*inputs), dy.double()) if v.numel() else \
            [None if x is None else torch.zeros_like(x) for x in inputs]
    return [_nothing(v, v.dtype) if x is None else g.to(x.dtype) for x, g in zip(inputs, gradients)]


@aft_backward.register_fake
def _(kind: int, q: MaybeTensor, k: torch.Tensor, v: torch.Tensor, w: MaybeTensor, u: MaybeTensor, r: MaybeTensor,
      *rest: Any) -> list[torch.Tensor]:
    return [v.new_empty(0) if x is None else torch.empty_like(x, memory_format=torch.contiguous_format)
            for x in (q, k, v, w, u, r)]


def _keep(ctx: Any, inputs: Sequence[Any], output: Sequence[torch.Tensor]) -> None:
    kind, q, k, v, w, u, r, *rest = inputs
    ctx.kind, ctx.rest = kind, rest
    ctx.save_for_backward(q, k, v, w, u, r, *output[1:])


def _backward(ctx: Any, dy: torch.Tensor, *_: Any) -> tuple[Any, ...]:
    inputs, kept = ctx.saved_tensors[:6], ctx.saved_tensors[6:]
    gradients = torch.ops.afterimage.aft_backward(ctx.kind, *inputs, *ctx.rest, *kept, dy)
    given = [None if x is None or not needed else g
             for x, g, needed in zip(inputs, gradients, ctx.needs_input_grad[1:7])]
    return (None, *given, None, None, None, None, None)


aft_forward.register_autograd(_backward, setup_context=_keep)


def _autocast(q: MaybeTensor, k: torch.Tensor, v: torch.Tensor) -> tuple[MaybeTensor, torch.Tensor, torch.Tensor]:
    """q, k, v in autocast's dtype where it is on; else they have one already."""
    if torch.is_autocast_enabled("cpu") and v.device.type == "cpu" and v.dtype != torch.float64:
        dtype = torch.get_autocast_dtype("cpu")
        return (None if q is None else q.to(dtype)), k.to(dtype), v.to(dtype)
    for name, x in (("q", q), ("k", k)):
        if x is not None and x.dtype != v.dtype:
            _problem(f"{name} is {x.dtype} and v {v.dtype}: q, k and v have one dtype")
    return q, k, v


def call(kind: int, q: MaybeTensor, k: torch.Tensor, v: torch.Tensor, w: MaybeTensor = None, u: MaybeTensor = None,
         r: MaybeTensor = None, *, causal: bool = False, window: int = 0, hidden: bool = False, grid_height: int = 1,
         grid_width: int = 1) -> torch.Tensor:
    """One operator: y as v. kind: of library. Checks the arguments, applies autocast, and dispatches to aft_forward."""
    _check(kind, q, k, v, w, u, r)
    q, k, v = _autocast(q, k, v)
    wide = torch.float64 if v.dtype == torch.float64 else torch.float32
    w, u, r = (None if x is None else x.to(wide) for x in (w, u, r))
    return torch.ops.afterimage.aft_forward(kind, q, k, v, w, u, r, causal, window, hidden, grid_height, grid_width)[0]
