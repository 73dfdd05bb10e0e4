#!/usr/bin/env bash
# Sets up, builds and runs every test; the last line is `N passed, N failed, N skipped` over all.
#   scripts/test.sh               the whole suite, the fuzzers for 30 s, the sanitizers on model, viz and session tests
#   scripts/test.sh --fast        without fuzzers and sanitizers
#   scripts/test.sh --all         also the long tests, fuzzers for 10 min, the address sanitizer on all programs, line coverage
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
        -h | --help) sed -n '2,6s/^# //p' "$0"; exit 0 ;;
        *) echo "test.sh: unknown option '$1' (allowed: --fast, --all, --device D)" >&2; exit 2 ;;
    esac
    shift
done

since() { echo "$(($(date +%s) - $1)) s"; }

# asan:model,viz -> model_tests viz_tests
targets_of() {
    case "$1" in
        *:*) echo "${1#*:}" | tr ',' '\n' | sed 's/$/_tests/' ;;
        *) echo all ;;
    esac
}

scripts/setup.sh
# What a mistake shows in first, before the long build.
python3 tests/check_rules.py
scripts/build.sh release core_tests
build/release/tests/core_tests --gtest_brief=1
for suite in "${suites[@]}"; do
    start=$(date +%s)
    echo "building ${suite%%:*}"
    # shellcheck disable=SC2046
    scripts/build.sh "${suite%%:*}" $(targets_of "$suite")
    echo "built ${suite%%:*} in $(since "$start")"
done
if [ -n "${AFTERIMAGE_ALL_TESTS:-}" ]; then
    scripts/build.sh coverage core_tests model_tests
    python3 tests/coverage.py
fi
exec python3 tests/run_suite.py "${suites[@]}"
