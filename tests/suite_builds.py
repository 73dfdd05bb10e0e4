"""What run_suite.py builds while it tests, and the programs that wait: each joins the queue once it is built."""
import heapq
import itertools
import subprocess
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Queue:
    """Programs of which the longest known one is next. One is added whenever it is built, until close()."""

    def __init__(self, programs=()):
        self.changed, self.closed = threading.Condition(), False
        self.number, self.waiting = itertools.count(), []
        self.add(programs)

    def add(self, programs):
        with self.changed:
            for program in programs:
                heapq.heappush(self.waiting, (program.rank, next(self.number), program))
            self.changed.notify_all()

    def close(self):
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def take(self):
        """The next program; None where no more will come."""
        with self.changed:
            self.changed.wait_for(lambda: self.waiting or self.closed)
            return heapq.heappop(self.waiting)[2] if self.waiting else None


def targets_of(spec):
    """'asan:model,viz' -> what scripts/build.sh builds for it."""
    _, _, names = spec.partition(":")
    return [name + "_tests" for name in names.split(",")] if names else ["all"]


def build(specs, built):
    """Builds one preset after the other, with less of the cores than the tests that run meanwhile, and calls
    built(spec). -> the specs whose build failed"""
    failed = []
    for spec in specs:
        preset, start = spec.partition(":")[0], time.monotonic()
        run = subprocess.run(["nice", "-n", "5", "scripts/build.sh", preset, *targets_of(spec)], cwd=ROOT,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(f"build-{preset}: {int(not run.returncode)} built, {int(bool(run.returncode))} failed"
              f" in {time.monotonic() - start:.0f} s", flush=True)
        if run.returncode:
            print(run.stdout)
            failed.append(spec)
            continue
        try:
            built(spec)
        except SystemExit as missing:  # a program that it should have
            print(missing, flush=True)
            failed.append(spec)
    return failed
