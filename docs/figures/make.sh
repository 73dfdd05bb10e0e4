#!/usr/bin/env bash
# Makes the pictures of docs/figures.md: docs/figures/make.sh BINARY. Trains five small runs in a temporary folder.
set -euo pipefail
binary=$(realpath "${1:?docs/figures/make.sh BINARY}")
cd "$(dirname "$0")"
here=$PWD demo=$PWD/../../assets/demo
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
figure() { "$binary" figure "$@" >/dev/null; }
figure full-biases "$demo/mirror.safetensors" -o "$here/full-biases.png"
figure conv-biases "$demo/shapes.safetensors" -o "$here/conv-biases.png"
figure relative-attention "$demo/shapes.safetensors" --heads 0-7 --limit 16 -o "$here/relative-attention.png"
figure keys "$demo/shapes.safetensors" --index 3 --heads 0-7 -o "$here/keys.png"
figure completions "$demo/mirror.safetensors" --samples 2 -o "$here/completions.png"
for s in 1 4 16 64 128; do
    "$binary" train --preset demo-mirror --set model.mixer=aft-local --set model.window=$s --steps 100 \
        --out runs/s$s >/dev/null
done
figure window-curve runs/s1 runs/s4 runs/s16 runs/s64 runs/s128 -o "$here/window-curve.png"
figure training-curves runs/s1 runs/s16 runs/s128 -o "$here/training-curves.png"
ls -l "$here"
