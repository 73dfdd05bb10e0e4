"""The program opens the maps that the package writes. Needs a program that knows maps alone (docs/format.md)."""
import json
import unittest

import numpy as np

import afterimage
from case import ProgramCase


class Maps(ProgramCase):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(0)
        self.full = rng.standard_normal((2, 16, 16)).astype(np.float32)
        self.band = rng.standard_normal((1, 16, 5)).astype(np.float32)
        self.kernel = rng.standard_normal((3, 3, 3)).astype(np.float32)
        self.taps = rng.standard_normal((2, 7)).astype(np.float32)
        with afterimage.Run(self.path, {"name": "maps"}, steps=4) as run:
            for step in range(4):
                run.log(step, loss=1 / (1 + step))
                run.save(step, biases={"full": self.full + step, "band": self.band, "kernel": self.kernel,
                                       "taps": afterimage.Map(self.taps, (16,), "none")}, grid=(4, 4), wait=True)

    def test_inspect(self):
        found = json.loads(self.run_program("inspect", self.path, "--json"))
        self.assertEqual(found["task"], "maps")
        self.assertEqual(len({row["layer"] for row in found["bias"]}), 4)

    def test_metrics(self):
        self.run_program("metrics", self.path, "-o", self.folder / "log.csv")
        self.assertIn("bias_norm.layer.3", (self.folder / "log.csv").read_text().splitlines()[0])

    def test_full(self):
        np.testing.assert_array_equal(afterimage.probe(self.path, "bias", layer=0), self.full + 3)

    def test_band(self):
        """Entry o of target t is source t - 2 + o; pairs that the band does not reach have w = 0."""
        expected = np.zeros((16, 16), np.float32)
        for t in range(16):
            for o in range(5):
                if 0 <= t - 2 + o < 16:
                    expected[t, t - 2 + o] = self.band[0, t, o]
        np.testing.assert_array_equal(np.squeeze(afterimage.probe(self.path, "bias", layer=1)), expected)

    def test_kernels(self):
        found = afterimage.probe(self.path, "bias", layer=2)
        self.assertEqual(found.shape, (3, 16, 16))
        self.assertEqual(found[1, 5, 5], self.kernel[1, 1, 1])
        self.assertEqual(found[1, 5, 10], self.kernel[1, 2, 2])  # a row down, a column to the right
        found = afterimage.probe(self.path, "bias", layer=3)
        self.assertEqual(found[1, 8, 6], self.taps[1, 1])  # offset -2 of -3 to 3

    def test_a_mask(self):
        w = np.where(np.tril(np.ones((16, 16))) > 0, self.full[0], -np.inf)
        with afterimage.Run(self.folder / "mask") as run:
            run.save(0, biases={"a": w}, causal=True, wait=True)
        found = np.squeeze(afterimage.probe(self.folder / "mask", "bias", layer=0, visible="nan"))
        np.testing.assert_array_equal(np.isnan(found), np.triu(np.ones((16, 16)), 1) > 0)

    def test_what_maps_lack(self):
        self.fails(["complete"], afterimage.complete, self.path, prompt="a")


if __name__ == "__main__":
    unittest.main()
