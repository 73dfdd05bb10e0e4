"""The reader and writer of safetensors: what is written comes back, and a hostile file is one clear error."""
import json
import random
import struct
import sys
import unittest

import numpy as np

from case import ROOT, Case
from afterimage import pictures, safetensors

sys.path.insert(0, str(ROOT / "tests" / "cli"))
import tensors as plain  # noqa: E402  the command line's own reader in plain Python


def file_of(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(shape, begin, end, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


class Safetensors(Case):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "x.safetensors"

    def write(self, body):
        self.file.write_bytes(body)
        return self.file

    def test_comes_back(self):
        values = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b.c": np.array(7, np.int64),
                  "d": np.zeros((0, 4), np.float64),
                  "e": np.array([True, False]), "f": np.arange(4, dtype=np.float16), "g": np.arange(3, dtype=">f4"),
                  "h": np.arange(12, dtype=np.float32).reshape(3, 4).T}
        safetensors.write(self.file, values, {"k": "v"})
        found, metadata = safetensors.read(self.file)
        self.assertEqual(metadata, {"k": "v"})
        self.assertEqual(set(found), set(values))
        for name, value in values.items():
            self.assertEqual(found[name].shape, value.shape)
            np.testing.assert_array_equal(found[name], value.astype(np.float32) if name == "f" else value)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["x.safetensors"])

    def test_another_reader_agrees(self):
        safetensors.write(self.file, {"w": np.arange(4, dtype=np.float32), "n": np.array([3, 4])}, {"k": "v"})
        found, metadata = plain.read(self.file)
        self.assertEqual(found, {"w": ("F32", [4], [0, 1, 2, 3]), "n": ("I64", [2], [3, 4])})
        self.assertEqual(metadata, {"k": "v"})
        plain.write(self.file, {"x": ("F64", [2], [1.5, -2.0])})
        np.testing.assert_array_equal(safetensors.read(self.file)[0]["x"], [1.5, -2.0])

    def test_bf16(self):
        bits = np.array([0x3F80, 0xC040, 0xFF80], "<u2")
        self.write(file_of({"w": entry([3], 0, 6, "BF16")}, bits.tobytes()))
        np.testing.assert_array_equal(safetensors.read(self.file)[0]["w"], np.array([1, -3, -np.inf], np.float32))

    def test_refusals(self):
        eight = bytes(8)
        cases = {"too short": b"abc", "claims": file_of({}, b"", 1 << 40), "not valid JSON": file_of(b"{]      "),
                 "must be an object": file_of([1]), "dtype, shape and data_offsets": file_of({"w": {"dtype": "F32"}}),
                 "dtype 'F99'": file_of({"w": entry([2], 0, 8, "F99")}, eight),
                 "16 sizes": file_of({"w": entry([-1], 0, 8)}, eight),
                 "two numbers": file_of({"w": entry([2], True, 8)}, eight),
                 "need 8": file_of({"w": entry([2], 0, 4)}, bytes(4)),
                 "expected 0": file_of({"w": entry([1], 4, 8)}, eight),
                 "the tensors cover 4 bytes": file_of({"w": entry([1], 0, 4)}, eight),
                 "claims 100": file_of(b"{}", b"", 100), "need 4722366482869645213696": file_of({"w": entry([2**35,
                                                                                                             2**35], 0,
                                                                                                             8)},
                                                                                                             eight),
                 "object of texts": file_of({"__metadata__": {"a": 1}}),
                 "other than 0 and 1": file_of({"w": entry([1], 0, 1, "BOOL")}, b"\2"),
                 "there twice": file_of(b'{"w":' + json.dumps(entry([1], 0, 4)).encode() + b',"w":' +
                                        json.dumps(entry([1], 0, 4)).encode() + b"}", bytes(4)),
                 "64 levels": file_of(b'{"w":' + b"[" * 100000 + b"]" * 100000 + b"}")}
        for words, body in cases.items():
            with self.subTest(words):
                self.fails(["x.safetensors", words], safetensors.read, self.write(body))
        self.fails(["gone", "no such file"], safetensors.read, self.folder / "gone")
        self.fails(["is a folder"], safetensors.read, self.folder)

    def test_random_bytes(self):
        chance = random.Random(1)
        safetensors.write(self.file, {"a": np.zeros(3, np.float32), "b": np.ones((2, 2))}, {"k": "v"})
        whole = bytearray(self.file.read_bytes())
        for _ in range(300):
            broken = whole[:chance.randrange(len(whole) + 1)]
            for _ in range(chance.randrange(4)):
                if broken:
                    broken[chance.randrange(len(broken))] = chance.randrange(256)
            try:
                safetensors.read(self.write(bytes(broken)))
            except safetensors.Error as error:
                self.assertIn("x.safetensors", str(error))

    def test_writer_refuses(self):
        self.fails(["'w'", "complex"], safetensors.write, self.file, {"w": np.zeros(2, complex)})
        self.fails(["'w'", "object"], safetensors.write, self.file, {"w": np.array([None])})
        (self.folder / "link").symlink_to(self.file)
        self.fails(["symbolic link"], safetensors.write, self.folder / "link", {})
        self.fails(["a folder"], safetensors.write, self.folder, {})
        self.assertFalse(self.file.exists())


class Pictures(Case):
    def test_comes_back(self):
        for shape in ((3, 5), (4, 2, 3)):
            picture = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
            np.testing.assert_array_equal(pictures.decode(pictures.encode(picture), "x.png"), picture)

    def test_filters(self):
        """Each of PNG's filters, undone as the format says it."""
        rng = np.random.default_rng(1)
        row, above = rng.integers(0, 256, 12, np.uint8), rng.integers(0, 256, 12, np.uint8)
        for kind in range(5):
            filtered = np.zeros(12, np.uint8)
            for i in range(12):
                left, up, corner = (int(row[i - 3]) if i >= 3 else 0), int(above[i]
                                    ), (int(above[i - 3]) if i >= 3 else 0)
                p = left + up - corner
                paeth = min((abs(p - v), n, v) for n, v in enumerate((left, up, corner)))[2]
                filtered[i] = (int(row[i]) - [0, left, up, (left + up) // 2, paeth][kind]) % 256
            np.testing.assert_array_equal(pictures.unfiltered(filtered, above, kind, 3), row)

    def test_refusals(self):
        self.fails(["x.png", "not a PNG"], pictures.decode, b"hello", "x.png")
        whole = pictures.encode(np.zeros((4, 4), np.uint8))
        self.fails(["x.png"], pictures.decode, whole[:20], "x.png")
        self.fails(["uint8"], pictures.encode, np.zeros((4, 4)))


if __name__ == "__main__":
    unittest.main()
