#!/usr/bin/env python3
"""Runs test programs and adds up what they count.

    tests/run_suite.py PRESET[:PROGRAM,...]...     as in release asan:model,viz tsan:session
    tests/run_suite.py --build PRESET...           all but the first are built (scripts/build.sh) while tests run
    tests/run_suite.py --only NAME,... PRESET      some of its programs, as in --only core,cli,journeys release
    tests/run_suite.py --as-root PRESET            root runs the programs itself, not as an ordinary user

AFTERIMAGE_BUILD=DIR: the folder of the builds (build/), where it is not in the source tree.
GoogleTest programs of build/PRESET/tests, and for `release` also the Python checks (rules, command line, the
Python package, window).
What tells the quickest runs first and ends the suite if it fails. Then programs run side by side, one a core, the
longest of what is built first; then the fuzzers (one test each); last, alone, what looks at the clock. Prints one line
per program, the whole of what failed, why tests were skipped, and last `N passed, N failed, N skipped` over everything.
Exit code 1 if anything failed.
"""
import argparse
import itertools
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import suite_sets
from suite_builds import Queue, build
from suite_environment import Display, clean_environment, private_settings, scratch_in_memory
from suite_program import Outcome, Program, failure_lines, run_program
from suite_report import print_report
from suite_user import ROOT_TESTS, is_root, ordinary_user

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("AFTERIMAGE_BUILD") or ROOT / "build")
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
EVERYTHING = "AFTERIMAGE_ALL_TESTS" in os.environ

# What once more runs on the fake GPU (tests/model/fake_gpu.cpp), where no other device is asked for.
FAKE_GPU_ENV = {"AFTERIMAGE_DEVICE": "fake-gpu"}
# Not again there, nor under a sanitizer unless all tests run: what takes long and looks at numbers alone.
NOT_AGAIN = ("NetGradients.AgreeWithFiniteDifferences:MixerStream.WrongStepsAreNoticed:Decode.ParticlesFollowThePosterior"
             ":GrownBiasShipped.*:*GrownBias.EnlargedPastAHundredStaysExact/*")
NOT_SANITIZED = (f"{NOT_AGAIN}:ThreadCount.DoesNotChangeAStep:Ranks.TwoGiveTheBitsOfOneForEveryPreset"
                 ":OpsAccuracy.tiled_float64:OpsAccuracy.reference_is_the_definition"
                 ":*OpsPromise.*/reference:*OpsPromise.*/tiled"
                 ":PackedDecode.StaysExactFarOut:DemoCheckpoints.CifarKnowsWhichHalfBelongs")
FAKE_GPU_TESTS = "Net.*:NetGradients.*:Trainer.*:*GrownBias*:AdamW.*:BiasNorm.*:Decode.*:MixerStream.*:OpsByHand.*:OpsEdges.*"

FUZZ_S = 600 if EVERYTHING else 30

# Programs that tell at once whether more is worth while.
FIRST = ("core",)
# Programs that compare times or count frames: with nothing beside them but parts of the same one.
ALONE = ("app", "bench", "viz", "journeys", "pace")
# This test runs about as long as the others together: a program of its own.
APART = {"app": "RandomClicks.*"}
# On a GPU server, whose cores are many: a shard for so many of them.
SHARDED = {"model": 2, "session": 4}
# Two programs whose OpenMP threads spin at every barrier take the cores from each other: many times slower.
SIDE_BY_SIDE_ENV = {"OMP_WAIT_POLICY": "passive"}


def split_apart(program, pattern):
    """The tests that match, and the others, as two programs."""
    chosen = lambda name, tests: Program(name, program.command + [f"--gtest_filter={tests}"], program.env, program.results)
    return [chosen(program.name, f"-{pattern}"), chosen(f"{program.name} ({pattern.strip('.*')})", pattern)]


