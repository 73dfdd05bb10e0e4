"""`probe` and `complete`: the program's own commands, with its names, options and results, as arrays. Nothing is
computed
here: the program is started in a temporary folder, once for each call."""
from __future__ import annotations

import html
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import pictures
from .errors import Error, shown
from .folder import FORMAT_VERSION
from .safetensors import parse_json, write
from .version import __version__

Pathlike = Union[str, "os.PathLike[str]"]
GLOBAL = ("device", "threads")
MOST_CHECKED_BYTES = 1 << 30


def find_program(program: Optional[Pathlike] = None) -> Path:
    """The program `afterimage`: `program`, AFTERIMAGE_PROGRAM, the PATH, or build/release of the source tree that this
    package lies in. Raises Error, with the places, where there is none."""
    named = program or os.environ.get("AFTERIMAGE_PROGRAM")
    if named:
        found = shutil.which(str(named))
        if found:
            return Path(found).absolute()
        raise Error(f"{named}: no such program ({'program=' if program else 'AFTERIMAGE_PROGRAM'})")
    tree = Path(__file__).resolve().parent.parent.parent / "build" / "release" / "afterimage"
    found = shutil.which("afterimage") or shutil.which(str(tree))
    if not found:
        raise Error(
            f"the program 'afterimage' is not there: it is not on the PATH and not {tree}; set AFTERIMAGE_PROGRAM")
    return Path(found).absolute()


def flags_of(options: Mapping[str, Any]) -> list[str]:
    """{"layer": 0, "keep_rows": 8, "json": True} -> --layer=0 --keep-rows=8 --json"""
    flags = []
    for key, value in options.items():
        flag = "--" + key.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            flags.append(flag)
        elif isinstance(value, Mapping):
            flags += [f"{flag}={k}={v}" for k, v in value.items()]
        elif isinstance(value, (str, int, float, np.integer, np.floating, os.PathLike)):
            flags.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
        else:
            raise Error(f"{key} is a text, a number, True or a dictionary of options, found"
                        f" {shown(type(value).__name__)}")
    return flags


def run_program(command: str, arguments: Sequence[str], options: Mapping[str, Any], program: Optional[Pathlike]) -> str:
    """Standard output. Raises Error with what the program says where it fails."""
    first = flags_of({key: options[key] for key in GLOBAL if key in options})
    rest = flags_of({key: value for key, value in options.items() if key not in GLOBAL})
    words = [str(find_program(program)), *first, command, *arguments, *rest]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise Error(f"{words[0]}: cannot be started: {error.strerror}") from None
    if done.returncode != 0:
        said = [line for line in done.stderr.strip().splitlines() if line.startswith("afterimage: ")] or [
                                                   done.stderr.strip()]
        raise Error(said[-1].removeprefix("afterimage: ") or f"{command}: ended with exit code {done.returncode}")
    return done.stdout


def check_with_program(tensors: Mapping[str, np.ndarray], description: Mapping[str, Any]) -> None:
    """Raises Error with the program's words where the program of this version cannot open such a checkpoint. Nothing
    where there is none, where the model is larger than 1 GiB, or where the check itself cannot be made (no place in the
    temporary folder, two minutes): training must not end for it. Writes the model once; half a second and more."""
    if sum(value.nbytes for value in tensors.values()) > MOST_CHECKED_BYTES:
        return
    text = json.dumps({"format_version": FORMAT_VERSION, **description}, allow_nan=False)
    try:
        program = str(find_program())
        with tempfile.TemporaryDirectory(prefix="afterimage-") as folder:
            path = os.path.join(folder, "model.safetensors")
            write(path, tensors, {"afterimage": text})
            options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace",
                       "timeout": 120}
            version = subprocess.run([program, "--version"], **options).stdout.split()
            done = subprocess.run([program, "inspect", path, "--json"], **options)
    except (Error, OSError, subprocess.TimeoutExpired):
        return
    said = [line for line in done.stderr.splitlines() if line.startswith("afterimage: ")]
    if not said or version != ["afterimage", __version__]:
        return
    if done.returncode == 1 or (done.returncode == 2 and path in said[-1]):  # 2: a setting that is none
        raise Error(said[-1].removeprefix("afterimage: ").replace(path + ": ", "").replace(path, "the model"))


def model_path(model: Any) -> str:
    """A path, a Run or what load() returned; a text that begins with a dash is a file all the same."""
    path = getattr(model, "path", model)
    if not isinstance(path, (str, os.PathLike)):
        raise Error(f"the model is a checkpoint or a run folder, found {shown(type(model).__name__)}")
    return os.path.abspath(os.fspath(path))


