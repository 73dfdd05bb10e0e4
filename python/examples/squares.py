"""Drawn pictures for the examples with timm: a bright square on noise, whose quarter of the picture is the class."""
from pathlib import Path

import torch
from PIL import Image

SIDE = 32
CLASSES = ("bottom left", "bottom right", "top left", "top right")  # sorted, as Afterimage numbers folders


def draw(count, generator):
    """-> pictures [count, 3, 32, 32] of uint8, and the class of each, [count] int64."""
    noise = 110 + 10 * torch.randn(count, 3, SIDE, SIDE, generator=generator)
    target = torch.randint(0, len(CLASSES), (count,), generator=generator)
    shift = torch.randint(0, 9, (2, count), generator=generator)
    half = SIDE // 2
    for i, place in enumerate(target.tolist()):
        top, left = half * (1 - place // 2) + int(shift[0, i]), half * (place % 2) + int(shift[1, i])
        noise[i, :, top:top + 7, left:left + 7] += 140
    return noise.clamp(0, 255).byte(), target


def normalised(pictures):
    """uint8 -> float in -1 to 1, mean and deviation 0.5: what timm's ViTs take, and Afterimage's `input_norm` half."""
    return pictures.float() / 127.5 - 1


def write_folder(folder, count, generator):
    """`count` pictures as FOLDER/CLASS/NUMBER.png. -> what config["data"]["source"] says of them."""
    pictures, target = draw(count, generator)
    for i, (picture, place) in enumerate(zip(pictures, target.tolist())):
        file = Path(folder).absolute() / CLASSES[place] / f"{i:03}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture.permute(1, 2, 0).numpy()).save(file)
    return f"images:{Path(folder).absolute()}?size={SIDE}"
