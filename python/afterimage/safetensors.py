"""Reads and writes safetensors files (github.com/huggingface/safetensors): u64 length of the header, JSON header,
bytes of the tensors. Strict: header, offsets and sizes are checked before a byte is used. NumPy alone."""
from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any, Callable, Mapping

import numpy as np

from .errors import Error, shown
from .files import write_atomically

MOST_HEADER_BYTES = 100 << 20
MOST_JSON_LEVELS = 64
DTYPES: dict[str, str] = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4",
                          "I16": "<i2",
                          "I8": "|i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1"}
NAMES = {np.dtype(code): name for name, code in DTYPES.items() if name != "BF16"}


def no_repeats(where: str) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    """For json.loads: an object in which no key is there twice."""
    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise Error(f"{where}: key '{shown(twice)}' is there twice in one object")
        return out
    return build


def depth_of(text: str) -> int:
    """Levels of brackets outside strings, before anything is parsed."""
    depth = most = 0
    inside = escaped = False
    for c in text:
        if inside:
            inside, escaped = escaped or c != '"', c == "\\" and not escaped
        elif c == '"':
            inside = True
        elif c in "[{":
            depth += 1
            most = max(most, depth)
        elif c in "]}":
            depth -= 1
    return most


def parse_json(text: str | bytes, where: str) -> Any:
    """JSON of at most 64 levels in which no key is there twice. Raises Error, naming `where`."""
    try:
        text = text.decode("utf-8") if isinstance(text, bytes) else text
        if text.count("{") + text.count("[") > MOST_JSON_LEVELS and depth_of(text) > MOST_JSON_LEVELS:
            raise Error(f"{where}: nested too deep; allowed: {MOST_JSON_LEVELS} levels of JSON")
        return json.loads(text, object_pairs_hook=no_repeats(where))
    except (ValueError, RecursionError) as error:
        raise Error(f"{where}: not valid JSON: {shown(error)}") from None


def is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def checked_entry(name: str, entry: Any, path: str) -> tuple[str, tuple[int, ...], int, int]:
    """-> dtype, shape, first byte, byte after the last."""
    where = f"{path}: tensor '{shown(name)}'"
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise Error(f"{where} needs dtype, shape and data_offsets, and nothing else")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise Error(f"{where}: dtype '{shown(dtype)}' is not supported; allowed: {', '.join(DTYPES)}")
    if not isinstance(shape, list) or len(shape) > 16 or not all(map(is_count, shape)):
        raise Error(f"{where}: its shape is a list of at most 16 sizes, found {shown(shape)}")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(is_count, offsets)):
        raise Error(f"{where}: data_offsets are two numbers, found {shown(offsets)}")
    needed = np.dtype(DTYPES[dtype]).itemsize
    for size in shape:
        needed *= size
    if offsets[1] - offsets[0] != needed:
        raise Error(f"{where} has {offsets[1] - offsets[0]} bytes, its shape and dtype {dtype} need {needed}")
    return dtype, tuple(shape), offsets[0], offsets[1]


def read_header(file, path: str) -> tuple[dict[str, tuple[str, tuple[int, ...], int, int]], dict[str, str], int]:
    """-> entries in the order of their bytes, metadata, where the bytes begin. Checked against the file's size."""
    total = os.fstat(file.fileno()).st_size
    if total <= 8:
        raise Error(f"{path}: too short for a safetensors file")
    length = struct.unpack("<Q", file.read(8))[0]
    most = min(MOST_HEADER_BYTES, total - 8)
    if length > most:
        raise Error(f"{path}: the safetensors header claims {length} bytes, at most {most} are possible"
                    " (file cut off, or not safetensors)")
    header = parse_json(file.read(length), path)
    if not isinstance(header, dict):
        raise Error(f"{path}: the safetensors header must be an object")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise Error(f"{path}: __metadata__ must be an object of texts")
    entries = {name: checked_entry(name, entry, path) for name, entry in header.items()}
    entries = dict(sorted(entries.items(), key=lambda item: (item[1][2:], item[0])))
    at = 0
    for name, (_, _, begin, end) in entries.items():
        if begin != at:
            raise Error(f"{path}: tensor '{shown(name)}' begins at byte {begin}, expected {at}")
        at = end
    if at != total - 8 - length:
        raise Error(f"{path}: the tensors cover {at} bytes, but {total - 8 - length} follow the header")
    return entries, metadata, 8 + length


def shapes(path: str | os.PathLike[str]) -> dict[str, list[int]]:
    """Shapes by name of a safetensors file; its values are not read. Raises Error as read()."""
    try:
        with open(path, "rb") as file:
            return {name: list(entry[1]) for name, entry in read_header(file, str(path))[0].items()}
    except OSError as error:
        raise Error(f"{path}: {error.strerror}") from None


def metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """The texts of a safetensors file; its values are not read. Raises Error as read()."""
    try:
        with open(path, "rb") as file:
            return read_header(file, str(path))[1]
    except OSError as error:
        raise Error(f"{path}: {error.strerror}") from None


def widened(bits: np.ndarray) -> np.ndarray:
    """bfloat16, given as its bits -> float32"""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Tensors by name, and the metadata, of a safetensors file.

    F16 and BF16 come as float32, all others in their dtype. Raises Error (with the path) where the file is missing, cut
    off or anything else than safetensors.
    """
    where = str(path)
    if not Path(path).is_file():
        raise Error(f"{where}: {'is a folder, expected a file' if Path(path).is_dir() else 'no such file'}")
    try:
        with open(path, "rb") as file:
            entries, metadata, _ = read_header(file, where)
            tensors = {}
            for name, (dtype, shape, begin, end) in entries.items():
                raw = file.read(end - begin)
                if len(raw) != end - begin:
                    raise Error(f"{where}: the file ended early")
                if dtype == "BOOL" and max(raw, default=0) > 1:
                    raise Error(f"{where}: tensor '{shown(name)}' is BOOL but holds bytes other than 0 and 1")
                value = np.frombuffer(raw, DTYPES[dtype]).reshape(shape)
                value = widened(value) if dtype == "BF16" else value
                tensors[name] = value.astype(np.float32) if dtype == "F16" else value.copy()
    except OSError as error:
        raise Error(f"{where}: {error.strerror}") from None
    return tensors, metadata


def write(path: str | os.PathLike[str], tensors: Mapping[str, np.ndarray],
          metadata: Mapping[str, str] | None = None) -> None:
    """Writes `tensors` (any shape; the dtypes that `read` knows, but BF16) atomically: a temporary file beside it,
    flushed, renamed. Raises Error on another dtype, and as write_atomically()."""
    parts = []
    for name, value in tensors.items():
        value = np.asarray(value)
        value = np.ascontiguousarray(value).reshape(value.shape)
        little = value.dtype.newbyteorder("<") if value.dtype.byteorder == ">" else value.dtype
        if np.dtype(little) not in NAMES or name == "__metadata__":
            raise Error(f"{path}: tensor '{shown(name)}' of dtype {value.dtype} cannot be stored")
        parts.append((name, value.astype(little, copy=False)))
    parts.sort(key=lambda part: (-part[1].dtype.itemsize, part[0]))
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    at = 0
    for name, value in parts:
        header[name] = {"dtype": NAMES[value.dtype], "shape": list(value.shape),
                        "data_offsets": [at, at + value.nbytes]}
        at += value.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    write_atomically(path, [struct.pack("<Q", len(text)), text, *(value.data for _, value in parts)])