def with_pictures(options: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Arrays given as image or mask ([H, W] or [H, W, 3], uint8 or bool) become files in `folder`."""
    out = dict(options)
    for key in ("image", "mask"):
        if isinstance(out.get(key), np.ndarray):
            value = out[key].astype(np.uint8) * 255 if out[key].dtype == bool else out[key]
            file = Path(folder) / f"given-{key}.png"
            file.write_bytes(pictures.encode(value))
            out[key] = file
    return out


class Figure(np.ndarray):
    """What a probe answers: an array with the names of the command line that made it. In a notebook it shows itself as
    the program's picture. float32; shape and unit are the probe's (`afterimage list probes`)."""
    made_by: Optional[tuple[str, str, dict[str, Any], Optional[Pathlike]]]
    info: dict[str, Any]  # what the program says of it: axes, unit, step, notes

    def __new__(cls, values: np.ndarray, made_by: Any = None, info: Optional[dict[str, Any]] = None) -> "Figure":
        out = np.asarray(values).view(cls)
        out.made_by, out.info = made_by, info or {}
        return out

    def __array_finalize__(self, parent: Any) -> None:
        # A part of it, or what was computed from it, is not the picture of the probe.
        self.made_by, self.info = None, {}

    def png(self) -> bytes:
        """The program's labelled picture of it. Raises Error for a part of a figure, or where the model is gone."""
        if self.made_by is None:
            raise Error("only what probe() returned has a picture")
        name, model, options, program = self.made_by
        with tempfile.TemporaryDirectory(prefix="afterimage-") as folder:
            out = Path(folder) / "figure.png"
            run_program("probe", [name, model, "-o", str(out)], with_pictures(options, folder), program)
            return out.read_bytes()

    def _repr_png_(self) -> Optional[bytes]:
        try:
            return self.png()
        except Error:
            return None  # the notebook shows the numbers


def probe(model: Any, name: str, *, program: Optional[Pathlike] = None, **options: Any) -> Figure:
    """`afterimage probe NAME MODEL`, as an array: probe("runs/mine", "bias", layer=0) is [T, T] or [heads, T, T], w of
    every pair, target-major; `visible="nan"` makes pairs that cannot attend NaN.

    model: a checkpoint, a run folder, a Run or what load() returned. options: the flags of the command line with `_`
    for `-` (layer, head, position, quantity, text, data, ...; device, threads). image may be an array. Raises Error
    with the program's words.
    """
    path = model_path(model)
    with tempfile.TemporaryDirectory(prefix="afterimage-") as folder:
        out = Path(folder) / "figure.npy"
        run_program("probe", [str(name), path, "-o", str(out)], with_pictures(options, folder), program)
        beside = Path(f"{out}.json")
        info = parse_json(beside.read_bytes(), str(beside)) if beside.exists() else {}
        return Figure(np.load(out, allow_pickle=False), (str(name), path, dict(options), program), info)


@dataclass
class Completion:
    """What complete() answers. samples: [n, H, W] or [n, H, W, 3] uint8 for pictures, a list of texts for texts.
    log_likelihoods: [n] float64, nats over the filled positions. result: the program's JSON. grid: PNG of all of
    them."""
    samples: Any
    log_likelihoods: np.ndarray
    result: dict[str, Any] = field(repr=False)
    grid: Optional[bytes] = field(default=None, repr=False)

    def _repr_png_(self) -> Optional[bytes]:
        return self.grid

    def _repr_html_(self) -> Optional[str]:
        if self.grid is not None:
            return None  # the picture says it
        rows = "".join(f"<tr><td>{value:.2f}</td><td><pre>{html.escape(text)}</pre></td></tr>"
                       for value, text in zip(self.log_likelihoods, self.samples))
        return f"<table><tr><th>log-likelihood, nats</th><th>text</th></tr>{rows}</table>"


def complete(model: Any, *, program: Optional[Pathlike] = None, **options: Any) -> Completion:
    """`afterimage complete MODEL`: complete("runs/mine", data="mirror?split=test", keep_rows=8, samples=4), or
    complete(model, prompt="The ", length=200).

    model, program: as in probe(). options: the flags of the command line with `_` for `-`; image and mask may be arrays
    [H, W] or [H, W, 3] of uint8 (a mask also bool: True is to be filled). Raises Error with the program's words.
    """
    path = model_path(model)
    with tempfile.TemporaryDirectory(prefix="afterimage-") as folder:
        out = Path(folder) / "out"
        place = [] if "prompt" in options else ["-o", str(out)]
        said = run_program("complete", [path, *place, "--json"], with_pictures(options, folder), program)
        result = parse_json(said, "the program's answer")
        values = np.array(result.get("log_likelihoods", []), np.float64)
        if "prompt" in options:
            return Completion([sample.get("text", "") for sample in result["samples"]], values, result)
        files = [Path(sample["file"]) for sample in result["samples"]]
        drawn = np.stack([pictures.decode(file.read_bytes(), str(file)) for file in files])
        grid = out / "grid.png"
        return Completion(drawn, values, result, grid.read_bytes() if grid.exists() else None)
