"""Maps alone: what is inferred from shapes, what is refused, what is written."""
import json
import unittest

import numpy as np

import afterimage
from case import Case
from afterimage import maps, safetensors


def layer(w, **options):
    return maps.describe(maps.merged({"a": w}, options.pop("grid", None),
                         options.pop("gauge", None)), False)["layers"][0]


def zeros(*shape):
    return np.zeros(shape, np.float32)


class Layouts(Case):
    def test_inferred_from_the_shape(self):
        cases = [((16, 16), None, "full", [16]), ((2, 16, 16), None, "full", [16]), ((16, 16), (4, 4), "full", [4, 4]),
                 ((12, 12), (2, 2, 3), "full", [2, 2, 3]), ((2, 16, 5),
                  (4, 4), "band", [4, 4]), ((2, 16, 5), [16], "band", [16]),
                 ((2, 7), (16,), "kernel1d", [16]), ((2, 7, 7), (4, 4), "kernel2d", [4, 4]),
                 ((3, 3, 3), (4, 4, 3), "kernel2d", [4, 4, 3])]
        for shape, grid, layout, sizes in cases:
            with self.subTest(shape=shape, grid=grid):
                self.assertEqual(layer(zeros(*shape), grid=grid),
                                 {"name": "a", "layout": layout, "grid": sizes, "gauge": "row"})

    def test_layers_that_differ(self):
        found = maps.describe(maps.merged(
            {"a": zeros(16, 16), "b": maps.Map(zeros(1, 3), (9,), "none")}, (4, 4), "row"), True)
        self.assertEqual(found, {"causal": True, "layers": [
            {"name": "a", "layout": "full", "grid": [4, 4], "gauge": "row"},
            {"name": "b", "layout": "kernel1d", "grid": [9], "gauge": "none"}]})

    def test_refusals(self):
        cases = {"[2, 16, 4] does not fit the grid": (zeros(2, 16, 4), {"grid": (4, 4)}),
                 "needs a grid": (zeros(2, 7), {}),
                 "does not fit the grid [4, 4] of T = 16": (zeros(9, 9), {"grid": (4, 4)}),
                 "found [2, 0]": (zeros(4, 4), {"grid": [2, 0]}),
                 "(T,), (H, W)": (zeros(4, 4), {"grid": 4}), "found (1.5, 2)": (zeros(3, 3), {"grid": (1.5, 2)}),
                 "'column' is not known": (zeros(4, 4), {"gauge": "column"}),
                 "an array or a tensor": ([[1, 2], [3, 4]], {}),
                 "16384": (zeros(4, 4), {"grid": (70000,)}),
                 "needs [heads, T, s], s odd": (maps.Map(zeros(2, 16, 4), (16,), layout="band"), {}),
                 "did you mean 'kernel1d'": (maps.Map(zeros(2, 3), (16,), layout="kernel1"), {}),
                 "grid [H, W]": (maps.Map(zeros(2, 3, 3), (16,), layout="kernel2d"), {})}
        for words, (w, options) in cases.items():
            with self.subTest(words):
                self.fails(["biases['a']", words], layer, w, **options)
        for biases in ({}, [], 3):
            self.fails(["1 to 4096 layers"], maps.merged, biases, None, None)
        self.fails(["control characters"], maps.describe, maps.merged({"a\n": zeros(2, 2)}, None, None), False)
        self.fails(["control characters"], maps.describe, maps.merged({3: zeros(2, 2)}, None, None), False)
        many = {str(i): zeros(4096, 1, 1) for i in range(17)}
        self.fails(["at most 65536"], maps.describe, maps.merged(many, None, None), False)
        self.fails(["1 to 4096 layers"], maps.merged, {str(i): zeros(1, 1) for i in range(4097)}, None, None)


class Mixer:
    """As those of afterimage.nn: they turn what they hold into a map themselves."""

    def __init__(self, w, causal, layout=None):
        self.w, self.causal, self.layout = w, causal, layout

    def bias_map(self, grid):
        if self.w is None:
            raise afterimage.Error("Mixer has no position bias")
        return afterimage.Map(self.w, grid, "none", self.layout)


class Mixers(Case):
    def described(self, biases, grid=(16,), causal=False):
        return maps.describe(maps.merged(biases, grid, "row"), maps.causal_of(biases, causal))

    def test_they_say_their_map(self):
        taps = Mixer(zeros(2, 7), True, "kernel1d")
        found = self.described({"a": taps, "b": afterimage.Map(taps, (2, 8))})
        self.assertEqual(found, {"causal": True, "layers": [
            {"name": "a", "layout": "kernel1d", "grid": [16], "gauge": "none"},
            {"name": "b", "layout": "kernel1d", "grid": [2, 8], "gauge": "none"}]})
        found = self.described({"a": afterimage.Map(taps, gauge="row")})
        self.assertEqual(found["layers"][0]["gauge"], "row")
        self.assertFalse(self.described({"a": Mixer(zeros(16, 16), False, "full")})["causal"])
        self.assertTrue(self.described({"a": taps, "b": zeros(16, 16)}, causal=True)["causal"])

    def test_refusals(self):
        causal, other = Mixer(zeros(2, 7), True, "kernel1d"), Mixer(zeros(2, 7), False, "kernel1d")
        self.fails(["biases['b']", "not causal", "another folder"], self.described, {"a": causal, "b": other})
        self.fails(["biases['a']", "not causal"], self.described, {"a": other}, causal=True)
        self.fails(["biases['a']", "is causal", "causal=False"], self.described, {"a": causal, "b": zeros(16, 16)})
        self.fails(["biases['a']: Mixer has no position bias"], self.described, {"a": Mixer(None, True)})
        self.fails(["biases['a']", "layout 'band'", "kernel1d"], self.described,
                   {"a": afterimage.Map(causal, layout="band")})
        self.fails(["biases['a']: grid is (T,)"], self.described, {"a": causal}, grid=3)

    def test_what_watch_follows(self):
        mixer = Mixer(zeros(2, 7), True, "kernel1d")
        biases = {"a": mixer, "b": afterimage.Map(mixer, (16,))}
        self.assertIs(maps.followed(biases)(None), biases)
        self.assertIs(maps.followed(len), len)
        self.fails(["biases['b']", "a function of the model"], maps.followed, {"a": mixer, "b": zeros(2, 2)})
        self.fails(["a function of the model", "found list"], maps.followed, [mixer])


