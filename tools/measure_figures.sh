#!/usr/bin/env bash
# Measures the figures of docs/benchmarks.md on a machine with a GPU. Builds the package, runs the benchmarks one after
# another, and prints their tables. After each benchmark it writes OUT/figures-PART.tar (NAME.md, NAME.json and NAME.log of each).
# Part `gpu` takes 12 minutes, part `cpu` 7 minutes on 16 cores, and the build 1 to 2. Needs no network. The shapes of data take as
# long again and are measured by name: `cpu OUT shapes`, `gpu OUT shapes_gpu`.
#
# Usage: HEADRACE_COMMIT=$(git rev-parse HEAD) tools/measure_figures.sh gpu|cpu OUT [NAME...]
#   HEADRACE_COMMIT  commit of these sources; optional in a Git work tree
#   SECONDS_ALL      seconds until the last benchmark is stopped (default 560); each benchmark has its own limit too
#   SCALE            divisor of sizes and repeats (default 1), for a quick test of all benchmarks
#   WORK             folder of build results and data, reused if it exists (default /tmp/headrace-figures)
#   carry/peers.tar.xz, carry/lineitem-16777216.csv.xz   optional: packages of peers, and a piece of TPC-H's lineitem
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ $# -ge 2 && $1 =~ ^(gpu|cpu)$ ]] || { sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
part=$1 out=$2
shift 2
work=${WORK:-/tmp/headrace-figures} end_at=$((${SECONDS_ALL:-560})) scale=${SCALE:-1} python=${PYTHON:-python3}
export HEADRACE_COMMIT=${HEADRACE_COMMIT:-$(git rev-parse HEAD 2> /dev/null)}
[[ -n $HEADRACE_COMMIT ]] || { echo "HEADRACE_COMMIT is needed: the results name it" >&2; exit 2; }
site=$work/site-${HEADRACE_COMMIT:0:12} data=$work/data made=$work/made
mkdir -p "$out" "$work/cub" "$data" "$made" "$work/files"
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$site:.:$work/peers TMPDIR=$work/files
export HEADRACE_BENCH_DATA=$data HEADRACE_BENCH_CUB=$work/cub HEADRACE_KERNEL_CACHE=$work/kernels

gb=$((1000000000 / scale)) gib=$(((1 << 30) / scale))
declare -A commands=(
    [sort]='sort.gpu --tables called'
    [multisplit]='multisplit.tables --tables called'
    [primitives]='primitives.gpu_called'
    [histogram]='primitives.gpu_histogram --tables called,targets'
    [small]='read.gpu_small --sizes 1048576,65536 --runs 100'
    [read]="read.gpu --bytes $gib --cases int_444,taxi_small,taxi,taxi_inferred,lineitem,quoted,wide"
    [shapes_gpu]="read.shapes --device gpu --mb $((512 / scale)) --turns 5"
    [hash_map]='index.hash_map_gpu'
    [sorted_map]='index.sorted_map --device cuda --items 27 --batches 16,18,20 --queries 24'
    [lsm]="paper lsm --device cuda$([[ $scale -eq 1 ]] || echo ' --quick')"
    [slab_hash]="paper slab-hash --device cuda$([[ $scale -eq 1 ]] || echo ' --quick')"
    [string_matching]="paper string-matching --device cuda$([[ $scale -eq 1 ]] || echo ' --quick')"
    [find]="query.find_gpu --mib $((4096 / scale)) --lengths 1,16,1024"
    [dictionaries]='store.dictionary_kernels'
    [stream]="read.stream --gpu --bytes $((2 * gib)) --batches 64,256 --turns 3 --peers pyarrow,polars,duckdb,pandas_pyarrow"
    [shapes]="read.shapes --mb $((64 / scale)) --turns 3"
    [readers]="read.run --cases taxi,quoted,int_444 --bytes $gb,$((4 * gb)) --processes 3,1 --repeat 2"
    [readers_more]="read.run --cases taxi_inferred,lineitem,wide --bytes $gb --processes 2 --repeat 2"
    [write]="read.write --rows $((2000000 / scale)) --repeat 4"
    [stream_cpu]="read.stream --bytes $((2 * gib)) --batches 64,256 --turns 5 --skip-peers"
    [scaling]="read.run --scaling --cases taxi --bytes $gb --repeat 3"
    [latency]='read.latency'
    [memory]="read.memory --bytes $((300000000 / scale))"
)
declare -A seconds=([sort]=180 [multisplit]=60 [primitives]=60 [histogram]=60 [small]=60 [read]=120 [stream]=200 [hash_map]=90 [sorted_map]=90 [lsm]=90 [slab_hash]=60 [string_matching]=90 [find]=120 [dictionaries]=90 [shapes_gpu]=300 [shapes]=540
    [readers]=300 [readers_more]=180 [write]=90 [stream_cpu]=90 [scaling]=40 [latency]=30 [memory]=40)
