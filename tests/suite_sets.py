"""The instruction sets that the numerical tests run with: AFTERIMAGE_CPU chooses ours, and LibTorch and its libraries are
limited to the same, so that a newer processor reckons as an older one does."""
import functools
import json
import os
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETS = ("amx", "avx512_bf16", "avx512", "avx2", "portable")  # model/ops/cpu/simd/instruction_set.cpp, newest first


def limits(mkl, onednn, aten):
    return {"MKL_ENABLE_INSTRUCTIONS": mkl, "ONEDNN_MAX_CPU_ISA": onednn, "ATEN_CPU_CAPABILITY": aten}


LIMITS = {"avx512": limits("AVX512", "AVX512_CORE", "avx512"), "avx2": limits("AVX2", "AVX2", "avx2"),
          "portable": limits("SSE4_2", "SSE41", "default")}
# What runs with every set of the machine, by the folder of the test's source. In the long run: all of model_tests.
FOLDERS = ("tests/model/ops/", "tests/model/decode/")
# Not with the other sets, with the reason.
EXCEPTIONS = {
    "OpsAccuracy.reference*": "float64 of LibTorch alone: no kernel of ours runs",
    "OpsAccuracy.tiled*": "LibTorch's calls alone: no kernel of ours runs",
    "*OpsPromise.*/reference": "float64 of LibTorch alone: no kernel of ours runs",
    "*OpsPromise.*/tiled": "LibTorch's calls alone: no kernel of ours runs",
    "ThreadCount.*": "whole training steps, minutes long; OpsCpu and OpsExact compare each kernel's bits over threads",
}
# Under a sanitizer, unless all tests run: shapes around every tile, which is where a kernel can leave its memory.
SANITIZED_TESTS = ("OpsWeights.*:OpsBf16.*:OpsEdgeValues.*:OpsCpu.*_shapes:OpsCpu.regressions:OpsScan.*:Fused.*:AdamW.*"
                   ":DecodeProduct.*:PackedDecode.IsTheNet:PackedDecode.Hidden*:PackedDecode.Known*:PackedDecode.Fewer*")
# Sets of AVX-512 run the same vector kernels and differ in products of bfloat16 and int8.
WIDE = ("amx", "avx512_bf16", "avx512")
WIDE_TESTS = "OpsCpu.is_chosen:OpsWeights.*:OpsBf16.*:OpsEdgeValues.*:*bf16_operands:PackedDecode.*:DecodeProduct.*"


def environment(name):
    """Of a program that runs with one set."""
    return {"AFTERIMAGE_CPU": name, **LIMITS.get(name, {})} if name else {}


@functools.cache
def tests_with_files(binary):
    """Of a GoogleTest program: ("Suite.Test", "tests/model/ops/ops_cpu_test.cpp") of every test."""
    with tempfile.NamedTemporaryFile(suffix=".json") as listed:
        subprocess.run([binary, "--gtest_list_tests", f"--gtest_output=json:{listed.name}"], cwd=ROOT, capture_output=True,
                       check=True)
        suites = json.load(listed)["testsuites"]
    return [(f"{suite['name']}.{test['name']}", test["file"][test["file"].find("tests/"):])
            for suite in suites for test in suite["testsuite"]]


def filter_of(binary, places):
    """--gtest_filter of the suites with a test in one of these files or folders."""
    return ":".join(sorted({f"{test.partition('.')[0]}.*" for test, file in tests_with_files(binary)
                            if file.startswith(tuple(places))}))


@functools.cache
def available(binary):
    """The sets of this processor, newest first, as the tests of models say: the one of AFTERIMAGE_CPU, or the newest, is
    the first, and the others of the machine follow."""
    runs = lambda name: not subprocess.run([binary, "--gtest_filter=OpsCpu.is_chosen"], cwd=ROOT, capture_output=True,
                                           env={**os.environ, "AFTERIMAGE_CPU": name}).returncode
    here = [name for name in SETS if runs(name)]
    asked = os.environ.get("AFTERIMAGE_CPU")
    return [asked] * (asked in here) + [name for name in here if name != asked]


def other_runs(binary, is_sanitized):
    """(set, filter) of the tests that run once more, each with another set of the machine than the first."""
    first, *others = available(binary)
    everything = "AFTERIMAGE_ALL_TESTS" in os.environ
    chosen = "*" if everything else SANITIZED_TESTS if is_sanitized else filter_of(binary, FOLDERS)
    for name in others:
        is_wide = name in WIDE and first in WIDE and not everything and not is_sanitized
        yield name, f"{WIDE_TESTS if is_wide else chosen}-{':'.join(EXCEPTIONS)}"
