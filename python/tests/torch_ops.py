"""The operators, modules and patches with PyTorch. Run by scripts/test_torch.sh; needs libafterimage_ops.so."""
import subprocess
import unittest

import numpy as np
import torch

import afterimage
from afterimage import exact, library, safetensors
from case import ROOT, Case, ProgramCase

try:
    library.load_library()
    WHY_NOT = ""
except afterimage.Error as error:
    WHY_NOT = str(error)


U = 2.0 ** -24  # float32 rounds by u = U; a sum of n products is exact for factors off by n u (Higham 2002, 3.1)


def apart(found, expected):
    """The largest error over the largest value."""
    return ((found - expected).abs().max() / expected.abs().max()).item()


def tensors(*sizes, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(size, generator=generator, dtype=torch.float64).to(dtype).requires_grad_() for size in sizes]


def cases(B=2, T=24, d=6, dtype=torch.float32):
    """name, call, inputs of each operator, causal and not."""
    ops = afterimage.operators
    x = (B, T, d)
    for causal in (False, True):
        yield "full", lambda q, k, v, w, c=causal: ops.aft_full(q, k, v, w, causal=c), \
            tensors(x, x, x, (T, T), dtype=dtype)
        yield "full no gate", lambda k, v, w, c=causal: ops.aft_full(None, k, v, w, causal=c), \
            tensors(x, x, (T, T), dtype=dtype)
        yield "factors", lambda q, k, v, u, r, c=causal: ops.aft_full(q, k, v, None, u, r, causal=c), \
            tensors(x, x, x, (T, 3), (T, 3), dtype=dtype)
        for hidden in (False, True):
            yield "local", lambda q, k, v, w, c=causal, h=hidden: ops.aft_local(q, k, v, w, window=5, causal=c,
                                                                               outside_hidden=h), \
                tensors(x, x, x, (T, T), dtype=dtype)
        yield "simple", lambda q, k, v, c=causal: ops.aft_simple(q, k, v, causal=c), tensors(x, x, x, dtype=dtype)
        yield "conv1d", lambda q, k, v, w, c=causal: ops.aft_conv1d(q, k, v, w, causal=c), \
            tensors(x, (B, T, 2), x, (2, 5), dtype=dtype)
        yield "conv2d", lambda q, k, v, w, c=causal: ops.aft_conv2d(q, k, v, w, causal=c, grid_height=4,
                                                                   grid_width=T // 4), \
            tensors(x, (B, T, 2), x, (2, 3, 3), dtype=dtype)


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Operators(Case):
    def test_kernels_are_the_definition_in_float64(self):
        """Within the promise of float32: 1e-5 of max|V| forward, 2e-5 in the L2 norm for gradients."""
        for name, call, inputs in cases(T=64, d=12):
            wide = [x.detach().double().requires_grad_() for x in inputs]
            y, exact = call(*inputs), call(*wide)
            v = inputs[1 if "gate" in name else 2]
            self.assertLess((y - exact).abs().max().item(), 1e-5 * v.abs().max().item(), name)
            dy = 2 * exact.detach()
            found = torch.autograd.grad(y, inputs, dy.float())
            expected = torch.autograd.grad(exact, wide, dy)
            for a, b in zip(found, expected):
                self.assertLess((a - b).norm().item(), 2e-5 * b.norm().item(), name)

    def test_gradcheck(self):
        for name, call, inputs in cases(B=1, T=8, d=4, dtype=torch.float64):
            with self.subTest(name):
                self.assertTrue(torch.autograd.gradcheck(call, inputs))

    def test_compile_and_export(self):
        torch.manual_seed(0)
        model = afterimage.nn.AFTFull(8, 32, causal=True)
        x = torch.randn(2, 32, 8)
        expected = model(x)
        traced = torch.compile(model, fullgraph=True, backend="aot_eager")  # the same kernels, traced
        self.assertTrue(torch.equal(traced(x), expected))
        compiled = torch.compile(model, fullgraph=True)
        # inductor's own code sums in another order: 2 maps of 9 terms and 32 sources, gamma_50 = 3e-6 a side.
        self.assertLess(apart(compiled(x), expected), 1e-5)
        compiled(x).sum().backward()
        self.assertIsNotNone(model.w.grad)
        exported = torch.export.export(model, (x,))
        self.assertTrue(torch.equal(exported.module()(x), expected))

    def test_half_precision_and_autocast(self):
        for name, call, inputs in cases(T=64, d=8):
            n = 2 if "gate" in name else 3
            expected = call(*inputs)
            for dtype in (torch.bfloat16, torch.float16):
                y = call(*[x.to(dtype) for x in inputs[:n]], *inputs[n:])
                self.assertEqual(y.dtype, dtype)
                self.assertLess((y.float() - expected).abs().max().item(), 0.05, name)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                y = call(*inputs)
            self.assertEqual(y.dtype, torch.bfloat16)
            y.float().sum().backward()
            self.assertEqual(inputs[0].grad.dtype, torch.float32)

    def test_far_beyond_the_range_of_exp(self):
        for name, call, inputs in cases(T=32, d=4):
            with self.subTest(name):
                large = [(300 * x).detach().requires_grad_() for x in inputs]
                wide = [x.detach().double().requires_grad_() for x in large]
                y, exact = call(*large), call(*wide)
                self.assertTrue(torch.isfinite(y).all())
                self.assertLess(((y - exact).abs().max() / exact.abs().max()).item(), 1e-5)
                for a, b in zip(torch.autograd.grad(y.sum(), large), torch.autograd.grad(exact.sum(), wide)):
                    self.assertTrue(torch.isfinite(a).all())
                    self.assertLessEqual((a - b).abs().max().item(), 1e-4 * max(1e-3, b.abs().max().item()))

    def test_threads_change_nothing(self):
        before = torch.get_num_threads()
        self.addCleanup(torch.set_num_threads, before)
        for name, call, inputs in cases(T=96, d=16):
            results = []
            for threads in (1, 2):
                torch.set_num_threads(threads)
                y = call(*inputs)
                results.append([y, *torch.autograd.grad(y.square().sum(), inputs)])
            for a, b in zip(*results):
                self.assertTrue(torch.equal(a, b), name)

    def test_wrong_calls_are_words(self):
        ops = afterimage.operators
        q, k, v, w = tensors((2, 6, 4), (2, 6, 4), (2, 6, 4), (6, 6))
        self.fails(["w is [3, 3], expected [6, 6]"], ops.aft_full, q, k, v, torch.ones(3, 3))
        self.fails(["give w, or both"], ops.aft_full, q, k, v)
        self.fails(["q is [6, 4]"], ops.aft_simple, q[0], k, v)
        self.fails(["window is 0"], ops.aft_local, q, k, v, w, window=0)
        self.fails(["k is [2, 6, 4], expected [2, 6, 2]"], ops.aft_conv1d, q, k, v, torch.ones(2, 3))
        self.fails(["heads is 3"], ops.aft_conv1d, q, k[..., :3], v, torch.ones(3, 3))
        self.fails(["expected [B, T, d]"], ops.aft_simple, q, k, v[0])
        self.fails(["q is torch.float64 and v torch.float32"], ops.aft_simple, q.double(), k, v)
        self.fails(["k is torch.int64"], ops.aft_simple, q, torch.ones(2, 6, 4, dtype=torch.int64), v)
        self.fails(["torch.sparse"], ops.aft_simple, q, k, torch.ones(2, 6, 4).to_sparse())

    def test_empty_batches(self):
        q, k, v, w = tensors((0, 6, 4), (0, 6, 4), (0, 6, 4), (6, 6))
        y = afterimage.operators.aft_full(q, k, v, w)
        self.assertEqual(tuple(y.shape), (0, 6, 4))
        y.sum().backward()


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Modules(Case):
    def test_every_module_trains(self):
        torch.manual_seed(0)
        nn = afterimage.nn
        for model in (nn.AFTFull(8, 16, causal=True), nn.AFTFull(8, 16, factors=2, gate=False),
                      nn.AFTLocal(8, 16, 4, output=False), nn.AFTSimple(8, inner=12), nn.AFTConv(8, 2, 3, causal=True),
                      nn.AFTConv(8, 2, 3, grid=(4, 4), naive=True)):
            optimizer = torch.optim.SGD(model.parameters(), 0.5)
            x, target = torch.randn(4, 16, 8), torch.randn(4, 16, 8)
            losses = []
            for _ in range(20):
                loss = (model(x) - target).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            self.assertLess(losses[-1], losses[0])
            self.assertTrue(all(p.grad is not None for p in model.parameters()))

    def test_wrong_modules_are_words(self):
        nn = afterimage.nn
        self.fails(["heads is 3"], nn.AFTConv, 8, 3, 3)
        self.fails(["window is 0"], nn.AFTLocal, 8, 16, 0)
        self.fails(["17 tokens", "only 16"], nn.AFTFull(8, 16), torch.randn(1, 17, 8))
        self.fails(["expected [B, T, 8]"], nn.AFTSimple(8), torch.randn(1, 4, 6))


def mixers(T=12):
    """name, mixer of T tokens with random biases, sizes of its definition, layout of its map, gauge."""
    nn = afterimage.nn
    torch.manual_seed(0)
    for causal in (False, True):
        full, local = {"kind": library.FULL}, {"kind": library.LOCAL, "window": 3}
        conv = {"kind": library.CONV1D, "heads": 2}
        grid = {"kind": library.CONV2D, "heads": 2, "window": 3, "grid_height": 3, "grid_width": 4}
        rows = [("full", nn.AFTFull(8, T, causal=causal), full, "full", "row"),
                ("longer", nn.AFTFull(8, T + 5, factors=3, causal=causal), full, "full", "row"),
                ("local", nn.AFTLocal(8, T, 3, causal=causal), local, "band", "none"),
                ("factors", nn.AFTLocal(8, T + 1, 3, factors=2, causal=causal), local, "band", "none"),
                ("wide", nn.AFTLocal(8, T, T, causal=causal), {**local, "window": T}, "full", "row"),
                ("hidden", nn.AFTLocal(8, T, 3, outside_hidden=True, causal=causal), {**local, "outside_hidden": 1},
                 "full", "row"),
                ("conv1d", nn.AFTConv(8, 2, 5, causal=causal), {**conv, "window": 5}, "kernel1d", "none"),
                ("conv2d", nn.AFTConv(8, 2, 3, grid=(3, 4), causal=causal, naive=True), grid, "kernel2d", "none")]
        if causal:
            rows.append(("even", nn.AFTConv(8, 2, 4, causal=True), {**conv, "window": 4}, "kernel1d", "none"))
        for name, mixer, sizes, layout, gauge in rows:
            for value in mixer.parameters():
                torch.nn.init.normal_(value)
            yield f"{name}-{causal}", mixer, library.Shape(length=T, causal=causal, **sizes), layout, gauge


class Maps(ProgramCase):
    """Mixers of ours given as biases: the program shows the w that the operators compute with."""

    def test_the_program_has_the_w_of_the_operators(self):
        for name, mixer, shape, layout, gauge in mixers():
            with self.subTest(name), torch.autocast("cpu"):
                with afterimage.Run(self.folder / name) as run:
                    run.save(0, biases={"layer 0": mixer}, grid=(3, 4), wait=True)
                found = afterimage.load(self.folder / name).maps
                self.assertEqual(found, {"causal": mixer.causal, "layers": [
                    {"name": "layer 0", "layout": layout, "grid": [3, 4], "gauge": gauge}]})
            with self.subTest(name), torch.no_grad():
                of_table = shape.kind in (library.FULL, library.LOCAL)
                w, u, r = mixer.bias(12) if of_table else (mixer.weight(), None, None)
                expected = exact.bias_rows(shape, w, u, r, 0, 12).float()
                expected = torch.where(expected.isinf(), torch.nan, expected).squeeze().numpy()
                shown = afterimage.probe(self.folder / name, "bias", layer=0, visible="nan")
                np.testing.assert_allclose(np.squeeze(shown), expected, atol=1e-6)

    def test_followed(self):
        mixer = afterimage.nn.AFTConv(8, 2, 4, causal=True, naive=True)
        optimizer = torch.optim.SGD(mixer.parameters(), 1.0)
        with afterimage.Run(self.path, keep=0) as run:
            run.watch(mixer, every=1, optimizer=optimizer, biases={"layer 0": mixer}, grid=(9,))
            run.flush()
            before = mixer.weight().detach().clone()
            mixer.kernel.grad = torch.ones_like(mixer.kernel)
            optimizer.step()
        for step, w in ((0, before), (1, before - 1)):
            taps = afterimage.probe(self.path / f"checkpoints/step-{step:08d}.safetensors", "kernel", layer=0)
            np.testing.assert_allclose(taps[:, :4], w, atol=1e-6)
            self.assertTrue(np.isnan(taps[:, 4:]).all())

    def test_refusals(self):
        nn = afterimage.nn
        with afterimage.Run(self.path) as run:
            self.fails(["biases['a']", "AFTSimple has no position bias"], run.save, 0, biases={"a": nn.AFTSimple(8)})
            self.fails(["biases['a']", "needs a grid"], run.save, 0, biases={"a": nn.AFTConv(8, 2, 3)})
            self.fails(["biases['a']", "T = 20"], run.save, 0, biases={"a": nn.AFTFull(8, 12)}, grid=(4, 5))
            self.fails(["biases['a']", "a mixer of afterimage.nn", "Linear"], run.save, 0,
                       biases={"a": torch.nn.Linear(2, 2)})

    def test_weights(self):
        full, local = afterimage.nn.AFTFull(8, 6, factors=2), afterimage.nn.AFTLocal(8, 6, 2)
        hidden = afterimage.nn.AFTLocal(8, 6, 2, outside_hidden=True)
        self.assertTrue(torch.equal(full.weight(), full.u @ full.r.t()))
        t = torch.arange(6)
        inside = (t[:, None] - t).abs() < 2
        self.assertTrue(torch.equal(local.weight(), torch.where(inside, local.w, 0)))
        self.assertTrue(torch.equal(hidden.weight(), torch.where(inside, hidden.w, -torch.inf)))
        local.weight().sum().backward()
        self.assertTrue(torch.equal(local.w.grad, inside.float()))


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Patches(Case):
    def test_aft_pytorch(self):
        try:
            from aft_pytorch import aft_pytorch as theirs
        except ImportError:
            self.skipTest("aft-pytorch is not installed")
        torch.manual_seed(0)
        x = torch.randn(2, 32, 8)
        for model in (theirs.AFTFull(32, 8), theirs.AFTSimple(32, 8), theirs.AFTLocal(32, 8, s=4)):
            with torch.no_grad():
                expected = model(x)
            self.assertEqual(afterimage.patch(torch.nn.Sequential(model)), ["0"])
            # Either side adds up 8 and 64 products in its maps and 32 sources between: gamma_104.
            self.assertLess(apart(model(x), expected), 2 * 104 * U)
            weights = dict(model.named_parameters())
            model(x).sum().backward()
            for name, value in model.named_parameters():
                self.assertIs(value, weights[name])
                self.assertIsNotNone(value.grad, name)
            with torch.no_grad():
                model.to_k.bias += 120  # exp(K) of float32 is infinite from 88.7 on
                self.assertTrue(torch.isfinite(model(x)).all())
            self.assertEqual(afterimage.unpatch(model), [""])
            self.assertEqual(afterimage.unpatch(model), [])
            own = model.forward = lambda x: x  # the user's own forward comes back
            afterimage.patch(model)
            afterimage.unpatch(model)
            self.assertIs(model.forward, own)

    def test_labml(self):
        try:
            from labml_nn.transformers.aft import AFTLocal
        except ImportError as error:
            self.skipTest(f"labml-nn cannot be imported: {error}")
        torch.manual_seed(0)
        model = AFTLocal(8, 32, 5)
        torch.nn.init.normal_(model.pos_bias)
        x = torch.randn(32, 3, 8)
        some = torch.rand(32, 32, 1) < 0.5
        some |= torch.eye(32, dtype=torch.bool).unsqueeze(-1)
        masks = {"causal": torch.ones(32, 32).tril().bool().unsqueeze(-1), "all": torch.ones(32, 32, 1).bool(),
                 "some": some}
        with torch.no_grad():
            expected = {name: model(query=x, key=x, value=x, mask=mask) for name, mask in masks.items()}
        self.assertEqual(afterimage.patch(model), [""])
        for name, mask in masks.items():
            with torch.no_grad():
                y = model(query=x, key=x, value=x, mask=mask)
            # Either side adds up 8, 32 and 8 products, gamma_48, of weights whose exponents up to 9 are off by 9 u.
            self.assertLess(apart(y, expected[name]), 2 * (48 + 9) * U, name)

    def test_nothing_to_patch_is_said(self):
        self.fails(["no module of", "aft_pytorch.AFTFull"], afterimage.patch, torch.nn.Linear(2, 2))
        self.fails(["torch.nn.Module"], afterimage.patch, 3)


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Models(ProgramCase):
    def logits(self, path, name, values):
        """The program's own."""
        given, out = self.folder / "in.safetensors", self.folder / "out.safetensors"
        safetensors.write(given, {name: values}, {})
        subprocess.run([self.program, "run", path, given, out], check=True, capture_output=True)
        return torch.from_numpy(safetensors.read(out)[0]["logits"].copy())

    def test_logits_are_the_programs(self):
        torch.manual_seed(0)
        demos = ROOT / "assets" / "demo"
        mirror, shapes = demos / "mirror.safetensors", demos / "shapes.safetensors"
        for path, name, values in ((mirror, "tokens", torch.randint(0, 16, (2, 256))),
                                   (demos / "cifar10-small.safetensors", "tokens", torch.randint(0, 256, (1, 768))),
                                   (shapes, "image", torch.randn(2, 3, 32, 32))):
            model = afterimage.Model(path)
            with torch.no_grad():
                found = model(values)
            if name == "tokens":  # the program takes them as they are fed: the start token first
                values = torch.cat([torch.full_like(values[:, :1], -1), values[:, :-1]], 1)
            expected = self.logits(path, name, values.numpy())
            # 4 blocks of 768 sources and maps of 128 and 512: 7,700 terms in a row, sqrt(7700) u = 5e-6 a side
            # for roundings of random sign, which is half of the limit for both.
            self.assertLess(apart(found, expected), 2e-5, path.name)
            names = {n for n in safetensors.read(path)[0] if not n.startswith(("optim.", "ema."))}
            self.assertEqual(set(model.state_dict()), names)

    def test_other_models_are_words(self):
        run = self.folder / "softmax"
        subprocess.run([self.program, "train", "--preset", "demo-mirror", "--set", "model.mixer=softmax", "--steps",
                        "0", "--out", run], check=True, capture_output=True)
        self.fails(["softmax"], afterimage.Model, run)


if __name__ == "__main__":
    unittest.main()
