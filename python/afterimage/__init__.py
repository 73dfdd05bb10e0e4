"""Afterimage for Python: a PyTorch training seen live in Afterimage's window, and the program's results as arrays.

    import afterimage
    with afterimage.Run("runs/mine") as run:
        run.watch(model, every=50, optimizer=optimizer)
        for step in range(1000):
            ...
            run.log(step, loss=loss)

`Run` writes a run folder from any training loop, `load` reads one, `probe` and `complete` ask the program. With
PyTorch, `operators` has the program's kernels as torch.ops.afterimage.*, `nn` has modules on them, and `patch` puts
other people's AFT modules on them. Importing this needs NumPy alone; PyTorch is imported where these three are first
asked for. docs/pytorch.md shows all of it.
"""
import importlib as _importlib

from .errors import Error
from .maps import Map
from .program import Completion, Figure, complete, find_program, probe
from .reading import Loaded, load
from .run import Run
from .version import __version__

_WITH_TORCH = {"Model": ".model", "operators": ".operators", "nn": ".nn", "patch": ".patching", "unpatch": ".patching"}


def __getattr__(name: str) -> object:
    """What needs PyTorch, imported when it is first used."""
    if name not in _WITH_TORCH:
        raise AttributeError(f"module 'afterimage' has no attribute '{name}'")
    try:
        module = _importlib.import_module(_WITH_TORCH[name], __name__)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise Error(f"afterimage.{name} needs PyTorch 2.4 or newer (pip install torch)") from None
    return module if name in ("operators", "nn") else getattr(module, name)


__all__ = [
    "Completion",
    "Error",
    "Figure",
    "Loaded",
    "Map",
    "Model",
    "Run",
    "complete",
    "find_program",
    "load",
    "nn",
    "operators",
    "patch",
    "probe",
    "unpatch",
     "__version__"]
