#!/usr/bin/env python3
"""A transformer that is not AFT, in plain PyTorch: its relative position biases alone, seen live.

    pip install torch ./python
    python python/examples/relative_bias.py        # in another terminal: afterimage runs/relative-bias

Attention over the 8 x 8 pixels of a picture adds a learned bias by the offset of the two pixels (as in Swin). A pixel
is to be said from the one two columns to its left: a head finds that offset.
"""
import argparse

import torch
from torch import nn

import afterimage

SIDE, LEVELS = 8, 8
TOKENS = SIDE * SIDE


def offsets():
    """[T, T]: the place of each pair's offset in a table of (2 side - 1)^2."""
    y, x = torch.arange(TOKENS) // SIDE, torch.arange(TOKENS) % SIDE
    return (y[:, None] - y + SIDE - 1) * (2 * SIDE - 1) + (x[:, None] - x + SIDE - 1)


class Attention(nn.Module):
    """Softmax attention with a relative position bias, table [(2 side - 1)^2, heads]."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.table = nn.Parameter(torch.zeros((2 * SIDE - 1) ** 2, heads))
        self.register_buffer("offsets", offsets())

    def bias(self):
        """[heads, T, T], target-major"""
        return self.table[self.offsets].permute(2, 0, 1)

    def forward(self, x):
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=self.bias())
        return self.out(y.transpose(1, 2).flatten(2))


class Model(nn.Module):
    def __init__(self, dim=32, heads=2, layers=2):
        super().__init__()
        self.embed = nn.Embedding(LEVELS, dim)
        self.attention = nn.ModuleList(Attention(dim, heads) for _ in range(layers))
        self.mlp = nn.ModuleList(nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
                                 for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(2 * layers))
        self.head = nn.Linear(dim, LEVELS)

    def forward(self, x):
        x = self.embed(x)
        for i, (attention, mlp) in enumerate(zip(self.attention, self.mlp)):
            x = x + attention(self.norms[2 * i](x))
            x = x + mlp(self.norms[2 * i + 1](x))
        return self.head(x)


def biases(model):
    return {f"layer {i}": layer.bias() for i, layer in enumerate(model.attention)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", default="runs/relative-bias", help="run folder")
    parser.add_argument("--steps", type=int, default=400)
    args = parser.parse_args()
    torch.manual_seed(1)
    model, criterion = Model(), nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    with afterimage.Run(args.run, steps=args.steps) as run:
        run.watch(model, every=20, optimizer=optimizer, biases=biases, grid=(SIDE, SIDE), loss=criterion)
        for step in range(1, args.steps + 1):
            x = torch.randint(0, LEVELS, (32, SIDE, SIDE))
            target = (x.roll(2, 2)).flatten(1)  # of the pixel two columns to the left
            loss = criterion(model(x.flatten(1)).flatten(0, 1), target.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 100 == 0:
                print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
