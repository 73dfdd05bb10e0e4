"""Maps alone: position biases of any model, without the model (docs/format.md). w is target-major everywhere: w[t, j]
is how much target t attends to source j."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from .errors import Error, nearest, shown

LAYOUTS = ("full", "band", "kernel1d", "kernel2d")
GAUGES = ("row", "none")
# What the program reads.
MOST_NAME, MOST_LAYERS, MOST_HEADS, MOST_TOKENS = 200, 4096, 4096, 16384
MOST_MAPS = 65536  # layers times the most heads of one


@dataclass(frozen=True)
class Map:
    """The position bias of one layer, where the layers of a model differ.

    w: array or tensor by `layout`:
        full      [T, T] or [heads, T, T]
        band      [heads, T, s]: entry o is source j = t - (s - 1) / 2 + o, s odd; what lies outside [0, T) is ignored
        kernel1d  [heads, s]: entry o is the offset j - t = o - (s - 1) / 2, s odd
        kernel2d  [heads, s, s]: offsets by row and by column likewise
       or a mixer of afterimage.nn, which says its map, gauge, layout and whether it is causal itself.
    grid: [T] (text), [H, W] or [H, W, C], of product T; for kernels what they slide over. None: that of the call.
    gauge: what may be added without changing the model: "row" (a constant to a row of w, as under softmax) or "none".
    layout: None = inferred from the shape of w and the grid.
    """
    w: Any
    grid: Optional[Sequence[int]] = None
    gauge: Optional[str] = None
    layout: Optional[str] = None


Biases = Mapping[str, Union[Map, Any]]


def checked_grid(grid: Any, where: str) -> list[int]:
    try:
        sizes = [int(n) for n in grid]
        whole = all(int(n) == n for n in grid)
    except (TypeError, ValueError, OverflowError):
        sizes, whole = [], False
    if not whole or not 1 <= len(sizes) <= 3 or min(sizes) < 1 or math.prod(sizes) > MOST_TOKENS:
        raise Error(f"{where}: grid is (T,), (H, W) or (H, W, C) of sizes from 1 and T up to {MOST_TOKENS}, found"
                    f" {shown(grid)}")
    return sizes


def inferred_layout(shape: Sequence[int], grid: list[int], where: str) -> str:
    """The layout that a shape can only be."""
    tokens, rank = math.prod(grid), len(shape)
    if rank in (2, 3) and shape[-1] == shape[-2] == tokens:
        return "full"
    if rank == 3 and shape[1] == tokens and shape[2] % 2 == 1:
        return "band"
    if rank == 3 and len(grid) > 1 and shape[1] == shape[2] and shape[1] % 2 == 1:
        return "kernel2d"
    if rank == 2 and shape[1] % 2 == 1 and len(grid) == 1:
        return "kernel1d"
    raise Error(f"{where}: shape {list(shape)} does not fit the grid {grid} of T = {tokens}; allowed: [T, T], [heads,"
                f" T, T], a"
                " band [heads, T, s], a kernel [heads, s] or [heads, s, s], s odd (pass the grid, or Map(w, grid,"
                " layout=...))")


def check_shape(shape: Sequence[int], layout: str, grid: list[int], where: str) -> None:
    tokens, rank = math.prod(grid), len(shape)
    wanted, fit = {
        "full": ("[T, T] or [heads, T, T]", rank in (2, 3) and shape[-1] == shape[-2] == tokens),
        "band": ("[heads, T, s], s odd", rank == 3 and shape[1] == tokens and shape[2] % 2 == 1),
        "kernel1d": ("[heads, s], s odd", rank == 2 and shape[1] % 2 == 1),
        "kernel2d": ("[heads, s, s], s odd, on a grid [H, W] or [H, W, C]",
                     rank == 3 and shape[1] == shape[2] and shape[1] % 2 == 1 and len(grid) > 1),
    }[layout]
    heads, taps = (shape[0] if rank == 3 or layout == "kernel1d" else 1), (0 if layout == "full" else shape[-1])
    if not fit or not 1 <= heads <= MOST_HEADS or taps >= 2 * MOST_TOKENS:
        raise Error(f"{where}: layout {layout} needs {wanted} with T = {tokens} of the grid {grid}, found shape"
                    f" {list(shape)}")


def describe_map(name: Any, map: Map, shape: Sequence[int]) -> dict[str, Any]:
    """The entry of one layer in the checkpoint's JSON. Raises Error, naming the layer, on what is not allowed."""
    where = f"biases['{shown(name)}']"
    if not isinstance(name, str) or not name.isprintable() or not 1 <= len(name.encode()) <= MOST_NAME:
        raise Error(f"{where}: the name of a layer is a text of 1 to {MOST_NAME} bytes without control characters")
    gauge = map.gauge or "row"
    if gauge not in GAUGES:
        raise Error(f"{where}: gauge '{shown(gauge)}' is not known; allowed:"
                    f" {', '.join(GAUGES)}{nearest(gauge, GAUGES)}")
    if map.grid is None and (len(shape) not in (2, 3) or shape[-1] != shape[-2] or map.layout not in (None, "full")):
        raise Error(f"{where}: shape {list(shape)} needs a grid: (T,), (H, W) or (H, W, C)")
    grid = checked_grid([shape[-1]] if map.grid is None else map.grid, where)
    layout = map.layout or inferred_layout(shape, grid, where)
    if layout not in LAYOUTS:
        raise Error(f"{where}: layout '{shown(layout)}' is not known; allowed:"
                    f" {', '.join(LAYOUTS)}{nearest(layout, LAYOUTS)}")
    check_shape(shape, layout, grid, where)
    return {"name": name, "layout": layout, "grid": grid, "gauge": gauge}


