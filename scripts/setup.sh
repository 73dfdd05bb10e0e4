#!/usr/bin/env bash
# Brings everything the build needs: Debian packages, and pinned, hash-checked wheels unzipped into .deps/.
#   scripts/setup.sh                 all of it (does nothing that is already done)
#   scripts/setup.sh --no-window     without the packages of the window (bare server)
#   scripts/setup.sh --bundle DIR    collects header libraries and GoogleTest for an offline GPU server
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "setup.sh: $*" >&2; exit 1; }

window=1 bundle=""
while [ $# -gt 0 ]; do
    case "$1" in
        --no-window) window=0 ;;
        --bundle) [ $# -ge 2 ] || fail "--bundle needs a folder"; bundle=$2; shift ;;
        *) fail "unknown option '$1' (allowed: --no-window, --bundle DIR)" ;;
    esac
    shift
done

build_packages=(g++ cmake ninja-build ccache unzip python3 python3-pip zlib1g-dev libjpeg62-turbo-dev
    libstb-dev nlohmann-json3-dev libcli11-dev libspdlog-dev libfmt-dev libgtest-dev libgmock-dev)
window_packages=(libgl-dev libegl-dev libopengl-dev libegl1 libopengl0 libgl1 libgl1-mesa-dri
    libegl-mesa0 libglx-mesa0 libx11-6 libx11-xcb1 libxcursor1 libxi6 libxinerama1 libxrandr2
    libxrender1 libxext6 libxxf86vm1 libxkbcommon0 fonts-inter fonts-jetbrains-mono
    fonts-material-design-icons-iconfont fonts-dejavu-core)
test_packages=(clang-format xvfb xdotool x11-utils x11-apps)

install_packages() {
    local missing=()
    for p in "$@"; do
        dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q "install ok installed" || missing+=("$p")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    local sudo=""
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "missing packages and no root: run 'apt-get install ${missing[*]}' as root"
        sudo=sudo
    fi
    echo "installing Debian packages: ${missing[*]}"
    $sudo apt-get update -q >/dev/null || fail "apt-get update failed: check the network and /etc/apt"
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q --no-install-recommends "${missing[@]}" >/dev/null ||
        fail "apt-get install failed for: ${missing[*]}"
}

# name==version sha256 : one pinned wheel
fetch_wheel() {
    local pin=$1 hash=$2 dir=.deps/wheels
    mkdir -p "$dir"
    echo "$pin --hash=sha256:$hash" > "$dir/pin.txt"
    echo "fetching $pin"
    python3 -m pip download -q --no-deps --require-hashes --only-binary=:all: --python-version 3.12 \
        -d "$dir" -r "$dir/pin.txt" || fail "could not fetch $pin: check the network and the package index"
    local file
    file=$(grep -l "" "$dir"/*.whl | while read -r f; do
        [ "$(sha256sum < "$f" | cut -d' ' -f1)" = "$hash" ] && echo "$f"; done)
    [ -n "$file" ] || fail "$pin: no file with the pinned hash $hash"
    wheel=$file
}

mark() { touch ".deps/.done/$1"; }
is_done() { [ -e ".deps/.done/$1" ]; }

fetch_libtorch() {
    [ -n "${LIBTORCH_ROOT:-}" ] && { echo "using LibTorch at $LIBTORCH_ROOT"; return 0; }
    if ! is_done torch-2.11.0; then
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
    [ -n "${IMGUI_ROOT:-}" ] && { echo "using Dear ImGui at $IMGUI_ROOT"; return 0; }
    is_done imgui-1.92.7 && return 0
    fetch_wheel comma-deps-imgui==1.92.7.post104 f191a711ba008372c9ee1a620b2ab6859c062625268180a55980d88298f5b186
    rm -rf .deps/imgui; mkdir -p .deps/imgui-unpacked
    unzip -q -o "$wheel" -d .deps/imgui-unpacked
    mv .deps/imgui-unpacked/*.data/purelib/imgui/install .deps/imgui
    rm -rf .deps/imgui-unpacked "$wheel"; mark imgui-1.92.7
}

# What a GPU server without a network lacks: header libraries and GoogleTest's sources.
make_bundle() {
    mkdir -p "$bundle/include" "$bundle/src"
    for dir in nlohmann CLI spdlog fmt stb; do cp -rL "/usr/include/$dir" "$bundle/include/"; done
    cp -L /usr/include/jpeglib.h /usr/include/jerror.h /usr/include/jmorecfg.h /usr/include/zlib.h \
        /usr/include/zconf.h "$bundle/include/"
    cp -L /usr/include/*/jconfig.h "$bundle/include/"
    mkdir -p "$bundle/lib"
    cp -L /usr/lib/*/libjpeg.a /usr/lib/*/libfmt.a /usr/lib/*/libspdlog.a /usr/lib/*/libz.a "$bundle/lib/"
    cp -rL /usr/src/googletest "$bundle/src/"
    echo "bundle in $bundle: $(du -sh "$bundle" | cut -f1)"
}

mkdir -p .deps/.done
install_packages "${build_packages[@]}"
if [ "$window" = 1 ]; then install_packages "${window_packages[@]}" "${test_packages[@]}"; fi
if [ -n "$bundle" ]; then make_bundle; exit 0; fi
fetch_libtorch
if [ "$window" = 1 ]; then fetch_imgui; fi
exit 0
