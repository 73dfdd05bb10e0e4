"""The names of the classes of a classifier: checked, written where the program writes its own, and shown by it."""
import json
import subprocess
import unittest

import numpy as np

import afterimage
from case import HANG_S, ROOT, Case, ProgramCase
from afterimage import pictures
from test_tables import rish16_state

OUR_NAMES = ROOT / "assets" / "imports" / "afterimage.json"
NAMES = ["cat", "a dog", "Käfer"]
MODEL = {"task": "classify", "mixer": "aft-simple", "height": 8, "width": 8, "channels": 1, "levels": 256, "patch": 4,
         "classes": 3}


def classifier(classes=3, dim=4, patches=4, pixels=16):
    rng = np.random.default_rng(0)
    linear = {"patch": (dim, pixels), "head": (classes, dim), "blocks.0.mlp.fc1": (4 * dim, dim),
              "blocks.0.mlp.fc2": (dim, 4 * dim), **{f"blocks.0.mixer.{name}": (dim, dim) for name in "qkvo"}}
    state = {f"{name}.weight": rng.standard_normal(shape).astype(np.float32) for name, shape in linear.items()}
    state.update({f"{name}.bias": np.zeros(shape[0], np.float32) for name, shape in linear.items()})
    for name in ("norm", "blocks.0.norm1", "blocks.0.norm2"):
        state.update({f"{name}.weight": np.ones(dim, np.float32), f"{name}.bias": np.zeros(dim, np.float32)})
    return {**state, "embed.position.weight": rng.standard_normal((patches, dim)).astype(np.float32)}


def known_of(path):
    return afterimage.load(path).description.get("data")


class Names(Case):
    def write(self, classes=None, path=None, step=0, **options):
        with afterimage.Run(path or self.path, {"model": MODEL}, classes=classes, **options) as run:
            return run.save(step, classifier(), mapping=OUR_NAMES, wait=True)

    def test_in_the_place_of_the_program_s(self):
        self.assertTrue(self.write(NAMES))
        self.assertEqual(known_of(self.path), {"classes": NAMES})
        self.write(path=self.folder / "none")
        self.assertIsNone(known_of(self.folder / "none"))

    def test_a_resumed_run_keeps_them(self):
        self.write(tuple(NAMES))
        self.write(step=1, resume=True)
        self.assertEqual(known_of(self.path), {"classes": NAMES})
        self.write(NAMES[::-1], step=2, resume=True)
        self.assertEqual(known_of(self.path), {"classes": NAMES[::-1]})

    def test_a_resumed_run_keeps_its_alphabet(self):
        for options in ({"alphabet": "ab"}, {"resume": True}):
            with afterimage.Run(self.path, **options) as run:
                run.save(len(options), rish16_state(), wait=True)
        self.assertEqual(known_of(self.path), {"alphabet": [97, 98]})

    def test_refusals(self):
        cases = {"1 to 65536 names, found str": "cat", "found dict": {"cat": 0}, "found 0 of them": [],
                 "found 65537 of them": [str(i) for i in range(65537)], "classes[1]": ["a", "b\n"],
                 "found an empty text": ["a", ""], "found 3": [3], "found None": ["a", None],
                 "1 to 200 bytes": ["ä" * 101], "'a' is the name of class 0 already": ["a", "b", "a"]}
        for words, classes in cases.items():
            with self.subTest(words):
                self.fails(["classes", words], afterimage.Run, self.path, classes=classes)
                self.assertFalse(self.path.exists())
        self.assertTrue(self.write(["ä" * 100, "b", "c"]))

    def test_as_many_as_the_model_has(self):
        for classes in (NAMES[:2], [*NAMES, "more"]):
            with afterimage.Run(self.path, {"model": MODEL}, classes=classes, resume=True) as run:
                self.fails([f"classes: {len(classes)} names, expected 3"], run.save, 0, classifier(),
                           mapping=OUR_NAMES)
            self.assertEqual(list((self.path / "checkpoints").iterdir()), [])

    def test_models_without_classes(self):
        with afterimage.Run(self.path, classes=NAMES) as run:
            self.fails(["classes: 3 names", "task layer", "classify"], run.save, 0, rish16_state())
            self.fails(["maps alone have no classes"], run.save, 0, biases={"a": np.zeros((2, 2))})
            self.assertEqual(list((self.path / "checkpoints").iterdir()), [])


class Shown(ProgramCase):
    def setUp(self):
        super().setUp()
        for name, level in zip(NAMES, (0, 90, 250)):
            (self.folder / "pictures" / name).mkdir(parents=True)
            for i in range(2):
                file = self.folder / "pictures" / name / f"{i}.png"
                file.write_bytes(pictures.encode(np.full((8, 8), level + i, np.uint8)))
        self.eval = ["eval", self.path, "--data", f"images:{self.folder / 'pictures'}?size=8&gray=1&holdout=0"]

    def write(self, classes):
        with afterimage.Run(self.path, {"model": MODEL}, classes=classes) as run:
            run.save(0, classifier(), mapping=OUR_NAMES)

    def test_inspect(self):
        self.write(NAMES)
        found = json.loads(self.run_program("inspect", self.path, "--json"))
        self.assertEqual((found["task"], found["classes"]), ("classify", NAMES))

    def test_eval(self):
        """The names of the model, in its order, though the folders are in another one."""
        self.write(NAMES)
        found = json.loads(self.run_program(*self.eval, "--classes", "by-name", "--json"))
        self.assertEqual([row["name"] for row in found["classes"]], NAMES)
        self.assertEqual([row["examples"] for row in found["classes"]], [2, 2, 2])
        done = subprocess.run([self.program, *map(str, self.eval)], capture_output=True, text=True, timeout=HANG_S)
        self.assertEqual(done.returncode, 2)
        self.assertIn("class 0 is 'Käfer' in the data, 'cat' in the model", done.stderr)

    def test_the_same_names(self):
        self.write(sorted(NAMES))
        found = json.loads(self.run_program(*self.eval, "--json"))
        self.assertEqual([row["name"] for row in found["classes"]], sorted(NAMES))


if __name__ == "__main__":
    unittest.main()