def is_mixer(value: Any) -> bool:
    """Of afterimage.nn: what turns its position bias into a map itself."""
    return hasattr(value, "bias_map")


def map_of_mixer(name: Any, map: Map, grid: Any) -> Map:
    """The Map of a layer whose w is a mixer. grid: of the call. Raises Error, naming the layer, where the mixer has no
    position bias, or the map another layout."""
    where = f"biases['{shown(name)}']"
    grid = grid if map.grid is None else map.grid
    try:
        own = map.w.bias_map(None if grid is None else checked_grid(grid, where))
    except Error as error:
        raise Error(str(error) if str(error).startswith(where) else f"{where}: {error}") from None
    if map.layout not in (None, own.layout):
        raise Error(f"{where}: layout '{shown(map.layout)}', but the map of this mixer is {own.layout}; leave it out")
    return Map(own.w, own.grid, map.gauge or own.gauge, own.layout)


def causal_of(biases: Biases, causal: bool) -> bool:
    """Whether a target sees only what is before it: `causal` of the call, or as the mixers are where all layers are
    mixers. Raises Error where a mixer differs from the rest: a file says it once for all of its layers."""
    values = {name: value.w if isinstance(value, Map) else value for name, value in biases.items()}
    mixers = {name: value for name, value in values.items() if is_mixer(value)}
    ways = {bool(mixer.causal) for mixer in mixers.values()}
    expected = bool(causal) or (len(mixers) == len(biases) and True in ways)
    for name, mixer in mixers.items():
        if bool(mixer.causal) != expected:
            raise Error(f"biases['{shown(name)}']: this mixer is {'causal' if mixer.causal else 'not causal'}, the rest"
                        f" {'is' if expected else 'is not (causal=False)'}; a run has layers of one kind: write the"
                        " others into another folder")
    return expected


def followed(biases: Union[Biases, Callable[[Any], Biases]]) -> Callable[[Any], Biases]:
    """What watch() calls at every save: the user's function of the model, or one that returns the mixers of a
    dictionary. Raises Error on a dictionary of tensors: they would be saved as they are now, again and again."""
    if callable(biases):
        return biases
    if not isinstance(biases, Mapping):
        raise Error(f"watch: biases is a function of the model or {{name of a layer: mixer}}, found"
                    f" {shown(type(biases).__name__)}")
    for name, value in biases.items():
        if not is_mixer(value.w if isinstance(value, Map) else value):
            raise Error(f"watch: biases['{shown(name)}'] is no mixer of afterimage.nn; of tensors biases is a function"
                        " of the model that returns {name of a layer: w}, so that each save has the newest")
    return lambda _: biases


