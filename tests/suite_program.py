"""One program of the suite: runs it, counts its tests, and says which failed and how to run each of them alone."""
import fnmatch
import json
import os
import re
import shlex
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from suite_sets import tests_with_files
from suite_user import ordinary_user

ROOT = Path(__file__).resolve().parent.parent
LIMIT_S = 3600  # of a program that hangs
# The longest first, as seconds on 2 cores; what is not named takes less.
LONGEST = ("asan-model", "model", "cli", "model-fake-gpu", "app", "asan-app", "tsan-session", "session")


@dataclass
class Program:
    """One run of one program."""
    name: str
    command: list
    env: dict = field(default_factory=dict)
    results: Path = None
    as_root: bool = False
    suite_env: dict = field(default_factory=dict)  # of every program of this suite: its display, its folders

    @property
    def is_gtest(self):
        return self.command[0].endswith("_tests")

    @property
    def kind(self):
        """Its place among those that run first, alone or as the longest: "model" of "model (portable)"."""
        return self.name.split(" ")[0]

    @property
    def base(self):
        """Its command without the parts that are chosen."""
        words = {"python": 4, "cli": 3, "journeys": 3, "pace": 3}
        return self.command[:1 if self.is_gtest else words.get(self.kind, len(self.command))]

    @property
    def rank(self):
        return LONGEST.index(self.kind) if self.kind in LONGEST else len(LONGEST)


@dataclass
class Outcome:
    counts: Counter
    lines: list  # what is printed of it
    failures: list = field(default_factory=list)  # (test, command line that runs it alone)


def gtest_tests(report):
    """(name, entry) of every test in GoogleTest's JSON."""
    return [(f"{suite['name']}.{test['name']}", test)
            for suite in json.loads(report.read_text())["testsuites"] for test in suite["testsuite"]]


def gtest_counts(tests):
    counts = Counter()
    for _, test in tests:
        if test.get("failures"):
            counts["failed"] += 1
        elif test.get("result") == "SKIPPED":
            counts["skipped"] += 1
        elif test.get("status") == "RUN":
            counts["passed"] += 1
    return counts


def skip_reasons(text):
    """What GoogleTest prints behind `FILE:LINE: Skipped`."""
    return Counter(reason or "no reason given" for reason in re.findall(r": Skipped\n(.*)$", text, re.M))


def printed_counts(text):
    """Counts from a closing line `N passed, N failed[, N skipped]`."""
    lines = re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", text, re.M)
    if not lines:
        return Counter()
    passed, failed, skipped = lines[-1]
    return Counter(passed=int(passed), failed=int(failed), skipped=int(skipped or 0))


def failure_lines(text):
    lines = [line for line in text.splitlines() if not re.match(r"\[ RUN  |\[       OK|\[------", line)]
    wanted = [i for i, line in enumerate(lines)
              if re.search(r"Failure$|FAILED|^FAIL|ERROR: |WARNING: ThreadSan|runtime error|terminate called|Assert", line)]
    shown = set()
    for i in wanted[:40]:
        shown.update(range(i, min(i + 12, len(lines))))
    picked = sorted(shown) if shown else range(max(0, len(lines) - 40), len(lines))
    return ["    " + lines[i] for i in picked]


def missing_suites(command):
    """What a filter names and the program does not have: a renamed suite would silently not run."""
    chosen = [a.partition("=")[2] for a in command if a.startswith("--gtest_filter=")]
    if not chosen:
        return ""
    tests = [test for test, _ in tests_with_files(command[0])]
    wanted = [pattern for part in chosen[0].split("-", 1) for pattern in part.split(":") if pattern]
    return "".join(f"\n{pattern}: FAILED, the filter names no test" for pattern in wanted
                   if not any(fnmatch.fnmatchcase(test, pattern) for test in tests))


def alone(program, arguments):
    """A command line that runs a part of a program as the suite did."""
    given = " ".join(f"{name}={shlex.quote(value)}" for name, value in program.env.items())
    words = [*([] if program.as_root else ordinary_user()[0]), *program.base, *arguments]
    short = [os.path.relpath(word, ROOT) if word.startswith(str(ROOT)) else word for word in words]
    return f"{given} {shlex.join(short)}".strip()


def failed_tests(program, tests, text):
    """(test, command line) of each that failed; of a crash the one that ran last."""
    if not program.is_gtest:
        found = re.findall(r"^FAIL (?:\[(\w+)\] )?(.{1,80})", text, re.M)
        return [(name, alone(program, [part] if part else [])) for part, name in found[:20]]
    names = [name for name, test in tests if test.get("failures")]
    if not tests:
        names = re.findall(r"^\[ RUN      \] (\S+)", text, re.M)[-1:]
    return [(name, alone(program, [f"--gtest_filter={name}"])) for name in names]


def start(program, command, log):
    """-> exit code; 124 if it did not end."""
    before = [] if program.as_root else ordinary_user()[0]
    with open(log, "wb") as out:
        try:
            return subprocess.run([*before, *command], cwd=ROOT, env={**os.environ, **program.suite_env, **program.env},
                                  stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, timeout=LIMIT_S).returncode
        except subprocess.TimeoutExpired:
            return 124


def run_program(program):
    """-> Outcome. A crash, or a sanitizer's report, is a failure."""
    file = re.sub(r"[^\w.-]+", "-", program.name).strip("-")
    report, log = program.results / f"{file}.json", program.results / f"{file}.log"
    report.unlink(missing_ok=True)
    options = [f"--gtest_output=json:{report}"] if program.is_gtest else []
    begin = time.monotonic()
    code = start(program, program.command + options, log)
    text = log.read_text(errors="replace")
    tests = gtest_tests(report) if program.is_gtest and report.exists() else []
    counts = gtest_counts(tests) if program.is_gtest else printed_counts(text)
    if program.is_gtest and not code:
        text += missing_suites(program.command)
        counts["failed"] += "names no test" in text
    if code != 0 and not counts["failed"]:
        counts["failed"] += 1  # crashed, hung, or reported by a sanitizer
        text += f"\n{program.name}: exit code {code}{', ended after its limit' if code == 124 else ''}"
    lines = [f"{program.name}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"
             f" in {time.monotonic() - begin:.0f} s"]
    lines += failure_lines(text) if counts["failed"] else []
    lines += [f"    skipped {number}: {reason}" for reason, number in skip_reasons(text).items()] if program.is_gtest else []
    failures = (failed_tests(program, tests, text) or [(program.name, alone(program, []))]) if counts["failed"] else []
    return Outcome(counts, lines, failures)
