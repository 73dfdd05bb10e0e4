"""The package with PyTorch: copies of tensors, hooks, recognised models. Run by scripts/test_torch.sh."""
import importlib.util
import os
import sys
import time
import unittest

import numpy as np
import torch

import afterimage
from case import PACKAGE, ROOT, Case
from afterimage.files import steps_in
from afterimage.torch_side import Copier, state_of

FIXTURES = ROOT / "tests" / "model" / "imports"
HAS_TIMM = importlib.util.find_spec("timm") is not None
torch.set_num_threads(1)


def module_of(state):
    """A module with this state dict."""
    out = torch.nn.Module()
    for name, value in state.items():
        *path, last = name.split(".")
        inner = out
        for piece in path:
            if piece not in dict(inner.named_children()):
                inner.add_module(piece, torch.nn.Module())
            inner = inner.get_submodule(piece)
        inner.register_parameter(last, torch.nn.Parameter(value.clone(), requires_grad=value.is_floating_point()))
    return out


class Layer(torch.nn.Module):
    """aft-pytorch's AFTSimple and AFTFull, their names alone."""

    def __init__(self, dim=8, hidden=6, tokens=5):
        super().__init__()
        self.to_q, self.to_k, self.to_v = (torch.nn.Linear(dim, hidden) for _ in range(3))
        self.project = torch.nn.Linear(hidden, dim)
        self.wbias = torch.nn.Parameter(0.1 * torch.randn(tokens, tokens))

    def forward(self, x):
        k, v = torch.exp(self.to_k(x)), self.to_v(x)
        w = torch.exp(self.wbias)
        return self.project(torch.sigmoid(self.to_q(x)) * (w @ (k * v)) / (w @ k))


