"""What the tests of the Python package share: a folder of their own, the program, errors by their words."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
ROOT = PACKAGE.parent
sys.path.insert(0, str(PACKAGE))

import afterimage  # noqa: E402
from afterimage import folder as folders  # noqa: E402

HANG_S = 300  # a limit that only what hangs meets


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="afterimage-python-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.path = self.folder / "run"

    def fails(self, words, work, *arguments, **options):
        """`work(...)` raises afterimage.Error with each of `words`, on one printable line."""
        with self.assertRaises(afterimage.Error) as caught:
            work(*arguments, **options)
        text = str(caught.exception)
        for word in words:
            self.assertIn(word, text)
        self.assertTrue(text.isprintable(), repr(text))
        return text

    def warned(self, work):
        """The warnings of `work()`, as texts."""
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            work()
        return [str(w.message) for w in found]

    def lines(self, name="metrics.jsonl", run=None):
        return [value for _, value in folders.read_lines((run or self.path) / name)[0]]

    def python(self, code, *arguments, **options):
        """Another Python with the package on its path, started."""
        env = {**os.environ, "PYTHONPATH": str(PACKAGE), **options.pop("env", {})}
        return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], env=env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **options)


class ProgramCase(Case):
    """Needs the program; skipped with a reason where none is given."""

    def setUp(self):
        super().setUp()
        self.program = os.environ.get("AFTERIMAGE_PROGRAM")
        if not self.program:
            self.skipTest("no program: python/tests/run.py --program BIN")

    def run_program(self, *arguments):
        env = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=HANG_S, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout
