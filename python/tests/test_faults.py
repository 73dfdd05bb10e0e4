"""What fails beside the training: full disks, folders that vanish, a disk that is too slow. The loop continues."""
import resource
import shutil
import sys
import threading
import unittest
import warnings

import numpy as np

import afterimage
from case import HANG_S, Case
from afterimage.files import steps_in
from afterimage.writer import MOST_LINES, Writer

W = np.ones((4, 4), np.float32)

# The limit on file sizes acts as a full disk: EFBIG in the middle of a write.
FULL = """
import resource, signal, sys, warnings, numpy as np, afterimage
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
run = afterimage.Run(sys.argv[1])
run.save(0, biases={"a": np.zeros((32, 32))}, wait=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    for step in range(1, 200):
        run.log(step, loss=1.5)
        written = run.save(step, biases={"a": np.ones((32, 32))}, wait=True) if step % 50 == 0 else None
        assert not written, step
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
run.log(200, loss=2)
assert run.save(200, biases={"a": np.ones((32, 32))}, wait=True)
run.finish()
print(len(found), run.failures > 3, found[0].message)
"""


class Faults(Case):
    def test_full_disk(self):
        process = self.python(FULL, self.path)
        out, err = process.communicate(timeout=HANG_S)
        self.assertEqual(process.returncode, 0, err)
        self.assertRegex(out, r"^1 True afterimage: .*File too large")
        run = afterimage.load(self.path)
        self.assertEqual((run.step, run.steps, run.tensors["biases.0"][0, 0]), (200, [0, 200], 1))
        self.assertEqual(run.column("loss")[1][-1], 2)
        self.assertFalse([p for p in self.path.rglob("*") if ".tmp-" in p.name])

    def test_vanished_folder(self):
        def train():
            for step in range(50):
                if step == 20:
                    run.flush()
                    shutil.rmtree(self.path)
                run.log(step, loss=1)
                run.save(step, biases={"a": W})
            run.finish()
        run = afterimage.Run(self.path)
        found = self.warned(train)
        self.assertEqual(len(found), 1, found)
        self.assertIn(str(self.path), found[0])
        self.assertIn("training continues", found[0])
        self.assertGreater(run.failures, 1)
        self.assertIn("No such file", run.problem)

    def test_warnings_as_errors(self):
        run = afterimage.Run(self.path)
        shutil.rmtree(self.path)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            run.log(0, loss=1)
            self.assertTrue(run.flush(HANG_S))
            run.log(1, loss=1)
            run.finish()
        self.assertGreaterEqual(run.failures, 2)

    def test_a_later_bad_value(self):
        """NaN in a tensor on the host is an error of the call; the run stays as it was."""
        with afterimage.Run(self.path) as run:
            run.save(0, biases={"a": W}, wait=True)
            self.fails(["'a'", "1 of 16 values are NaN"], run.save, 1, biases={
                       "a": np.where(np.eye(4)[0] * np.eye(4), np.nan, W)})
            run.save(2, biases={"a": W}, wait=True)
        self.assertEqual(steps_in(self.path / "checkpoints"), [0, 2])


class Queue(unittest.TestCase):
    """The writer's thread with work that waits for the test."""

    def setUp(self):
        self.writer = Writer("test")
        self.gate, self.done = threading.Event(), []
        self.addCleanup(self.gate.set)

    def block(self):
        started = threading.Event()
        self.writer.submit(lambda: (started.set(), self.gate.wait(HANG_S)))
        self.assertTrue(started.wait(HANG_S))

    def test_the_newest_save_wins(self):
        self.block()
        for i in range(10):
            self.writer.submit(lambda i=i: self.done.append(("save", i)), is_save=True)
            self.writer.submit(lambda i=i: self.done.append(("line", i)))
        self.assertFalse(self.writer.flush(0.05))
        self.assertLessEqual(len(self.writer.queue), 11)
        self.gate.set()
        self.assertTrue(self.writer.flush(HANG_S))
        self.assertEqual([i for kind, i in self.done if kind == "line"], list(range(10)))
        self.assertEqual(self.done[-2:], [("save", 9), ("line", 9)])
        self.assertEqual(len(self.done), 11)
        self.assertEqual(self.writer.dropped, 9)

    def test_copies_are_let_go(self):
        """No more than the save that waits and the one that is written are in memory."""
        alive = []

        class Copy:
            def __init__(self):
                alive.append(self)

            def __del__(self):
                pass
        import gc
        import weakref
        seen = weakref.WeakSet()
        self.block()
        for _ in range(50):
            copy = Copy()
            alive.clear()
            seen.add(copy)
            self.writer.submit(lambda copy=copy: None, is_save=True)
            del copy
        gc.collect()
        self.assertEqual(len(seen), 1)
        self.gate.set()
        self.assertTrue(self.writer.flush(HANG_S))
        gc.collect()
        self.assertEqual(len(seen), 0)

    def test_lines_are_bounded(self):
        self.block()
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            for _ in range(MOST_LINES + 5):
                self.writer.submit(lambda: None)
        self.assertEqual((len(self.writer.queue), self.writer.failures, len(found)), (MOST_LINES, 5, 1))

    def test_flush_again_and_again(self):
        for i in range(100):
            self.writer.submit(lambda: self.done.append(1), is_save=i % 3 == 0)
            self.assertTrue(self.writer.flush(HANG_S))
            self.assertTrue(self.writer.flush(HANG_S))
        self.assertEqual(len(self.done), 100)

    def test_close_writes_what_waits(self):
        self.block()
        self.writer.submit(lambda: self.done.append(1))
        threading.Timer(0.05, self.gate.set).start()
        self.writer.close()
        self.assertEqual(self.done, [1])
        self.writer.submit(lambda: self.done.append(2))
        self.assertEqual(self.done, [1])


class Memory(Case):
    def test_a_slow_disk_costs_no_memory(self):
        """100 saves of 4 MB while the disk writes the first one: a few copies, not 400 MB."""
        w = np.zeros((1024, 1024), np.float32)
        begun, gate = threading.Event(), threading.Event()

        def save(*arguments):
            begun.set()
            self.assertTrue(gate.wait(HANG_S))
            original(*arguments)
        with afterimage.Run(self.path, keep=1, history=0) as run:
            run.save(0, biases={"a": w}, wait=True)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            original, run.folder.save = run.folder.save, save
            run.save(1, biases={"a": w})
            self.assertTrue(begun.wait(HANG_S))
            for step in range(2, 101):
                run.save(step, biases={"a": w})
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            gate.set()
        self.assertEqual((run.dropped, run.failures), (98, 0))  # all but the first and the last
        self.assertLess(grown, 100_000 if sys.platform == "linux" else 100_000_000)
        self.assertEqual(steps_in(self.path / "checkpoints"), [100])


if __name__ == "__main__":
    unittest.main()
