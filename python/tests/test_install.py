"""The wheel that `pip install ./python` builds: whole, without a network, the same version as the program's."""
import os
import re
import subprocess
import sys
import unittest
import zipfile

import afterimage
from afterimage.library import VERSION, places
from case import PACKAGE, ROOT, Case

BUILD = "import sys; sys.path.insert(0, sys.argv[1]); import backend; print(backend.build_wheel(sys.argv[2]))"
USE = """
import sys; sys.path.insert(0, sys.argv[1])
import afterimage
from afterimage.tables import known_tables, shared_folder
assert afterimage.__file__.startswith(sys.argv[1]), afterimage.__file__
assert str(shared_folder()).startswith(sys.argv[1]), shared_folder()
assert "torch" not in sys.modules
print(afterimage.__version__, len(known_tables()))
"""


KERNELS = """
import sys; sys.path.insert(0, sys.argv[1])
from afterimage.library import load_library, places
assert str(places()[0]).startswith(sys.argv[1]), places()
print(places()[0].is_file() and load_library().aft_ops_version())
"""


# Of libc, GCC's runtime and libgomp.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
          "libstdc++.so.6", "libgcc_s.so.1", "libgomp.so.1"}


class Wheel(Case):
    def run_python(self, code, *arguments, **variables):
        done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], cwd=self.folder, capture_output=True,
                              text=True,
                              env={"PATH": "/usr/bin:/bin", **variables})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_builds_and_runs_from_another_place(self):
        name = self.run_python(BUILD, PACKAGE / "_build", self.folder)
        with zipfile.ZipFile(self.folder / name) as wheel:
            wheel.extractall(self.folder / "site")
            self.assertIsNone(wheel.testzip())
            record = wheel.read(next(n for n in wheel.namelist() if n.endswith("/RECORD"))).decode()
            self.assertEqual(len(record.splitlines()), len(wheel.namelist()))
        tables = len(list((ROOT / "assets" / "imports").glob("*.json")))
        self.assertEqual(self.run_python(USE, self.folder / "site"), f"{afterimage.__version__} {tables}")

    def with_kernels(self):
        """The wheel's folder, the kernels in it; the test is skipped where they are not built."""
        library = next((p for p in places() if p.is_file()), None)
        if library is None:
            self.skipTest("libafterimage_ops.so is not built")
        name = self.run_python(BUILD, PACKAGE / "_build", self.folder, AFTERIMAGE_OPS_LIBRARY=str(library))
        self.assertNotIn("-any", name)
        with zipfile.ZipFile(self.folder / name) as wheel:
            wheel.extractall(self.folder / "site")
        return self.folder / "site"

    def test_takes_the_kernels_along_where_they_are_built(self):
        self.assertEqual(self.run_python(KERNELS, self.with_kernels()), str(VERSION))

    def test_needs_none_of_our_packages(self):
        """Every library of the wheel asks for what PyTorch asks for itself, not for libfmt or libjpeg."""
        libraries = [p for p in self.with_kernels().rglob("*")
                     if p.is_file() and p.read_bytes()[:4] == b"\x7fELF"]
        self.assertEqual([p.name for p in libraries], ["libafterimage_ops.so"])
        for library in libraries:
            done = subprocess.run(["readelf", "-d", library], capture_output=True, text=True,
                                  env={**os.environ, "LC_ALL": "C"})
            needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", done.stdout))
            self.assertIn("libc.so.6", needed, done.stderr)
            self.assertEqual(needed - SYSTEM, set(), library.name)

    def test_version(self):
        cmake = re.search(r"project\(afterimage VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
        project = re.search(r'^version = "(.*)"', (PACKAGE / "pyproject.toml").read_text(), re.M)[1]
        version = re.search(r'__version__ = "(.*)"', (PACKAGE / "afterimage" / "version.py").read_text())[1]
        self.assertEqual((project, version), (cmake, cmake))

    def test_needs_no_torch(self):
        """Those on top of the operators import PyTorch, and are imported when they are first asked for."""
        on_torch = {"exact.py", "kernel_calls.py", "model.py", "nn.py", "operators.py", "patching.py"}
        for file in (PACKAGE / "afterimage").glob("*.py"):
            if file.name in on_torch:
                continue
            eager = re.search(r"^(import|from) \.?(exact|kernel_calls|model|nn|operators|patching)\b", file.read_text(),
                              re.M)
            self.assertIsNone(eager, file.name)
            self.assertIsNone(re.search(r"^\s*(import|from) torch\b", file.read_text(), re.M), file.name)


if __name__ == "__main__":
    unittest.main()
