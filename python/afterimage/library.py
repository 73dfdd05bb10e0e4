"""libafterimage_ops.so, the program's own kernels behind a C interface (model/ops/cpu/c_api/aft_ops.h): finding and
loading it.

Needs neither PyTorch nor NumPy. Thread-safe after the first load.
"""
import ctypes
import os
import shutil
from pathlib import Path
from typing import Optional

from .errors import Error

NAME = "libafterimage_ops.so"
VERSION = 1
SIMPLE, FULL, LOCAL, CONV1D, CONV2D = range(5)


class Shape(ctypes.Structure):
    """AftShape: sizes of a call. B, T, d = batch, length, channels."""
    _fields_ = [(name, ctypes.c_int32) for name in ("kind", "causal", "outside_hidden", "bf16", "threads")] + \
               [(name, ctypes.c_int64) for name in ("batch", "length", "channels", "window", "heads", "factors",
                                                    "grid_height", "grid_width")]


class Tensors(ctypes.Structure):
    """AftTensors: addresses of the inputs; None where there is none."""
    _fields_ = [(name, ctypes.c_void_p) for name in ("q", "k", "v", "w", "u", "r")]


class Kept(ctypes.Structure):
    """AftKept: what the forward pass keeps for the gradient."""
    _fields_ = [(name, ctypes.c_void_p) for name in ("average", "denominator", "states")]


class Gradients(ctypes.Structure):
    """AftGradients: what comes from above, addresses of the gradients, and what says how far dK is to be trusted."""
    _fields_ = [("dy", ctypes.c_void_p), ("mean", ctypes.c_void_p), ("scale", ctypes.c_float)] + \
               [(name, ctypes.c_void_p) for name in ("dq", "dk", "dv", "dw", "du", "dr")] + \
               [("left", ctypes.c_double), ("part", ctypes.c_double)]


def places() -> list[Path]:
    """Where the library may lie, in the order in which it is looked for."""
    here = Path(__file__).resolve()
    named = os.environ.get("AFTERIMAGE_OPS_LIBRARY")
    if named:
        return [Path(named)]
    found = [here.parent / NAME, here.parents[2] / "build" / "release" / NAME]
    program = os.environ.get("AFTERIMAGE_PROGRAM") or shutil.which("afterimage")
    if program:
        found.append(Path(program).resolve().parent / NAME)
    return found


def _declare(lib: ctypes.CDLL) -> ctypes.CDLL:
    pointer = ctypes.POINTER
    lib.aft_ops_version.restype = ctypes.c_int32
    lib.aft_ops_instruction_set.restype = ctypes.c_char_p
    lib.aft_ops_problem.argtypes = [pointer(Shape), ctypes.c_char_p, ctypes.c_int64]
    lib.aft_ops_problem.restype = ctypes.c_int32
    lib.aft_ops_states.argtypes = [pointer(Shape)]
    lib.aft_ops_states.restype = ctypes.c_int64
    lib.aft_ops_forward.argtypes = [pointer(Shape), pointer(Tensors), ctypes.c_void_p, pointer(Kept)]
    lib.aft_ops_forward.restype = ctypes.c_int32
    lib.aft_ops_backward.argtypes = [pointer(Shape), pointer(Tensors), pointer(Kept), pointer(Gradients)]
    lib.aft_ops_backward.restype = ctypes.c_int32
    return lib


def problem(lib: ctypes.CDLL, shape: Shape) -> str:
    """What is wrong with a shape, in words; "" where it is right."""
    words = ctypes.create_string_buffer(256)
    lib.aft_ops_problem(shape, words, len(words))
    return words.value.decode()


_loaded: Optional[ctypes.CDLL] = None


def load_library() -> ctypes.CDLL:
    """The loaded library. Error: it is not there, cannot be loaded, or is of another version."""
    global _loaded
    if _loaded is not None:
        return _loaded
    tried = places()
    path = next((p for p in tried if p.is_file()), None)
    if path is None:
        raise Error(f"{NAME} is not there; looked in {', '.join(str(p) for p in tried)}. Build it with "
                    f"`scripts/build.sh release afterimage_ops`, or name it in AFTERIMAGE_OPS_LIBRARY")
    try:
        lib = _declare(ctypes.CDLL(str(path)))
        version = lib.aft_ops_version()
    except (OSError, AttributeError) as error:
        raise Error(f"{path}: {error}") from None
    if version != VERSION:
        raise Error(f"{path}: it is of version {version}, this package needs {VERSION}")
    _loaded = lib
    return lib
