"""Runs the program and counts checks. A check is a name, a truth and what was seen instead."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

# Limits that only a hanging process reaches: no test depends on how fast the machine is.
RUN_S, HANG_S = 600, 300


def wait_until(truth, seconds=HANG_S, pause=0.05):
    """Calls truth() again and again; returns whether it became true."""
    end = time.monotonic() + seconds
    while not truth():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True


def stop_process(process):
    """Returns once the process is stopped (SIGCONT continues it) or has ended."""
    os.kill(process.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


@dataclass
class Result:
    code: int
    out: str
    err: str
    seconds: float

    def words(self):
        return f"code {self.code}, {self.seconds:.1f} s, stdout '{self.out[:300]}', stderr '{self.err[:600]}'"

    def json(self):
        """The one object on standard output, or None if there is anything else."""
        try:
            value = json.loads(self.out)
        except ValueError:
            return None
        return value if isinstance(value, dict) else None


class Cli:
    def __init__(self, binary):
        self.binary = str(Path(binary).resolve())
        self.passed = self.failed = self.skipped = 0
        self.part_name = ""  # printed with failures: a report says how to run this part alone
        self.folder = Path(tempfile.mkdtemp(prefix="afterimage-cli-"))
        self.device = os.environ.get("AFTERIMAGE_DEVICE")
        self.env = {**os.environ, "XDG_CONFIG_HOME": str(self.folder / "config"),
                    "XDG_CACHE_HOME": str(self.folder / "cache"), "OMP_WAIT_POLICY": "PASSIVE"}

    def command(self, *args):
        """On the device of AFTERIMAGE_DEVICE, unless the arguments name one."""
        device = ["--device", self.device] if self.device is not None and "--device" not in args else []
        return [self.binary, *device, *map(str, args)]

    def missing_device(self):
        """What the program says of AFTERIMAGE_DEVICE where it is not to be had, else nothing."""
        if self.device is None:
            return ""
        said = self.run("op", "simple", "nowhere.safetensors", "out.safetensors").err
        return "" if "nowhere.safetensors" in said else said.strip()

    def run(self, *args, env=None, timeout=RUN_S, before=None):
        start = time.monotonic()
        try:
            done = subprocess.run(self.command(*args), cwd=self.folder, env={**self.env, **(env or {})},
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                                  timeout=timeout, preexec_fn=before)
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            text = [(t or b"").decode(errors="replace") if isinstance(t, (bytes, type(None))) else t
                    for t in (late.stdout, late.stderr)]
            code, out, err = 124, *text
        return Result(code, out, err, time.monotonic() - start)

    def start(self, *args, err=subprocess.PIPE):
        return subprocess.Popen(self.command(*args), cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=err, text=True)

    def check(self, name, truth, seen=""):
        if truth:
            self.passed += 1
        else:
            self.failed += 1
            part = f"[{self.part_name}] " if self.part_name else ""
            print(f"FAIL {part}{name}: {seen.words() if isinstance(seen, Result) else seen}", flush=True)
        return bool(truth)

    def ok(self, name, *args, **options):
        """Runs a command that must succeed; returns its result."""
        result = self.run(*args, **options)
        self.check(name, result.code == 0, result)
        return result

    def bad(self, name, args, codes, *mentions, timeout=HANG_S, env=None):
        """Runs a command that must fail with one message that names each of `mentions`; returns its result."""
        result = self.run(*args, timeout=timeout, env=env)
        text = result.err.lower()
        missing = [m for m in mentions if str(m).lower() not in text]
        plain = "terminate called" not in text and "exception raised from" not in text
        self.check(name, result.code in codes and not missing and plain and "afterimage: " in text
                   and result.out == "", f"missing {missing}, {result.words()}")
        return result

    def part(self, function, *args):
        """A group of checks; one that breaks must not hide the others."""
        try:
            return function(self, *args)
        except Exception as error:
            self.check(f"{function.__name__} ran to its end", False, repr(error))
            return None

    def skip(self, reason):
        self.skipped += 1
        print(f"skipped: {reason}")

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run_two_at_a_time(self, run_one, names):
        """Adds up the Cli that run_one(name) returns for each, prints the closing line -> exit code."""
        with ThreadPoolExecutor(2) as both:
            for cli in both.map(run_one, names):
                self.passed += cli.passed
                self.failed += cli.failed
                self.skipped += cli.skipped
        shutil.rmtree(self.folder, ignore_errors=True)
        print(self.closing_line())
        return 1 if self.failed else 0

    def closing_line(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"
