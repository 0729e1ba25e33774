#!/usr/bin/env bash
# Builds the package on a machine with a GPU, and runs the GPU tests, the memory checkers, and the table of limits. Needs no network.
# Needs Python 3.11 or newer with cuda-core 1.2, NVRTC, NumPy, pytest, scikit-build-core and nanobind. Uses CuPy, PyTorch and JAX if installed.
# Writes three files: gpu.log with the output of all steps, limits.md and limits.json.
# Usage: [BUILT=folder of a built package] tools/on_gpu.sh [folder for results; default: $OUT, or build/gpu]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-${OUT:-build/gpu}}
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
mkdir -p "$out"
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=${BUILT:-$site} HEADRACE_KERNEL_CACHE=$site/kernels
log=$out/gpu.log
: > "$log"
failed=0
step() {
    local name=$1 began=$SECONDS first
    shift
    first=$(($(wc -l < "$log") + 1))
    printf '== %s\n' "$name" >> "$log"
    "$@" >> "$log" 2>&1
    local code=$?
    [[ $code -eq 0 ]] || failed=1
    printf '\n== %s: %s, %d s\n' "$name" "$([[ $code -eq 0 ]] && echo passed || echo "FAILED ($code)")" $((SECONDS - began))
    tail -n "+$((first + 1))" "$log" | tail -n "${LINES_SHOWN:-12}"
}
# memcheck reports device errors only, not driver calls that return an error. The package checks each status itself, and one error is
# expected: CUDA 13.0 drivers have no function for the number of parameters, so the package asks for the one after the last, which must
# not exist (gpu/kernels/arguments.py).
# racecheck does not know the barriers of scans (docs/kernels.md).
# initcheck does not track stores of the copy engine, so for scans it checks only reads of kernels, not copies to the host.
checked() {
    local options=(--tool "$1" --error-exitcode 9) pytest=(python3 -m pytest -q -x -p no:cacheprovider -m gpu)
    [[ $1 != memcheck ]] || options+=(--report-api-errors no)
    compute-sanitizer "${options[@]}" "${pytest[@]}" tests/gpu/transfer/test_copy_differential.py -k "4 or 16" || return
    [[ $1 != initcheck ]] || options+=(--check-api-memory-access no)
    [[ $1 == racecheck ]] || compute-sanitizer "${options[@]}" "${pytest[@]}" tests/primitives/test_primitives_gpu_differential.py::test_few_items || return
    compute-sanitizer "${options[@]}" "${pytest[@]}" tests/api/read/test_read_csv_gpu_differential.py -k "test_given_types or (test_forms and 300)" || return
    compute-sanitizer "${options[@]}" "${pytest[@]}" tests/arrange/multisplit/test_multisplit_gpu_differential.py tests/arrange/sort/test_sort_gpu_differential.py -k "few or top_k" || return
    compute-sanitizer "${options[@]}" "${pytest[@]}" tests/index/hash_map/test_hash_map_gpu_differential.py -k "set_histories or multimap_histories or one_key"
}
[[ -n ${BUILT:-} ]] || step build python3 -m pip install --quiet --no-build-isolation --no-deps --no-index --target "$site" .
step card python3 -c 'from headrace.gpu.device.device import gpu; print(gpu(), gpu().architecture)'  # without a GPU, every test would be skipped
[[ $failed -eq 0 ]] || exit 1
step kernels python3 -m headrace kernels build
tests=(tests/core tests/gpu tests/arrays tests/primitives tests/arrange tests/index tests/columns/test_column_placement_unit.py tests/testing/test_fibers_gpu_differential.py)
tests+=(tests/structure/gpu/test_find_tiles_differential.py tests/api/read/test_read_csv_gpu_differential.py)
tests+=(tests/api/scan/test_scan_csv_gpu_differential.py tests/api/read/test_read_csv_gpu_extremes_differential.py)
LINES_SHOWN=40 step tests python3 -m pytest -q -p no:cacheprovider -m gpu "${tests[@]}"
LINES_SHOWN=60 step limits python3 -m bench.primitives.gpu_limits --out "$out/limits"
if command -v compute-sanitizer > /dev/null; then
    for tool in memcheck racecheck initcheck synccheck; do LINES_SHOWN=5 step "$tool" timeout 200 bash -c "$(declare -f checked); checked $tool"; done
fi
exit $failed
