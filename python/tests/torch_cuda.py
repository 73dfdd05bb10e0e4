"""The package with PyTorch on a GPU: copies that leave it beside the training. Skipped where PyTorch sees none.

    python/tests/run.py torch_cuda
"""
import time
import unittest

import numpy as np
import torch

import afterimage
from case import Case
from afterimage.files import steps_in
from afterimage.torch_side import Copier

WHY_NOT = "" if torch.cuda.is_available() else "PyTorch sees no CUDA device"
EVERY = 50


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Copies(Case):
    def test_values_are_of_the_moment(self):
        """What is computed after a save, before its copy has left the device, is not in it."""
        w = torch.empty(4000, 4000, device="cuda")
        busy = torch.randn(4096, 4096, device="cuda")
        copier = Copier()
        for step in range(6):
            w.fill_(step)
            for _ in range(10):
                busy = busy @ busy * 1e-3
            copies = copier.copy({"w": w, "view": w[::2, 1:], "bf16": w.bfloat16(), "t": w.t()})
            w.fill_(-1)
            for name, value in copies.get().items():
                self.assertTrue((value == step).all(), f"{name} at step {step}")
        self.assertEqual(found_shape(copies, "view"), (2000, 3999))

    def test_another_stream(self):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            x = torch.randn(2048, 2048, device="cuda")
            for _ in range(20):
                x = torch.softmax(x @ x, -1)
            copies = Copier().copy({"x": x})
        np.testing.assert_array_equal(copies.get()["x"], x.cpu().numpy())

    def test_a_model_is_followed(self):
        torch.manual_seed(1)
        model = bias_model(2, 64, 32).cuda()
        optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
        seen = {}
        with afterimage.Run(self.path, keep=0, history=0) as run:
            run.watch(model, every=2, optimizer=optimizer, biases=lambda m: {"layer 0": m[0].w}, grid=(8, 8))
            for step in range(1, 8):
                train_step(model, optimizer)
                seen[step] = model[0].w.detach().clone()
                run.flush()
        for step in (2, 4, 6, 7):
            (written,) = [t for t in afterimage.load(self.path, step).tensors.values() if t.shape[-2:] == (64, 64)]
            np.testing.assert_array_equal(written.reshape(64, 64), seen[step].cpu().numpy())
        self.assertEqual((run.failures, run.dropped), (0, 0))


class Mixer(torch.nn.Module):
    """A learned mixing of tokens, as of one head."""

    def __init__(self, tokens, dim):
        super().__init__()
        self.w = torch.nn.Parameter(0.1 * torch.randn(tokens, tokens))
        self.mlp = torch.nn.Sequential(torch.nn.Linear(dim, 4 * dim), torch.nn.GELU(), torch.nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + torch.softmax(self.w, -1) @ x
        return x + self.mlp(x)


def bias_model(layers, tokens, dim):
    return torch.nn.Sequential(*(Mixer(tokens, dim) for _ in range(layers)))


def train_step(model, optimizer, batch=4):
    tokens, dim = model[0].w.shape[0], model[0].mlp[0].in_features
    x = torch.randn(batch, tokens, dim, device=model[0].w.device)
    loss = (model(x) - x.roll(1, 1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def found_shape(copies, name):
    return tuple(copies.get()[name].shape)


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Cost(Case):
    def compare(self, layers, dim, batch):
        """Seconds of EVERY steps, alone and watched, in turns."""
        model = bias_model(layers, 256, dim).cuda()
        optimizer = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)

        def steps(run=None):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for step in range(EVERY):
                train_step(model, optimizer, batch)
                if run is not None:
                    run.log(steps.done + step + 1, loss=1.0)
            torch.cuda.synchronize()
            if run is not None:
                steps.done += EVERY
            return time.perf_counter() - start
        steps.done = 0
        steps()
        alone, watched = [], []
        with afterimage.Run(self.path) as run:
            biases = {f"layer {i}": part.w for i, part in enumerate(model)}
            for _ in range(12):
                alone.append(steps())
                start = time.perf_counter()
                run.save(steps.done, biases=biases, grid=(16, 16))
                watched.append(time.perf_counter() - start + steps(run))
        return np.median(alone) / EVERY, np.median(np.array(watched) / np.array(alone))

    def test_biases(self):
        for layers, dim, batch in ((4, 256, 16), (12, 512, 32), (24, 512, 64)):
            self.path = self.folder / str(layers)
            alone, ratio = self.compare(layers, dim, batch)
            print(f"{layers} maps of 256 x 256 every {EVERY} steps of {1e3 * alone:.2f} ms: {100 * (ratio - 1):+.2f} %")
            self.assertEqual(steps_in(self.path / "checkpoints")[-1], 11 * EVERY)  # none was left out at the end


if __name__ == "__main__":
    unittest.main()
