"""The program reads what the package writes, and converts as the package does. Needs the program."""
import json
import os
import signal
import subprocess
import time
import unittest

import numpy as np

import afterimage
from case import ROOT, ProgramCase
from afterimage import safetensors, tables
from afterimage.convert import convert
from test_tables import VARIANT, rish16_state, variant_state

FIXTURES = ROOT / "tests" / "model" / "imports"


class Written(ProgramCase):
    def write(self):
        with afterimage.Run(self.path, {"name": "layer"}, steps=9) as run:
            for step in range(5):
                run.log(step, {"validation.loss": float("inf")}, loss=0.1 + step, lr=1e-3)
                run.save(step, self.state(step), wait=True)

    def state(self, step):
        state = rish16_state()
        return {**state, "wbias": state["wbias"] + step}

    def test_inspect(self):
        self.write()
        found = json.loads(self.run_program("inspect", self.path, "--json"))
        self.assertEqual((found["task"], found["parameters"]), ("layer", sum(w.size for w in self.state(0).values())))
        file = self.path / "checkpoints" / "step-00000003.safetensors"
        self.assertEqual(json.loads(self.run_program("inspect", file, "--json"))["parameters"], found["parameters"])

    def test_metrics(self):
        self.write()
        self.run_program("metrics", self.path, "-o", self.folder / "log.csv")
        rows = (self.folder / "log.csv").read_text().splitlines()
        self.assertIn("bias_norm.layer.0", rows[0])
        self.assertEqual([row.split(",")[0] for row in rows[1:]], ["0", "0", "1", "1", "2", "2", "3", "3", "4", "4"])
        loss = rows[0].split(",").index("loss")
        self.assertEqual(float([row.split(",")[loss] for row in rows[1:]][2]), 1.1)

    def test_probe(self):
        self.write()
        for model in (self.path, str(self.path), afterimage.load(self.path)):
            found = afterimage.probe(model, "bias", layer=0, threads=1)
            np.testing.assert_array_equal(np.squeeze(found), self.state(4)["wbias"])
        self.assertEqual((found.dtype, found.info["step"], found[0].info), (np.float32, 4, {}))
        self.assertTrue(found._repr_png_().startswith(b"\x89PNG"))
        self.assertIsNone((found + 1)._repr_png_())
        self.fails(["layer 7", "0 to 0"], afterimage.probe, self.path, "bias", layer=7)
        self.fails(["nothing"], afterimage.probe, self.path, "nothing")
        self.fails(["layer is a text"], afterimage.probe, self.path, "bias", layer=[0])
        self.fails(["gone"], afterimage.probe, self.folder / "gone", "bias")

    def test_the_program_keeps_away_from_a_run_that_is_written(self):
        with afterimage.Run(self.path) as run:
            run.save(0, rish16_state(), wait=True)
            done = subprocess.run([self.program, "train", "--resume", str(self.path)], capture_output=True, text=True)
            self.assertIn(done.returncode, (1, 2))
            self.assertTrue("in use" in done.stderr or "mixer alone" in done.stderr, done.stderr)

    def test_killed(self):
        code = ("import sys, numpy as np; sys.path.insert(0, sys.argv[2]); from test_tables import rish16_state;"
                " import afterimage\n"
                "run = afterimage.Run(sys.argv[1]); state = rish16_state()\n"
                "run.save(0, state, wait=True); print('going', flush=True)\n"
                "for step in range(1, 10**9): run.log(step, loss=1 / step); run.save(step, state)\n")
        process = self.python(code, self.path, os.path.dirname(__file__))
        self.assertEqual(process.stdout.readline(), "going\n")
        time.sleep(0.4)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertEqual(json.loads(self.run_program("inspect", self.path, "--json"))["task"], "layer")
        self.run_program("metrics", self.path, "-o", self.folder / "log.csv")

    def test_our_reader_reads_the_program_s_runs(self):
        self.run_program("--threads", 1, "train", "--preset", "demo-mirror", "--steps", 2, "--out", self.path)
        run = afterimage.load(self.path)
        self.assertEqual((run.step, run.steps, run.config["model"]["mixer"]), (2, [2], "aft-full"))
        self.assertEqual(run.column("loss")[0].tolist(), [1, 2])
        self.assertEqual(run.tensors["optim.steps"], 2)
        self.fails(["has been started"], afterimage.Run, self.path)
        answer = afterimage.complete(self.path, data="mirror?split=test", keep_rows=15, samples=2, seed=3, threads=1)
        self.assertEqual((answer.samples.shape, answer.samples.dtype,
                         answer.log_likelihoods.shape), ((2, 16, 16), np.uint8, (2,)))
        np.testing.assert_array_equal(answer.samples[0, :15], answer.samples[1, :15])
        self.assertTrue(answer._repr_png_().startswith(b"\x89PNG"))
        picture = answer.samples[0]
        mask = np.zeros((16, 16), bool)
        mask[15] = True
        again = afterimage.complete(self.path, image=picture, mask=mask, samples=1, threads=1)
        np.testing.assert_array_equal(again.samples[0, :15], picture[:15])
        self.fails(["keep-rows"], afterimage.complete, self.path, image=picture)