class Values(Case):
    def test_a_mask_is_kept(self):
        w = np.where(np.tril(np.ones((4, 4))) > 0, 1.0, -np.inf)
        with afterimage.Run(self.path) as run:
            run.save(0, biases={"a": w}, causal=True, wait=True)
        tensors, metadata = safetensors.read(self.path / "checkpoints" / "step-00000000.safetensors")
        np.testing.assert_array_equal(tensors["biases.0"], w.astype(np.float32))
        self.assertTrue(json.loads(metadata["afterimage"])["maps"]["causal"])
        self.assertAlmostEqual(self.lines()[0]["bias_norm.layer.0"], 10 ** 0.5)
        kept = safetensors.read(self.path / "history" / "step-00000000.safetensors")[0]["biases.0"]
        np.testing.assert_array_equal(kept, w)

    def test_refusals(self):
        with afterimage.Run(self.path) as run:
            cases = {"NaN": np.array([[np.nan]]), "+infinity": np.array([[np.inf]]),
                     "beyond float32": np.array([[1e300]]),
                     "complex": np.array([[1j]]), "bool": np.array([[True]])}
            for words, w in cases.items():
                with self.subTest(words):
                    self.fails(["biases['a']", words], run.save, 0, biases={"a": w})
            self.assertEqual(list((self.path / "checkpoints").iterdir()), [])
            self.assertNotIn("maps", json.loads((self.path / "config.json").read_text()))
            run.save(0, biases={"a": np.array([[3]]), "b": np.float16([[0.5]])}, wait=True)
        tensors, _ = safetensors.read(self.path / "checkpoints" / "step-00000000.safetensors")
        self.assertEqual([(w.dtype, float(w[0, 0])) for w in tensors.values()], [(np.float32, 3), (np.float32, 0.5)])

    def test_norms(self):
        """A band by hand: entries outside the sequence do not count."""
        band = np.ones((1, 4, 3), np.float32)
        self.assertAlmostEqual(maps.norm(band, {"layout": "band"}), 10 ** 0.5)
        self.assertAlmostEqual(maps.norm(band[:, :, 0], {"layout": "kernel1d"}), 2)


class Shapes(Case):
    """A run keeps the shape of every map."""

    def test_heads_that_change_are_refused(self):
        with afterimage.Run(self.path) as run:
            run.save(0, biases={"a": zeros(16, 16), "b": zeros(2, 16, 16)}, grid=(4, 4))
            self.fails(["biases['a']", "shape [2, 16, 16]", "expected [16, 16]"], run.save, 1,
                       biases={"a": zeros(2, 16, 16), "b": zeros(2, 16, 16)}, grid=(4, 4))
            self.fails(["biases['b']", "shape [3, 16, 16]", "expected [2, 16, 16]"], run.save, 1,
                       biases={"a": zeros(16, 16), "b": zeros(3, 16, 16)}, grid=(4, 4))
            self.assertTrue(run.save(1, biases={"a": zeros(16, 16), "b": zeros(2, 16, 16)}, grid=(4, 4), wait=True))
        self.assertEqual((run.failures, run.problem), (0, None))

    def test_bands_and_kernels(self):
        for name, before, after in (("band", (2, 16, 5), (2, 16, 7)), ("kernel2d", (2, 3, 3), (2, 5, 5))):
            with self.subTest(name), afterimage.Run(self.folder / name) as run:
                run.save(0, biases={"a": zeros(*before)}, grid=(4, 4))
                self.fails(["biases['a']", str(list(after)), f"expected {list(before)}"], run.save, 1,
                           biases={"a": zeros(*after)}, grid=(4, 4))

    def test_after_a_refused_first_save_any_shape_begins(self):
        with afterimage.Run(self.path) as run:
            self.fails(["NaN"], run.save, 0, biases={"a": np.full((2, 2), np.nan)})
            self.assertTrue(run.save(0, biases={"a": zeros(3, 2, 2)}, wait=True))

    def test_over_a_resumed_run(self):
        with afterimage.Run(self.path) as run:
            run.save(0, biases={"a": zeros(4, 4)})
        with afterimage.Run(self.path, resume=True) as run:
            self.fails(["shape [2, 4, 4]", "expected [4, 4]"], run.save, 1, biases={"a": zeros(2, 4, 4)})

    def test_watched_it_is_one_warning(self):
        """It does not end the training."""
        heads = iter([1, 1, 2, 2])
        with afterimage.Run(self.path) as run:
            run.save(0, biases={"a": zeros(next(heads), 4, 4)})
            save = lambda: run.writer.run(lambda: run.save(1, biases={"a": zeros(next(heads), 4, 4)}))  # noqa: E731
            self.assertEqual(len(self.warned(lambda: [save() for _ in range(3)])), 1)
        self.assertIn("biases['a']: shape [2, 4, 4]", run.problem)


if __name__ == "__main__":
    unittest.main()
