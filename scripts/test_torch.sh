#!/usr/bin/env bash
# Tests the Python package with PyTorch, and the program under its torchrun, in environments of its own below
# build/torch/: PyTorch 2.11 and the newest, for the processor. Needs the network the first time (some minutes and up to
# 5 GB each). The last line of each is `N passed, N failed, N skipped`.
#   scripts/test_torch.sh              both
#   scripts/test_torch.sh 2.11         one: a version of PyTorch, or newest
#   PYTHON=python3.12 ...              with that Python (python3)
# An environment that is not used for the newest any more: rm -r build/torch/newest.
set -euo pipefail
cd "$(dirname "$0")/.."

[ "${1:-}" = -h ] || [ "${1:-}" = --help ] && { sed -n '2,8s/^# //p' "$0"; exit 0; }
versions=("$@")
[ $# -gt 0 ] || versions=(2.11 newest)
program=()
if [ -x build/release/afterimage ]; then
    program=(--program build/release/afterimage)
    export AFTERIMAGE_OPS_LIBRARY=$PWD/build/release/libafterimage_ops.so
fi
code=0
for version in "${versions[@]}"; do
    place=build/torch/$version
    case "$version" in
        newest) wanted=torch ;;
        [0-9]*.[0-9]*) wanted="torch==$version.*" ;;
        *) echo "test_torch.sh: '$version' is no version of PyTorch (2.11, newest)" >&2; exit 2 ;;
    esac
    if [ ! -e "$place/.done" ]; then
        rm -rf "$place"
        "${PYTHON:-python3}" -m venv "$place"
        "$place/bin/pip" install -q "$wanted" numpy pyyaml
        # Their modules are patched; of what they ask for beside PyTorch these need PyYAML alone.
        "$place/bin/pip" install -q --no-deps aft-pytorch labml-nn labml labml-helpers
        touch "$place/.done"
    fi
    if [ ! -e "$place/.timm" ]; then  # for the examples; without it their tests are skipped
        here=$("$place/bin/python" -c 'import torch; print(torch.__version__.split("+")[0])')
        # Its words go into a file: pip complains of what the packages above ask for and these tests do not need.
        if "$place/bin/pip" install -q "torch==$here" timm >"$place/timm.log" 2>&1; then
            touch "$place/.timm"
        else
            cat "$place/timm.log" >&2
        fi
    fi
    "$place/bin/pip" install -q --no-index --no-deps --force-reinstall ./python
    "$place/bin/python" -c 'import torch; print(f"PyTorch {torch.__version__}")'
    OMP_NUM_THREADS=1 "$place/bin/python" python/tests/run.py "${program[@]}" \
        torch_run torch_cuda torch_ops torch_tracing torch_examples torch_launch || code=1
done
exit "$code"
