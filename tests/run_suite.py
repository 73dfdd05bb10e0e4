#!/usr/bin/env python3
"""Runs test programs and adds up what they count.

    tests/run_suite.py PRESET[:PROGRAM,...]...     as in release asan:model,viz tsan:session

Each program runs once: GoogleTest programs of build/PRESET/tests, and for `release` also the Python
checks (rules, command line). Those of `fuzz` run side by side and count as one test each. Prints one line per program, the whole of what failed, why tests were
skipped, and last `N passed, N failed, N skipped` over everything. Exit code 1 if anything failed.
"""
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT_S = 1500
SANITIZER_ENV = {
    "asan": {"ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
             "LSAN_OPTIONS": f"suppressions={ROOT}/tests/leaks.txt:print_suppressions=0"},
    # LibTorch is not instrumented, and its OpenMP threads would give false reports.
    "tsan": {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1:halt_on_error=0:exitcode=66", "OMP_NUM_THREADS": "1"},
}

# What once more runs on the fake GPU (tests/model/fake_gpu.cpp), where no other device is asked for.
FAKE_GPU_ENV = {"AFTERIMAGE_DEVICE": "fake-gpu"}
# Not again what takes long and looks at numbers alone, which are this processor's there too.
FAKE_GPU_NOT_AGAIN = "NetGradients.AgreeWithFiniteDifferences:MixerStream.WrongStepsAreNoticed"
FAKE_GPU_TESTS = "Net.*:NetGradients.*:Trainer.*:*GrownBias*:AdamW.*:BiasNorm.*:Decode.*:MixerStream.*:OpsByHand.*:OpsEdges.*"


FUZZ_S = 600 if os.environ.get("AFTERIMAGE_ALL_TESTS") else 30


class Display:
    """An X server without a screen for the tests of the window, where there is no display."""

    def __init__(self):
        self.process, self.env = None, {}
        if os.environ.get("DISPLAY") or not shutil.which("Xvfb"):
            return
        read, write = os.pipe()
        self.process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
            pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as numbers:
            number = numbers.readline().strip()  # up to its newline: Xvfb ends if it cannot write that
        if number:
            self.env = {"DISPLAY": ":" + number}

    def close(self):
        if self.process:
            self.process.terminate()
            self.process.wait()


def gtest_counts(report):
    """Counts from GoogleTest's JSON."""
    counts = Counter()
    for suite in json.loads(report.read_text())["testsuites"]:
        for test in suite["testsuite"]:
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
        return None
    passed, failed, skipped = lines[-1]
    return Counter(passed=int(passed), failed=int(failed), skipped=int(skipped or 0))


def show_failure(text):
    lines = text.splitlines()
    wanted = [i for i, line in enumerate(lines)
              if re.search(r"Failure$|FAILED|^FAIL|ERROR: |WARNING: ThreadSan|runtime error|terminate called|Assert", line)]
    shown = set()
    for i in wanted[:40]:
        shown.update(range(i, min(i + 12, len(lines))))
    picked = sorted(shown) if shown else range(max(0, len(lines) - 40), len(lines))
    for i in picked:
        print("    " + lines[i])


def missing_suites(command):
    """What a filter names and the program does not have: a renamed suite would silently not run."""
    chosen = [a.partition("=")[2] for a in command if a.startswith("--gtest_filter=")]
    if not chosen:
        return ""
    names = subprocess.run([command[0], "--gtest_list_tests"], cwd=ROOT, capture_output=True, text=True).stdout
    suites = [line.strip().split("#")[0].strip() for line in names.splitlines() if line and not line.startswith(" ")]
    return "".join(f"\n{pattern}: FAILED, the filter names no test" for pattern in chosen[0].partition("-")[0].split(":")
                   if not any(fnmatch.fnmatchcase(suite, pattern) for suite in suites))


def run_program(name, command, env, results):
    """One program -> Counter. A crash, or a sanitizer's report, is a failure."""
    report = results / f"{name}.json"
    report.unlink(missing_ok=True)
    is_gtest = command[0].endswith("_tests")
    if is_gtest:
        command = command + [f"--gtest_output=json:{report}", "--gtest_brief=1"]
    start = time.monotonic()
    log = results / f"{name}.log"
    with open(log, "wb") as out:
        try:
            code = subprocess.run(command, cwd=ROOT, env={**os.environ, **env}, stdin=subprocess.DEVNULL,
                                  stdout=out, stderr=subprocess.STDOUT, timeout=LIMIT_S).returncode
        except subprocess.TimeoutExpired:
            code = 124
    text = log.read_text(errors="replace")
    reasons = skip_reasons(text) if is_gtest else Counter()
    if is_gtest and report.exists():
        counts = gtest_counts(report)
    else:
        counts = (None if is_gtest else printed_counts(text)) or Counter()
    if is_gtest and not code:
        text += missing_suites(command)
        counts["failed"] += "names no test" in text
    if code != 0 and not counts["failed"]:
        counts["failed"] += 1  # crashed, hung, or reported by a sanitizer
        text += f"\n{name}: exit code {code}"
    seconds = time.monotonic() - start
    print(f"{name}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"
          f" in {seconds:.0f} s", flush=True)
    if counts["failed"]:
        show_failure(text)
    for reason, number in reasons.items():
        print(f"    skipped {number}: {reason}")
    return counts


def programs_of(spec):
    """'asan:model,viz' -> preset and (name, command, environment) of each program."""
    preset, _, names = spec.partition(":")
    folder = ROOT / "build" / preset / "tests"
    found = {p.name[:-len("_tests")]: [str(p)] for p in sorted(folder.glob("*_tests")) if os.access(p, os.X_OK)}
    wanted = names.split(",") if names else list(found)
    missing = [n for n in wanted if n not in found]
    if missing:
        sys.exit(f"run_suite.py: no program {missing[0]}_tests in {folder}: build it first")
    sanitizer = SANITIZER_ENV.get(preset, {})
    programs = [(n, found[n], sanitizer) for n in wanted]
    if preset == "release" and not names:
        if "AFTERIMAGE_DEVICE" not in os.environ and {"model", "session"} <= found.keys():
            programs.append(("model-fake-gpu", found["model"] + [f"--gtest_filter={FAKE_GPU_TESTS}-{FAKE_GPU_NOT_AGAIN}"], FAKE_GPU_ENV))
            programs.append(("session-fake-gpu", found["session"], FAKE_GPU_ENV))
        binary = str(ROOT / "build" / preset / "afterimage")
        programs.append(("rules", [sys.executable, "tests/check_rules.py"], {}))
        programs.append(("cli", [sys.executable, "tests/cli/run.py", binary], {}))
        if os.access(folder / "app_tests", os.X_OK):  # a build with the window
            programs.append(("journeys", [sys.executable, "tests/journeys/run.py", binary], {}))
    return preset, programs


def run_fuzzer(program, results):
    """One libFuzzer program from its seeds for FUZZ_S -> Counter. What it found stays in `results`."""
    name = program.name[:-len("_fuzz")]
    log = results / f"{name}.log"
    with tempfile.TemporaryDirectory() as corpus, open(log, "wb") as out:
        command = [str(program), f"-max_total_time={FUZZ_S}", "-max_len=4096", "-timeout=20", "-rss_limit_mb=3000",
                   f"-dict={ROOT}/tests/fuzz/words.dict", f"-artifact_prefix={results}/{name}-", "-print_final_stats=1",
                   corpus, str(ROOT / "tests" / "fuzz" / "seeds" / name)]
        try:
            code = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                  timeout=FUZZ_S + 120).returncode
        except subprocess.TimeoutExpired:
            code = 124
    text = log.read_text(errors="replace")
    inputs = re.findall(r"^stat::number_of_executed_units: (\d+)$", text, re.M)
    failed = code != 0 or not inputs or not int(inputs[0])
    print(f"fuzz-{name}: {int(not failed)} passed, {int(failed)} failed, 0 skipped in {FUZZ_S} s"
          f" ({inputs[0] if inputs else 'no'} inputs)", flush=True)
    if failed:
        show_failure(text)
    return Counter(failed=1) if failed else Counter(passed=1)


def run_fuzzers(results):
    programs = sorted((ROOT / "build" / "fuzz" / "tests").glob("*_fuzz"))
    parsers = {p.stem for p in (ROOT / "tests" / "fuzz").glob("*.cpp")}
    if {p.name[:-len("_fuzz")] for p in programs} != parsers:
        sys.exit("run_suite.py: the programs in build/fuzz/tests are not those of tests/fuzz: build them first")
    with ThreadPoolExecutor(len(programs)) as side_by_side:
        return sum(side_by_side.map(lambda program: run_fuzzer(program, results), programs), Counter())


def main():
    total = Counter()
    display = Display()
    try:
        for spec in sys.argv[1:]:
            results = ROOT / "build" / spec.partition(":")[0] / "test-results"
            results.mkdir(parents=True, exist_ok=True)
            if spec == "fuzz":
                total += run_fuzzers(results)
                continue
            preset, programs = programs_of(spec)
            for name, command, env in programs:
                label = name if preset == "release" else f"{preset}-{name}"
                total += run_program(label, command, {**display.env, **env}, results)
    finally:
        display.close()
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    sys.exit(1 if total["failed"] or not total["passed"] else 0)


if __name__ == "__main__":
    main()
