"""What the window says about a cell, against what `afterimage probe` writes for the same cell."""
import re
from pathlib import Path

from tensors import read_npy

DEMO = Path(__file__).resolve().parents[2] / "assets" / "demo" / "mirror.safetensors"
MINUS, PRIME = "\u2212", "\u2032"


class Bias:
    """The map [T, T] of one layer, as the command line writes it."""

    def __init__(self, cli, model, layer, *flags):
        path = cli.folder / f"bias-{layer}.npy"
        cli.ok(f"probe writes layer {layer}", "probe", "bias", model, "--layer", layer, *flags, "-o", path)
        self.shape, self.values = read_npy(path)

    def at(self, target, source):
        return self.values[target * self.shape[1] + source]

    def largest_visible(self):
        """(target, source) of the largest value; a causal model sees sources up to the target."""
        cells = [(t, s) for t in range(self.shape[0]) for s in range(t + 1)]
        return max(cells, key=lambda cell: self.at(*cell))


def read_line(words, quantity):
    """Hover line -> (layer, target, source, shown number as text) or None."""
    found = re.search(rf"layer (\d+)  t (\d+) .*?t{PRIME} (\d+) .*?{re.escape(quantity)} ([{MINUS}+]?[\d. e{MINUS}-]*\d)  ",
                      words + "  ")
    return (*map(int, found.groups()[:3]), found.group(4)) if found else None


def agrees(shown, stored):
    """The shown digits are the stored value's: at most one unit of the last digit away."""
    text = shown.replace(MINUS, "-").replace(" ", "").lstrip("+")
    mantissa, _, exponent = text.partition("e")
    digits = len(mantissa.partition(".")[2])
    return abs(float(text) - stored) <= 10 ** (int(exponent or 0) - digits) * 0.51