def train(model, optimizer, steps, after=lambda *_: None):
    for step in range(steps):
        x = torch.randn(4, 5, 8)
        loss = (model(x) - x.roll(1, 1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        after(step + 1, loss)


class Copies(Case):
    def test_dtypes_and_views(self):
        w = torch.arange(6.0).reshape(2, 3)
        values = {"bf16": w.bfloat16(), "half": w.half(), "double": w.double(), "t": w.t(),
                  "leaf": w.clone().requires_grad_(),
                  "bool": w > 2, "long": w.long(), "numpy": w.numpy(), "scalar": torch.tensor(3)}
        copies = Copier().copy(values)
        w[:] = -1
        found = copies.get()
        self.assertTrue(copies.are_here())
        for name, value in found.items():
            expected = np.arange(6.0).reshape(2, 3)
            expected = {"t": expected.T, "bool": expected > 2, "scalar": 3}.get(name, expected)
            np.testing.assert_array_equal(value.astype(float), np.asarray(expected, float), err_msg=name)

    def test_odd_tensors(self):
        for value in (torch.eye(2).to_sparse(), torch.empty(2, device="meta")):
            self.fails(["'w'", "dense"], Copier().copy, {"w": value})

    def test_state(self):
        compiled = {"_orig_mod.a.weight": torch.ones(1), "_orig_mod.n": 3}
        self.assertEqual(list(state_of(compiled)), ["a.weight"])
        self.assertEqual(list(state_of({"model": {"w": torch.ones(1)}, "epoch": 3})), ["model.w"])


class Heads(Case):
    """No state dict says how many there are; modules do."""

    def vit(self, width=192, layers=2):
        random = lambda *size: torch.randn(size, generator=torch.Generator().manual_seed(1))  # noqa: E731
        state = {"cls_token": random(1, 1, width), "pos_embed": random(1, 5, width),
                 "patch_embed.proj.weight": random(width, 3, 4, 4), "patch_embed.proj.bias": random(width),
                 "norm.weight": random(width), "norm.bias": random(width), "head.weight": random(3, width),
                 "head.bias": random(3)}
        for i in range(layers):
            for name, size in (("attn.qkv", (3 * width, width)), ("attn.proj", (width, width)), ("norm1", (width,)),
                               ("norm2", (width,)), ("mlp.fc1", (2 * width, width)), ("mlp.fc2", (width, 2 * width))):
                state[f"blocks.{i}.{name}.weight"], state[f"blocks.{i}.{name}.bias"] = random(*size), random(size[0])
        model = module_of(state)
        for block in model.blocks.children():
            block.attn.num_heads = 6
        return model

    def saved(self, name, model, model_settings=None):
        config = {"model": model_settings} if model_settings else None
        with afterimage.Run(self.folder / name, config) as run:
            run.watch(model) if isinstance(model, torch.nn.Module) else run.save(0, model)
            run.save(1, model, wait=True)
        return afterimage.load(self.folder / name).config["model"]["heads"]

    def test_of_the_module(self):
        model = self.vit()
        self.assertEqual(self.warned(lambda: self.assertEqual(self.saved("a", model), 6)), [])
        self.assertEqual(self.saved("compiled", torch.compile(model)), 6)
        self.assertEqual(self.saved("given", model, {"heads": 4}), 4)
        self.assertEqual(self.saved("narrow", self.vit(96)), 6)
        for block in model.blocks.children():
            del block.attn.num_heads
            block.attn.num_attention_heads = 12
        self.assertEqual(self.saved("hugging face", model), 12)

    def test_of_a_state_dict(self):
        state = self.vit().state_dict()
        found = self.warned(lambda: self.assertEqual(self.saved("a", state), 3))
        self.assertEqual(len(found), 1, found)
        self.assertIn('config={"model": {"heads": N}}', found[0])
        self.assertEqual(self.warned(lambda: self.assertEqual(self.saved("b", state, {"heads": 6}), 6)), [])
        self.fails(["'dim / 64' is 1.5", "not in a state dict", 'config={"model": {"heads": N}}'], self.saved, "c",
                   self.vit(96).state_dict())

    def test_modules_that_differ(self):
        model = self.vit()
        model.blocks.get_submodule("0").attn.num_heads = 2
        found = self.warned(lambda: self.assertEqual(self.saved("a", model), 3))
        self.assertEqual(len(found), 1, found)
        self.assertIn("different numbers of heads (2, 6)", found[0])

    def test_a_state_dict_after_the_module(self):
        model = self.vit()

        def save():
            with afterimage.Run(self.path) as run:
                run.save(0, model)
                run.save(1, model.state_dict(), wait=True)
            with afterimage.Run(self.path, resume=True) as run:
                run.save(2, model.state_dict(), wait=True)
        self.assertEqual(self.warned(save), [])
        self.assertEqual(afterimage.load(self.path, 2).config["model"]["heads"], 6)

    @unittest.skipUnless(HAS_TIMM, "timm is not installed")
    def test_timm(self):
        import timm
        model = timm.create_model("vit_tiny_patch16_224", num_heads=6, depth=1, img_size=32, num_classes=3)
        self.assertEqual(self.warned(lambda: self.assertEqual(self.saved("a", model), 6)), [])


class Watching(Case):
    def test_by_optimizer(self):
        model = Layer()
        optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
        seen = {0: model.wbias.detach().clone()}
        with afterimage.Run(self.path, keep=0, history=0) as run:
            run.watch(model, every=3, optimizer=optimizer)

            def after(step, loss):
                run.log(step, loss=loss, lr=optimizer.param_groups[0]["lr"])
                seen[step] = model.wbias.detach().clone()
                run.flush()
            train(model, optimizer, 10, after)
        steps = steps_in(self.path / "checkpoints")
        self.assertEqual(steps, [0, 3, 6, 9, 10])
        for step in steps:
            written = afterimage.load(self.path, step).tensors["blocks.0.mixer.w"]
            np.testing.assert_array_equal(written, seen[step].numpy())
        self.assertEqual((run.failures, run.dropped), (0, 0))
        self.assertEqual(len(afterimage.load(self.path).column("loss")[0]), 10)
        train(model, optimizer, 5, lambda *_: None)  # the hook is gone
        self.assertEqual(steps_in(self.path / "checkpoints"), steps)

    def test_by_forward(self):
        """Before the pass that follows: the weights after so many updates."""
        model = Layer()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        seen = {}
        with afterimage.Run(self.path, keep=0) as run:
            run.watch(model, every=2)

            def after(step, _):
                seen[step] = model.wbias.detach().clone()
                with torch.no_grad():
                    model(torch.zeros(1, 5, 8))  # no step of the training
                model.eval()
                model(torch.zeros(1, 5, 8))
                model.train()
                run.flush()
            train(model, optimizer, 7, after)
        self.assertEqual(steps_in(self.path / "checkpoints"), [0, 2, 4, 6, 7])
        for step in (2, 4, 6, 7):
            written = afterimage.load(self.path, step).tensors["blocks.0.mixer.w"]
            np.testing.assert_array_equal(written, seen[step].numpy())

    def test_loss(self):
        model, criterion = Layer(), torch.nn.MSELoss()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        seen = []
        with afterimage.Run(self.path) as run:
            run.watch(model, every=2, optimizer=optimizer, loss=criterion)
            for _ in range(5):
                x = torch.randn(4, 5, 8)
                loss = criterion(model(x), x)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                seen.append(loss.item())
                with torch.no_grad():
                    criterion(model(x), 2 * x)  # a validation
            self.fails(["computes it"], run.watch, model, loss=lambda a, b: a)
        steps, losses = afterimage.load(self.path).column("loss")
        np.testing.assert_array_equal(steps, range(1, 6))
        np.testing.assert_array_equal(losses, seen)

    def test_maps(self):
        model = torch.nn.Module()
        model.table = torch.nn.Parameter(torch.randn(7, 2))
        index = torch.arange(4)[:, None] - torch.arange(4) + 3
        model.forward = lambda: model.table[index].sum()
        with afterimage.Run(self.path) as run:
            run.watch(model, every=1, biases=lambda m: {"layer 0": m.table[index].permute(2, 0, 1)}, grid=(2, 2))
        run = afterimage.load(self.path)
        self.assertEqual(run.maps["layers"][0]["grid"], [2, 2])
        np.testing.assert_array_equal(run.tensors["biases.0"], model.table[index].permute(2, 0, 1).detach().numpy())

    def test_resumed(self):
        model = Layer()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for end in (4, 8):
            with afterimage.Run(self.path, resume=True, keep=0) as run:
                run.watch(model, every=4, optimizer=optimizer)
                train(model, optimizer, 4)
            self.assertEqual(steps_in(self.path / "checkpoints")[-1], end)
        self.assertEqual(steps_in(self.path / "checkpoints"), [0, 4, 8])

    def test_what_is_wrong_is_said_at_once(self):
        with afterimage.Run(self.path) as run:
            self.fails(["no table knows"], run.watch, torch.nn.Sequential(torch.nn.Linear(2, 2)))
            self.fails(["torch.optim.Optimizer"], run.watch, Layer(), optimizer=3)

    def test_a_model_that_breaks_later_does_not_end_the_training(self):
        model = Layer()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)

        def after(step, _):
            if step == 2:
                model.extra = torch.nn.Parameter(torch.ones(1))
        with afterimage.Run(self.path) as run:
            run.watch(model, every=1, optimizer=optimizer)
            found = self.warned(lambda: (train(model, optimizer, 5, after), run.finish()))
        self.assertEqual(len(found), 1, found)
        self.assertIn("'extra'", found[0])

    def test_compiled_names_and_parallel_names(self):
        model = Layer()
        with afterimage.Run(self.path) as run:
            run.save(0, {f"_orig_mod.module.{k}": v for k, v in model.state_dict().items()}, wait=True)
        written = afterimage.load(self.path).tensors["blocks.0.mixer.w"]
        np.testing.assert_array_equal(written, model.wbias.detach().numpy())

    def test_values_of_tensors(self):
        with afterimage.Run(self.path) as run:
            run.log(0, a=torch.tensor(1.5, requires_grad=True), b=torch.tensor([2], dtype=torch.int64),
                    c=torch.tensor(0.1).bfloat16())
            self.fails(["d is a number"], run.log, 1, d=torch.ones(2))
        line, = self.lines()
        self.assertEqual((line["a"], line["b"]), (1.5, 2))


@unittest.skipUnless(torch.cuda.is_available(), "no CUDA device")
class OnDevice(Case):
    def test_copies_are_of_their_moment(self):
        """The next update runs while the copy is on its way, and does not change it."""
        copier, w = Copier(), torch.zeros(4096, 4096, device="cuda")
        copies = []
        for step in range(5):
            w.fill_(step)
            copies.append(copier.copy({"w": w}))
            self.assertFalse(copies[-1].are_here())
            w.mul_(-7)
        for step, copy in enumerate(copies):
            value = copy.get()["w"]
            self.assertTrue((value == step).all(), step)

    def test_run(self):
        model = Layer().cuda()
        optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
        with afterimage.Run(self.path) as run:
            run.watch(model, every=2, optimizer=optimizer)
            for step in range(1, 7):
                x = torch.randn(4, 5, 8, device="cuda")
                loss = (model(x) - x).square().mean()
                loss.backward()
                optimizer.step()
                run.log(step, loss=loss)
        written = afterimage.load(self.path).tensors["blocks.0.mixer.w"]
        np.testing.assert_array_equal(written, model.wbias.detach().cpu().numpy())
        self.assertEqual(len(afterimage.load(self.path).column("loss")[0]), 6)


class Fixtures(Case):
    """State dicts as their own packages save them."""

    def test_all(self):
        for file in sorted(FIXTURES.glob("*.pt")):
            with self.subTest(file.name):
                state = torch.load(file, map_location="cpu", weights_only=True)
                with afterimage.Run(self.folder / file.stem) as run:
                    run.save(0, state, wait=True)
                self.assertTrue(afterimage.load(self.folder / file.stem).tensors)

    @unittest.skipUnless(os.environ.get("AFTERIMAGE_PROGRAM"), "no program: python/tests/run.py --program BIN")
    def test_as_the_program(self):
        from test_program import SameConversions
        for file in sorted(FIXTURES.glob("*.pt")):
            with self.subTest(file.name):
                state = state_of(torch.load(file, map_location="cpu", weights_only=True))
                case = SameConversions()
                case.folder, case.path, case.program = self.folder, self.folder / "x", os.environ["AFTERIMAGE_PROGRAM"]
                case.compare({name: value.numpy() for name, value in state.items()}, {}, [])


class CountingCopier(Copier):
    bytes = 0

    def copy(self, values):
        self.bytes += sum(value.numel() * value.element_size() for value in values.values())
        return super().copy(values)


def calls_within(work):
    """Names of the package's functions that this thread calls during work()."""
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_name) if event == "call" and
                   frame.f_code.co_filename.startswith(str(PACKAGE / "afterimage")) else None)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


