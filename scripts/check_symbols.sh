#!/usr/bin/env bash
# check_symbols.sh SHARED STATIC: the shared library shows tw_ names alone; the static one also twi_.
set -euo pipefail

shown=$(nm -D --defined-only "$1" | awk '{ sub(/@.*/, "", $3); print $3 }')
wrong=$(printf '%s\n' "$shown" | grep -Ev '^(tw_[a-z0-9_]+|TILEWISE_[0-9]+)$' || true)
if [ -n "$wrong" ]; then
    printf '%s shows names that are not tw_:\n%s\n' "$1" "$wrong" >&2
    exit 1
fi
if ! printf '%s\n' "$shown" | grep -q '^tw_version$'; then
    printf '%s does not show tw_version\n' "$1" >&2
    exit 1
fi

# C symbols only: the kernels' mangled C++ names are nvcc's.
wrong=$(nm --defined-only --extern-only "$2" 2>/dev/null | awk 'NF == 3 { print $3 }' | grep -Ev '^(twi?_|_Z|__)' || true)
if [ -n "$wrong" ]; then
    printf '%s defines names that are neither tw_ nor twi_:\n%s\n' "$2" "$wrong" >&2
    exit 1
fi
