"""Reads PNG and animated PNG in plain Python: every frame as a viewer composes it."""
import struct
import zlib
from dataclasses import dataclass


@dataclass
class Frame:
    rows: list  # bytes each, RGB
    seconds: float


def chunks(raw):
    assert raw[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at = 8
    while at < len(raw):
        size, = struct.unpack(">I", raw[at:at + 4])
        kind, body = raw[at + 4:at + 8], raw[at + 8:at + 8 + size]
        assert struct.unpack(">I", raw[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body), f"{kind}: checksum"
        yield kind, body
        at += 12 + size


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def unfiltered(kind, row, above, pixel):
    """One row of the filters of PNG, 0 to 4."""
    if kind == 0:
        return row
    if kind == 2:
        return bytes((x + b) & 255 for x, b in zip(row, above))
    out = bytearray(len(row))
    for i, x in enumerate(row):
        left = out[i - pixel] if i >= pixel else 0
        corner = above[i - pixel] if i >= pixel else 0
        added = left if kind == 1 else (left + above[i]) // 2 if kind == 3 else paeth(left, above[i], corner)
        out[i] = (x + added) & 255
    return bytes(out)


def rows_of(data, width, height, channels):
    raw, out, above = zlib.decompress(data), [], bytes(width * channels)
    assert len(raw) == height * (1 + width * channels), "rows are missing"
    for y in range(height):
        at = y * (1 + width * channels)
        above = unfiltered(raw[at], raw[at + 1:at + 1 + width * channels], above, channels)
        out.append(above)
    return out


def read(path):
    """The frames of an animated PNG, or the one of a plain one; alpha is left out."""
    frames, canvas, control, data, stated = [], None, None, b"", 1

    def draw():
        nonlocal canvas
        if not data:
            return
        w, h, x, y = struct.unpack(">4I", control[4:20])
        part = [bytes(v for i, v in enumerate(row) if i % 4 != 3) if channels == 4 else row
                for row in rows_of(data, w, h, channels)]
        canvas = [row if not y <= i < y + h else row[:3 * x] + part[i - y] + row[3 * (x + w):]
                  for i, row in enumerate(canvas)]
        pace = struct.unpack(">2H", control[20:24])
        frames.append(Frame(canvas, pace[0] / max(1, pace[1])))

    for kind, body in chunks(path.read_bytes()):
        if kind == b"IHDR":
            width, height, _, color = struct.unpack(">IIBB", body[:10])
            channels = {2: 3, 6: 4}[color]
            canvas = [bytes(3 * width)] * height
            control = struct.pack(">5I2H", 0, width, height, 0, 0, 1, 1)
        elif kind == b"acTL":
            stated, = struct.unpack(">I", body[:4])
        elif kind in (b"fcTL", b"IEND"):
            draw()
            control, data = body, b""
        elif kind in (b"IDAT", b"fdAT"):
            data += body[4 if kind == b"fdAT" else 0:]
    assert len(frames) == stated, f"{len(frames)} frames, stated are {stated}"
    return frames


def holds(whole, part):
    """Whether the second picture's rows stand somewhere in the first, pixel by pixel."""
    for top in range(len(whole) - len(part) + 1):
        at = whole[top].find(part[0])
        while at >= 0:
            if at % 3 == 0 and all(whole[top + y].startswith(row, at) for y, row in enumerate(part)):
                return True
            at = whole[top].find(part[0], at + 1)
    return False
