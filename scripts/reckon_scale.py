#!/usr/bin/env python3
"""Reckons a training step on many ranks from the parts of one: scripts/reckon_scale.py [--flops F] [--alpha S]
[--bandwidth B] PROGRAM [PRESET]...

An alpha-beta model of what model/distributed does: every rank computes its part of the batch; the gradients go in buckets
of 1 MiB (n / 8 MiB with n > 8 ranks), each by two exchanges of every rank with every other (2 (n - 1) messages of 1/n of
the bucket), while the backward pass (two thirds of the work) still computes. Parameters, FLOPs and activations are those of `inspect --cost`; the batch is
the preset's, or one example a rank where there are more ranks. Prints a Markdown table.
"""
import argparse
import json
import math
import subprocess

BUCKET = 1 << 20
PRESETS = ("cifar10-local-24x256", "enwik8-local-12x512", "imagenet-conv-small-384-15")
RANKS = (8, 32, 128, 1024)


def asked(program, *arguments):
    return json.loads(subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout)


def step(cost, batch, n, args):
    """Seconds: computing, sending, the whole step; examples; what limits."""
    examples = max(1, math.ceil(batch / n))
    compute = examples * cost["train_flops"] / args.flops
    buckets = math.ceil(4 * cost["parameters"] / (BUCKET * max(1, n / 8)))
    if n == 1:
        return compute, 0, compute, examples, "computing"
    start = buckets * 2 * (n - 1) * args.alpha
    travel = 2 * (n - 1) / n * 4 * cost["parameters"] / args.bandwidth
    last = (start + travel) / buckets
    shown = max(last, start + travel - compute * 2 / 3)
    limit = "computing" if shown < compute else "starting messages" if start > travel else "bandwidth"
    return compute, start + travel, compute + shown, examples, limit


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("program")
    words.add_argument("presets", nargs="*", default=PRESETS)
    words.add_argument("--flops", type=float, default=150e12, help="per second and rank, as reached")
    words.add_argument("--alpha", type=float, default=15e-6, help="seconds to start a message")
    words.add_argument("--bandwidth", type=float, default=25e9, help="bytes per second and rank")
    args = words.parse_args()
    print("| preset, batch | ranks | examples a rank | computing, ms | sending, ms | step, ms | efficiency | limit |")
    print("|---|---|---|---|---|---|---|---|")
    for preset in args.presets:
        cost = asked(args.program, "inspect", "--preset", preset, "--cost", "--json")["model"]
        batch = asked(args.program, "train", "--preset", preset, "--print-config")["train"]["batch"]
        for n in RANKS:
            compute, sending, whole, examples, limit = step(cost, batch, n, args)
            alone = step(cost, examples * n, 1, args)[2] / n
            print(f"| {preset}, {batch} | {n} | {examples} | {compute * 1e3:.3g} | {sending * 1e3:.3g} | {whole * 1e3:.3g} | "
                  f"{alone / whole:.0%} | {limit} |")


if __name__ == "__main__":
    main()
