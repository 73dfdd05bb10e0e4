"""What a failed run says last: each failed test, how to run it alone, and the machine, to be pasted into a report."""
import locale
import os
import platform
import subprocess
import time
from pathlib import Path

from suite_sets import available
from suite_user import ordinary_user

ROOT = Path(__file__).resolve().parent.parent
SHOWN = 20
# Variables that change what tests find or how fast they are.
VARIABLES = ("AFTERIMAGE_CPU", "AFTERIMAGE_DEVICE", "AFTERIMAGE_ALL_TESTS", "OMP_NUM_THREADS", "ATEN_CPU_CAPABILITY",
             "MKL_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA", "LC_ALL", "LANG", "TZ", "TMPDIR", "DISPLAY")


def printed(*command):
    """A command's first line; a question mark where it cannot be had."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return "?"
    return done.stdout.strip().split("\n")[0] or "?"


def line_with(path, start):
    """The value behind `start` in a file of `key : value` or `KEY=value` lines."""
    try:
        text = Path(path).read_text(errors="replace")
    except OSError:
        return "?"
    found = [line[len(start):].strip(' \t:="') for line in text.splitlines() if line.startswith(start)]
    return found[0] if found else "?"


def machine(binary):
    """(what, value) of what a test can depend on. binary: the tests of models, or None."""
    load = "{:.1f} {:.1f} {:.1f}".format(*os.getloadavg())
    changes = len(subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True).stdout.splitlines())
    return [
        ("commit", printed("git", "rev-parse", "--short=12", "HEAD") + (f", {changes} changed files" if changes else "")),
        ("system", f"{line_with('/etc/os-release', 'PRETTY_NAME=')}, Linux {platform.release()},"
                   f" {platform.libc_ver()[0]} {platform.libc_ver()[1]}"),
        ("processor", f"{line_with('/proc/cpuinfo', 'model name')}, {os.cpu_count()} cores,"
                      f" {len(os.sched_getaffinity(0))} of them usable, load {load}"),
        ("instruction sets", ", ".join(available(binary)) if binary else "?"),
        ("memory", line_with("/proc/meminfo", "MemTotal:")),
        ("compiler", printed(os.environ.get("CXX", "c++"), "--version")),
        ("tests run as", ordinary_user()[1]),
        ("umask", f"{current_umask():03o}"),
        ("locale", f"{locale.setlocale(locale.LC_CTYPE)}, time zone {time.strftime('%Z')}"),
        ("environment", " ".join(f"{name}={os.environ[name]}" for name in VARIABLES if name in os.environ) or "-"),
    ]


def current_umask():
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def print_report(failures, binary):
    """failures: (program, test, command line that runs it alone)."""
    print("\nFailed tests, each with the command that runs it alone in the source folder:")
    for program, test, command in failures[:SHOWN]:
        print(f"  {program}: {test}\n      {command}")
    if len(failures) > SHOWN:
        print(f"  and {len(failures) - SHOWN} more, named above")
    print("\nFor a report, with the lines above:")
    for what, value in machine(binary):
        print(f"  {what}: {value}")
    print()