gpu=(sort multisplit primitives histogram small read hash_map sorted_map lsm slab_hash string_matching find dictionaries stream)
cpu=(readers readers_more write stream_cpu scaling latency memory)
contenders=headrace,polars,pyarrow,duckdb,pandas_pyarrow,plain_read

unpack() {
    [[ ! -f carry/peers.tar.xz || -d $work/peers ]] || "$python" -c 'import sys, tarfile
tarfile.open(sys.argv[1]).extractall(sys.argv[2], filter="data")' carry/peers.tar.xz "$work/peers.new" &&
        { [[ ! -d $work/peers.new ]] || mv "$work/peers.new" "$work/peers"; }
}

# Builds the package, and prepares data, peers and CUB programs.
prepare() {
    unpack > "$made/peers.log" 2>&1 &
    [[ ! -f carry/lineitem-16777216.csv.xz ]] || "$python" -c 'import lzma, shutil, sys
with lzma.open(sys.argv[1]) as packed, open(sys.argv[2], "wb") as file: shutil.copyfileobj(packed, file)' \
        carry/lineitem-16777216.csv.xz "$data/lineitem-16777216.csv"
    local name size
    for name in taxi quoted int_444 wide lineitem; do
        (
            [[ $part == gpu ]] || for size in "$gb" $((4 * gb)); do
                [[ $size == "$gb" || $name =~ ^(taxi|quoted|int_444)$ ]] && "$python" -m bench.read.data "$name" --bytes "$size"
            done
            "$python" -m bench.read.data "$name" --bytes $((16 << 20))
        ) > "$made/data-$name.log" 2>&1 &
    done
    if [[ $part == gpu ]]; then
        for name in sort/cub_sort multisplit/cub_multisplit primitives/cub_histogram primitives/cub_primitives; do
            [[ -x $work/cub/${name#*/} ]] || nvcc -std=c++17 -O3 -arch=sm_90 -o "$work/cub/${name#*/}" "bench/$name.cu" > "$made/${name#*/}.log" 2>&1 &
        done
    fi
    if [[ ! -d $site ]]; then
        "$python" -m pip install --quiet --no-build-isolation --no-deps --no-index --target "$site.new" . > "$made/build.log" 2>&1 &&
            mv "$site.new" "$site"
    fi
    wait
}

run() {
    local name=$1 began=$SECONDS code words most
    most=$((end_at - SECONDS < seconds[$name] ? end_at - SECONDS : seconds[$name]))
    [[ $most -gt 5 ]] || { printf '\n== %s: left out, no time\n' "$name"; return 1; }
    read -ra words <<< "${commands[$name]}"
    if [[ ${words[0]} == read.run ]]; then
        [[ ${words[*]} == *--scaling* ]] || words+=(--contenders "$contenders")
        words+=(--out "$made/$name")
    else
        words+=(--out "$made/$name.md")
    fi
    timeout "$most" "$python" -m "bench.${words[0]}" "${words[@]:1}" > "$made/$name.log" 2>&1
    code=$?
    for kind in md json; do
        [[ ! -d $made/$name ]] || cp "$made/$name/"*."$kind" "$made/$name.$kind" 2> /dev/null
    done
    tar -cf "$out/figures-$part.tar" -C "$made" $(cd "$made" && ls | grep -E '\.(md|json|log)$')
    printf '\n== %s: %s, %d s\n' "$name" "$([[ $code -eq 0 ]] && echo done || echo "stopped ($code)")" $((SECONDS - began))
    grep -E '^\||^#|Error|left out' "$made/$name.log" | cut -c1-200 | tail -n 40
    return $code
}

prepare
printf '== built and prepared: %d s\n' $SECONDS
[[ -d $site ]] || { tail -n 30 "$made/build.log"; exit 1; }
failed=0
if [[ $# -gt 0 ]]; then names=("$@"); elif [[ $part == gpu ]]; then names=("${gpu[@]}"); else names=("${cpu[@]}"); fi
for name in "${names[@]}"; do
    [[ -n ${commands[$name]:-} ]] || { echo "no benchmark $name" >&2; exit 2; }
    run "$name" || failed=1
done
printf '\nall: %d s\n' $SECONDS
exit $failed