class SameConversions(ProgramCase):
    """Each fixture by the program and by the package: the same tensors and the same settings."""

    def their_names(self, fixture):
        """-> the state dict of a fixture, as the program exports it, and the importer."""
        model = self.folder / "model.safetensors"
        found = json.loads(self.run_program("import", fixture, "-o", model, "--json"))
        self.run_program("export", model, "--as", found["importer"], "-o", self.folder / "theirs.safetensors")
        return safetensors.read(self.folder / "theirs.safetensors")[0], found["importer"]

    def compare(self, state, given, options, table=None):
        """state by both: equal weights, and every setting of ours is the program's."""
        file, out = self.folder / "state.safetensors", self.folder / "out.safetensors"
        safetensors.write(file, state)
        self.run_program("import", file, "-o", out, *options)
        theirs, ours = afterimage.load(out), convert(state, given, table)
        self.assertEqual(set(ours.weights), set(theirs.tensors))
        for name, value in theirs.tensors.items():
            np.testing.assert_allclose(ours.weights[name], value, rtol=1e-7, atol=0, err_msg=name)
        for key, value in ours.settings.items():
            self.assertEqual(value, theirs.config["model"][key], key)
            self.assertEqual(type(value) is bool, type(theirs.config["model"][key]) is bool, key)

    def test_fixtures(self):
        tried = set()
        for fixture in sorted(FIXTURES.glob("*.pt")):
            if fixture.stem.startswith(("pos-bias-uv-local", "rish16-local", "hf-vit")):
                continue  # -local: the same names, distinguished by what is given; hf-vit: is not exported
            with self.subTest(fixture.name):
                state, name = self.their_names(fixture)
                self.compare(state, {}, [])
                tried.add(name)
        self.assertLessEqual({"labml", "labml-layer", "timm", "rish16", "xmu", "pos-bias-uv"}, tried)

    def test_given_settings(self):
        state = {f"state_dict.module.{name}": value for name, value in rish16_state().items()}
        self.compare(state, {"model.window": 2}, ["--window", "2"])
        with afterimage.Run(self.path, {"model": {"window": 2}}) as run:
            run.save(0, state, wait=True)
        found = json.loads(self.run_program("inspect", self.path, "--json"))
        self.assertEqual(found["config"]["model"]["window"], 2)

    def test_a_mapping_file(self):
        mapping = {**VARIANT, "settings": {**VARIANT["settings"], "model.query_gate": True}}
        file = self.folder / "variant.json"
        file.write_text(json.dumps(mapping))
        self.compare(variant_state(dim=4), {}, ["--map", file], tables.read_table(file))
        file.write_text(json.dumps({**VARIANT, "settings": {**VARIANT["settings"], "model.qkv_bias": True},
                                    "fill": {"blocks.{i}.mixer.{p}.bias": 0.25}}))
        self.compare(variant_state(dim=4), {}, ["--map", file], tables.read_table(file))

    def test_a_model_that_the_program_cannot_open_is_refused_at_once(self):
        with afterimage.Run(self.path) as run:
            wrong = variant_state()
            name = next(key for key, value in wrong.items() if value.ndim == 2 and value.shape[0] == value.shape[1])
            wrong[name] = np.zeros((3, 5), np.float32)
            self.fails(["shape"], run.save, 0, wrong, mapping=VARIANT)
            self.assertFalse((self.path / "checkpoints").exists() and any((self.path / "checkpoints").iterdir()))
            self.assertTrue(run.save(0, variant_state(), mapping=VARIANT, wait=True))


class Data(ProgramCase):
    """What the model sees, as config["data"] says it."""

    def test_a_setting_that_is_none_is_refused_at_once(self):
        with afterimage.Run(self.path, {"data": {"sorce": "mirror"}}) as run:
            self.fails(["sorce"], run.save, 0, variant_state(), mapping=VARIANT)

    def test_the_program_has_it(self):
        source = f"images:{self.folder / 'my pictures'}?size=32"
        with afterimage.Run(self.path, {"data": {"source": source}}) as run:
            run.save(0, variant_state(), mapping=VARIANT)
        self.assertEqual(json.loads(self.run_program("inspect", self.path, "--json"))["config"]["data"]["source"],
                         source)


if __name__ == "__main__":
    unittest.main()
