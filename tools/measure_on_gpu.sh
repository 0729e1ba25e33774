#!/usr/bin/env bash
# Measures the tables of bench/results on a machine with a GPU. Each program is stopped at its time limit, and its output is kept. Answers
# are checked before they are timed. Needs the packages of tools/on_gpu.sh, PyTorch and CuPy, and nvcc for CUB.
# Usage: [BUILT=folder of a built package] [SECONDS_EACH=240] tools/measure_on_gpu.sh FOLDER [name...]; default: all names
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
declare -A programs=(
    [read]='read.gpu'
    [multisplit]='multisplit.tables'
    [tune_multisplit]='multisplit.tune'
    [sort]='sort.gpu'
    [small]='read.gpu_small'
    [stream]='read.stream --gpu --batches 64,256'
    [soak]='read.stream --gpu --soak 200'
    [first_call]='read.first_call'
    [small_batches]='read.small_batches'
    [histogram]='primitives.gpu_histogram'
    [primitives]='primitives.gpu'
    [called]='primitives.gpu_called'
    [faults]='read.gpu_faults'
    [limits]='primitives.gpu_limits'
)
in_order=(read small sort multisplit tune_multisplit stream soak first_call small_batches histogram primitives called faults limits)
[[ $# -gt 0 ]] || { sed -n '2,4s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
out=$1
shift
mkdir -p "$out"
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=${BUILT:-src}:.
failed=0
for name in "${@:-${in_order[@]}}"; do
    [[ -n ${programs[$name]:-} ]] || { echo "no table $name; there are: ${in_order[*]}" >&2; exit 2; }
    began=$SECONDS
    read -ra words <<< "${programs[$name]}"
    timeout "${SECONDS_EACH:-240}" python3 -m "bench.${words[0]}" "${words[@]:1}" --out "$out/$name.md" > "$out/$name.log" 2>&1
    code=$?
    [[ $code -eq 0 ]] || failed=1
    printf '\n== %s: %s, %d s\n' "$name" "$([[ $code -eq 0 ]] && echo done || echo "stopped ($code)")" $((SECONDS - began))
    tail -n 60 "$out/$name.log"
done
exit $failed
