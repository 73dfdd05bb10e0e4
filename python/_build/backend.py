"""Builds the wheel (PEP 517, PEP 660) with nothing but Python, so that `pip install ./python` needs no network: a zip
of the package, its metadata, a copy of the tables that it shares with the program (assets/imports), and the program's
kernels where they are built (AFTERIMAGE_OPS_LIBRARY, build/release)."""
import base64
import hashlib
import os
import re
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
TABLES = HERE.parent / "assets" / "imports"
BUILT = HERE.parent / "build" / "release"
LIBRARY = "libafterimage_ops.so"
NAME = "afterimage"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same sources make the same file


def project(key):
    """A text of [project], as it stands in pyproject.toml."""
    return re.search(rf'^{key} = "(.*)"$', (HERE / "pyproject.toml").read_text(), re.M)[1]


def requirements():
    return re.findall(r'"([^"]+)"', re.search(r"^dependencies = \[(.*)\]$",
                      (HERE / "pyproject.toml").read_text(), re.M)[1])


def metadata():
    lines = ["Metadata-Version: 2.1", f"Name: {NAME}", f"Version: {project('version')}",
             f"Summary: {project('description')}",
             f"Requires-Python: {project('requires-python')}", "License: MIT",
             *(f"Requires-Dist: {name}" for name in requirements())]
    return "\n".join(lines) + "\n"


def kernels():
    """Where the built library lies; None where there is none: the wheel is then one for every machine."""
    named = os.environ.get("AFTERIMAGE_OPS_LIBRARY")
    path = Path(named) if named else BUILT / LIBRARY
    if named and not path.is_file():
        raise RuntimeError(f"AFTERIMAGE_OPS_LIBRARY: {path} is not there")
    return path if path.is_file() else None


def tag(is_pure):
    if is_pure:
        return "py3-none-any"
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def wheel_text(is_pure):
    return (f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: {str(is_pure).lower()}\n"
            f"Tag: {tag(is_pure)}\n")


def package_files():
    """name in the wheel -> bytes"""
    files = {f"{NAME}/{p.name}": p.read_bytes() for p in sorted((HERE / NAME).glob("*.py"))}
    files[f"{NAME}/py.typed"] = b""
    tables = TABLES if TABLES.is_dir() else HERE / NAME / "assets" / "imports"
    found = sorted(tables.glob("*.json"))
    if not found:
        raise RuntimeError(f"{TABLES}: the tables of names are not there; build from a whole source tree")
    files.update({f"{NAME}/assets/imports/{p.name}": p.read_bytes() for p in found})
    if kernels():
        files[f"{NAME}/{LIBRARY}"] = kernels().read_bytes()
    return files


def write_wheel(folder, files):
    version = project("version")
    info = f"{NAME}-{version}.dist-info"
    is_pure = f"{NAME}/{LIBRARY}" not in files
    files = {**files, f"{info}/METADATA": metadata().encode(), f"{info}/WHEEL": wheel_text(is_pure).encode()}
    record = ""
    for name, body in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(body)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    out = f"{NAME}-{version}-{tag(is_pure)}.whl"
    with zipfile.ZipFile(os.path.join(folder, out), "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, body in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, body, zipfile.ZIP_DEFLATED)
    return out


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, package_files())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {f"{NAME}.pth": f"{HERE}\n".encode()})


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_wheel
