// How many keys of each chunk have each digit: a multisplit's first reading (dissertation of Ashkiani 2017, section
// 3.4, "pre-scan"), and where each chunk's keys of a digit go ("scan"). A chunk is what a block splits later; counters
// are in shared memory, in replicas against contention, as in arrange/count.cuh.
//
// Bytes moved per key of width w: w, and for each chunk 12 a digit.
#include "arrange/split_rule.cuh"
#include "core/tile/block.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 per = tile::per_vector<Key>;
constexpr u32 tile_keys = threads * rows * per;
constexpr u32 replicas = digits >= 256 ? 8 : 32;

struct Chunks {
    u64 count;   // of keys
    u64 length;  // of a chunk; the last may be shorter
};

// `counts`: u32 for each chunk and digit, chunk after chunk; null: nobody asks for them. `totals`: for each digit, and
// behind them for keys in no bucket; all added to. A block a chunk; no dynamic shared memory.
extern "C" __global__ void __launch_bounds__(threads)
    split_count(const Key* keys, Chunks chunks, Digit digit, u32* counts, u64* totals) {
    __shared__ u32 counters[digits * replicas];
    __shared__ u32 strays;
    for (u32 i = threadIdx.x; i < digits * replicas; i += threads) counters[i] = 0;
    if (threadIdx.x == 0) strays = 0;
    __syncthreads();
    const u64 begin = blockIdx.x * chunks.length;
    const u64 left = chunks.count - begin;
    const u64 here = left < chunks.length ? left : chunks.length;
    u32* const mine = counters + threadIdx.x % replicas;
    const bool aligned = tile::aligned(keys + begin);
    u32 outside = 0;
    for (u64 at = 0; at < here; at += tile_keys) {
        const i64 more = static_cast<i64>(here - at);
        tile::Rows<Key, rows> some;
        tile::load_rows(some, keys + begin + at, more, aligned && more >= tile_keys, Key{});
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
#pragma unroll
            for (u32 k = 0; k < per; ++k) {
                const Key key = some.row[row].item[k];
                if (more < tile_keys && tile::row_begin<Key, rows>(row) + k >= more) continue;
                atomicAdd(&mine[digit.of(key) * replicas], 1u);
                outside += digit.is_stray(key);
            }
        }
    }
    if (outside != 0) atomicAdd(&strays, outside);
    __syncthreads();
    for (u32 d = threadIdx.x; d < digits; d += threads) {
        u32 sum = 0;
        for (u32 r = 0; r < replicas; ++r) sum += counters[d * replicas + (r + d) % replicas];
        if (counts != nullptr) counts[blockIdx.x * digits + d] = sum;
        if (sum != 0) atomicAdd(&totals[d], static_cast<u64>(sum));
    }
    if (threadIdx.x == 0 && strays != 0) atomicAdd(&totals[digits], static_cast<u64>(strays));
}

// Where each chunk's keys of a digit begin: behind those of lower digits, and of this one in chunks before. 32 digits a
// block, of 32 x 32 threads: a column of threads takes a digit, each of its threads neighbouring chunks. `bases` as
// `counts`; null where there are none. `starts`: of each digit in all, digits + 1 of them.
extern "C" __global__ void __launch_bounds__(1024)
    split_bases(const u32* counts, const u64* totals, u32 chunks, u64* bases, u64* starts) {
    __shared__ u64 sums[32][33];
    __shared__ u64 begins[32];
    const u32 column = threadIdx.x % 32, row = threadIdx.x / 32;
    const u32 first = blockIdx.x * 32, own = first + column;
    if (row == 0) {
        u64 before = 0;
        for (u32 d = column; d < first; d += 32) before += totals[d];
        before = tile::shuffle(tile::reduce_warp<Sum<u64>>(before), 0);
        const u64 total = own < digits ? totals[own] : 0;
        const u64 upto = before + tile::scan_warp<Sum<u64>>(total);
        begins[column] = upto - total;
        if (own < digits) starts[own] = upto - total;
        if (own == digits - 1) starts[digits] = upto;
    }
    if (bases == nullptr) return;
    const u32 each = (chunks + 31) / 32;
    const u32 begin = row * each, end = begin + each < chunks ? begin + each : chunks;
    u64 sum = 0;
    if (own < digits) {
#pragma unroll 8
        for (u32 chunk = begin; chunk < end; ++chunk) sum += counts[chunk * digits + own];
    }
    sums[row][column] = sum;
    __syncthreads();
    const u64 turned = sums[column][row];  // a warp scans a digit
    const u64 upto = tile::scan_warp<Sum<u64>>(turned);
    __syncthreads();
    sums[column][row] = upto - turned + begins[row];
    __syncthreads();
    if (own >= digits) return;
    u64 at = sums[row][column];
#pragma unroll 8
    for (u32 chunk = begin; chunk < end; ++chunk) {
        bases[chunk * digits + own] = at;
        at += counts[chunk * digits + own];
    }
}