def with_sets(program, short):
    """A program of the tests of models, and for each other instruction set of the machine those that depend on it."""
    binary = program.command[0]
    programs = [Program(program.name, program.command + ([f"--gtest_filter=-{short}"] if short else []), program.env,
                        program.results)]
    for name, chosen in suite_sets.other_runs(binary, is_sanitized=bool(program.env)):
        env = {**program.env, **suite_sets.environment(name)}
        programs.append(Program(f"{program.name} ({name})", [binary, f"--gtest_filter={chosen}"], env, program.results))
    return programs


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
    cli = [sys.executable, "tests/cli/run.py", binary]
    programs.append(Program("cli", cli, {}, results))
    programs.append(Program("python", [python_with_numpy(), "python/tests/run.py", "--program", binary], {}, results))
    if "app" in found:  # a build with the window
        journeys = [sys.executable, "tests/journeys/run.py", binary]
        programs.append(Program("journeys", journeys + ["--without", "pace"], {}, results))
        programs.append(Program("pace", journeys + ["pace"], {}, results))
    if is_root():
        for name, parts in ROOT_TESTS.items():
            command = cli + list(parts) if name == "cli" else found[name] + [
                f"--gtest_filter={suite_sets.filter_of(found[name][0], parts)}"]
            programs.append(Program(f"{name}-as-root", command, {}, results, as_root=True))
    return programs


def in_shards(program, count):
    """The tests of one program as `count` programs that run side by side."""
    return [Program(f"{program.name} ({i + 1} of {count})", program.command,
                    {**program.env, "GTEST_TOTAL_SHARDS": str(count), "GTEST_SHARD_INDEX": str(i)}, program.results)
            for i in range(count)]


