"""8-bit PNG files to arrays and back, for pictures that the program reads and writes."""
from __future__ import annotations

import struct
import zlib

import numpy as np

from .errors import Error

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # by colour type
MOST_PIXELS = 1 << 26


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def encode(picture: np.ndarray) -> bytes:
    """[H, W], [H, W, 1] or [H, W, 3] uint8 -> the bytes of a PNG file."""
    picture = np.asarray(picture)
    if picture.ndim == 3 and picture.shape[2] == 1:
        picture = picture[:, :, 0]
    if picture.dtype != np.uint8 or picture.ndim not in (2, 3) or (picture.ndim == 3 and picture.shape[2] != 3):
        raise Error(
            f"a picture is [H, W], [H, W, 1] or [H, W, 3] of uint8, found {list(picture.shape)} of {picture.dtype}")
    height, width = picture.shape[:2]
    rows = np.zeros((height, 1 + picture[0].size), np.uint8)
    rows[:, 1:] = picture.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2 if picture.ndim == 3 else 0, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b"")


def unfiltered(row: np.ndarray, above: np.ndarray, kind: int, step: int) -> np.ndarray:
    """One row of bytes by PNG's filter types 0 to 4."""
    if kind == 0:
        return row
    if kind == 2:
        return row + above
    out = np.zeros(len(row) + step, np.int64)  # `step` zeros before the row
    up = np.concatenate([np.zeros(step, np.int64), above])
    for i in range(step, len(out)):
        left, over, corner = out[i - step], up[i], up[i - step]
        if kind == 1:
            guess = left
        elif kind == 3:
            guess = (left + over) // 2
        else:
            p = left + over - corner
            guess = min((abs(p - left), 0, left), (abs(p - over), 1, over), (abs(p - corner), 2, corner))[2]
        out[i] = (row[i - step] + guess) & 255
    return out[step:].astype(np.uint8)


def decode(data: bytes, where: str) -> np.ndarray:
    """The bytes of an 8-bit PNG file without palette or interlacing -> [H, W] or [H, W, channels] uint8."""
    if not data.startswith(SIGNATURE):
        raise Error(f"{where}: not a PNG file")
    at, packed, head = len(SIGNATURE), b"", None
    while at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        head = body if kind == b"IHDR" else head
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    is_whole = head is not None and len(head) == 13
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", head) if is_whole else [0] * 7
    if depth != 8 or colour not in CHANNELS or interlaced or not 0 < width * height <= MOST_PIXELS:
        raise Error(f"{where}: an 8-bit PNG without palette or interlacing is expected")
    channels = CHANNELS[colour]
    raw = zlib.decompressobj().decompress(packed, height * (1 + width * channels))
    if len(raw) != height * (1 + width * channels):
        raise Error(f"{where}: the PNG file is cut off")
    rows = np.frombuffer(raw, np.uint8).reshape(height, -1)
    out = np.zeros((height + 1, width * channels), np.uint8)
    for y in range(height):
        out[y + 1] = unfiltered(rows[y, 1:], out[y], int(rows[y, 0]), channels)
    return out[1:].reshape((height, width) if channels == 1 else (height, width, channels))
