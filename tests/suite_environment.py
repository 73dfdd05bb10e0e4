"""What the programs of the suite find around them: a display, a folder for temporary files in memory, and no variables
that would make them part of somebody else's job."""
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager

MEMORY = "/dev/shm"
# All tests together leave less than a tenth of this at a time; the rest is for the compilers beside them.
LEAST_FREE = 8e9


# Variables that change what the programs do: launchers of several processes (the program joins their job), libraries and
# modules of somebody else, a Wayland desktop, GoogleTest's choices, settings of another run.
FOREIGN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "ROLE_RANK", "MASTER_ADDR", "MASTER_PORT",
           "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH", "PYTHONHOME",
           "WAYLAND_DISPLAY", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "AFTERIMAGE_SHARE", "AFTERIMAGE_DUMP",
           "AFTERIMAGE_FRAMES", "AFTERIMAGE_SPEAK", "LIBGL_ALWAYS_INDIRECT", "GOMP_CPU_AFFINITY")
FOREIGN_STARTS = ("SLURM_", "OMPI_", "PMI_", "PMIX_", "TORCHELASTIC_", "GTEST_")


def clean_environment():
    """Removes them from this process, for all that it starts. -> their names"""
    names = sorted(name for name in os.environ if name in FOREIGN or name.startswith(FOREIGN_STARTS))
    for name in names:
        del os.environ[name]
    return names


class Display:
    """An X server without a screen for the tests of the window: no window opens on the user's desktop, and a DISPLAY that
    cannot be reached does no harm. Without Xvfb the DISPLAY of the environment is used."""

    def __init__(self):
        self.process, self.env = None, {}
        if not shutil.which("Xvfb"):
            return
        read, write = os.pipe()
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
            pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as numbers:
            number = numbers.readline().strip()  # up to its newline: Xvfb ends if it cannot write that
        if number:
            self.env = {"DISPLAY": ":" + number}

    def close(self):
        if self.process:
            self.process.terminate()
            self.process.wait()


def free_memory():
    """Bytes that programs can still take, 0 where that is not known."""
    try:
        with open("/proc/meminfo") as lines:
            return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), 0)
    except OSError:
        return 0


def is_large_enough():
    try:
        usage = shutil.disk_usage(MEMORY)
    except OSError:
        return False
    return os.access(MEMORY, os.W_OK) and min(usage.free, free_memory()) >= LEAST_FREE


@contextmanager
def scratch_in_memory():
    """TMPDIR is a folder in memory while it is open, where there is enough and TMPDIR is not set.

    Checkpoints, events and settings are written through to the disk (fsync): on a disk that is half the time of the
    session tests, in memory nothing. What is tested is the same.
    """
    if "TMPDIR" in os.environ or not is_large_enough():
        yield
        return
    folder = tempfile.mkdtemp(prefix="aft-suite-", dir=MEMORY)
    os.chmod(folder, 0o755)  # as /tmp: some tests run as another user
    os.environ["TMPDIR"], tempfile.tempdir = folder, None
    try:
        yield
    finally:
        del os.environ["TMPDIR"]
        tempfile.tempdir = None
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def private_settings():
    """-> variables that give the programs empty folders for settings and caches, so that those of the user neither change
    what is tested nor are changed."""
    with tempfile.TemporaryDirectory(prefix="aft-suite-home-") as folder:
        yield {f"XDG_{name}_HOME": os.path.join(folder, name.lower()) for name in ("CONFIG", "CACHE")}