def programs_of(spec):
    """'asan:model,viz' -> its programs."""
    preset, _, names = spec.partition(":")
    folder = BUILD / preset / "tests"
    results = BUILD / preset / "test-results"
    results.mkdir(parents=True, exist_ok=True)
    found = {p.name[:-len("_tests")]: [str(p)] for p in sorted(folder.glob("*_tests")) if os.access(p, os.X_OK)}
    wanted = names.split(",") if names else list(found)
    missing = [n for n in wanted if n not in found]
    if missing:
        sys.exit(f"run_suite.py: no program {missing[0]}_tests in {folder}: build it first")
    short = NOT_SANITIZED if preset in SANITIZER_ENV and not EVERYTHING else ""
    programs = []
    for name in wanted:
        label = name if preset == "release" else f"{preset}-{name}"
        program = Program(label, found[name], SANITIZER_ENV.get(preset, {}), results)
        if preset == "gpu" and name in SHARDED:
            programs += in_shards(program, max(1, os.cpu_count() // SHARDED[name]))
        elif name == "model" and preset != "gpu":
            programs += with_sets(program, short)
        else:
            programs += split_apart(program, APART[name]) if name in APART else [program]
    if preset == "release" and not names:
        programs += release_programs(found, str(BUILD / preset / "afterimage"), results)
    return programs


class Total:
    """The counts of all programs, and what failed: (program, test, command line that runs it alone)."""

    def __init__(self):
        self.counts, self.failures, self.lock = Counter(), [], threading.Lock()

    def add(self, name, outcome):
        with self.lock:
            print("\n".join(outcome.lines), flush=True)
            self.counts.update(outcome.counts)
            self.failures += [(name, test, command) for test, command in outcome.failures]


def run_all(queue, env, beside, total):
    """Runs `beside` programs at a time; prints each when it ends, its lines together."""
    def work():
        while program := queue.take():
            program.suite_env = {**env, **(SIDE_BY_SIDE_ENV if beside > 1 else {})}
            total.add(program.name, run_program(program))

    with ThreadPoolExecutor(beside) as pool:
        for worker in [pool.submit(work) for _ in range(beside)]:
            worker.result()


def run_alone(programs, env, total):
    """One after the other, in the order of the list; the parts of one side by side."""
    for _, parts in itertools.groupby(programs, key=lambda program: program.kind):
        parts = list(parts)
        queue = Queue(parts)
        queue.close()
        run_all(queue, env, min(len(parts), os.cpu_count()), total)


def run_beside(programs, specs, env, total):
    """`programs`, and those of `specs` once they are built. -> the programs that have to wait, the specs whose build
    failed"""
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
        run_all(queue, env, os.cpu_count(), total)
        broken = building.result()
    for spec in broken:
        preset = spec.partition(":")[0]
        total.add(f"build-{preset}", Outcome(Counter(failed=1), [], [("the build", f"scripts/build.sh {preset} all")]))
    return later, broken


def run_fuzzer(program, results):
    """One libFuzzer program from its seeds for FUZZ_S -> Outcome. What it found stays in `results`."""
    name = program.name[:-len("_fuzz")]
    log = results / f"{name}.log"
    with tempfile.TemporaryDirectory() as corpus, open(log, "wb") as out:
        command = [str(program), f"-max_total_time={FUZZ_S}", "-max_len=4096", "-timeout=20", "-rss_limit_mb=3000",
                   f"-dict={ROOT}/tests/fuzz/words.dict", f"-artifact_prefix={results}/{name}-", "-print_final_stats=1",
                   corpus, str(ROOT / "tests" / "fuzz" / "seeds" / name)]
        try:
            code = subprocess.run([*ordinary_user()[0], *command], cwd=ROOT, env={**os.environ, "ASAN_OPTIONS": NO_OLD_TLS},
                                  stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                  timeout=FUZZ_S + 120).returncode
        except subprocess.TimeoutExpired:
            code = 124
    text = log.read_text(errors="replace")
    inputs = re.findall(r"^stat::number_of_executed_units: (\d+)$", text, re.M)
    failed = code != 0 or not inputs or not int(inputs[0])
    lines = [f"fuzz-{name}: {int(not failed)} passed, {int(failed)} failed, 0 skipped in {FUZZ_S} s"
             f" ({inputs[0] if inputs else 'no'} inputs)"]
    if not failed:
        return Outcome(Counter(passed=1), lines)
    again = f"{os.path.relpath(program, ROOT)} FILE  # the file that the lines above name"
    return Outcome(Counter(failed=1), lines + failure_lines(text), [(name, again)])


def run_fuzzers(total):
    results = BUILD / "fuzz" / "test-results"
    results.mkdir(parents=True, exist_ok=True)
    programs = sorted((BUILD / "fuzz" / "tests").glob("*_fuzz"))
    parsers = {p.stem for p in (ROOT / "tests" / "fuzz").glob("*.cpp")}
    if {p.name[:-len("_fuzz")] for p in programs} != parsers:
        sys.exit("run_suite.py: the programs in build/fuzz/tests are not those of tests/fuzz: build them first")
    with ThreadPoolExecutor(len(programs)) as side_by_side:
        for program, outcome in zip(programs, side_by_side.map(lambda program: run_fuzzer(program, results), programs)):
            total.add(f"fuzz-{program.name}", outcome)


def run(programs, specs, later, env):
    """`programs`, beside them what of `later` is built, then what is alone and the fuzzers of `specs`. -> Total"""
    total = Total()
    first = [p for p in programs if p.kind in FIRST]
    run_alone(first, env, total)
    if not total.counts["failed"]:
        last, broken = run_beside([p for p in programs if p not in first], later, env, total)
        if "fuzz" in specs and "fuzz" not in broken:
            run_fuzzers(total)
        run_alone(last, env, total)
    return total


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("presets", nargs="+")
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--as-root", action="store_true")
    return parser.parse_args()


def chosen_programs(specs, given):
    programs = [program for spec in specs if spec != "fuzz" for program in programs_of(spec)]
    missing = [name for name in given.only or [] if name not in {program.kind for program in programs}]
    if missing:
        sys.exit(f"run_suite.py: no program '{missing[0]}'; there are {', '.join(sorted({p.kind for p in programs}))}")
    programs = [program for program in programs if not given.only or program.kind in given.only]
    for program in programs:
        program.as_root |= given.as_root
    return programs


def main():
    given = options()
    specs, later = given.presets, given.presets[1:] if given.build else []
    removed = clean_environment()
    who = "root" if given.as_root else ordinary_user()[1]
    print(f"tests run as {who}" + (f", without {', '.join(removed)}" if removed else ""), flush=True)
    display = Display()
    try:
        with scratch_in_memory(), private_settings() as settings:
            programs = chosen_programs([spec for spec in specs if spec not in later], given)
            total = run(programs, specs, later, {**display.env, **settings})
    finally:
        display.close()
    counts = total.counts
    if counts["failed"]:
        tests = BUILD / "release" / "tests" / "model_tests"
        print_report(total.failures, str(tests) if tests.exists() else None)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    sys.exit(1 if counts["failed"] or not counts["passed"] else 0)


if __name__ == "__main__":
    main()
