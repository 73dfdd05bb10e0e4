"""libafterimage_ops.so without PyTorch: the kernels against the definition in float64, and what is refused."""
import os
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

from afterimage import library
from case import Case, ProgramCase


def definition(shape, q, k, v, w):
    """y [B, T, d] in float64, target by target."""
    B, T, d = v.shape
    y = np.empty((B, T, d))
    for b in range(B):
        for t in range(T):
            logits = k[b].astype(float) + (0 if w is None else w[t][:, None])
            if shape.causal:
                logits[t + 1:] = -np.inf
            p = np.exp(logits - logits.max(0))
            y[b, t] = (p * v[b]).sum(0) / p.sum(0) / (1 + np.exp(-q[b, t].astype(float)))
    return y


class Kernels(ProgramCase):
    def setUp(self):
        super().setUp()
        self.lib = library.load_library()

    def call(self, kind, q, k, v, w, causal):
        B, T, d = v.shape
        shape = library.Shape(kind=kind, causal=causal, threads=1, batch=B, length=T, channels=d, window=T, heads=1)
        y = np.empty_like(v)
        at = lambda x: None if x is None else x.ctypes.data
        tensors = library.Tensors(q=at(q), k=at(k), v=at(v), w=at(w))
        self.assertEqual(library.problem(self.lib, shape), "")
        return shape, y, self.lib.aft_ops_forward(shape, tensors, y.ctypes.data, library.Kept())

    def test_values_are_the_definition(self):
        random = np.random.default_rng(0)
        q, k, v = (random.standard_normal((2, 37, 9)).astype(np.float32) for _ in range(3))
        w = random.standard_normal((37, 37)).astype(np.float32)
        for kind, bias in ((library.FULL, w), (library.SIMPLE, None)):
            for causal in (0, 1):
                shape, y, safe = self.call(kind, q, k, v, bias, causal)
                self.assertEqual(safe, 1)
                promised = 1e-5 * np.abs(v).max()  # by every operator in float32
                np.testing.assert_allclose(y, definition(shape, q, k, v, bias), rtol=0, atol=promised)

    def test_entries_that_float32_cannot_scale_are_told(self):
        q, v = (np.ones((1, 3, 2), np.float32) for _ in range(2))
        k = np.array([[[0, 0], [500, 0], [0, 0]]], np.float32)
        w = np.array([[0, 0, 0], [0, -900, 0], [0, 0, 0]], np.float32)
        _, y, safe = self.call(library.FULL, q, k, v, w, 0)
        self.assertIn(safe, (0, 1))
        if safe:
            self.assertTrue(np.isfinite(y).all())

    def test_wrong_shapes_are_words(self):
        good = dict(kind=library.FULL, threads=1, batch=1, length=2, channels=4, window=1, heads=1)
        for change, word in (({"kind": 9}, "kind"), ({"batch": 0}, "B, T and d"), ({"threads": 0}, "threads"),
                             ({"kind": library.LOCAL, "window": 0}, "window"), ({"factors": -1}, "factors"),
                             ({"kind": library.CONV1D, "heads": 3}, "heads"),
                             ({"kind": library.CONV1D, "window": 2}, "odd"),
                             ({"kind": library.CONV2D, "grid_height": 3, "grid_width": 3}, "grid")):
            shape = library.Shape(**{**good, **change})
            self.assertIn(word, library.problem(self.lib, shape))
            self.assertEqual(self.lib.aft_ops_forward(shape, library.Tensors(), None, library.Kept()), -1)

    def test_what_it_runs_on_has_a_name(self):
        self.assertIn(self.lib.aft_ops_instruction_set().decode(),
                      ("amx", "avx512_bf16", "avx512", "avx2", "portable"))


class Loading(Case):
    def load(self, path):
        named = {"AFTERIMAGE_OPS_LIBRARY": str(path)}
        with mock.patch.dict(os.environ, named), mock.patch.object(library, "_loaded", None):
            return library.load_library()

    def test_a_missing_library_says_how_it_is_built(self):
        self.fails(["/nowhere/x.so", "scripts/build.sh", "AFTERIMAGE_OPS_LIBRARY"], self.load, "/nowhere/x.so")

    def test_what_is_no_library_is_named(self):
        path = self.folder / "x.so"
        path.write_text("no library")
        self.fails([str(path)], self.load, path)

    def test_another_library_is_refused(self):
        path = next(Path("/lib").rglob("libm.so.6"), None)
        if path is None:
            self.skipTest("no libm.so.6 below /lib")
        self.fails(["aft_ops_version"], self.load, path)


if __name__ == "__main__":
    unittest.main()
