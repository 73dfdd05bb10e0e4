"""The examples of python/examples, a few steps of each, and what the program then has of their runs. Run by
scripts/test_torch.sh; those with timm need timm."""
import importlib.util
import json
import os
import subprocess
import sys
import unittest

import numpy as np
import torch

import afterimage
from afterimage import library, safetensors
from case import HANG_S, PACKAGE, ProgramCase

EXAMPLES = PACKAGE / "examples"
HAS_TIMM = importlib.util.find_spec("timm") is not None
try:
    library.load_library()
    WHY_NOT = ""
except afterimage.Error as error:
    WHY_NOT = str(error)


class ExampleCase(ProgramCase):
    def run_example(self, name, *arguments):
        env = {**os.environ, "PYTHONPATH": str(PACKAGE), "OMP_NUM_THREADS": "1"}
        done = subprocess.run([sys.executable, EXAMPLES / name, "--run", self.path, *map(str, arguments)], env=env,
                              cwd=self.folder, capture_output=True, text=True, timeout=HANG_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("afterimage:", done.stderr)


class Plain(ExampleCase):
    def test_relative_bias(self):
        self.run_example("relative_bias.py", "--steps", 20)
        self.assertEqual(afterimage.probe(self.path, "bias", layer=1).shape, (2, 64, 64))


@unittest.skipUnless(HAS_TIMM, "timm is not installed")
class WithTimm(ExampleCase):
    """Attention and keys are those of the pictures that the example has drawn."""

    def data(self):
        source = json.loads(self.run_program("inspect", self.path, "--json"))["config"]["data"]["source"]
        self.assertTrue(source.startswith(f"images:{self.path}-pictures"), source)
        return source

    def test_timm_vit(self):
        self.run_example("timm_vit.py", "--steps", 3)
        attention = afterimage.probe(self.path, "attention", layer=1, position=5, data=self.data(), index=0)
        self.assertEqual(attention.shape, (2, 65))

    @unittest.skipIf(WHY_NOT, WHY_NOT)
    def test_timm_aft_vit(self):
        self.run_example("timm_aft_vit.py", "--steps", 3)
        data = self.data()
        self.assertEqual(afterimage.probe(self.path, "keys", layer=1, data=data, index=0).shape, (4, 64))
        tensors = afterimage.load(self.path).tensors
        for layer in range(2):
            w = afterimage.probe(self.path, "kernel", layer=layer)
            mixer = afterimage.nn.AFTConv(128, 4, 7, grid=(8, 8))
            mixer.load_state_dict({name.split(".mixer.")[1]: torch.from_numpy(value)
                                   for name, value in tensors.items() if f"blocks.{layer}.mixer." in name})
            np.testing.assert_allclose(w, mixer.weight().detach().numpy(), atol=1e-6)
            self.assertEqual(afterimage.probe(self.path, "bias", layer=layer).shape, (4, 64, 64))

    @unittest.skipIf(WHY_NOT, WHY_NOT)
    def test_its_logits_are_the_program_s(self):
        sys.path.insert(0, str(EXAMPLES))
        self.addCleanup(sys.path.remove, str(EXAMPLES))
        import squares
        import timm_aft_vit
        torch.manual_seed(0)
        model = timm_aft_vit.make_model(depth=2, heads=4, window=5)
        with torch.no_grad():
            for value in model.parameters():
                value.add_(0.05 * torch.randn_like(value))
        with afterimage.Run(self.path) as run:
            run.save(0, model, mapping=timm_aft_vit.MAPPING)
        pictures = squares.normalised(squares.draw(3, torch.Generator().manual_seed(1))[0])
        given, out = self.folder / "in.safetensors", self.folder / "out.safetensors"
        safetensors.write(given, {"image": pictures.numpy()}, {})
        self.run_program("run", self.path, given, out)
        with torch.no_grad():
            expected = model(pictures).numpy()
        # 2 blocks of 64 sources and maps of 128 and 512: 2,800 terms in a row, sqrt(2800) u = 3e-6 a side for
        # roundings of random sign, which is half of the limit for both.
        limit = 1.2e-5 * np.abs(expected).max()
        np.testing.assert_allclose(safetensors.read(out)[0]["logits"], expected, rtol=0, atol=limit)


if __name__ == "__main__":
    unittest.main()
