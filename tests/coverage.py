#!/usr/bin/env python3
"""Prints which share of the lines of core/ and model/ the tests of both run: `line coverage: N %`. The window is not
in this build: it would have to be compiled once more.

    tests/coverage.py [--by-folder] [FILTER]     after scripts/build.sh coverage core_tests model_tests session_tests

FILTER chooses among the tests of models, as --gtest_filter does.
"""
import json
import os
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "coverage"


def counts_of(notes):
    """gcov's (file, line) -> times run, of one object file."""
    out = subprocess.run(["gcov", "--json-format", "--stdout", notes.name], cwd=notes.parent, capture_output=True, text=True)
    counts = {}
    for report in filter(None, out.stdout.splitlines()):
        for source in json.loads(report)["files"]:
            path = os.path.normpath(BUILD / source["file"])
            if path.startswith((f"{ROOT}/core/", f"{ROOT}/model/")):
                for line in source["lines"]:
                    key = os.path.relpath(path, ROOT), line["line_number"]
                    counts[key] = max(counts.get(key, 0), line["count"])
    return counts


def main():
    wanted = [a for a in sys.argv[1:] if a != "--by-folder"]
    for old in BUILD.rglob("*.gcda"):
        old.unlink()
    for program, chosen in (("core", "*"), ("model", wanted[0] if wanted else "*"), ("session", "*")):
        run = subprocess.run([BUILD / "tests" / f"{program}_tests", "--gtest_brief=1", f"--gtest_filter={chosen}"], cwd=ROOT,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if run.returncode:
            sys.exit(f"coverage.py: {program}_tests ended with {run.returncode}")
    lines = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        notes = [n for n in BUILD.rglob("*.gcno") if "_tests.dir" not in str(n)]
        for counts in pool.map(counts_of, notes):
            for key, count in counts.items():
                lines[key] = max(lines.get(key, 0), count)
    if not lines:
        sys.exit("coverage.py: gcov found no line")
    folders = defaultdict(list)
    for (file, _), count in lines.items():
        folders[os.path.dirname(file)].append(count > 0)
    if "--by-folder" in sys.argv:
        for folder, runs in sorted(folders.items()):
            print(f"{folder}: {100 * sum(runs) / len(runs):.1f} % of {len(runs)}")
    print(f"line coverage: {100 * sum(c > 0 for c in lines.values()) / len(lines):.1f} % of core and model")


if __name__ == "__main__":
    main()
