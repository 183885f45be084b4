#!/usr/bin/env bash
# run.sh BUILD COMPILER: installs BUILD into a folder of its own, then builds and runs example.c against it
# with pkg-config and with find_package, each with the shared and with the static library.
set -euo pipefail

build=$1
compiler=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/installed" >"$work/log"
# an installation can be moved: nothing in it may name the folder that it was made in
mv "$work/installed" "$work/moved"
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name tilewise.pc)")
libraries=$(pkg-config --variable=libdir tilewise)

expect() {
    local answer
    answer=$(LD_LIBRARY_PATH=$libraries "$2")
    if [ "$answer" != "28 0" ]; then
        printf '%s: printed "%s", not "28 0"\n' "$1" "$answer" >&2
        exit 1
    fi
    printf '%s: right\n' "$1"
}

read -ra flags <<<"$(pkg-config --cflags --libs tilewise)"
"$compiler" -o "$work/a" "$here/example.c" "${flags[@]}"
expect "pkg-config, shared" "$work/a"

read -ra flags <<<"$(pkg-config --cflags --static --libs tilewise)"
"$compiler" -o "$work/b" "$here/example.c" "${flags[@]/#-ltilewise/$libraries/libtilewise.a}"
expect "pkg-config, static" "$work/b"

cmake -G Ninja -S "$here" -B "$work/outside" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$work/moved" >"$work/log"
cmake --build "$work/outside" >"$work/log"
expect "find_package, shared" "$work/outside/shared"
expect "find_package, static" "$work/outside/static"
