#!/usr/bin/env bash
# Brings everything the build needs: Debian packages, and pinned, hash-checked wheels unzipped into .deps/.
# Does nothing that is already done.
#   scripts/setup.sh                 what the build, the window and the tests need
#   scripts/setup.sh --no-tests      without what only the tests need
#   scripts/setup.sh --no-window     without the packages of the window (bare server)
#   scripts/setup.sh --bundle DIR    collects header libraries and GoogleTest for an offline GPU server
# LIBTORCH_ROOT=DIR uses that LibTorch 2.11, LIBTORCH_ROOT=python the one in the machine's Python;
# IMGUI_ROOT=DIR uses another build of Dear ImGui, ImPlot and GLFW (include/ and lib/, or the source trees imgui/,
# implot/ and glfw/).
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "setup.sh: $*" >&2; exit 1; }

window=1 tests=1 bundle=""
while [ $# -gt 0 ]; do
    case "$1" in
        --no-window) window=0 ;;
        --no-tests) tests=0 ;;
        --bundle) [ $# -ge 2 ] || fail "--bundle needs a folder"; bundle=$2; shift ;;
        -h | --help) sed -n '2,10s/^# //p' "$0"; exit 0 ;;
        *) echo "setup.sh: unknown option '$1' (allowed: --no-window, --no-tests, --bundle DIR)" >&2; exit 2 ;;
    esac
    shift
done

build_packages=(g++ cmake ninja-build ccache unzip python3 python3-pip zlib1g-dev libjpeg62-turbo-dev
    libarchive-dev libgloo-dev libstb-dev nlohmann-json3-dev libcli11-dev libfmt-dev fonts-inter)
window_packages=(libgl-dev libegl-dev libopengl-dev libegl1 libopengl0 libgl1 libgl1-mesa-dri
    libegl-mesa0 libglx-mesa0 libx11-6 libx11-xcb1 libxcursor1 libxi6 libxinerama1 libxrandr2
    libxrender1 libxext6 libxxf86vm1 libxkbcommon0 fonts-jetbrains-mono
    fonts-material-design-icons-iconfont fonts-dejavu-core)
# The version of Clang that Debian 12 and 13 both have, for fuzzing and formatting.
test_packages=(libgtest-dev googletest clang-format-19 clang-19 libclang-rt-19-dev libomp-19-dev python3-numpy)
window_test_packages=(xvfb xdotool x11-utils)

install_packages() {
    command -v dpkg-query >/dev/null ||
        fail "this script installs Debian packages; on another system install by hand: $*"
    local installed missing=()
    installed=" $(dpkg-query -W -f='${db:Status-Abbrev}${Package} ' "$@" 2>/dev/null | tr '\n' ' ') " || true
    for package in "$@"; do
        case "$installed" in *"ii $package "*) ;; *) missing+=("$package") ;; esac
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    local sudo=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            fail "packages are missing and this is not root: run 'apt-get install ${missing[*]}' as root"
        sudo=(sudo)
    fi
    echo "installing ${#missing[@]} Debian packages: ${missing[*]}"
    "${sudo[@]}" apt-get update -q >/dev/null || fail "apt-get update failed: check the network and /etc/apt"
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        "${missing[@]}" >/dev/null || fail "apt-get install failed for: ${missing[*]}"
}

# A Python that has pip: the one on the path may be another than Debian's.
python_with_pip() {
    for python in /usr/bin/python3 python3; do
        "$python" -m pip --version >/dev/null 2>&1 && { echo "$python"; return 0; }
    done
    fail "no Python with pip: install python3-pip"
}

