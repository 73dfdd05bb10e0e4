#!/usr/bin/env python3
"""A vision transformer of timm whose attention is replaced by Afterimage's AFTConv, trained from nothing, seen live.

    pip install torch timm ./python
    python python/examples/timm_aft_vit.py         # in another terminal: afterimage runs/timm-aft-vit

The model is timm's but for the mixers. No table of the program has its names, so MAPPING says what they are: the run
then holds the whole model, and the window has its biases, attention and keys. The pictures are those of timm_vit.py.
"""
import argparse

import timm
import torch

import afterimage
import squares

PATCH = 4

# A mapping (docs/imports.md): timm's names of everything around the mixers, ours within them.
MAPPING = {
    "sentence": "A ViT of timm with AFTConv in place of attention, learned positions and the mean over the patches.",
    "needs": ["pos_embed", "patch_embed.proj.weight", "blocks.0.attn.kernel", "head.weight"],
    "sizes": {
        "dim": "size(patch_embed.proj.weight, 0)",
        "channels": "size(patch_embed.proj.weight, 1)",
        "patch": "size(patch_embed.proj.weight, 2)",
        "tokens": "size(pos_embed, 1)",
        "side": "patch * sqrt(tokens)",
    },
    "settings": {
        "model.task": "classify", "model.mixer": "aft-conv2d", "model.dim": "=dim",
        "model.layers": "=count(blocks.{i}.norm1.weight)",
        "model.heads": "=size(blocks.0.attn.kernel, 0)", "model.window": "=size(blocks.0.attn.kernel, 1)",
        "model.mlp_ratio": "=size(blocks.0.mlp.fc1.weight, 0) / dim",
        "model.patch": "=patch", "model.channels": "=channels", "model.height": "=side", "model.width": "=side",
        "model.levels": 256, "model.classes": "=size(head.weight, 0)", "model.norm_eps": "1e-6",
        "model.input_norm": "half",
    },
    "tensors": [
        {"from": "pos_embed", "to": "embed.position.weight", "shape": ["tokens", "dim"]},
        {"from": "patch_embed.proj.weight", "to": "patch.weight", "shape": ["dim", "channels * patch * patch"]},
        {"from": "patch_embed.proj.bias", "to": "patch.bias"},
        {"from": "blocks.{i}.attn.{p}", "to": "blocks.{i}.mixer.{p}"},
        {"from": "blocks.{i}.attn.{map}.{p}", "to": "blocks.{i}.mixer.{map}.{p}"},
        {"from": "blocks.{i}.mlp.{map}.{p}", "to": "blocks.{i}.mlp.{map}.{p}"},
        {"from": "blocks.{i}.{norm}.{p}", "to": "blocks.{i}.{norm}.{p}"},
        {"from": "norm.{p}", "to": "norm.{p}"},
        {"from": "head.{p}", "to": "head.{p}"},
    ],
}


class Mixer(afterimage.nn.AFTConv):
    """As timm calls its attention: with a mask, of which there is none here."""

    def forward(self, x, **_):
        return super().forward(x)


def make_model(depth, heads, window):
    """-> pictures [B, 3, 32, 32] to logits [B, 4]. Patches alone: a class token has no place in the grid of AFTConv."""
    model = timm.create_model("vit_tiny_patch16_224", img_size=squares.SIDE, patch_size=PATCH, depth=depth,
                              embed_dim=128, num_heads=heads, num_classes=len(squares.CLASSES),
                              class_token=False, global_pool="avg", fc_norm=False)
    side = squares.SIDE // PATCH
    for block in model.blocks:
        block.attn = Mixer(model.embed_dim, heads, window, grid=(side, side))
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", default="runs/timm-aft-vit", help="run folder; pictures go into RUN-pictures")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--depth", type=int, default=2, help="layers (the original: 12, of 192 channels)")
    parser.add_argument("--heads", type=int, default=4, help="kernels of a layer")
    parser.add_argument("--window", type=int, default=7, help="side of a kernel in patches, odd")
    args = parser.parse_args()
    generator = torch.Generator().manual_seed(1)
    torch.manual_seed(1)
    model = make_model(args.depth, args.heads, args.window)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    criterion = torch.nn.CrossEntropyLoss()
    source = squares.write_folder(args.run + "-pictures", 120, generator)
    with afterimage.Run(args.run, {"data": {"source": source}}, steps=args.steps) as run:
        run.watch(model, every=20, optimizer=optimizer, mapping=MAPPING, loss=criterion)
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
