"""The one file that touches PyTorch, and only where the user's objects are of it: copies to the host, hooks."""
from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Callable, Mapping

import numpy as np

from .errors import Error, shown

COMPILED = "_orig_mod."  # torch.compile puts this before every name
HEAD_COUNTS = ("num_heads", "num_attention_heads")  # timm and torch.nn; transformers


def torch() -> Any:
    """The module where the user has imported it: an object of PyTorch cannot be there without."""
    return sys.modules.get("torch")


def is_tensor(value: Any) -> bool:
    return torch() is not None and isinstance(value, torch().Tensor)


def is_module(value: Any) -> bool:
    return torch() is not None and isinstance(value, torch().nn.Module)


def state_of(model: Any) -> dict[str, Any]:
    """name -> tensor or array of a module or a state dict; what is no tensor (counters, extra state) is left out."""
    if is_module(model):
        model = model.state_dict()
    if not isinstance(model, Mapping):
        raise Error(f"a torch.nn.Module or a state dict is expected, found {shown(type(model).__name__)}")
    state = {}
    for name, value in model.items():
        if is_tensor(value) or isinstance(value, np.ndarray):
            state[str(name).replace(COMPILED, "")] = value
        elif isinstance(value, Mapping):  # a file of several state dicts: their names below its own
            state.update({f"{name}.{key}": v for key, v in value.items() if is_tensor(v) or isinstance(v, np.ndarray)})
    if not state:
        raise Error("the state dict holds no tensors")
    return state


def heads_of(model: Any) -> set[int]:
    """The numbers of heads that the modules within `model` have: one where all agree; none of a state dict."""
    if not is_module(model):
        return set()
    found = (getattr(module, name, None) for module in model.modules() for name in HEAD_COUNTS)
    return {count for count in found if isinstance(count, int) and not isinstance(count, bool) and count > 0}


def numbers(value: Any) -> np.ndarray:
    """A tensor on the host, or anything NumPy takes, as an array; bfloat16 as float32."""
    if not is_tensor(value):
        return np.asarray(value)
    value = value.detach()
    if value.dtype in (torch().bfloat16, getattr(torch(), "float8_e4m3fn", None),
                       getattr(torch(), "float8_e5m2", None)):
        value = value.float()
    return value.numpy()


@dataclass
class Copies:
    """Copies on their way to the host. `get` waits for them; call it in the writer's thread."""
    arrays: dict[str, Any]
    events: list[Any]

    def get(self) -> dict[str, np.ndarray]:
        for event in self.events:
            event.synchronize()
        return {name: numbers(value) for name, value in self.arrays.items()}

    def are_here(self) -> bool:
        return not self.events


class Copier:
    """Takes copies that later steps of the training do not change. Returns at once for tensors of a CUDA device: they
    are cloned there on the current stream, and the clone goes to pinned memory on a stream of its own. Tensors on the
    host are copied in the call."""

    def __init__(self) -> None:
        self.streams: dict[Any, Any] = {}

    def copy(self, values: Mapping[str, Any]) -> Copies:
        """values: name -> tensor or array, any device, with or without gradients."""
        out: dict[str, Any] = {}
        on_device: dict[Any, list[str]] = {}
        for name, value in values.items():
            if not is_tensor(value):
                out[name] = np.array(value)
            elif self.is_odd(value):
                raise Error(f"'{shown(name)}' is a tensor of layout {value.layout} on {value.device}; allowed: dense"
                            " tensors with values")
            elif value.device.type == "cuda":
                on_device.setdefault(value.device, []).append(name)
            elif value.device.type == "cpu":
                out[name] = value.detach().clone()
            else:  # a device without streams of this kind: PyTorch waits for it
                out[name] = value.detach().to("cpu", copy=True)
        events = [self.copy_from(device, {n: values[n] for n in names}, out) for device, names in on_device.items()]
        return Copies({name: out[name] for name in values}, events)

    @staticmethod
    def is_odd(value: Any) -> bool:
        return value.layout != torch().strided or value.device.type == "meta" or value.is_quantized

    def copy_from(self, device: Any, tensors: Mapping[str, Any], out: dict[str, Any]) -> Any:
        cuda = torch().cuda
        if device not in self.streams:
            self.streams[device] = cuda.Stream(device)
        stream = self.streams[device]
        clones = {name: value.detach().clone() for name, value in tensors.items()}
        stream.wait_stream(cuda.current_stream(device))
        with cuda.stream(stream):
            for name, clone in clones.items():
                pinned = torch().empty(clone.shape, dtype=clone.dtype, pin_memory=True)
                out[name] = pinned.copy_(clone, non_blocking=True)
                clone.record_stream(stream)  # its memory is not given away before the copy is done
            return stream.record_event(cuda.Event(blocking=True))  # a thread that waits for it sleeps


def hook_optimizer(optimizer: Any, call: Callable[[], None]) -> Any:
    """`call()` after every optimizer.step(). -> a handle with remove()."""
    if not hasattr(optimizer, "register_step_post_hook"):
        raise Error(f"optimizer is a torch.optim.Optimizer, found {shown(type(optimizer).__name__)}")
    return optimizer.register_step_post_hook(lambda *_: call())


def hook_forward(model: Any, call: Callable[[], None]) -> Any:
    """`call()` before every forward pass of `model` in training mode with gradients. -> a handle with remove()."""
    if not is_module(model):
        raise Error(f"watch follows a torch.nn.Module, found {shown(type(model).__name__)}")

    def before(module: Any, _: Any) -> None:
        if module.training and torch().is_grad_enabled():
            call()
    return model.register_forward_pre_hook(before)


def hook_loss(module: Any, call: Callable[[Any], None]) -> Any:
    """`call(loss)`, detached, after every forward pass of a loss with gradients. -> a handle with remove()."""
    if not is_module(module):
        raise Error(f"loss is the torch.nn.Module that computes it, found {shown(type(module).__name__)}")

    def after(_: Any, __: Any, value: Any) -> None:
        if is_tensor(value) and value.requires_grad and value.numel() == 1:
            call(value.detach())
    return module.register_forward_hook(after)
