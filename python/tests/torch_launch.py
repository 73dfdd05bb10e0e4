"""The program started by PyTorch's own torchrun, through whose store the ranks find each other: the weights of its own
--nproc 2, bit for bit. Run by scripts/test_torch.sh."""
import os
import socket
import subprocess
import sys
import unittest
from pathlib import Path

import afterimage
from case import HANG_S, ProgramCase

TORCHRUN = Path(sys.executable).parent / "torchrun"
SETTINGS = ("model.layers=1", "model.dim=8", "model.factors=8", "model.height=8", "model.width=8", "model.levels=4",
            "train.batch=8", "train.validate_every=0", "train.checkpoint_every=0", "train.warmup=0", "train.steps=6")
TRAIN = ["--threads", "1", "train", "--preset", "demo-mirror", "--data", "mirror?size=8&levels=4",
         *(word for setting in SETTINGS for word in ("--set", setting))]


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def bits(value):
    return value.dtype, value.shape, value.tobytes()


def timeless(run):
    return [{key: value for key, value in line.items() if key != "timing"} for line in run.metrics]


class Torchrun(ProgramCase):
    def launch(self, *options):
        """torchrun starts two ranks of the program. -> what was printed"""
        env = {key: value for key, value in os.environ.items() if key not in ("RANK", "WORLD_SIZE", "MASTER_PORT")}
        command = [TORCHRUN, "--nproc-per-node", "2", *options, "--no-python", self.program, *TRAIN, "--out", self.path]
        done = subprocess.run(list(map(str, command)), cwd=self.folder, env=env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=HANG_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 ranks of", done.stderr)
        self.assertEqual(done.stdout.count("done at step 6"), 1, done.stdout)  # rank 0 alone prints

    def compare(self):
        alone = self.folder / "alone"
        self.run_program(*TRAIN, "--nproc", 2, "--out", alone)
        ours, theirs = afterimage.load(alone), afterimage.load(self.path)
        self.assertEqual((ours.step, theirs.step, set(ours.tensors)), (6, 6, set(theirs.tensors)))
        for name, value in ours.tensors.items():
            self.assertTrue(bits(theirs.tensors[name]) == bits(value), f"{name} differs")
        self.assertEqual(timeless(theirs), timeless(ours))

    def test_at_a_port(self):
        self.launch("--master-port", free_port())
        self.compare()

    def test_standalone(self):
        """The agent chooses the port."""
        self.launch("--standalone")
        self.compare()


if __name__ == "__main__":
    unittest.main()
