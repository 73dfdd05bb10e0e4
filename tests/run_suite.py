#!/usr/bin/env python3
"""Runs test programs and adds up what they count.

    tests/run_suite.py PRESET[:PROGRAM,...]...     as in release asan:model,viz tsan:session
    tests/run_suite.py --build PRESET...           all but the first are built (scripts/build.sh) while tests run

GoogleTest programs of build/PRESET/tests, and for `release` also the Python checks (rules, command line, the
Python package, window).
What tells the quickest runs first and ends the suite if it fails. Then programs run side by side, one a core, the
longest of what is built first; then the fuzzers (one test each); last, alone, what looks at the clock. Prints one line
per program, the whole of what failed, why tests were skipped, and last `N passed, N failed, N skipped` over everything.
Exit code 1 if anything failed.
"""
import fnmatch
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from suite_builds import Queue, build
from suite_environment import Display, scratch_in_memory

ROOT = Path(__file__).resolve().parent.parent
LIMIT_S = 1500
# Up to GCC 13 and Clang 15 the runtime takes one block of dynamic TLS in 256 for that of an old glibc and reads a wild
# address in it: "Tracer caught signal 11" when leaks are looked for (google/sanitizers 1322).
NO_OLD_TLS = "intercept_tls_get_addr=0"
SANITIZER_ENV = {
    "asan": {"ASAN_OPTIONS": f"detect_leaks=1:strict_string_checks=1:{NO_OLD_TLS}",
             "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
             "LSAN_OPTIONS": f"suppressions={ROOT}/tests/leaks.txt:print_suppressions=0"},
    # LibTorch is not instrumented, and its OpenMP threads would give false reports.
    "tsan": {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1:halt_on_error=0:exitcode=66", "OMP_NUM_THREADS": "1"},
}

# What once more runs on the fake GPU (tests/model/fake_gpu.cpp), where no other device is asked for.
FAKE_GPU_ENV = {"AFTERIMAGE_DEVICE": "fake-gpu"}
# Not again there, nor under a sanitizer unless all tests run: what takes long and looks at numbers alone.
NOT_AGAIN = ("NetGradients.AgreeWithFiniteDifferences:MixerStream.WrongStepsAreNoticed:Decode.ParticlesFollowThePosterior"
             ":GrownBiasShipped.*:*GrownBias.TrainedPastAHundredStaysExact/*")
NOT_SANITIZED = (f"{NOT_AGAIN}:ThreadCount.DoesNotChangeAStep:Ranks.TwoGiveTheBitsOfOneForEveryPreset"
                 ":OpsAccuracy.tiled_float64:OpsAccuracy.reference_is_the_definition"
                 ":*OpsPromise.*/reference:*OpsPromise.*/tiled"
                 ":PackedDecode.StaysExactFarOut:DemoCheckpoints.CifarKnowsWhichHalfBelongs")
FAKE_GPU_TESTS = "Net.*:NetGradients.*:Trainer.*:*GrownBias*:AdamW.*:BiasNorm.*:Decode.*:MixerStream.*:OpsByHand.*:OpsEdges.*"

FUZZ_S = 600 if os.environ.get("AFTERIMAGE_ALL_TESTS") else 30

# Programs that tell at once whether more is worth while.
FIRST = ("rules", "core")
# Programs that compare times or count frames: with nothing beside them but parts of the same one.
ALONE = ("app", "bench", "viz", "journeys", "pace")
# Each of these tests runs about as long as the others together: a program of its own.
APART = {"model": "*InstructionSet.passes/*", "app": "RandomClicks.*"}
# On a GPU server, whose cores are many: a shard for so many of them.
SHARDED = {"model": 2, "session": 4}
# The longest first, as seconds on 2 cores; what is not named takes less.
LONGEST = ("asan-model", "model", "cli", "model-fake-gpu", "app", "asan-app", "tsan-session", "session")
# Two programs whose OpenMP threads spin at every barrier take the cores from each other: many times slower.
SIDE_BY_SIDE_ENV = {"OMP_WAIT_POLICY": "passive"}


@dataclass
class Program:
    """One run of one program."""
    name: str
    command: list
    env: dict = field(default_factory=dict)
    results: Path = None

    @property
    def is_gtest(self):
        return self.command[0].endswith("_tests")

    @property
    def kind(self):
        """Its place in FIRST, ALONE and LONGEST: "model" of "model (portable)"."""
        return self.name.split(" ")[0]

    @property
    def rank(self):
        return LONGEST.index(self.kind) if self.kind in LONGEST else len(LONGEST)


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


def inside_counts(report):
    """Lines about tests that ran others in a process of their own (RecordProperty "passed_inside")."""
    return [f"    {suite['name']}.{test['name']}: {test['passed_inside']} tests passed inside"
            for suite in json.loads(report.read_text())["testsuites"] for test in suite["testsuite"]
            if "passed_inside" in test]


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


def failure_lines(text):
    lines = text.splitlines()
    wanted = [i for i, line in enumerate(lines)
              if re.search(r"Failure$|FAILED|^FAIL|ERROR: |WARNING: ThreadSan|runtime error|terminate called|Assert", line)]
    shown = set()
    for i in wanted[:40]:
        shown.update(range(i, min(i + 12, len(lines))))
    picked = sorted(shown) if shown else range(max(0, len(lines) - 40), len(lines))
    return ["    " + lines[i] for i in picked]


def tests_of(binary):
    """Every "Suite.Test" of a GoogleTest program."""
    names = subprocess.run([binary, "--gtest_list_tests"], cwd=ROOT, capture_output=True, text=True).stdout
    suite, tests = "", []
    for line in names.splitlines():
        word = line.split("#")[0].strip()
        if line.startswith("  "):
            tests.append(suite + word)
        elif word.endswith("."):
            suite = word
    return tests


def missing_suites(command):
    """What a filter names and the program does not have: a renamed suite would silently not run."""
    chosen = [a.partition("=")[2] for a in command if a.startswith("--gtest_filter=")]
    if not chosen:
        return ""
    tests = tests_of(command[0])
    wanted = [pattern for pattern in chosen[0].partition("-")[0].split(":") if pattern]
    return "".join(f"\n{pattern}: FAILED, the filter names no test" for pattern in wanted
                   if not any(fnmatch.fnmatchcase(test, pattern) for test in tests))


def run_program(program):
    """-> Counter and what to print. A crash, or a sanitizer's report, is a failure."""
    file = re.sub(r"[^\w.-]+", "-", program.name).strip("-")
    report, log = program.results / f"{file}.json", program.results / f"{file}.log"
    report.unlink(missing_ok=True)
    command = program.command
    if program.is_gtest:
        command = command + [f"--gtest_output=json:{report}", "--gtest_brief=1"]
    start = time.monotonic()
    with open(log, "wb") as out:
        try:
            code = subprocess.run(command, cwd=ROOT, env={**os.environ, **program.env}, stdin=subprocess.DEVNULL,
                                  stdout=out, stderr=subprocess.STDOUT, timeout=LIMIT_S).returncode
        except subprocess.TimeoutExpired:
            code = 124
    text = log.read_text(errors="replace")
    reasons = skip_reasons(text) if program.is_gtest else Counter()
    if program.is_gtest and report.exists():
        counts = gtest_counts(report)
    else:
        counts = (None if program.is_gtest else printed_counts(text)) or Counter()
    if program.is_gtest and not code:
        text += missing_suites(command)
        counts["failed"] += "names no test" in text
    if code != 0 and not counts["failed"]:
        counts["failed"] += 1  # crashed, hung, or reported by a sanitizer
        text += f"\n{program.name}: exit code {code}"
    lines = [f"{program.name}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"
             f" in {time.monotonic() - start:.0f} s"]
    lines += inside_counts(report) if program.is_gtest and report.exists() else []
    lines += failure_lines(text) if counts["failed"] else []
    lines += [f"    skipped {number}: {reason}" for reason, number in reasons.items()]
    return counts, lines


def split_apart(program, pattern, without=""):
    """The tests that match, each as a program of its own, and the others as one, but those of the filter `without`."""
    apart = [test for test in tests_of(program.command[0]) if fnmatch.fnmatchcase(test, pattern)]
    alone = [Program(f"{program.name} ({test.rpartition('/')[2]})", program.command + [f"--gtest_filter={test}"],
                     program.env, program.results) for test in apart]
    others = f"--gtest_filter=-{pattern}:{without}"
    rest = Program(program.name, program.command + [others], program.env, program.results)
    return [rest, *alone] if apart else [program]


def python_with_numpy():
    """Debian's Python, whose packages scripts/setup.sh installs, before another that is first on the path."""
    debian = "/usr/bin/python3"
    return debian if os.access(debian, os.X_OK) else sys.executable


def release_programs(found, binary, results):
    """What runs for the release build beside its GoogleTest programs."""
    programs = [Program("rules", [sys.executable, "tests/check_rules.py"], {}, results)]
    if "AFTERIMAGE_DEVICE" not in os.environ and {"model", "session"} <= found.keys():
        chosen = f"--gtest_filter={FAKE_GPU_TESTS}-{NOT_AGAIN}"
        programs.append(Program("model-fake-gpu", found["model"] + [chosen], FAKE_GPU_ENV, results))
        programs.append(Program("session-fake-gpu", found["session"], FAKE_GPU_ENV, results))
    programs.append(Program("cli", [sys.executable, "tests/cli/run.py", binary], {}, results))
    programs.append(Program("python", [python_with_numpy(), "python/tests/run.py", "--program", binary], {}, results))
    if "app" in found:  # a build with the window
        journeys = [sys.executable, "tests/journeys/run.py", binary]
        programs.append(Program("journeys", journeys + ["--without", "pace"], {}, results))
        programs.append(Program("pace", journeys + ["pace"], {}, results))
    return programs


def in_shards(program, count):
    """The tests of one program as `count` programs that run side by side."""
    return [Program(f"{program.name} ({i + 1} of {count})", program.command,
                    {**program.env, "GTEST_TOTAL_SHARDS": str(count), "GTEST_SHARD_INDEX": str(i)}, program.results)
            for i in range(count)]


def programs_of(spec):
    """'asan:model,viz' -> its programs."""
    preset, _, names = spec.partition(":")
    folder = ROOT / "build" / preset / "tests"
    results = ROOT / "build" / preset / "test-results"
    results.mkdir(parents=True, exist_ok=True)
    found = {p.name[:-len("_tests")]: [str(p)] for p in sorted(folder.glob("*_tests")) if os.access(p, os.X_OK)}
    wanted = names.split(",") if names else list(found)
    missing = [n for n in wanted if n not in found]
    if missing:
        sys.exit(f"run_suite.py: no program {missing[0]}_tests in {folder}: build it first")
    programs = []
    for name in wanted:
        label = name if preset == "release" else f"{preset}-{name}"
        program = Program(label, found[name], SANITIZER_ENV.get(preset, {}), results)
        once = preset in SANITIZER_ENV and "AFTERIMAGE_ALL_TESTS" not in os.environ
        if preset == "gpu" and name in SHARDED:
            programs += in_shards(program, max(1, os.cpu_count() // SHARDED[name]))
            continue
        programs += split_apart(program, APART[name], NOT_SANITIZED if once else "") if name in APART else [program]
    if preset == "release" and not names:
        programs += release_programs(found, str(ROOT / "build" / preset / "afterimage"), results)
    return programs


def run_all(queue, env, beside):
    """Runs `beside` programs at a time; prints each when it ends, its lines together. -> Counter"""
    total, printing = Counter(), threading.Lock()

    def work():
        while program := queue.take():
            program.env = {**env, **(SIDE_BY_SIDE_ENV if beside > 1 else {}), **program.env}
            counts, lines = run_program(program)
            with printing:
                print("\n".join(lines), flush=True)
                total.update(counts)

    with ThreadPoolExecutor(beside) as pool:
        for worker in [pool.submit(work) for _ in range(beside)]:
            worker.result()
    return total


def run_alone(programs, env):
    """One after the other, in the order of the list; the parts of one side by side."""
    total = Counter()
    for _, parts in itertools.groupby(programs, key=lambda program: program.kind):
        parts = list(parts)
        queue = Queue(parts)
        queue.close()
        total += run_all(queue, env, min(len(parts), os.cpu_count()))
    return total


def run_beside(programs, specs, env):
    """`programs`, and those of `specs` once they are built. -> Counter, the programs that have to wait, the specs whose
    build failed"""
    later = []
    queue = Queue()

    def add(some):
        later.extend(p for p in some if p.kind in ALONE)
        queue.add(p for p in some if p.kind not in ALONE)

    add(programs)

    def build_all():
        try:
            return build(specs, lambda spec: add([] if spec == "fuzz" else programs_of(spec)))
        finally:
            queue.close()

    with ThreadPoolExecutor(1) as builder:
        building = builder.submit(build_all)
        total = run_all(queue, env, os.cpu_count())
        failed = building.result()
    return total + Counter(failed=len(failed)), later, failed


def run_fuzzer(program, results):
    """One libFuzzer program from its seeds for FUZZ_S -> Counter. What it found stays in `results`."""
    name = program.name[:-len("_fuzz")]
    log = results / f"{name}.log"
    with tempfile.TemporaryDirectory() as corpus, open(log, "wb") as out:
        command = [str(program), f"-max_total_time={FUZZ_S}", "-max_len=4096", "-timeout=20", "-rss_limit_mb=3000",
                   f"-dict={ROOT}/tests/fuzz/words.dict", f"-artifact_prefix={results}/{name}-", "-print_final_stats=1",
                   corpus, str(ROOT / "tests" / "fuzz" / "seeds" / name)]
        try:
            code = subprocess.run(command, cwd=ROOT, env={**os.environ, "ASAN_OPTIONS": NO_OLD_TLS}, stdin=subprocess.DEVNULL,
                                  stdout=out, stderr=subprocess.STDOUT, timeout=FUZZ_S + 120).returncode
        except subprocess.TimeoutExpired:
            code = 124
    text = log.read_text(errors="replace")
    inputs = re.findall(r"^stat::number_of_executed_units: (\d+)$", text, re.M)
    failed = code != 0 or not inputs or not int(inputs[0])
    print(f"fuzz-{name}: {int(not failed)} passed, {int(failed)} failed, 0 skipped in {FUZZ_S} s"
          f" ({inputs[0] if inputs else 'no'} inputs)", flush=True)
    if failed:
        print("\n".join(failure_lines(text)))
    return Counter(failed=1) if failed else Counter(passed=1)


def run_fuzzers():
    results = ROOT / "build" / "fuzz" / "test-results"
    results.mkdir(parents=True, exist_ok=True)
    programs = sorted((ROOT / "build" / "fuzz" / "tests").glob("*_fuzz"))
    parsers = {p.stem for p in (ROOT / "tests" / "fuzz").glob("*.cpp")}
    if {p.name[:-len("_fuzz")] for p in programs} != parsers:
        sys.exit("run_suite.py: the programs in build/fuzz/tests are not those of tests/fuzz: build them first")
    with ThreadPoolExecutor(len(programs)) as side_by_side:
        return sum(side_by_side.map(lambda program: run_fuzzer(program, results), programs), Counter())


def run(programs, specs, later, env):
    """`programs`, beside them what of `later` is built, then what is alone and the fuzzers of `specs`. -> Counter"""
    first = [p for p in programs if p.kind in FIRST]
    total = run_alone(first, env)
    if not total["failed"]:
        counts, last, broken = run_beside([p for p in programs if p not in first], later, env)
        total += counts
        total += run_fuzzers() if "fuzz" in specs and "fuzz" not in broken else Counter()
        total += run_alone(last, env)
    return total


def main():
    specs = [spec for spec in sys.argv[1:] if spec != "--build"]
    later = specs[1:] if "--build" in sys.argv else []
    programs = [program for spec in specs if spec not in later and spec != "fuzz" for program in programs_of(spec)]
    display = Display()
    try:
        with scratch_in_memory():
            total = run(programs, specs, later, display.env)
    finally:
        display.close()
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    sys.exit(1 if total["failed"] or not total["passed"] else 0)


if __name__ == "__main__":
    main()
