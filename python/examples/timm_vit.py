#!/usr/bin/env python3
"""A vision transformer of timm, trained from nothing and seen live: it is recognised by its names.

    pip install torch timm ./python
    python python/examples/timm_vit.py             # in another terminal: afterimage runs/timm-vit

The pictures are drawn here: a bright square whose place says the class. The window shows the attention of every layer.
"""
import argparse

import timm
import torch

import afterimage

SIDE, CLASSES = 32, 4


def pictures(count, generator):
    """-> [count, 3, 32, 32] and the quadrant of the square, [count]."""
    x = 0.3 * torch.randn(count, 3, SIDE, SIDE, generator=generator)
    place = torch.randint(0, CLASSES, (count,), generator=generator)
    shift = torch.randint(0, 9, (2, count), generator=generator)
    for i in range(count):
        top, left = 16 * (place[i] // 2) + shift[0, i], 16 * (place[i] % 2) + shift[1, i]
        x[i, :, top:top + 7, left:left + 7] += 1
    return x, place


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", default="runs/timm-vit", help="run folder")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--depth", type=int, default=2, help="layers (the original: 12)")
    args = parser.parse_args()
    generator = torch.Generator().manual_seed(1)
    torch.manual_seed(1)
    model = timm.create_model(
    "vit_tiny_patch16_224",
    img_size=SIDE,
    patch_size=4,
    depth=args.depth,
     num_classes=CLASSES)
    optimizer = torch.optim.AdamW(model.parameters(), 5e-4)
    criterion = torch.nn.CrossEntropyLoss()
    with afterimage.Run(args.run, steps=args.steps) as run:
        run.watch(model, every=50, optimizer=optimizer, loss=criterion)
        for step in range(1, args.steps + 1):
            x, target = pictures(32, generator)
            answer = model(x)
            loss = criterion(answer, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            run.log(step, accuracy=(answer.argmax(1) == target).float().mean(), lr=optimizer.param_groups[0]["lr"])
            if step % 50 == 0:
                print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
