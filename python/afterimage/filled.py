"""Parameters of ours that another model does not have and a mapping file fills with a value ('fill'). Their names and
shapes follow from the tensors beside them: a linear map's bias from its weight, norms from the width of the model. What
does not follow so is the program's to know."""
from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from .errors import Error, shown
from .patterns import match

PROJECTIONS = (".mixer.q", ".mixer.k", ".mixer.v")  # without biases where qkv_bias is false


def norms_of(settings: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """A bare mixer has none."""
    dim, layers = settings.get("dim"), settings.get("layers")
    if settings.get("task") == "layer" or dim is None or layers is None:
        return {}
    names = ["norm", *(f"blocks.{i}.norm{n}" for i in range(int(layers)) for n in (1, 2))]
    return {f"{name}.{part}": (int(dim),) for name in names for part in ("weight", "bias")}


def parameters_beside(weights: Mapping[str, np.ndarray], settings: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """name -> shape of the parameters that a model with these ones has, too."""
    found = norms_of(settings)
    for name, value in weights.items():
        stem, end = name.rpartition(".")[::2]
        if end == "kernel" and not settings.get("naive_kernel", False):
            found.update({f"{stem}.{part}": value.shape[:1] for part in ("gamma", "beta")})
        if end != "weight" or value.ndim != 2 or stem.startswith("embed."):
            continue
        if settings.get("qkv_bias", True) or not stem.endswith(PROJECTIONS):
            found[f"{stem}.bias"] = value.shape[:1]
    return found


def filled(fill: Mapping[str, float], weights: Mapping[str, np.ndarray],
           settings: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The parameters that `weights` lack and a pattern of `fill` names, as `afterimage import --map` makes them.
    Raises Error for a pattern that names none that can be known here."""
    known, out = parameters_beside(weights, settings), {}
    for pattern, value in sorted(fill.items()):  # in the program's order: the first that fits a name counts
        for name, shape in known.items():
            if name not in weights and name not in out and match(pattern, name) is not None:
                out[name] = np.full(shape, value, np.float32)
        if not any(match(pattern, name) is not None for name in [*weights, *known]):
            raise Error(f"'fill': only the program knows the shape of '{shown(pattern)}'; known here are the biases of"
                        " linear maps, norms, and gamma and beta of kernels. Save the state dict and use `afterimage"
                        " import FILE --map FILE -o MODEL`")
    return out
