"""Afterimage for Python: a PyTorch training seen live in Afterimage's window, and the program's results as arrays.

    import afterimage
    with afterimage.Run("runs/mine") as run:
        run.watch(model, every=50, optimizer=optimizer)
        for step in range(1000):
            ...
            run.log(step, loss=loss)

`Run` writes a run folder from any training loop, `load` reads one, `probe` and `complete` ask the program. Importing
this needs NumPy alone; PyTorch is touched only where its objects are given. docs/pytorch.md shows all of it.
"""
from .errors import Error
from .maps import Map
from .program import Completion, Figure, complete, find_program, probe
from .reading import Loaded, load
from .run import Run
from .version import __version__

__all__ = [
    "Completion",
    "Error",
    "Figure",
    "Loaded",
    "Map",
    "Run",
    "complete",
    "find_program",
    "load",
    "probe",
     "__version__"]
