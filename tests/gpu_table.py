#!/usr/bin/env python3
"""One table of figures from a device: tests/gpu_table.py BINARY DEVICE

Every operator in float32 on the device against float64 on the CPU (forward relative to max|V|, gradients by
relative L2 norm), then training and evaluation of the mirror demo on both. Exit code 1 if an error is
larger than promised.
"""
import json
import math
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "cli"))
import op_checks  # noqa: E402
import tensors  # noqa: E402
from harness import Cli  # noqa: E402

FORWARD, GRADIENT = 1e-5, 2e-5  # the promise for float32


def inputs(name, scale):
    x = op_checks.inputs(name, B=2, T=64, d=32, heads=4, dtype="F32")
    for key in ("k", "w"):
        if key in x:
            dtype, shape, values = x[key]
            x[key] = (dtype, shape, [scale * v for v in values])
    x["dy"] = tensors.normal(9, x["v"][1], "F32")
    return x


def relative(a, b):
    norm = math.sqrt(sum(v * v for v in b)) or 1.0
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b))) / norm


def operator_row(cli, device, name, scale):
    x = inputs(name, scale)
    tensors.write(cli.folder / "in.safetensors", x)
    flags = op_checks.flags({**op_checks.CASES[name], "grid": (8, 8)} if name == "conv2d" else op_checks.CASES[name], True)
    outs = []
    for where, precision in ((device, "fp32"), ("cpu", "fp64")):
        out = cli.folder / f"{where}-{precision}.safetensors"
        result = cli.run("--device", where, "op", name, "in.safetensors", out, "--grad", "--precision", precision, *flags)
        if result.code != 0:
            return None, None, result.err.strip()
        outs.append(tensors.read(out)[0])
    ours, exact = outs
    top = max(map(abs, x["v"][2]))
    forward = max(abs(a - b) for a, b in zip(ours["y"][2], exact["y"][2])) / top
    gradient = max(relative(ours[n][2], exact[n][2]) for n in exact if n.startswith("d"))
    return forward, gradient, ""


def operators(cli, device):
    bad = 0
    print(f"{'operator':<10}{'|K|, |w| ~':>11}{'forward':>12}{'gradients':>12}")
    for name in op_checks.CASES:
        for scale in (1, 30):
            forward, gradient, error = operator_row(cli, device, name, scale)
            if error:
                bad += 1
                print(f"{name:<10}{scale:>11}  {error}")
                continue
            over = forward > FORWARD or gradient > GRADIENT
            bad += over
            print(f"{name:<10}{scale:>11}{forward:>12.1e}{gradient:>12.1e}{'  over the promise' if over else ''}")
    return bad


def training(cli, device):
    bad = 0
    print(f"{'demo-mirror, 100 steps':<26}{'steps/s':>10}{'loss':>10}{'bits/dim':>10}")
    for where in dict.fromkeys([device, "cpu"]):
        run = cli.folder / f"run-{where}"
        start = time.monotonic()
        trained = cli.run("--device", where, "train", "--preset", "demo-mirror", "--steps", 100, "--out", run, "--json", timeout=600)
        seconds = time.monotonic() - start
        measured = cli.run("--device", where, "eval", run, "--data", "mirror?split=test", "--limit", 200, "--json")
        if trained.code or measured.code:
            bad += 1
            print(f"{where:<26}  {(trained.err + measured.err).strip()[-300:]}")
            continue
        shown = trained.json()
        lines = (run / "metrics.jsonl").read_text().splitlines()
        bits = measured.json()["bits_per_dim"]
        print(f"{where:<26}{100 / (shown.get('seconds') or seconds):>10.1f}{json.loads(lines[-1])['loss']:>10.4f}{bits:>10.4f}")
    return bad


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    cli = Cli(sys.argv[1])
    device = sys.argv[2]
    bad = operators(cli, device) + training(cli, device)
    print("all within the promise" if not bad else f"{bad} rows are not as promised")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