class Cost(Case):
    """What watch(every=50) adds to a training."""

    def setUp(self):
        super().setUp()
        self.model = torch.nn.Sequential(*(torch.nn.Linear(512, 512) for _ in range(8)))
        self.model.table = torch.nn.Parameter(torch.zeros(511))
        self.index = torch.arange(256)[:, None] - torch.arange(256) + 255
        self.optimizer = torch.optim.AdamW(self.model.parameters(), 1e-3)

    def watch(self, run):
        run.watch(self.model, every=50, optimizer=self.optimizer, grid=(16, 16),
                  biases=lambda m: {"layer 0": m.table[self.index]})

    def step(self, batch=256):
        loss = self.model(torch.randn(batch, 512)).square().mean() + self.model.table[self.index].square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def test_49_of_50_steps_copy_nothing(self):
        calls, copied = [], []
        with afterimage.Run(self.path) as run:
            run.copier = CountingCopier()
            self.watch(run)
            for _ in range(100):
                run.copier.bytes = 0
                calls.append(calls_within(lambda: self.step(1)))
                copied.append(run.copier.bytes)
        self.assertEqual(copied, ([0] * 49 + [256 * 256 * 4]) * 2)
        self.assertEqual({tuple(names) for i, names in enumerate(calls, 1) if i % 50}, {("<lambda>", "passed")})

    def test_time_of_a_step(self):
        """Prints how much of this thread's time a step takes. Never checked: machines differ."""
        def steps(count):
            start = time.thread_time()
            for _ in range(count):
                self.step()
            return 1e3 * (time.thread_time() - start) / count
        steps(20)
        alone, watched = [], []
        for i in range(4):
            alone.append(steps(50))
            with afterimage.Run(self.folder / str(i)) as run:
                self.watch(run)
                watched.append(steps(50))
        print(f"a step takes {min(alone):.1f} ms of this thread's time, {min(watched):.1f} ms watched:"
              f" {100 * (min(watched) / min(alone) - 1):+.1f} %")


if __name__ == "__main__":
    unittest.main()
