#!/usr/bin/env bash
# suite.sh PROGRAM [OPTION...]: times the fixed problems, each with a plain copy in the same run. On a machine with a
# GPU those of the GPU, else, or with --device cpu, those of the CPU. Options go to every `tilewise bench`, such as
# --json, --variant or --threads.
set -euo pipefail

program=$1
shift

cpu_problems=(
    "--size 16384x8192"
    "--size 16384x8192 --window 5x5"
    "--size 16384x8192 --window 31x31"
    "--size 16384x8192 --window 101x101"
    "--size 4096x4096 --dtype u16"
    "--size 4096x4096 --dtype f32"
    "--size 1003x769"
)
cuda_problems=(
    "--size 16384x16384"
    "--size 16381x16384"
    "--size 16384x16384 --pitch odd"
    "--size 4096x4096"
    "--size 1003x769 --graph"
    "--size 16384x16384 --window 15x15"
    "--size 16384x16384 --window 31x31"
    "--size 16384x16384 --window 101x101"
    "--size 16384x16384 --pinned"
)
for border in zero constant:7 replicate reflect mirror wrap; do
    cuda_problems+=(
        "--size 16384x16384 --border $border"
        "--size 16384x16384 --dtype u16 --border $border"
        "--size 8192x8192 --dtype f32 --border $border"
        "--size 8192x8192 --channels 3 --border $border"
        "--size 8192x8192 --channels 4 --border $border"
    )
done

problems=("${cpu_problems[@]}")
if [[ " $* " != *" --device cpu "* ]] && command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; then
    problems=("${cuda_problems[@]}")
fi
for problem in "${problems[@]}"; do
    read -ra options <<<"$problem"
    printf '\n# tilewise bench box %s\n' "${options[*]} $*"
    "$program" bench box "${options[@]}" "$@"
done
