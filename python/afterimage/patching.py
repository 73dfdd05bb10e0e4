"""`patch`: other people's AFT modules on Afterimage's kernels: the same parameters and outputs, without NaN where
exp(K) leaves the range of float32. docs/pytorch.md has what it does to the time of a step."""
from __future__ import annotations

import types
from typing import Any, Callable, List, Optional, Tuple

import torch

from . import operators
from .errors import Error


def _projected(module: Any, x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return module.to_q(x), module.to_k(x), module.to_v(x)


def _table(w: torch.Tensor, T: int) -> torch.Tensor:
    if T > w.shape[0]:
        raise Error(f"the sequence has {T} tokens, the position bias of this module only {w.shape[0]}")
    return w[:T, :T]


def _rish_full(module: Any, x: torch.Tensor) -> torch.Tensor:
    return module.project(operators.aft_full(*_projected(module, x), _table(module.wbias, x.shape[1])))


def _rish_local(module: Any, x: torch.Tensor) -> torch.Tensor:
    w = _table(module.wbias, x.shape[1])
    if module.s < 1:
        return module.project(operators.aft_simple(*_projected(module, x)))
    return module.project(operators.aft_local(*_projected(module, x), w, window=int(module.s)))


def _rish_simple(module: Any, x: torch.Tensor) -> torch.Tensor:
    return module.project(operators.aft_simple(*_projected(module, x)))


def _visibility(mask: Optional[torch.Tensor], T: int) -> str:
    """Of labml's mask [T, T, B]: "all", "causal", or "other"."""
    if mask is None:
        return "all"
    if mask.shape[2] != 1:
        first = mask[:, :, :1]
        if not bool((mask == first).all()):
            return "other"
        mask = first
    rows = mask[:, :, 0].bool().expand(T, T)
    if bool(rows.all()):
        return "all"
    return "causal" if torch.equal(rows, torch.ones_like(rows).tril()) else "other"


def _labml_local(module: Any, *, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
                 mask: Optional[torch.Tensor] = None) -> torch.Tensor:
    T = query.shape[0]
    seen = _visibility(mask, T) if key.shape[0] == value.shape[0] == T else "other"
    if seen == "other":  # another mask, or other lengths of sources: as the module does it itself
        return type(module).forward(module, query=query, key=key, value=value, mask=mask)
    q, k, v = (of(x).transpose(0, 1) for of, x in
               ((module.query, query), (module.key, key), (module.value, value)))
    y = operators.aft_local(q, k, v, _table(module.pos_bias, T), window=int(module.local_window_size),
                            causal=seen == "causal")
    return module.output(y.transpose(0, 1))


_KNOWN: dict[tuple[str, str], Callable[..., torch.Tensor]] = {
    ("aft_pytorch.aft_pytorch", "AFTFull"): _rish_full,
    ("aft_pytorch.aft_pytorch", "AFTLocal"): _rish_local,
    ("aft_pytorch.aft_pytorch", "AFTSimple"): _rish_simple,
    ("labml_nn.transformers.aft", "AFTLocal"): _labml_local,
}
_BEFORE = "_forward_before_afterimage"  # the forward that the instance itself had, or None


def _replacement(module: Any) -> Optional[Callable[..., torch.Tensor]]:
    kind = type(module)
    return _KNOWN.get((kind.__module__, kind.__name__))


def patch(model: torch.nn.Module) -> List[str]:
    """Lets every AFT module of labml-nn (AFTLocal) and aft-pytorch (AFTFull, AFTLocal, AFTSimple) in `model`, itself
    included, compute with Afterimage's kernels. Returns their names ("" for the model itself).

    Parameters, state dicts and outputs stay (to 1e-5 in float32). labml's masks that are neither causal nor all ones
    are left to the module's own forward. aft-pytorch's AFTLocal no longer makes a new parameter at every call, which
    took it away from its optimizer. Raises Error where there is no such module, with what is known.
    """
    if not isinstance(model, torch.nn.Module):
        raise Error(f"patch takes a torch.nn.Module, found {type(model).__name__}")
    names = []
    for name, module in model.named_modules():
        replacement = _replacement(module)
        if replacement is not None:
            if _BEFORE not in vars(module):
                object.__setattr__(module, _BEFORE, vars(module).get("forward"))
            module.forward = types.MethodType(replacement, module)
            names.append(name)
    if not names:
        raise Error("patch: no module of " + ", ".join(f"{a}.{b}" for a, b in _KNOWN) + " in this model")
    return names


def unpatch(model: torch.nn.Module) -> List[str]:
    """Gives the modules of `model` that patch() has changed their own forward back; returns their names, none where
    there was nothing to take back. Parameters are not touched."""
    names = []
    for name, module in model.named_modules():
        if _BEFORE not in vars(module):
            continue
        before = vars(module).pop(_BEFORE)
        del module.forward
        if before is not None:
            module.forward = before
        names.append(name)
    return names
