#!/usr/bin/env python3
"""Tests of the Python package without PyTorch: python/tests/run.py [--program BIN] [FILE]...

Needs NumPy. FILEs are names of this folder, as in `test_run`; without any all test_*.py run. What asks the program is
skipped where none is given. Prints what failed, why tests were skipped, and `N passed, N failed, N skipped`.
"""
import os
import sys
import unittest
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent


def counts_of(result):
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    return result.testsRun - failed - len(result.skipped), failed, len(result.skipped)


def main():
    names = sys.argv[1:]
    if names[:1] == ["--program"]:
        if len(names) < 2 or not os.access(names[1], os.X_OK):
            print(f"run.py: --program needs the program's file, found {names[1:2]}", file=sys.stderr)
            return 2
        os.environ["AFTERIMAGE_PROGRAM"] = str(Path(names[1]).resolve())
        names = names[2:]
    else:
        os.environ.pop("AFTERIMAGE_PROGRAM", None)
    known = sorted(p.stem for p in HERE.glob("*.py") if p.stem not in ("run", "case"))
    if any(name not in known for name in names):
        print(__doc__, file=sys.stderr)
        return 2
    os.environ.pop("RANK", None)
    try:
        import numpy  # noqa: F401
    except ImportError:
        print("FAIL NumPy is not installed for this Python (scripts/setup.sh brings python3-numpy)\n0 passed, 1"
              " failed, 0 skipped")
        return 1
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    suite = unittest.defaultTestLoader.loadTestsFromNames(names or [n for n in known if n.startswith("test_")])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    for reason, number in Counter(reason for _, reason in result.skipped).items():
        print(f"    skipped {number}: {reason}")
    passed, failed, skipped = counts_of(result)
    failed += not result.testsRun
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
