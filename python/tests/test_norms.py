"""Norms of the position biases: by hand, and as the program logs them of its own trainings."""
import json
import unittest

import numpy as np

import afterimage
from case import ROOT, Case, ProgramCase
from afterimage.norms import bias_norms

OUR_NAMES = ROOT / "assets" / "imports" / "afterimage.json"
RNG = np.random.default_rng(0)


def drawn(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def norm_of(settings, **parts):
    found = bias_norms({f"blocks.0.mixer.{name}": w for name, w in parts.items()}, settings)
    return found.get("bias_norm.layer.0")


def banded(w, window):
    t, j = np.ogrid[:len(w), :len(w)]
    return np.where(abs(t - j) < window, w.astype(float), 0)


class ByHand(Case):
    def test_matrix_and_band(self):
        for tokens in (5, 256, 700):
            w = drawn(tokens, tokens)
            self.assertAlmostEqual(norm_of({"mixer": "aft-full", "window": 2}, w=w), np.linalg.norm(w.astype(float)), 6)
            for window in (1, 2, 300, 1000):
                with self.subTest(tokens=tokens, window=window):
                    self.assertAlmostEqual(norm_of({"mixer": "aft-local", "window": window}, w=w),
                                           np.linalg.norm(banded(w, window)), 6)

    def test_factors(self):
        u, r = drawn(600, 3), drawn(600, 3)
        w = u.astype(float) @ r.T.astype(float)
        self.assertAlmostEqual(norm_of({"mixer": "aft-full"}, u=u, r=r), np.linalg.norm(w), 6)
        for window in (1, 40, 300, 900):
            with self.subTest(window=window):
                self.assertAlmostEqual(norm_of({"mixer": "aft-local", "window": window}, u=u, r=r),
                                       np.linalg.norm(banded(w, window)), 6)

    def test_kernels(self):
        """Eq. 8: (0, 1, 2) has the deviation 1 of a sample."""
        kernel, gamma, beta = np.array([[0, 1, 2]], np.float32), np.array([3], np.float32), np.array([1], np.float32)
        self.assertAlmostEqual(norm_of({}, kernel=kernel), 5 ** 0.5)
        self.assertAlmostEqual(norm_of({}, kernel=kernel, gamma=gamma, beta=beta), (4 + 1 + 16) ** 0.5, 4)
        self.assertAlmostEqual(norm_of({"kernel_gumbel_tau": 0.5}, kernel=kernel), 2)
        self.assertAlmostEqual(norm_of({}, kernel=kernel[:, :1], gamma=gamma, beta=beta), 1)  # one tap: no spread
        squared = np.arange(18, dtype=np.float32).reshape(2, 3, 3)
        self.assertAlmostEqual(norm_of({}, kernel=squared), np.linalg.norm(squared.astype(float)))

    def test_what_has_none(self):
        """Shapes that do not fit are for the program to refuse."""
        w = drawn(3, 5)
        for parts in ({}, {"w": w}, {"w": w[0]}, {"u": w}, {"u": w, "r": w[:2]}, {"kernel": w[0]},
                      {"kernel": w, "gamma": w[0], "beta": w[0]}, {"offsets": w}):
            self.assertIsNone(norm_of({"mixer": "aft-local", "window": "wide"}, **parts))
        self.assertEqual(bias_norms({"blocks.0.mixer.q.weight": w, "head.weight": w}, {}), {})


class AsTheProgram(ProgramCase):
    """Three steps of a small model: the program logs the norms of w as it stands before each update."""

    def train(self, settings):
        given = {"layers": 2, "dim": 8, "height": 8, "width": 8, "levels": 4, **settings}
        flags = [f"model.{key}={json.dumps(value).strip(chr(34))}" for key, value in given.items()]
        flags += ["train.batch=4", "train.validate_every=0", "train.checkpoint_every=1", "train.keep_checkpoints=0",
                  "train.warmup=0", "train.steps=3"]
        words = [word for flag in flags for word in ("--set", flag)]
        path = self.folder / "-".join(map(str, settings.values()))
        self.run_program("--threads", 1, "train", "--preset", "demo-mirror", "--data", "mirror?size=8&levels=4", *words,
                         "--out", path)
        return path

    def compare(self, settings):
        path = self.train(settings)
        logged = {line["step"]: line for line in afterimage.load(path).metrics}
        model = afterimage.load(path).config["model"]
        with afterimage.Run(self.folder / f"{path.name}-python", {"model": model}) as run:
            for step in (1, 2):
                state = {name: w for name, w in afterimage.load(path, step).tensors.items()
                         if not name.startswith(("optim.", "ema."))}
                run.save(step, state, mapping=OUR_NAMES, wait=True)
        self.assertEqual(run.problem, None)
        for layer in (0, 1):
            name = f"bias_norm.layer.{layer}"
            ours = afterimage.load(run.path).column(name)[1]
            theirs = [logged[step][name] for step in (1, 2)]
            self.assertGreater(min(theirs), 0)
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, err_msg=f"{settings} {name}")

    def test_every_layout(self):
        kernel = {"heads": 2, "window": 3}
        for settings in ({"mixer": "aft-full", "factors": 0}, {"mixer": "aft-full", "factors": 3},
                         {"mixer": "aft-local", "window": 5, "factors": 0},
                         {"mixer": "aft-local", "window": 5, "factors": 3},
                         {"mixer": "aft-local", "window": 64, "factors": 3},
                         {"mixer": "aft-conv1d", **kernel}, {"mixer": "aft-conv2d", **kernel},
                         {"mixer": "aft-conv2d", **kernel, "naive_kernel": True},
                         {"mixer": "aft-conv1d", **kernel, "kernel_gumbel_tau": 0.5}):
            with self.subTest(settings):
                self.compare(settings)


if __name__ == "__main__":
    unittest.main()
