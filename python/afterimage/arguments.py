"""What the calls of `Run` are given, checked: each error names the argument, what was found and what is allowed."""
from __future__ import annotations

import math
import os
import re
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from . import torch_side
from .errors import Error, nearest, shown
from .tables import Table, make_table, read_table

Pathlike = Union[str, "os.PathLike[str]"]
Mapped = Union[Pathlike, Mapping[str, Any]]
CONFIG_KEYS = ("name", "model", "data", "train")
MOST_STEP = 2**53
MOST_KEY = 100
MOST_CLASSES, MOST_CLASS_NAME = 65536, 200  # names, and bytes of one


def checked_config(config: Optional[Mapping[str, Any]]) -> dict[str, Any]:
    config = dict(config or {})
    for key, value in config.items():
        if key not in CONFIG_KEYS:
            raise Error(
                f"config: unknown key '{shown(key)}'; allowed: {', '.join(CONFIG_KEYS)}{nearest(key, CONFIG_KEYS)}")
        if key != "name" and not isinstance(value, Mapping):
            raise Error(f"config['{key}'] is a dictionary of settings, found {shown(value)}")
    return config


def checked_name(name: Any) -> str:
    ok = (isinstance(name, str) and name.isprintable() and len(name.encode()) <= 100
          and "/" not in name and ".." not in name)
    if not ok or not name:
        raise Error(f"name is '{shown(name)}'; allowed: at most 100 bytes without '/', '..' and control characters")
    return name


def checked_alphabet(alphabet: Union[str, bytes, Iterable[str], None]) -> Optional[list[int]]:
    """The byte of each token, in the order of the tokens."""
    if alphabet is None:
        return None
    out = []
    for c in alphabet:
        byte = c if isinstance(c, int) else c.encode() if isinstance(c, str) else c
        byte = byte if isinstance(byte, int) else byte[0] if isinstance(byte, bytes) and len(byte) == 1 else -1
        if not 0 <= byte <= 255 or byte in out:
            raise Error(f"alphabet: one character of one byte for each token, none twice; found '{shown(c)}'")
        out.append(byte)
    return out


def checked_classes(classes: Optional[Sequence[str]]) -> Optional[list[str]]:
    """The name of each class, in the order of the labels."""
    if classes is None:
        return None
    if not isinstance(classes, (list, tuple)) or not 1 <= len(classes) <= MOST_CLASSES:
        found = f"{len(classes)} of them" if isinstance(classes, (list, tuple)) else shown(type(classes).__name__)
        raise Error(f"classes is a list of 1 to {MOST_CLASSES} names, found {found}")
    labels: dict[str, int] = {}
    for label, name in enumerate(classes):
        if not isinstance(name, str) or not name.isprintable() or not 1 <= len(name.encode()) <= MOST_CLASS_NAME:
            raise Error(f"classes[{label}]: a name is a text of 1 to {MOST_CLASS_NAME} bytes without control"
                        f" characters, found {shown(name) or 'an empty text'}")
        if name in labels:
            raise Error(f"classes[{label}]: '{shown(name)}' is the name of class {labels[name]} already")
        labels[name] = label
    return list(labels)


def rank_of(rank: Optional[int]) -> int:
    if rank is not None:
        return int(rank)
    text = os.environ.get("RANK", "0")
    if not re.fullmatch(r"\d{1,9}", text):
        raise Error(f"RANK={shown(text)}: a whole number from 0 is expected")
    return int(text)


def difference(old: Any, new: Any, where: str = "") -> str:
    """The first place where two JSON values differ, in words."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in [*old, *(k for k in new if k not in old)]:
            if old.get(key) != new.get(key):
                return difference(old.get(key), new.get(key), f"{where}.{key}".lstrip("."))
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        at = next((i for i in range(len(old)) if old[i] != new[i]), 0)
        return difference(old[at], new[at], f"{where}[{at}]")
    return f"{where} was {shown(old)}, is {shown(new)}"


def table_of(mapping: Optional[Mapped]) -> Optional[Table]:
    if mapping is None:
        return None
    return make_table(mapping, "mapping", "mapping") if isinstance(mapping, Mapping) else read_table(mapping)


def checked_step(step: Any, least: int, where: str) -> int:
    try:
        whole = int(step)
        ok = whole == step and not isinstance(step, bool)
    except (TypeError, ValueError, OverflowError):
        whole, ok = 0, False
    if not ok or not 0 <= whole < MOST_STEP:
        raise Error(f"{where}: a whole number from 0 is expected, found {shown(step)}")
    if whole < least:
        raise Error(f"{where}: step {whole} comes after step {least}" if where in ("log", "save")
                    else f"{where} = {whole}; allowed: from {least}")
    return whole


def checked_key(key: Any) -> str:
    if not isinstance(key, str) or not key.isprintable() or not 1 <= len(key.encode()) <= MOST_KEY:
        raise Error(
            f"log: the name of a value is a text of 1 to {MOST_KEY} bytes without control characters, found"
            f" {shown(key)}")
    if key in ("step", "timing"):
        raise Error(f"log: '{key}' is the run's own; choose another name")
    return key


def logged_value(key: str, value: Any) -> Union[float, int, Callable[[], float]]:
    """A number, or a function that waits for a device to say it."""
    if torch_side.is_tensor(value):
        value = value.detach()
        if value.numel() == 1 and value.device.type != "cpu":
            held = value.clone()
            return lambda: finite(float(held))
    try:
        if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            return int(value)
        return finite(float(value))
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise Error(
            f"log: {shown(key)} is a number or a tensor of one element, found {shown(type(value).__name__)}") from None


def finite(value: float) -> Optional[float]:
    return value if math.isfinite(value) else None
