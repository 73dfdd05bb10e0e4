#!/usr/bin/env python3
"""Trains the presets that learn in minutes, from nothing, and looks at what they learnt.

    tests/learn.py BINARY [--data DIR] [NAME...]

BINARY: afterimage; DIR holds cifar10/, mnist/ and text/input.txt (without it those presets are left
out and named). One line per preset: what was found, what is wanted, seconds of the whole training.
Exit code 1 where a figure is missed. Times are shown, never judged: they are for a quiet machine.
Not part of the suite, because it takes a quarter of an hour on two cores.
"""
import argparse
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from counting import check_names, count_each

ROOT = Path(__file__).resolve().parent.parent


def call(binary, *args):
    done = subprocess.run([binary, *map(str, args)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"learn: {' '.join(map(str, args))}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def train(context, preset, *args):
    out = context.folder / f"{preset}-{len(list(context.folder.iterdir()))}"
    start = time.monotonic()
    call(context.binary, "train", "--preset", preset, "--out", out, *args)
    return out, time.monotonic() - start


def evaluate(context, run, data, *args):
    return json.loads(call(context.binary, "eval", run, "--data", data, "--json", *args))


def read_npy(path):
    """Rows of a two-dimensional float32 array in C order."""
    raw = path.read_bytes()
    length = struct.unpack("<H", raw[8:10])[0]
    shape = eval(raw[10:10 + length].decode(), {"__builtins__": {}})["shape"]  # a literal by the format
    values = struct.unpack(f"<{math.prod(shape)}f", raw[10 + length:])
    return [values[i:i + shape[-1]] for i in range(0, len(values), shape[-1])]


def expected_bits(context, run, pictures=24):
    """Mean entropy of the predictions over the upper and the lower half of unseen pictures."""
    halves = [0.0, 0.0]
    for index in range(pictures):
        file = context.folder / "predictions.npy"
        call(context.binary, "probe", "predictions", run, "--data", "mirror?size=16&levels=16&split=test",
             "--index", index, "-o", file)
        rows = read_npy(file)
        for t, row in enumerate(rows):
            halves[2 * t >= len(rows)] -= sum(math.exp(p) * p for p in row) / math.log(2)
    return [total / (pictures * len(rows) / 2) for total in halves]


def mirror(context):
    run, seconds = train(context, "demo-mirror")
    models = context.folder / "models"
    models.mkdir()
    call(context.binary, "export", run, "-o", models / "mirror.safetensors")
    tests = subprocess.run([context.binary.parent / "tests/model_tests", "--gtest_filter=DemoCheckpoints.TheMirror*"],
                           env={**os.environ, "AFTERIMAGE_DEMO_MODELS": str(models)}, capture_output=True, text=True)
    upper, lower = expected_bits(context, run)
    passed = tests.stdout.count("[       OK ]")
    return seconds, f"{passed} of 3 checks of its biases, halves and completions; lower half {lower / upper:.4f} of the upper", \
        "3 checks, 1/20", passed == 3 and tests.returncode == 0 and lower <= upper / 20


def control(context):
    run, seconds = train(context, "demo-mirror", "--set", "model.mixer=aft-simple")
    upper, lower = expected_bits(context, run)
    return seconds, f"lower half {lower / upper:.3f} of the upper", "above 0.9", lower / upper > 0.9


def tiles(context):
    run, seconds = train(context, "demo-tiles")
    found = evaluate(context, run, "tiles?size=16&levels=16&period=4&split=test", "--limit", 2000)
    over = found["bits_per_dim"] - found["floor_bits_per_dim"]
    return seconds, f"{found['bits_per_dim']:.4f} bits/dim, {over:.4f} over the floor", "0.02", over <= 0.02


def classifier(preset, data, least):
    def check(context):
        args = ("--data", data.format(context.data)) if "{}" in data else ()
        run, seconds = train(context, preset, *args)
        joint = "&" if "?" in data else "?"
        found = evaluate(context, run, data.format(context.data) + joint + "split=test", "--limit", 2000)["accuracy"]
        return seconds, f"accuracy {found:.4f}", f"{least}", found >= least
    return check


def shakespeare(context):
    data = f"text:{context.data}/text/input.txt"
    run, seconds = train(context, "shakespeare-small", "--data", data)
    found = evaluate(context, run, data + "?split=test")["bits_per_byte"]
    return seconds, f"{found:.3f} bits/byte of the held-out text", "2.4", found <= 2.4


def cifar10(context):
    data = f"cifar10:{context.data}/cifar10?size=16"
    run, seconds = train(context, "cifar10-small", "--data", data)
    found = evaluate(context, run, data + "&split=test", "--limit", 512)["bits_per_dim"]
    return seconds, f"{found:.3f} bits/dim of 512 test pictures", "5.4", found <= 5.4


def shipped(context):
    found = evaluate(context, ROOT / "assets/demo/cifar10-small.safetensors",
                     f"cifar10:{context.data}/cifar10?size=16&split=test", "--limit", 512)
    bits, edge = found["bits_per_dim"], found["yardsticks_bits_per_dim"]["median_edge_detector"]
    return 0, f"{bits:.3f} bits/dim of 512 test pictures, median edge detector {edge:.3f}", "5.0, below the detector", \
        bits <= min(5.0, edge)


CHECKS = {"demo-mirror": mirror, "mirror with aft-simple": control, "demo-tiles": tiles,
          "demo-shapes": classifier("demo-shapes", "shapes?size=32", 0.95),
          "mnist-small": classifier("mnist-small", "mnist:{}/mnist", 0.97), "shakespeare-small": shakespeare,
          "cifar10-small": cifar10, "cifar10-small as shipped": shipped}
NEED_DATA = ("mnist-small", "shakespeare-small", "cifar10-small", "cifar10-small as shipped")


class Context:
    def __init__(self, binary, data, folder):
        self.binary, self.data, self.folder = binary, data, folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=lambda text: Path(text).resolve())
    parser.add_argument("--data", type=lambda text: Path(text).resolve())
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CHECKS))
    args = parser.parse_args()
    check_names(parser, args.names, CHECKS)

    def look_at(name):
        if name in NEED_DATA and not args.data:
            return "left out", "needs --data"
        with tempfile.TemporaryDirectory(prefix="afterimage-learn-") as folder:
            seconds, found, wanted, good = CHECKS[name](Context(args.binary, args.data, Path(folder)))
        return "passed" if good else "failed", f"{seconds:6.1f} s, {found} (wanted: {wanted})"
    return count_each(args.names or CHECKS, look_at)


if __name__ == "__main__":
    sys.exit(main())
