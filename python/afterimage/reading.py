"""`load`: a run folder, a checkpoint or maps, as settings and arrays."""
from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Optional, Union

import numpy as np

from . import safetensors
from .errors import Error, shown
from .files import step_file, steps_in
from .folder import FORMAT_VERSION, read_lines

KEYS = ("format_version", "program_version", "config", "task", "data", "step", "metrics", "training", "maps")


@dataclass
class Loaded:
    """config: the settings, as config.json and checkpoints hold them ({} for maps alone). maps: {"causal", "layers"} of
    maps alone, else None. tensors: name -> array, the state of the training under `optim.` and `ema.`. step: of these
    tensors; None where a run has no checkpoint yet. metrics, events: the whole lines of a run's logs."""
    path: Path
    config: dict[str, Any]
    tensors: dict[str, np.ndarray] = field(repr=False)
    step: Optional[int] = None
    maps: Optional[dict[str, Any]] = None
    description: dict[str, Any] = field(default_factory=dict, repr=False)
    metrics: list[dict[str, Any]] = field(default_factory=list, repr=False)
    events: list[dict[str, Any]] = field(default_factory=list, repr=False)
    steps: list[int] = field(default_factory=list)  # that have a checkpoint

    def column(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Steps [n] (int64, ascending) and values [n] (float64) of one logged value, where it is logged: the newest of
        a step; null is NaN."""
        rows = sorted({line["step"]: line[name] for line in self.metrics if name in line}.items())
        if not rows:
            known = sorted({key for line in self.metrics for key in line} - {"step", "timing"})
            raise Error(f"{self.path}: '{shown(name)}' is not logged; there are"
                        f" {', '.join(map(shown, known)) or 'no values'}")
        return (np.array([step for step, _ in rows], np.int64),
                np.array([np.nan if value is None else value for _, value in rows], np.float64))


def description_of(metadata: Mapping[str, str], path: Path) -> dict[str, Any]:
    if "afterimage" not in metadata:
        raise Error(f"{path}: no 'afterimage' key in the metadata: a file of tensors, but not an Afterimage checkpoint")
    where = f"{path}: afterimage"
    found = safetensors.parse_json(metadata["afterimage"], where)
    if not isinstance(found, dict):
        raise Error(f"{where}: an object is expected, found {shown(found)}")
    for key in found:
        if key not in KEYS:
            raise Error(f"{where}: unknown key '{shown(key)}'")
    version = found.get("format_version", 1)
    if not isinstance(version, int) or not 1 <= version <= FORMAT_VERSION:
        raise Error(f"{where}: format_version {shown(version)} is not known (known: 1 to {FORMAT_VERSION})")
    for key in ("config", "maps"):
        if not isinstance(found.get(key, {}), dict):
            raise Error(f"{where}: key '{key}' must be an object, found {shown(found[key])}")
    if ("config" in found) == ("maps" in found):
        raise Error(f"{where}: one of the keys 'config' and 'maps' is needed")
    return found


def load_file(path: Path) -> Loaded:
    tensors, metadata = safetensors.read(path)
    found = description_of(metadata, path)
    return Loaded(path, found.get("config", {}), tensors, found.get("step", 0), found.get("maps"), found)


def load(path: Union[str, "os.PathLike[str]"], step: Optional[int] = None) -> Loaded:
    """A checkpoint file, or a run folder: its newest checkpoint or that of `step`, its settings and logs.

    Raises Error, with the path, where there is none, or where it is no file of this format.
    """
    path = Path(path)
    if not path.is_dir():
        if step is not None:
            raise Error(f"{path}: step={step} is for run folders")
        return load_file(path)
    if not (path / "config.json").exists():
        raise Error(f"{path}: a folder, but not a run folder (no config.json in it)")
    config = safetensors.parse_json((path / "config.json").read_bytes(), str(path / "config.json"))
    if not isinstance(config, dict):
        raise Error(f"{path / 'config.json'}: an object is expected, found {shown(json.dumps(config))}")
    steps = steps_in(path / "checkpoints")
    if step is not None and step not in steps:
        raise Error(f"{path}: there is no checkpoint of step {step}; there are {', '.join(map(str, steps)) or 'none'}")
    chosen = step if step is not None else steps[-1] if steps else None
    out = (Loaded(path, config, {}, None, config.get("maps")) if chosen is None
           else load_file(step_file(path / "checkpoints", chosen)))
    out.path, out.config, out.steps = path, config, steps
    out.metrics = [value for _, value in read_lines(path / "metrics.jsonl")[0]]
    out.events = [value for _, value in read_lines(path / "events.jsonl")[0]]
    return out
