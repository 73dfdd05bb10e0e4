#!/usr/bin/env python3
"""A vision transformer of timm, trained from nothing and seen live: it is recognised by its names.

    pip install torch timm ./python
    python python/examples/timm_vit.py             # in another terminal: afterimage runs/timm-vit

The pictures are drawn here: a bright square whose place says the class. A few of them are written beside the run, and
the run says where: the window shows the attention of every layer on them.
"""
import argparse

import timm
import torch

import afterimage
import squares


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", default="runs/timm-vit", help="run folder; pictures go into RUN-pictures")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--depth", type=int, default=2, help="layers (the original: 12, of 192 channels)")
    args = parser.parse_args()
    generator = torch.Generator().manual_seed(1)
    torch.manual_seed(1)
    model = timm.create_model("vit_tiny_patch16_224", img_size=squares.SIDE, patch_size=4, depth=args.depth,
                              embed_dim=128, num_heads=2, num_classes=len(squares.CLASSES))
    optimizer = torch.optim.AdamW(model.parameters(), 5e-4)
    criterion = torch.nn.CrossEntropyLoss()
    source = squares.write_folder(args.run + "-pictures", 120, generator)
    # Of timm's ViTs some take pictures normalised with 0.5, some by ImageNet's colours: the weights do not say it.
    config = {"data": {"source": source}, "model": {"input_norm": "half"}}
    with afterimage.Run(args.run, config, steps=args.steps) as run:
        run.watch(model, every=50, optimizer=optimizer, loss=criterion)
        for step in range(1, args.steps + 1):
            pictures, target = squares.draw(32, generator)
            answer = model(squares.normalised(pictures))
            loss = criterion(answer, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            run.log(step, accuracy=(answer.argmax(1) == target).float().mean(), lr=optimizer.param_groups[0]["lr"])
            if step % 50 == 0:
                print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
