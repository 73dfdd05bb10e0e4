#!/usr/bin/env bash
# Configures a preset if need be and builds targets: scripts/build.sh PRESET TARGET...
# BUILD_OPTIONS gives CMake options, kept for the next builds of the preset. The first build compiles several files as
# one, quicker from nothing; `BUILD_OPTIONS= scripts/build.sh ...` compiles file by file, quicker after a change.
# At most as many compilers as the memory holds (2 GB each).
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1; shift
folder=build/$preset
mkdir -p "$folder"
options=${BUILD_OPTIONS-$(cat "$folder/options" 2>/dev/null || echo -DAFTERIMAGE_BATCHES=ON)}
# A build from before GoogleTest was there knows no tests.
without_tests() { [ "$*" != afterimage ] && ! grep -q model_tests "$folder/build.ninja"; }
if [ ! -e "$folder/build.ninja" ] || without_tests "$@" || [ "$options" != "$(cat "$folder/options" 2>/dev/null)" ]; then
    # shellcheck disable=SC2086
    cmake --preset "$preset" $options > "$folder/configure.log" 2>&1 || {
        tail -20 "$folder/configure.log" >&2; exit 1; }
    echo "$options" > "$folder/options"
fi
memory=$(awk '/MemTotal/ {print int($2 / 2000000)}' /proc/meminfo)
jobs=$(nproc); [ "$memory" -lt "$jobs" ] && jobs=$memory; [ "$jobs" -lt 1 ] && jobs=1
# On a terminal ninja's one moving line; elsewhere only what went wrong.
if [ -t 1 ]; then exec ninja -C "$folder" -j "$jobs" "$@"; fi
NINJA_STATUS='[%f/%t %es] ' ninja -C "$folder" -j "$jobs" "$@" > "$folder/build.log" 2>&1 || {
    grep -v '^\[[0-9]*/[0-9]* ' "$folder/build.log" | head -60 >&2 || true
    echo "build.sh: the build of $preset failed; all of it: $folder/build.log" >&2; exit 1; }
