"""What torch.compile, torch.export and opcheck ask of the five operators. Run by scripts/test_torch.sh; needs
libafterimage_ops.so."""
import unittest

import torch

import afterimage
from afterimage import library
from case import Case
from torch_ops import WHY_NOT, tensors


def calls(T=32, d=8):
    """Operator, its arguments, its options: each of the five, with factors, hidden sources and without a gate."""
    afterimage.operators  # they are there once this is imported
    ops = torch.ops.afterimage
    x, shared = (2, T, d), (2, T, 2)
    for causal in (False, True):
        yield ops.aft_full, tensors(x, x, x, (T, T)), {"causal": causal}
        yield ops.aft_local, tensors(x, x, x, (T, T)), {"window": 5, "causal": causal, "outside_hidden": causal}
        yield ops.aft_simple, tensors(x, x, x), {"causal": causal}
        yield ops.aft_conv1d, tensors(x, shared, x, (2, 5)), {"causal": causal}
        yield ops.aft_conv2d, tensors(x, shared, x, (2, 3, 3)), {"grid_height": 4, "grid_width": T // 4,
                                                                 "causal": causal}
    q, k, v, u, r = tensors(x, x, x, (T, 3), (T, 3))
    yield ops.aft_full, [q, k, v, None, u, r], {"causal": True}
    yield ops.aft_full, [None, k, v, *tensors((T, T))], {}


class Called(torch.nn.Module):
    """One call as a module, for torch.export."""

    def __init__(self, operator, options):
        super().__init__()
        self.operator, self.options = operator, options

    def forward(self, *arguments):
        return self.operator(*arguments, **self.options)


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Tracing(Case):
    """What PyTorch's compilers ask of operators."""

    def test_opcheck(self):
        for operator, arguments, options in calls():
            with self.subTest(f"{operator} {options}"):
                torch.library.opcheck(operator.default, tuple(arguments), options)

    def test_opcheck_of_what_they_become(self):
        """The one operator that all five dispatch to."""
        q, k, v, w = tensors((2, 64, 8), (2, 64, 8), (2, 64, 8), (64, 64))
        forward = torch.ops.afterimage.aft_forward.default
        for kind, gate, bias in ((library.FULL, q, w), (library.FULL, None, w), (library.SIMPLE, q, None)):
            torch.library.opcheck(forward, (kind, gate, k, v, bias, None, None, True, 0, False, 1, 1))

    def test_compile(self):
        """One graph, the same bits, the same gradients."""
        for operator, arguments, options in calls():
            torch._dynamo.reset()
            leaves = [x for x in arguments if x is not None]
            expected = operator(*arguments, **options)
            compiled = torch.compile(Called(operator, options), backend="aot_eager", fullgraph=True)
            y = compiled(*arguments)
            self.assertTrue(torch.equal(y, expected), f"{operator} {options}")
            for a, b in zip(torch.autograd.grad(y.square().sum(), leaves),
                            torch.autograd.grad(expected.square().sum(), leaves)):
                self.assertTrue(torch.equal(a, b))

    def test_compile_from_python(self):
        """The functions of afterimage.operators leave no break in the graph either."""
        q, k, v = tensors((2, 16, 4), (2, 16, 4), (2, 16, 4))
        compiled = torch.compile(lambda *x: afterimage.operators.aft_simple(*x, causal=True), backend="aot_eager",
                                 fullgraph=True)
        self.assertTrue(torch.equal(compiled(q, k, v), afterimage.operators.aft_simple(q, k, v, causal=True)))

    def test_export(self):
        for operator, arguments, options in calls():
            arguments = tuple(None if x is None else x.detach() for x in arguments)
            exported = torch.export.export(Called(operator, options), arguments)
            self.assertTrue(torch.equal(exported.module()(*arguments), operator(*arguments, **options)),
                            f"{operator} {options}")

    def test_shapes_without_values(self):
        for operator, arguments, options in calls():
            meta = [None if x is None else x.detach().to("meta") for x in arguments]
            self.assertEqual(operator(*meta, **options).shape, arguments[2].shape)

    def test_the_functions_say_what_they_take(self):
        for name in ("aft_full", "aft_local", "aft_simple", "aft_conv1d", "aft_conv2d"):
            function = getattr(afterimage.operators, name)
            self.assertIn("[B, T, d]", function.__doc__)
            self.assertIn("Raises Error", function.__doc__)
            self.assertIn("return", function.__annotations__)


if __name__ == "__main__":
    unittest.main()
