"""`Model`: a whole model of a checkpoint as a module, its mixers on Afterimage's kernels."""
from __future__ import annotations

import os
from typing import Any, Optional, Union

import torch
from torch import nn
from torch.nn import functional as F

from . import nn as mixers
from .errors import Error, shown
from .reading import load

POSITIONS = "embed.position.weight"


def _table(like: torch.Tensor) -> nn.ParameterDict:
    return nn.ParameterDict({"weight": nn.Parameter(torch.empty_like(like))})


def _mixer(model: dict[str, Any], tokens: int, grid: tuple[int, int], causal: bool) -> nn.Module:
    dim, heads, window = model["dim"], model.get("heads", 1), model.get("window", 0)
    common = {"causal": causal, "gate": model.get("query_gate", True), "output": model.get("output_projection", True),
              "inner": model.get("inner", 0) or None, "bias": model.get("qkv_bias", True)}
    hidden = model.get("outside", "0") == "-inf"
    factors = model.get("factors", 0)
    name = model["mixer"]
    if model.get("kernel_gumbel_tau", 0) or (hidden and name.startswith("aft-conv")):
        raise Error(f"afterimage.Model does not have {shown(name)} with these settings (outside, kernel_gumbel_tau)")
    if name == "aft-full":
        return mixers.AFTFull(dim, tokens, factors=factors, **common)
    if name == "aft-local" and window:
        return mixers.AFTLocal(dim, tokens, window, factors=factors, outside_hidden=hidden, **common)
    if name in ("aft-simple", "aft-local"):
        return mixers.AFTSimple(dim, **common)
    if name in ("aft-conv1d", "aft-conv2d"):
        return mixers.AFTConv(dim, heads, window, grid=grid if name == "aft-conv2d" else None,
                              naive=model.get("naive_kernel", False), **common)
    raise Error(f"afterimage.Model has the AFT mixers; this model is {shown(name)}")


class _Mlp(nn.Module):
    def __init__(self, dim: int, ratio: int, activation: str) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(dim, ratio * dim), nn.Linear(ratio * dim, dim)
        self.activation = activation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inside = self.fc1(x)
        if self.activation == "relu":
            return self.fc2(F.relu(inside))
        return self.fc2(F.gelu(inside, approximate="tanh" if self.activation == "gelu-tanh" else "none"))


class _Block(nn.Module):
    """x += mixer(norm1(x)); x += mlp(norm2(x))."""

    def __init__(self, model: dict[str, Any], mixer: nn.Module) -> None:
        super().__init__()
        dim, eps = model["dim"], model.get("norm_eps", 1e-5)
        self.norm1, self.norm2 = nn.LayerNorm(dim, eps=eps), nn.LayerNorm(dim, eps=eps)
        self.mixer = mixer
        self.mlp = _Mlp(dim, model.get("mlp_ratio", 4), model.get("activation", "gelu"))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.mixer(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    """A checkpoint or run folder with an AFT mixer. state_dict() has the canonical names.

    path: a checkpoint or a run folder; step: of which of the folder's checkpoints, None: the newest.
    image, text: int64 tokens [B, T'] with T' up to T, the targets; the start token is put before them -> logits
    [B, T', levels], row t predicts token t. classify: float pictures [B, C, H, W], normalised as the model was trained
    -> logits [B, classes]. The program's own values to 1e-4. Raises Error for other models, naming what is missing.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], step: Optional[int] = None) -> None:
        super().__init__()
        loaded = load(path, step)
        model = self.config = dict(loaded.config.get("model", {}))
        if not loaded.tensors or model.get("task") not in ("image", "text", "classify"):
            raise Error(f"{path}: afterimage.Model needs whole weights of a model for image, text or classify, found"
                        f" {shown(model.get('task', 'none'))}")
        self.causal = model["task"] != "classify"
        weights = {name: torch.from_numpy(value.copy()).float() for name, value in loaded.tensors.items()
                   if not name.startswith(("optim.", "ema."))}
        self.tokens, grid = self._sizes(model)
        self.blocks = nn.ModuleList(_Block(model, _mixer(model, self.tokens, grid, self.causal))
                                    for _ in range(model["layers"]))
        self.norm = nn.LayerNorm(model["dim"], eps=model.get("norm_eps", 1e-5))
        self.head = nn.Linear(model["dim"], weights["head.weight"].shape[0])
        self._embedding(model, weights)
        missing, unknown = self.load_state_dict(weights, strict=False)
        if missing or unknown:
            raise Error(f"{path}: afterimage.Model does not fit it: missing {', '.join(missing[:3]) or 'nothing'}, not"
                        f" known {', '.join(unknown[:3]) or 'nothing'}")

    @staticmethod
    def _sizes(model: dict[str, Any]) -> tuple[int, tuple[int, int]]:
        """Tokens and the grid of them."""
        if model["task"] == "text":
            return model["length"], (1, model["length"])
        if model["task"] == "image":
            width = model["width"] * model["channels"]
            return model["height"] * width, (model["height"], width)
        patch = model.get("patch", 4)
        grid = (model["height"] // patch, model["width"] // patch)
        return grid[0] * grid[1] + sum(bool(model.get(key)) for key in ("class_token", "distillation_token")), grid

    def _embedding(self, model: dict[str, Any], weights: dict[str, torch.Tensor]) -> None:
        if str(model.get("positions", "")) == "sinusoidal":
            raise Error("afterimage.Model does not have sinusoidal positions")
        dim = model["dim"]
        self.embed = nn.ParameterDict()
        if self.causal:
            self.embed["token"] = _table(weights["embed.token.weight"])
            if "embed.start" in weights:
                self.embed["start"] = nn.Parameter(torch.empty(dim))
        else:
            self.patch = nn.Linear(weights["patch.weight"].shape[1], dim)
            if "cls" in weights:
                self.cls = nn.Parameter(torch.empty(dim))
            if "dist" in weights:
                self.dist = nn.Parameter(torch.empty(dim))
                self.head_dist = nn.Linear(dim, weights["head_dist.weight"].shape[0])
        if POSITIONS in weights:
            self.embed["position"] = _table(weights[POSITIONS])

    def _embed_tokens(self, tokens: torch.Tensor) -> torch.Tensor:
        if tokens.dim() != 2 or not 1 <= tokens.shape[1] <= self.tokens:
            raise Error(f"tokens are int64 [B, T] with T of 1 to {self.tokens}, found {list(tokens.shape)}")
        rows = self.embed["token"]["weight"][tokens[:, :-1]]
        first = self.embed["start"] if "start" in self.embed else self.embed["token"]["weight"][0]
        return torch.cat([first.expand(tokens.shape[0], 1, -1), rows], 1)

    def _embed_patches(self, pictures: torch.Tensor) -> torch.Tensor:
        size = self.config.get("patch", 4)
        wanted = [self.config[key] for key in ("channels", "height", "width")]
        if pictures.dim() != 4 or list(pictures.shape[1:]) != wanted:
            raise Error(f"pictures are [B, {wanted[0]}, {wanted[1]}, {wanted[2]}], found {list(pictures.shape)}")
        x = self.patch(F.unfold(pictures, size, stride=size).transpose(1, 2))
        before = [getattr(self, name).expand(x.shape[0], 1, -1) for name in ("cls", "dist") if hasattr(self, name)]
        return torch.cat([*before, x], 1)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """int64 tokens [B, T'], or float pictures [B, C, H, W] -> logits [B, T', levels] or [B, classes], float32.
        Raises Error on another shape."""
        x = self._embed_tokens(inputs) if self.causal else self._embed_patches(inputs)
        if "position" in self.embed:
            x = x + self.embed["position"]["weight"][:x.shape[1]]
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        if self.causal:
            return self.head(x)
        if hasattr(self, "dist"):
            return (self.head(x[:, 0]) + self.head_dist(x[:, 1])) / 2
        return self.head(x[:, 0] if hasattr(self, "cls") else x.mean(1))
