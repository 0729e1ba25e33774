#!/usr/bin/env bash
# On a machine with a GPU: builds the package, runs the tests that need one, the memory checkers, and the table of limits. No network.
# Needs Python 3.11 or newer with cuda-core 1.2, NVRTC, NumPy, pytest, scikit-build-core and nanobind; CuPy, PyTorch and JAX are tried if there.
# Usage: tools/on_gpu.sh [folder for results; default: $OUT, or build/gpu]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-${OUT:-build/gpu}}
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
mkdir -p "$out"
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$site HEADRACE_KERNEL_CACHE=$site/kernels
failed=0
step() {
    local name=$1 began=$SECONDS
    shift
    "$@" > "$out/$name.log" 2>&1
    local code=$?
    [[ $code -eq 0 ]] || failed=1
    printf '\n== %s: %s, %d s\n' "$name" "$([[ $code -eq 0 ]] && echo passed || echo "FAILED ($code)")" $((SECONDS - began))
    tail -n "${LINES_SHOWN:-12}" "$out/$name.log"
}
checked() {
    compute-sanitizer --tool "$1" --error-exitcode 9 python3 -m pytest -q -x -p no:cacheprovider tests/core/test_copy_differential.py -m gpu -k "4 or 16"
}
step build python3 -m pip install --quiet --no-build-isolation --no-deps --no-index --target "$site" .
[[ $failed -eq 0 ]] || exit 1
step kernels python3 -m headrace kernels build
folders=(tests/core)
[[ -d tests/arrange ]] && folders+=(tests/arrange)
LINES_SHOWN=40 step tests python3 -m pytest -q -p no:cacheprovider -m gpu "${folders[@]}"
LINES_SHOWN=60 step limits python3 -m bench.gpu_limits --out "$out/limits"
if command -v compute-sanitizer > /dev/null; then
    for tool in memcheck initcheck synccheck; do LINES_SHOWN=5 step "$tool" timeout 90 bash -c "$(declare -f checked); checked $tool"; done
fi
exit $failed
