"""What a save writes, ready as arrays: tensors, the `afterimage` JSON, biases for the timeline, norms for the log."""
from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field
from typing import Any, Collection, Mapping, Optional, Sequence

import numpy as np

from . import maps as maps_of
from .convert import convert
from .errors import Error, shown
from .norms import bias_norms
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

    def described(self, step: int, config: Mapping[str, Any], data: Mapping[str, Any]) -> "Prepared":
        """data: what is known of the data, {"alphabet": ..., "classes": ...} or less. Raises Error where the names of
        the classes are not those of this model."""
        self.check_classes(data.get("classes"))
        self.description = {"program_version": f"{__version__} for Python", "config": dict(config), "step": step}
        if "task" in self.content["model"]:
            self.description["task"] = self.content["model"]["task"]
        if data:
            self.description["data"] = dict(data)
        return self

    def check_classes(self, classes: Optional[Sequence[str]]) -> None:
        if classes is None:
            return
        task, head = self.content["model"].get("task", "image"), self.tensors.get("head.weight")
        if task != "classify" or head is None:
            raise Error(f"classes: {len(classes)} names, but a model of the task {shown(task)} has no classes; allowed:"
                        " models of the task classify")
        if len(classes) != len(head):
            raise Error(f"classes: {len(classes)} names, expected {len(head)}, one for each class of the model")


def prepare_maps(arrays: Mapping[str, np.ndarray], maps: Mapping[str, Any], step: int) -> Prepared:
    """arrays: biases.0, biases.1, ... in the order of maps["layers"]. Raises Error on values that are not allowed."""
    layers = maps["layers"]
    tensors = {name: maps_of.checked_values(w, layer["name"]) for (name, w), layer in zip(arrays.items(), layers)}
    norms = {f"bias_norm.layer.{i}": maps_of.norm(w, layer)
             for i, (w, layer) in enumerate(zip(tensors.values(), layers))}
    description = {"task": "maps", "step": step, "maps": dict(maps)}
    text = json.dumps({"format_version": 1, **description}, allow_nan=False)
    return Prepared({"maps": dict(maps)}, tensors, tensors, norms, description, {"afterimage": text})


def prepare_model(arrays: Mapping[str, np.ndarray], given: Mapping[str, Any], table: Optional[Table],
                  heads: Collection[int] = ()) -> Prepared:
    """A state dict by its table; given: settings of the user's, {"model.window": 32}; heads: the numbers of heads of
    the model's modules, or of the run. Warns of what had to be assumed. Raises Error as convert()."""
    found = convert(arrays, given, table, heads)
    if found.assumed:
        warnings.warn(f"afterimage: {found.assumed}", RuntimeWarning, stacklevel=4)
    biases = {name: w for name, w in found.weights.items() if any(match(p, name) for p in BIAS_NAMES)}
    return Prepared({"model": found.settings}, found.weights, biases, bias_norms(found.weights, found.settings))
