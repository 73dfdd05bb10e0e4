#!/usr/bin/env bash
# On a bare GPU server: builds without the window against the Python's LibTorch (torch 2.11 with CUDA), runs
# the tests on the device against float64, and prints one table of figures.
#   scripts/gpu_check.sh [--bundle DIR] [--device cuda] [--fast]
# --bundle: what `scripts/setup.sh --bundle DIR` collected, for a server without a network.
# --fast: the table only, without the test programs. LIBTORCH_ROOT chooses another LibTorch.
set -euo pipefail

bundle="" device=cuda fast=0
while [ $# -gt 0 ]; do
    case "$1" in
        --bundle) [ $# -ge 2 ] || { echo "gpu_check.sh: --bundle needs a folder" >&2; exit 2; }
            bundle=$(cd "$2" && pwd); shift ;;
        --device) [ $# -ge 2 ] || { echo "gpu_check.sh: --device needs cuda or cpu" >&2; exit 2; }; device=$2; shift ;;
        --fast) fast=1 ;;
        -h | --help) sed -n '2,6s/^# //p' "$0"; exit 0 ;;
        *) echo "gpu_check.sh: unknown option '$1' (allowed: --bundle DIR, --device D, --fast)" >&2; exit 2 ;;
    esac
    shift
done
cd "$(dirname "$0")/.."
for tool in cmake g++ python3; do
    command -v "$tool" >/dev/null || { echo "gpu_check.sh: $tool is missing on this machine" >&2; exit 1; }
done

folder=build/gpu
mkdir -p "$folder"
generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
cmake -S . -B "$folder" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DAFTERIMAGE_WINDOW=OFF \
    -DAFTERIMAGE_BUNDLE="$bundle" -DLIBTORCH_ROOT="${LIBTORCH_ROOT:-python}" > "$folder.log" 2>&1 || {
    tail -20 "$folder.log" >&2; exit 1; }
targets=(afterimage)
if [ "$fast" = 0 ]; then
    ! grep -q "the tests are left out" "$folder.log" || {
        echo "gpu_check.sh: GoogleTest is missing on this machine: use --bundle DIR, or --fast" >&2; exit 1; }
    targets+=(core_tests model_tests session_tests)
fi
start=$(date +%s)
cmake --build "$folder" -j "$(nproc)" --target "${targets[@]}" > "$folder.log" 2>&1 || {
    grep -A5 -i "error" "$folder.log" | head -60 >&2 || true
    echo "gpu_check.sh: the build failed; all of it: $folder.log" >&2; exit 1; }
echo "built in $(($(date +%s) - start)) s"

failed=0
python3 tests/gpu_table.py "$folder/afterimage" "$device" || failed=1
if [ "$fast" = 0 ]; then
    export OMP_NUM_THREADS=${OMP_NUM_THREADS:-2}  # shards of the tests run side by side
    AFTERIMAGE_DEVICE=$device python3 tests/run_suite.py gpu:core,model,session || failed=1
fi
exit $failed
