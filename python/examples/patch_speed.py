"""How much faster other people's AFT modules are on Afterimage's kernels: a training step (forward, backward) of one
layer, as it is and after `afterimage.patch`, in turns in one process.

    pip install --no-deps aft-pytorch labml-nn labml labml-helpers
    python python/examples/patch_speed.py [--threads 2] [--rounds 15]
"""
import argparse
import copy
import statistics
import time

import torch

import afterimage


def layers():
    """name, module, arguments of its forward."""
    from aft_pytorch import aft_pytorch as rish
    from labml_nn.transformers.aft import AFTLocal
    x = torch.randn(8, 256, 128)
    yield "aft-pytorch AFTFull, T = 256, d = 128, batch 8", rish.AFTFull(256, 128, 128), {"x": x}
    yield "aft-pytorch AFTSimple, the same", rish.AFTSimple(256, 128, 128), {"x": x}
    x = torch.randn(256, 8, 128)
    mask = torch.ones(256, 256).tril().bool().unsqueeze(-1)
    yield "labml-nn AFTLocal, causal, window 32, the same", AFTLocal(128, 256, 32), \
        {"query": x, "key": x, "value": x, "mask": mask}
    x = torch.randn(2, 1024, 128)
    yield "aft-pytorch AFTFull, T = 1024, batch 2", rish.AFTFull(1024, 128, 128), {"x": x}
    x = torch.randn(1024, 2, 128)
    mask = torch.ones(1024, 1024).tril().bool().unsqueeze(-1)
    yield "labml-nn AFTLocal, causal, window 32, T = 1024, batch 2", AFTLocal(128, 1024, 32), \
        {"query": x, "key": x, "value": x, "mask": mask}


def step(model, inputs):
    """Seconds of one step."""
    model.zero_grad(set_to_none=True)
    start = time.perf_counter()
    model(**inputs).square().sum().backward()
    return time.perf_counter() - start


def main():
    flags = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    flags.add_argument("--threads", type=int, default=2)
    flags.add_argument("--rounds", type=int, default=15)
    args = flags.parse_args()
    torch.set_num_threads(args.threads)
    for name, model, inputs in layers():
        patched = copy.deepcopy(model)
        afterimage.patch(patched)
        step(model, inputs), step(patched, inputs)
        times = [(step(model, inputs), step(patched, inputs)) for _ in range(args.rounds)]
        ratio = statistics.median(a / b for a, b in times)
        before, after = (1e3 * statistics.median(t[i] for t in times) for i in range(2))
        print(f"{name}: {before:.2f} ms, patched {after:.2f} ms, {ratio:.2f}x", flush=True)


if __name__ == "__main__":
    main()
