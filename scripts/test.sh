#!/usr/bin/env bash
# Sets up, builds and runs every test; the last line is `N passed, N failed, N skipped` over all (--all: PyTorch, line
# coverage and the matrix after it).
#   scripts/test.sh               the whole suite, the fuzzers for 30 s, the sanitizers on model, viz and session tests
#   scripts/test.sh --fast        without fuzzers and sanitizers
#   scripts/test.sh --all         also the long tests, every model test with every instruction set, fuzzers for 10 min, the
#                                 address sanitizer on all programs, the Python package with PyTorch, line coverage, and
#                                 the matrix of users, threads, folders, locales, compilers and systems (tests/matrix.py)
#   scripts/test.sh --device D    device of the tests of models, sessions and commands: cpu (default), cuda, auto
set -euo pipefail
cd "$(dirname "$0")/.."

suites=(release fuzz asan:model,viz tsan:session)
while [ $# -gt 0 ]; do
    case "$1" in
        --fast) suites=(release) ;;
        --all) suites=(release fuzz asan:core,model,session,viz,app tsan:session); export AFTERIMAGE_ALL_TESTS=1 ;;
        --device) [ $# -ge 2 ] || { echo "test.sh: --device needs cpu, cuda or auto" >&2; exit 2; }
            export AFTERIMAGE_DEVICE=$2; shift ;;
        -h | --help) sed -n '2,11s/^# //p' "$0"; exit 0 ;;
        *) echo "test.sh: unknown option '$1' (allowed: --fast, --all, --device D)" >&2; exit 2 ;;
    esac
    shift
done

scripts/setup.sh
# What a mistake shows in first, before the long build.
scripts/build.sh release core_tests
build/release/tests/core_tests --gtest_brief=1
start=$(date +%s)
scripts/build.sh release all
echo "built release in $(($(date +%s) - start)) s"
# The other builds continue while the tests of this one run.
code=0
python3 tests/run_suite.py --build "${suites[@]}" || code=$?
if [ -n "${AFTERIMAGE_ALL_TESTS:-}" ]; then
    scripts/test_torch.sh || code=1
    scripts/build.sh coverage core_tests model_tests session_tests && python3 tests/coverage.py || code=1
    env -u AFTERIMAGE_ALL_TESTS python3 tests/matrix.py || code=1
fi
exit "$code"
