"""Files of a run folder: written atomically, never through a symbolic link, locked as the program locks them."""
from __future__ import annotations

import errno
import fcntl
import itertools
import os
import re
import stat
import time
from pathlib import Path
from typing import Iterable, Union

from .errors import Error, shown

Pathlike = Union[str, "os.PathLike[str]"]
Bytes = Union[bytes, memoryview]
counter = itertools.count()


def check_no_link(path: Path) -> None:
    """Raises Error where `path` is a symbolic link: a run never writes through one."""
    if path.is_symlink():
        raise Error(f"{path}: is a symbolic link (to {shown(os.readlink(path))}), and a run never writes through one;"
                    f" put"
                    " the file or folder itself in its place, or move the run folder as a whole")


def flush_folder(folder: Path) -> None:
    """The rename itself is done by then, and some file systems refuse."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.fsync(fd)
    except OSError:
        pass
    finally:
        os.close(fd)


def write_all(fd: int, pieces: Iterable[Bytes]) -> None:
    for piece in pieces:
        rest = memoryview(piece)
        if not rest.nbytes:
            continue
        rest = rest.cast("B")
        while rest:
            rest = rest[os.write(fd, rest):]


def write_atomically(path: Pathlike, pieces: Iterable[Bytes] | bytes) -> None:
    """Writes a temporary file beside `path`, flushes it and renames it: a kill leaves the old file or the new one.
    Raises Error (with the path and the reason); then the temporary file is removed."""
    path = Path(path)
    check_no_link(path)
    if path.exists() and not path.is_file():
        raise Error(f"cannot write '{path}': it is {'a folder' if path.is_dir() else 'a device or a pipe'}, not a file")
    temporary = path.with_name(f"{path.name}.tmp-{os.getpid()}-{next(counter)}")
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            write_all(fd, [pieces] if isinstance(pieces, bytes) else pieces)
            os.fsync(fd)
        except BaseException:
            os.close(fd)
            os.unlink(temporary)
            raise
        os.close(fd)
        os.rename(temporary, path)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        raise Error(f"cannot write '{path}': {error.strerror}"
                    f"{'; free some space or choose another folder' if full else ''}") from None
    flush_folder(path.parent)


def open_own(path: Path, flags: int) -> int:
    """A descriptor of a regular file of the run, made if it is not there."""
    check_no_link(path)
    try:
        # A pipe in its place would hang.
        fd = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    except OSError as error:
        raise Error(f"{path}: cannot be written: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise Error(f"{path}: cannot be written: it is a device or a pipe, expected a file")
    return fd


def append_line(path: Path, line: str) -> None:
    """Appends one line. Where that fails (a full disk) the file is cut back to what it was."""
    fd = open_own(path, os.O_WRONLY | os.O_APPEND)
    try:
        before = os.lseek(fd, 0, os.SEEK_END)
        try:
            write_all(fd, [line.encode("utf-8", "replace") + b"\n"])
        except OSError as error:
            try:
                os.ftruncate(fd, before)
            except OSError:
                pass  # the next writer drops a torn tail
            raise Error(f"{path}: a line could not be written: {error.strerror}") from None
    finally:
        os.close(fd)


def take_lock(run: Path) -> int:
    """The descriptor that holds run.lock (flock, as the program takes it) for as long as it is open.
    Raises Error where another process holds it, and names that."""
    path = run / "run.lock"
    fd = open_own(path, os.O_RDWR)
    for attempt in range(5):  # a reader that asks holds it for a moment
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                os.close(fd)
                raise Error(f"{path}: the run folder cannot be locked: {error.strerror}") from None
        if attempt == 4:
            owner = os.read(fd, 63).decode(errors="replace")
            os.close(fd)
            raise Error(f"{run}: this run is in use by another process ({shown(owner) or 'unknown'}): stop it first, or"
                        " train into another folder")
        time.sleep(0.005)
    try:
        os.ftruncate(fd, 0)
        os.write(fd, f"process {os.getpid()}".encode())
    except OSError:
        pass  # who holds it is a courtesy to the next one that asks
    return fd


STEP_FILE = re.compile(r"step-\d+\.(safetensors|kind)")
TEMPORARY = re.compile(r"(.*)\.tmp-(\d{1,10})-\d+")
KEPT = ("metrics.jsonl.kept", "events.jsonl.kept")


def is_another_alive(pid: int) -> bool:
    if pid <= 0 or pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def is_leftover(path: Path) -> bool:
    """What a process that was killed has left: temporary files of our own names, kinds without a checkpoint."""
    if path.name in KEPT:
        return True
    if path.suffix == ".kind" and STEP_FILE.fullmatch(path.name):
        return not path.with_suffix(".safetensors").exists()
    match = TEMPORARY.fullmatch(path.name)
    if not match or is_another_alive(int(match[2])):
        return False
    return match[1] in ("config.json", *KEPT) or STEP_FILE.fullmatch(match[1]) is not None


def remove_leftovers(run: Path) -> None:
    for folder in (run, run / "checkpoints", run / "history"):
        if not folder.is_dir():
            continue
        for path in list(folder.iterdir()):
            if path.is_file() and not path.is_symlink() and is_leftover(path):
                path.unlink(missing_ok=True)


def step_file(folder: Path, step: int) -> Path:
    return folder / f"step-{step:08d}.safetensors"


def steps_in(folder: Path) -> list[int]:
    """Steps that have a file, ascending; a missing folder has none."""
    if not folder.is_dir():
        return []
    found = []
    for path in folder.iterdir():
        match = re.fullmatch(r"step-(\d{1,18})\.safetensors", path.name)
        if match and path == step_file(folder, int(match[1])):
            found.append(int(match[1]))
    return sorted(found)
