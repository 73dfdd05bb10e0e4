"""What a save writes, ready as arrays: tensors, the `afterimage` JSON, biases for the timeline, norms for the log."""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional

import numpy as np

from . import maps as maps_of
from .convert import convert
from .patterns import match
from .tables import Table
from .version import __version__

# Names of position-bias parameters (docs/format.md).
BIAS_NAMES = tuple(f"blocks.{{i}}.mixer.{name}" for name in ("w", "u", "r", "kernel", "gamma", "beta"))


@dataclass
class Prepared:
    """content: {"maps": ...} or {"model": ...} of config.json. tensors: float32 by the names of the format."""
    content: dict[str, Any]
    tensors: dict[str, np.ndarray]
    biases: dict[str, np.ndarray]
    norms: dict[str, float]
    description: dict[str, Any] = field(default_factory=dict)
    history_metadata: Optional[dict[str, str]] = None

    def map_shapes(self) -> dict[str, list[int]]:
        """{name of a layer: shape of its map}; nothing for a whole model, whose settings say its shapes."""
        layers = self.content.get("maps", {}).get("layers", [])
        return {layer["name"]: list(w.shape) for layer, w in zip(layers, self.tensors.values())}

    def described(self, step: int, config: Mapping[str, Any], alphabet: Optional[list[int]]) -> "Prepared":
        self.description = {"program_version": f"{__version__} for Python", "config": dict(config), "step": step}
        if "task" in self.content["model"]:
            self.description["task"] = self.content["model"]["task"]
        if alphabet is not None:
            self.description["data"] = {"alphabet": alphabet}
        return self


def prepare_maps(arrays: Mapping[str, np.ndarray], maps: Mapping[str, Any], step: int) -> Prepared:
    """arrays: biases.0, biases.1, ... in the order of maps["layers"]. Raises Error on values that are not allowed."""
    layers = maps["layers"]
    tensors = {name: maps_of.checked_values(w, layer["name"]) for (name, w), layer in zip(arrays.items(), layers)}
    norms = {f"bias_norm.layer.{i}": maps_of.norm(w, layer)
             for i, (w, layer) in enumerate(zip(tensors.values(), layers))}
    description = {"task": "maps", "step": step, "maps": dict(maps)}
    text = json.dumps({"format_version": 1, **description}, allow_nan=False)
    return Prepared({"maps": dict(maps)}, tensors, tensors, norms, description, {"afterimage": text})


def prepare_model(arrays: Mapping[str, np.ndarray], given: Mapping[str, Any], table: Optional[Table]) -> Prepared:
    """A state dict by its table; given: settings of the user's, {"model.window": 32}. Raises Error as convert()."""
    found = convert(arrays, given, table)
    biases = {name: w for name, w in found.weights.items() if any(match(p, name) for p in BIAS_NAMES)}
    norms = {}
    for name, w in biases.items():
        bound = match("blocks.{i}.mixer.w", name)
        if bound:  # of the effective w; factors and normalised kernels are multiplied out by the program alone
            norms[f"bias_norm.layer.{bound['i']}"] = float(np.linalg.norm(banded(w, found.settings).astype(np.float64)))
    return Prepared({"model": found.settings}, found.weights, biases, norms)


def banded(w: np.ndarray, settings: Mapping[str, Any]) -> np.ndarray:
    """w [T, T] where |t - j| < window, 0 outside."""
    window = settings.get("window")
    if settings.get("mixer") != "aft-local" or not isinstance(window, int):
        return w
    t, j = np.ogrid[:w.shape[0], :w.shape[1]]
    return np.where(abs(t - j) < window, w, 0)
