"""A run folder as docs/format.md describes it: one writer (flock), any number of readers while it grows."""
from __future__ import annotations

import json
import math
import os
import re
import time
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Union

import numpy as np

from . import safetensors
from .errors import Error, shown
from .files import (append_line, check_no_link, is_leftover, open_own, remove_leftovers, step_file, steps_in,
                    take_lock, write_atomically)
from .version import __version__

FORMAT_VERSION = 1
MOST_NOTES_BYTES = 16 << 20
MOST_START_BYTES = 4 << 20  # of the log lines of a start: the norms of every layer at step 0
LINKLESS = ("config.json", "metrics.jsonl", "events.jsonl", "log.txt", "checkpoints", "history", "branches")


def utc_now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def json_line(value: Any) -> str:
    """One line of JSON: floats survive exactly; NaN and infinities, which JSON does not have, become null."""
    def plain(value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return None
        if isinstance(value, Mapping):
            return {str(k): plain(v) for k, v in value.items()}
        return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value
    return json.dumps(plain(value), separators=(",", ":"), allow_nan=False)


def read_lines(path: Path) -> tuple[list[tuple[str, dict[str, Any]]], bool]:
    """(line, its object) of every whole line with a step, and whether there is anything else (a torn last line)."""
    if not path.exists():
        return [], False
    text = path.read_text("utf-8", errors="replace")
    whole, _, torn = text.rpartition("\n")
    out, odd, at = [], bool(torn), 0
    for line in whole.split("\n") if whole else []:
        value = safetensors.parse_json(line, f"{path}: the line at byte {at}")
        at += len(line.encode()) + 1
        step = value.get("step") if isinstance(value, dict) else None
        if isinstance(step, (int, float)) and not isinstance(step, bool):
            out.append((line, value))
        else:
            odd = True
    return out, odd


class Folder:
    """Holds the lock of a run folder and writes into it. Every call blocks on the disk and raises Error with the
    path."""

    def __init__(self, path: Union[str, "os.PathLike[str]"], keep: int, frames: int) -> None:
        self.path, self.keep, self.frames = Path(path).absolute(), keep, frames
        self.lock: Optional[int] = None

    def is_run(self) -> bool:
        return (self.path / "config.json").exists()

    def has_begun(self) -> bool:
        log = self.path / "metrics.jsonl"
        return (log.exists() and log.stat().st_size > 0) or bool(steps_in(self.path / "checkpoints"))

    def is_mere_start(self) -> bool:
        """Whether this package has begun the run, it broke off, and nothing is there but what it writes before the
        first step: no line of the log but the norms of step 0, no checkpoint but that of step 0, and nothing that was
        added by hand. A run that ended in order is whole, also of step 0 alone.
        """
        log, words = self.path / "metrics.jsonl", self.path / "log.txt"
        if not words.exists() or (self.path / "notes.json").exists():
            return False
        with open(words, encoding="utf-8", errors="replace") as text:
            said = text.read(MOST_START_BYTES)
        if not re.match(r".* started .*\(afterimage for Python \S+\)\n", said):
            return False
        if " finished at step " in said.rpartition(" started ")[2] and not self.is_broken_off():
            return False
        for name in ("checkpoints", "history", "branches"):
            folder = self.path / name
            found = list(folder.iterdir()) if folder.is_dir() else []
            if any(path != step_file(folder, 0) and not is_leftover(path) for path in found):
                return False
        if log.exists() and log.stat().st_size > MOST_START_BYTES:
            return False
        try:
            lines, odd = read_lines(log)
        except Error:
            return False
        keys = {key for _, value in lines for key in value}
        return (not odd and all(value["step"] == 0 for _, value in lines)
                and all(key == "step" or key.startswith("bias_norm.") for key in keys))

    def is_broken_off(self) -> bool:
        """By its events: an exception ended it."""
        events = self.path / "events.jsonl"
        try:
            lines, odd = read_lines(events)
        except Error:
            return False
        return not odd and any(event.get("kind") == "error" or str(event.get("text", "")).startswith("stopped: ")
                               for _, event in lines)

    def remove_start(self) -> None:
        for name in ("checkpoints", "history"):
            step_file(self.path / name, 0).unlink(missing_ok=True)
        for name in ("metrics.jsonl", "events.jsonl"):
            (self.path / name).unlink(missing_ok=True)

    def open(self, resume: Union[bool, int]) -> None:
        """Makes the folder and takes its lock. Raises Error where it holds something else, or a run that is not
        resumed."""
        if self.path.exists() and not self.path.is_dir():
            raise Error(f"{self.path}: is a file, expected a run folder")
        ours = self.is_run() or (self.path / "run.lock").exists()
        if self.path.is_dir() and not ours and any(self.path.iterdir()):
            raise Error(f"{self.path}: the folder is not empty and holds no run; choose another one")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Error(f"cannot make the folder '{self.path}': {error.strerror}") from None
        self.lock = take_lock(self.path)
        try:
            self.prepare(resume)
        except BaseException:
            self.close()
            raise

    def prepare(self, resume: Union[bool, int]) -> None:
        for name in LINKLESS:
            check_no_link(self.path / name)
        if resume is False and self.is_mere_start():
            self.remove_start()
        if resume is False and self.has_begun():
            raise Error(f"{self.path}: a run has been started in this folder; continue it with resume=True, or choose"
                        " another folder")
        if resume is not True and resume is not False and not self.is_run():
            raise Error(f"{self.path}: resume={resume}, but there is no run (no config.json in it)")
        remove_leftovers(self.path)
        for name in ("checkpoints", "history"):
            (self.path / name).mkdir(exist_ok=True)

    def close(self) -> None:
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None

    def say(self, text: str) -> None:
        append_line(self.path / "log.txt", f"{utc_now()} {' '.join(text.split())}")

    def log(self, line: Mapping[str, Any]) -> None:
        append_line(self.path / "metrics.jsonl", json_line(line))

    def event(self, kind: str, step: int, detail: Mapping[str, Any]) -> None:
        line = {"step": step, "kind": kind, "detail": detail, "timing": {"time": utc_now()}}
        append_line(self.path / "events.jsonl", json_line(line))
        # The text of a loss names the steps, which come after this one.
        self.say(detail["text"] if kind == "lost" else f"step {step} {kind}: {json_line(detail)}")

    def config(self) -> dict[str, Any]:
        """config.json, {} where there is none yet."""
        path = self.path / "config.json"
        if not path.exists():
            return {}
        value = safetensors.parse_json(path.read_bytes(), str(path))
        if not isinstance(value, dict):
            raise Error(f"{path}: an object is expected, found {shown(value)}")
        return value

    def map_shapes(self, step: int) -> dict[str, list[int]]:
        """{name of a layer: shape of its map} of the checkpoint of a step; nothing without maps alone or without one.
        A file that cannot be read says nothing: the run is resumed all the same."""
        layers = self.config().get("maps", {}).get("layers", [])
        try:
            found = safetensors.shapes(step_file(self.path / "checkpoints", step)) if layers else {}
        except Error:
            return {}
        return {layer["name"]: found[f"biases.{i}"] for i, layer in enumerate(layers) if f"biases.{i}" in found}

    def known_data(self) -> dict[str, list[Any]]:
        """The alphabet and the names of the classes of the newest checkpoint, where they are there. A file that cannot
        be read says nothing: the run is resumed all the same."""
        folder = self.path / "checkpoints"
        saved = steps_in(folder)
        try:
            text = safetensors.metadata(step_file(folder, saved[-1]))["afterimage"] if saved else "{}"
            found = safetensors.parse_json(text, str(self.path))
        except (Error, KeyError):
            return {}
        data = found.get("data") if isinstance(found, dict) else None
        return {key: data[key] for key in ("alphabet", "classes")
                if isinstance(data, dict) and isinstance(data.get(key), list)}

    def write_config(self, config: Mapping[str, Any]) -> None:
        """Rewrites config.json where it differs."""
        text = (json.dumps(config, indent=2, allow_nan=False) + "\n").encode()
        path = self.path / "config.json"
        if not path.exists() or path.read_bytes() != text:
            write_atomically(path, text)

    def resume_from(self, step: Optional[int]) -> tuple[int, int]:
        """Cuts what came after `step` (None: after the newest checkpoint). -> that step, the last step that is
        logged."""
        saved = steps_in(self.path / "checkpoints")
        at = step if step is not None else saved[-1] if saved else 0
        kept = self.cut_lines("metrics.jsonl", at)
        last = kept[1]
        self.cut_lines("events.jsonl", at)
        for name in ("checkpoints", "history"):
            for later in steps_in(self.path / name):
                if later > at:
                    step_file(self.path / name, later).unlink()
                    step_file(self.path / name, later).with_suffix(".kind").unlink(missing_ok=True)
        if last > at:
            words = f"step {last} was" if last == at + 1 else f"steps {at + 1} to {last} were"
            self.event("lost", at, {"text": f"{words} not saved and {'is' if last == at + 1 else 'are'} lost"})
        self.say(f"resumed at step {at} (afterimage for Python {__version__})")
        return at, min(kept[0], at)

    def cut_lines(self, name: str, step: int) -> tuple[int, int]:
        """-> the last step that is kept, the last step that there was (-1: none)."""
        path = self.path / name
        check_no_link(path)
        lines, odd = read_lines(path)
        kept = [(line, value) for line, value in lines if value["step"] <= step]
        if odd or len(kept) < len(lines):
            write_atomically(path, "".join(line + "\n" for line, _ in kept).encode())
        last = [max((int(min(value["step"], 2**53)) for _, value in some), default=-1) for some in (kept, lines)]
        return last[0], last[1]

    def save(self, step: int, tensors: Mapping[str, np.ndarray], description: Mapping[str, Any]) -> None:
        """checkpoints/step-NNNNNNNN.safetensors; then older ones that are not kept are removed."""
        text = json.dumps({"format_version": FORMAT_VERSION, **description}, allow_nan=False)
        path = step_file(self.path / "checkpoints", step)
        safetensors.write(path, tensors, {"afterimage": text})
        self.prune()
        self.say(f"saved step {step}")

    def pinned(self) -> set[int]:
        path = self.path / "notes.json"
        if not path.exists():
            return set()
        if path.stat().st_size > MOST_NOTES_BYTES:
            raise Error(f"{path}: more than {MOST_NOTES_BYTES} bytes")
        notes = safetensors.parse_json(path.read_bytes(), str(path))
        steps = notes.get("pinned", []) if isinstance(notes, dict) else []
        return {step for step in steps if isinstance(step, int)} if isinstance(steps, list) else set()

    def prune(self) -> None:
        """Keeps the newest `keep` of those saved on schedule (0: all), and all that are pinned or of another kind."""
        folder = self.path / "checkpoints"
        if self.keep <= 0:
            return
        try:
            pinned = self.pinned()
        except (Error, OSError) as error:
            self.say(f"kept all checkpoints: {error}")
            return
        scheduled = [step for step in steps_in(folder)
                     if step not in pinned and not step_file(folder, step).with_suffix(".kind").exists()]
        for step in scheduled[:-self.keep]:
            step_file(folder, step).unlink(missing_ok=True)

    def remember(self, step: int, biases: Mapping[str, np.ndarray],
                 metadata: Optional[Mapping[str, str]] = None) -> None:
        """history/step-NNNNNNNN.safetensors: in half precision where the values fit. Thinned evenly, first and last
        kept."""
        if self.frames <= 0 or not biases:
            return
        folder = self.path / "history"
        compact = {name: w.astype(np.float16) if np.abs(w).max(initial=0) <= 65504 else w for name, w in biases.items()}
        safetensors.write(step_file(folder, step), compact, metadata)
        steps = steps_in(folder)
        while len(steps) > max(self.frames, 2):
            spare = min(range(1, len(steps) - 1), key=lambda i: steps[i + 1] - steps[i - 1])
            step_file(folder, steps.pop(spare)).unlink(missing_ok=True)


def is_locked(path: Path) -> bool:
    """Whether a process trains this run now."""
    import fcntl
    if not (path / "run.lock").exists():
        return False
    fd = open_own(path / "run.lock", os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(fd)


def with_context(words: str, work: Callable[[], Any]) -> Any:
    """`work()`; errors of the operating system become Error, with `words` before them."""
    try:
        return work()
    except OSError as error:
        raise Error(f"{words}: {error.strerror or error}") from None
