#!/usr/bin/env bash
# From a fresh clone to the window: sets up, builds and starts Afterimage.
#   scripts/run.sh            opens the window; without a display trains the demo
#   scripts/run.sh ARGS...    hands ARGS to the program (scripts/run.sh --help)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

(
    cd "$root"
    scripts/setup.sh --no-tests
    [ -x build/release/afterimage ] || echo "building; the first time takes some minutes"
    scripts/build.sh release afterimage
) >&2

if [ $# -eq 0 ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    echo "no display: training the demo instead (scripts/run.sh --help shows what else there is)" >&2
    set -- demo
fi
exec "$root/build/release/afterimage" "$@"
