"""The examples say what they need before they do anything. Without PyTorch and the packages of others."""
import os
import subprocess
import sys
import unittest

from case import HANG_S, PACKAGE, Case


class Labml(Case):
    def run_with(self, version, tracker):
        """The example with a labml of this version, whose tracker holds this code."""
        package, about = self.folder / "labml", self.folder / f"labml-{version}.dist-info"
        for folder in (package, about):
            folder.mkdir()
        (package / "__init__.py").write_text("")
        (package / "tracker.py").write_text(tracker)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: labml\nVersion: {version}\n")
        env = {**os.environ, "PYTHONPATH": f"{self.folder}{os.pathsep}{PACKAGE}"}
        return subprocess.run([sys.executable, PACKAGE / "examples" / "labml_aft.py"], cwd=self.folder, env=env,
                              capture_output=True, text=True, timeout=HANG_S)

    def test_a_labml_that_cannot_run_it_is_said_first(self):
        done = self.run_with("0.5.3", "")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("labml 0.5.3 cannot run", done.stderr)
        self.assertIn('pip install "labml<0.5"', done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_another_one_is_not_refused(self):
        """It comes as far as the next import, which this labml does not have."""
        done = self.run_with("0.4.168", "def set_text(*_): pass\n")
        self.assertIn("cannot import name 'experiment'", done.stderr)


if __name__ == "__main__":
    unittest.main()
