#!/usr/bin/env python3
"""Makes the files of this folder with PyTorch (written with 1.13; newer ones write the same). Run where torch is installed.

Number i of a tensor is i + 0.5 (of whole numbers: i), so that the test needs no second file.
"""
from collections import OrderedDict
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent


def numbers(*shape, dtype=torch.float32):
    values = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return (values + 0.5 if dtype.is_floating_point else values).to(dtype).reshape(shape)


def state_dict():
    linear = torch.nn.Linear(3, 4)
    state = OrderedDict()
    state["linear.weight"], state["linear.bias"] = numbers(4, 3), numbers(4)
    linear.load_state_dict({"weight": state["linear.weight"], "bias": state["linear.bias"]})
    out = linear.state_dict(prefix="linear.")  # with _metadata, as every module's has it
    out["transposed"] = numbers(2, 5).t()
    whole = numbers(6)
    out["part"], out["tied"] = whole[2:5], whole
    out["scalar"], out["empty"] = numbers(1)[0], torch.empty(0, 7)
    for name in ("float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8"):
        out[name] = numbers(3, dtype=getattr(torch, name))
    out["bool"] = torch.tensor([True, False, True])
    return out


def main():
    nested = {"model": state_dict(), "epoch": 3, "name": "small", "rate": 0.25,
              "optimizer": {"state": {0: {"exp_avg": numbers(2)}}, "param_groups": [{"lr": 0.1, "params": [0]}]},
              "parameter": torch.nn.Parameter(numbers(2, 2))}
    torch.save(nested, HERE / "nested.pt")
    torch.save(nested, HERE / "legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(numbers(2, 3), HERE / "tensor.pt")
    torch.save({"model": numbers(2), "loss": torch.nn.Linear(1, 1)}, HERE / "module.pt")


if __name__ == "__main__":
    main()
