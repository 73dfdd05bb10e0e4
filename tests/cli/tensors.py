"""Safetensors and PNG in plain Python, so that the program is checked against code that is not its own.

A tensor is (dtype, shape, flat list); dtypes F32, F64, I64.
"""
import json
import random
import struct
import zlib

CODES = {"F32": "f", "F64": "d", "I64": "q"}


def write(path, tensors, metadata=None):
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape, values) in tensors.items():
        piece = struct.pack(f"<{len(values)}{CODES[dtype]}", *values)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read(path):
    with open(path, "rb") as file:
        raw = file.read()
    length = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] not in CODES:
            continue
        begin, end = entry["data_offsets"]
        code = CODES[entry["dtype"]]
        piece = raw[8 + length + begin:8 + length + end]
        values = list(struct.unpack(f"<{len(piece) // struct.calcsize(code)}{code}", piece))
        tensors[name] = (entry["dtype"], entry["shape"], values)
    return tensors, header.get("__metadata__", {})


def normal(seed, shape, dtype="F64", scale=1.0):
    rng = random.Random(seed)
    count = 1
    for n in shape:
        count *= n
    return dtype, list(shape), [scale * rng.gauss(0, 1) for _ in range(count)]


def png(width, height, pixel):
    """8-bit RGB PNG; pixel(x, y) -> (r, g, b)."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + bytes(v for x in range(width) for v in pixel(x, y)) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def read_npy(path):
    """Shape and flat values of a little-endian C-order float32 file."""
    raw = open(path, "rb").read()
    assert raw[:6] == b"\x93NUMPY", "no NPY"
    length = struct.unpack("<H", raw[8:10])[0]
    header = eval(raw[10:10 + length].decode(), {"__builtins__": {}})  # a literal of our own writing
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    body = raw[10 + length:]
    return list(header["shape"]), list(struct.unpack(f"<{len(body) // 4}f", body))