def merged(biases: Biases, grid: Any, gauge: Optional[str]) -> dict[str, Map]:
    """Every layer as a Map with what the call says for all of them; mixers say their own."""
    if not isinstance(biases, Mapping) or not 1 <= len(biases) <= MOST_LAYERS:
        found = f"{len(biases)} of them" if isinstance(biases, Mapping) else shown(type(biases).__name__)
        raise Error(f"biases is {{name of a layer: w}}, 1 to {MOST_LAYERS} layers, found {found}")
    out = {}
    for name, value in biases.items():
        map = value if isinstance(value, Map) else Map(value)
        if is_mixer(map.w):
            map = map_of_mixer(name, map, grid)
        out[name] = Map(map.w, grid if map.grid is None else map.grid, map.gauge or gauge, map.layout)
    return out


def describe(biases: Mapping[str, Map], causal: bool) -> dict[str, Any]:
    """{"causal", "layers"} of config.json and of checkpoints."""
    layers = []
    for name, map in biases.items():
        shape = getattr(map.w, "shape", None)
        if shape is None:
            raise Error(f"biases['{shown(name)}']: an array or a tensor is expected, or a mixer of afterimage.nn; found"
                        f" {type(map.w).__name__}")
        layers.append(describe_map(name, map, tuple(int(n) for n in shape)))
    heads = max((int(map.w.shape[0]) for map, layer in zip(biases.values(), layers)
                 if len(map.w.shape) == 3 or layer["layout"] == "kernel1d"), default=1)
    if len(layers) * heads > MOST_MAPS:
        raise Error(f"biases: {len(layers)} layers of up to {heads} heads; layers times heads are at most {MOST_MAPS}")
    return {"causal": bool(causal), "layers": layers}


def check_shapes(biases: Mapping[str, Map], before: Mapping[str, Sequence[int]]) -> None:
    """Raises Error where the map of a layer has another shape than in the saves before it: a timeline of maps with
    other heads or offsets shows nothing. before: {name of a layer: shape}."""
    for name, map in biases.items():
        found, expected = list(map.w.shape), list(before.get(name, map.w.shape))
        if found != expected:
            raise Error(f"biases['{shown(name)}']: shape {found}, expected {expected} as in the saves before it; a run"
                        " keeps the shape of every map: write into another folder")


def are_surely_finite(arrays: Iterable[np.ndarray]) -> bool:
    """A glance: the sum of a map is finite only if all of its values are. False says nothing (masks are infinite)."""
    with np.errstate(all="ignore"):
        return all(w.dtype in (np.float32, np.float16) and bool(np.isfinite(w.sum(dtype=np.float32))) for w in arrays)


def checked_values(w: np.ndarray, name: str) -> np.ndarray:
    """As float32. NaN and +infinity are refused, as is what does not fit; -infinity is a mask."""
    where = f"biases['{shown(name)}']"
    if not (np.issubdtype(w.dtype, np.floating) or np.issubdtype(w.dtype, np.integer)):
        raise Error(f"{where}: dtype {w.dtype}; allowed: real numbers")
    with np.errstate(over="ignore"):
        out = w.astype(np.float32)
    if np.isnan(out).any():
        raise Error(f"{where}: {int(np.isnan(out).sum())} of {out.size} values are NaN")
    if (out == np.inf).any() or (w.dtype.itemsize > 4 and not np.array_equal(np.isinf(out), np.isinf(w))):
        raise Error(f"{where}: values are +infinity or beyond float32; allowed: finite numbers, and -infinity as a"
                    " mask")
    return out


def norm(w: np.ndarray, layer: Mapping[str, Any]) -> float:
    """Frobenius norm over the pairs that are there and not masked; kernels: over the taps."""
    if layer["layout"] == "band":
        tokens, width = w.shape[1:]
        source = np.arange(tokens)[:, None] - (width - 1) // 2 + np.arange(width)
        w = np.where((source >= 0) & (source < tokens), w, 0)
    values = w[np.isfinite(w)].astype(np.float64)
    return float(np.sqrt(np.dot(values, values)))