# name==version sha256 -> $wheel: one pinned wheel, fetched and checked
fetch_wheel() {
    local pin=$1 hash=$2 folder=.deps/wheels python
    python=$(python_with_pip)
    rm -rf "$folder"; mkdir -p "$folder"
    echo "$pin --hash=sha256:$hash" > "$folder/pin.txt"
    echo "fetching $pin"
    "$python" -m pip download -q --disable-pip-version-check --no-cache-dir --no-deps --require-hashes \
        --only-binary=:all: --python-version 3.12 -d "$folder" -r "$folder/pin.txt" 2> "$folder/pip.log" || {
        tail -5 "$folder/pip.log" >&2
        fail "could not fetch $pin: check the network and the package index"
    }
    wheel=$(echo "$folder"/*.whl)
    [ "$(sha256sum < "$wheel" | cut -d' ' -f1)" = "$hash" ] || fail "$pin: the file has not the pinned hash $hash"
}

mark() { touch ".deps/.done/$1"; }
is_done() { [ -e ".deps/.done/$1" ]; }

# The pins and the unzipping below are x86-64 only.
check_machine() {
    [ "$(uname -m)" = x86_64 ] || fail "only x86-64 is supported, this is $(uname -m): set LIBTORCH_ROOT and IMGUI_ROOT"
    local free
    free=$(df -Pk . | awk 'NR==2 {print $4}')
    [ "$free" -ge 2500000 ] || fail "2.5 GB of free disk are needed here, found $((free / 1000)) MB"
}

fetch_libtorch() {
    if ! is_done torch-2.11.0; then
        check_machine
        fetch_wheel torch==2.11.0 0f68f4ac6d95d12e896c3b7a912b5871619542ec54d3649cf48cc1edd4dd2756
        rm -rf .deps/torch
        unzip -q -o "$wheel" 'torch/include/*' 'torch/lib/libtorch_cpu.so' 'torch/lib/libc10.so' \
            'torch/lib/libgomp*' 'torch/version.py' -d .deps
        rm -f "$wheel"; mark torch-2.11.0
    fi
    if ! is_done cuda-runtime-13.0.96; then
        fetch_wheel nvidia-cuda-runtime==13.0.96 7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548
        unzip -q -o "$wheel" 'nvidia/cu13/lib/*' -d .deps; rm -f "$wheel"; mark cuda-runtime-13.0.96
    fi
    if ! is_done cuda-cupti-13.0.85; then
        fetch_wheel nvidia-cuda-cupti==13.0.85 4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8
        unzip -q -o "$wheel" 'nvidia/cu13/lib/*' -d .deps; rm -f "$wheel"; mark cuda-cupti-13.0.85
    fi
}

fetch_imgui() {
    is_done imgui-1.92.7 && return 0
    check_machine
    fetch_wheel comma-deps-imgui==1.92.7.post104 f191a711ba008372c9ee1a620b2ab6859c062625268180a55980d88298f5b186
    rm -rf .deps/imgui .deps/imgui-unpacked; mkdir -p .deps/imgui-unpacked
    unzip -q -o "$wheel" -d .deps/imgui-unpacked
    mv .deps/imgui-unpacked/*.data/purelib/imgui/install .deps/imgui
    rm -rf .deps/imgui-unpacked "$wheel"; mark imgui-1.92.7
}

# What a GPU server without a network lacks: header libraries, three static libraries, GoogleTest's sources.
make_bundle() {
    mkdir -p "$bundle/include" "$bundle/lib" "$bundle/src"
    for folder in nlohmann CLI fmt stb gloo; do cp -rL "/usr/include/$folder" "$bundle/include/"; done
    cp -L /usr/include/jpeglib.h /usr/include/jerror.h /usr/include/jmorecfg.h /usr/include/zlib.h \
        /usr/include/zconf.h /usr/include/*/jconfig.h /usr/include/archive.h /usr/include/archive_entry.h \
        "$bundle/include/"
    cp -L /usr/lib/*/libjpeg.a /usr/lib/*/libz.a /usr/lib/*/libarchive.a "$bundle/lib/"
    rm -rf "$bundle/src/googletest"; cp -rL /usr/src/googletest "$bundle/src/"
    echo "bundle in $bundle: $(du -sh "$bundle" | cut -f1)"
}

mkdir -p .deps/.done
packages=("${build_packages[@]}")
[ "$window" = 1 ] && packages+=("${window_packages[@]}")
[ "$tests" = 1 ] && packages+=("${test_packages[@]}")
[ "$window$tests" = 11 ] && packages+=("${window_test_packages[@]}")
install_packages "${packages[@]}"
if [ -n "$bundle" ]; then make_bundle; exit 0; fi
if [ -n "${LIBTORCH_ROOT:-}" ]; then echo "using LibTorch at $LIBTORCH_ROOT"; else fetch_libtorch; fi
if [ "$window" = 0 ]; then exit 0; fi
if [ -n "${IMGUI_ROOT:-}" ]; then echo "using Dear ImGui at $IMGUI_ROOT"; else fetch_imgui; fi
rm -rf .deps/wheels
