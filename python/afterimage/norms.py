"""Norms of the position biases of a whole model: the numbers that the program logs of its own trainings as
bias_norm.layer.N (docs/format.md). Of the effective w, in nats."""
from __future__ import annotations

import math
from typing import Any, Callable, Mapping, Optional

import numpy as np

from .patterns import match

BLOCK = 256  # rows of w that are looked at together

Tensors = Mapping[str, np.ndarray]


def bias_norms(weights: Tensors, settings: Mapping[str, Any]) -> dict[str, float]:
    """{"bias_norm.layer.0": Frobenius norm of w, ...} for each layer that has a position bias.

    weights: by the names of the format. settings: those of config.model.
    """
    layers: dict[int, dict[str, np.ndarray]] = {}
    for name, value in weights.items():
        bound = match("blocks.{i}.mixer.{part}", name)
        if bound:
            layers.setdefault(int(bound["i"]), {})[bound["part"]] = value
    found = {layer: squared_bias(parts, settings) for layer, parts in sorted(layers.items())}
    return {f"bias_norm.layer.{layer}": float(np.sqrt(square)) for layer, square in found.items() if square is not None}


def squared_bias(parts: Tensors, settings: Mapping[str, Any]) -> Optional[float]:
    """Sum of the squares of w over all pairs, of a kernel over its taps; None: such a layer has no position bias, or
    its shapes do not fit, which is said elsewhere. parts: w, or u and r, or kernel with or without gamma and beta."""
    window = number(settings, "window") if settings.get("mixer") == "aft-local" else 0
    w, u, r, kernel = (parts.get(name) for name in ("w", "u", "r", "kernel"))
    if w is not None and w.ndim == 2 and w.shape[0] == w.shape[1]:
        return squares(lambda rows, columns: seen(w[rows, columns].astype(np.float64)), len(w), int(window))
    if u is not None and r is not None and u.ndim == 2 and u.shape == r.shape:
        u, r = u.astype(np.float64), r.astype(np.float64)
        if not window:  # sum_tj (u_t . r_j)^2 = <u^T u, r^T r>, without w
            return max(0.0, float(np.sum((u.T @ u) * (r.T @ r))))
        return squares(lambda rows, columns: u[rows] @ r[columns].T, len(u), int(window))
    if kernel is not None and kernel.ndim > 1 and all(parts[name].shape == (len(kernel),) for name in ("gamma", "beta")
                                                      if name in parts):
        return float(np.square(effective_kernel(parts, settings)).sum())
    return None


def seen(w: np.ndarray) -> np.ndarray:
    """w with 0 where -infinity hides a pair."""
    return np.where(np.isneginf(w), 0, w)


def number(settings: Mapping[str, Any], key: str) -> float:
    """A setting that is a number; 0, the default of those that are asked for, where it is none."""
    value = settings.get(key, 0)
    return value if isinstance(value, (int, float)) and math.isfinite(value) else 0


def squares(block: Callable[[slice, slice], np.ndarray], tokens: int, window: int) -> float:
    """Sum of the squares of w [T, T] where |t - j| < window (0: everywhere); block(targets, sources) is a part of it,
    float64."""
    window, total = window or tokens, 0.0
    for first in range(0, tokens, BLOCK):
        end = min(first + BLOCK, tokens)
        low, high = max(0, first - window + 1), min(tokens, end + window - 1)
        values = block(slice(first, end), slice(low, high))
        if window < tokens:
            t, j = np.ogrid[first:end, low:high]
            values = np.where(abs(t - j) < window, values, 0)
        total += float(np.square(values).sum())
    return total


def effective_kernel(parts: Tensors, settings: Mapping[str, Any]) -> np.ndarray:
    """w of aft-conv [heads, taps], float64: gamma (k - mean k) / sqrt(var k + 1e-5) + beta for each head, with the
    variance of a sample (Eq. 8), or the kernel itself; with kernel_gumbel_tau its largest value alone (Eq. 10)."""
    kernel = parts["kernel"].reshape(len(parts["kernel"]), -1).astype(np.float64)
    if "gamma" in parts and "beta" in parts:
        centred = kernel - kernel.mean(1, keepdims=True)
        variance = np.square(centred).sum(1, keepdims=True) / max(kernel.shape[1] - 1, 1)
        kernel = parts["gamma"][:, None] * centred / np.sqrt(variance + 1e-5) + parts["beta"][:, None]
    return kernel.max(1, keepdims=True) if number(settings, "kernel_gumbel_tau") > 0 else kernel
