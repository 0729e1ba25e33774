// Counts the digits of each chunk, and scans the counts to output positions for each group of chunks.
//
// These are the "pre-scan" and the "scan" of a multisplit (dissertation of Ashkiani 2017, section 3.4). A chunk is the
// work of one block of the split kernel, which finds its position inside the group. Counters are in shared memory, in
// replicas against contention, as in arrange/histogram/count.cuh.
//
// Bytes moved per key of width w: w, and 4 for each chunk and digit.
#include "arrange/multisplit/gpu/split_rule.cuh"
#include "arrange/multisplit/gpu/split_task.hpp"
#include "gpu/block/block.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 per = tile::per_vector<Key>;
constexpr u32 tile_keys = threads * rows * per;
constexpr u32 replicas = digits >= 256 ? 8 : 32;
static_assert(threads >= digits);

// Counts some rows of keys in this thread's replicas; returns the number of keys in no bucket.
template <u32 some, bool whole>
HR_FN u32 count_rows(const Key* keys, i64 count, const Digit& digit, u32* mine) {
    tile::Rows<Key, some> loaded;
    tile::load_rows(loaded, keys, count, whole, Key{});
    u32 outside = 0;
#pragma unroll
    for (u32 row = 0; row < some; ++row) {
#pragma unroll
        for (u32 k = 0; k < per; ++k) {
            if (!whole && tile::row_begin<Key, some>(row) + k >= count) continue;
            const Key key = digit.moved_key(loaded.row[row].item[k]);
            atomicAdd(&mine[digit.of(key) * replicas], 1u);
            outside += digit.is_stray(key);
        }
    }
    return outside;
}

// Counts a chunk likewise. Its length is seldom a multiple of `rows` rows, and often a multiple of one row.
HR_FN u32 count_chunk(const Key* keys, u64 count, const Digit& digit, u32* mine) {
    const bool aligned = tile::aligned(keys);
    u32 outside = 0;
    u64 at = 0;
    for (; aligned && at + tile_keys <= count; at += tile_keys) {
        outside += count_rows<rows, true>(keys + at, tile_keys, digit, mine);
    }
    for (; aligned && at + tile_keys / rows <= count; at += tile_keys / rows) {
        outside += count_rows<1, true>(keys + at, tile_keys / rows, digit, mine);
    }
    for (; at < count; at += tile_keys) {
        outside += count_rows<rows, false>(keys + at, static_cast<i64>(count - at), digit, mine);
    }
    return outside;
}

// Counts digits, one block per group. `counts`: for each chunk and digit, the keys in earlier chunks of its group; or
// null. `of_groups`: the counts of each group; or null. `totals`: the counts of each digit, then the number of keys in
// no bucket; the kernel adds to them.
extern "C" __global__ void __launch_bounds__(threads)
    split_count(const Key* keys, ChunkLayout chunks, Digit digit, u32* counts, u32* of_groups, u64* totals) {
    __shared__ u32 counters[digits * replicas];
    __shared__ u32 strays;
    for (u32 i = threadIdx.x; i < digits * replicas; i += threads) counters[i] = 0;
    if (threadIdx.x == 0) strays = 0;
    __syncthreads();
    u32 outside = 0, sum_of_group = 0;
    for (u32 i = 0; i < chunks.group; ++i) {
        const u64 chunk = static_cast<u64>(blockIdx.x) * chunks.group + i;
        const u64 begin = chunk * chunks.length;
        if (begin >= chunks.count) break;
        const u64 left = chunks.count - begin;
        const u64 here = left < chunks.length ? left : chunks.length;
        outside += count_chunk(keys + begin, here, digit, counters + threadIdx.x % replicas);
        __syncthreads();
        const u32 d = threadIdx.x;
        if (d < digits) {
            u32 sum = 0;
#pragma unroll
            for (u32 r = 0; r < replicas; ++r) {
                u32& counter = counters[d * replicas + (r + d) % replicas];
                sum += counter;
                counter = 0;
            }
            if (counts != nullptr) counts[chunk * digits + d] = sum_of_group;
            sum_of_group += sum;
        }
        __syncthreads();
    }
    if (outside != 0) atomicAdd(&strays, outside);
    const u32 d = threadIdx.x;
    if (d < digits) {
        if (of_groups != nullptr) of_groups[blockIdx.x * digits + d] = sum_of_group;
        if (sum_of_group != 0) atomicAdd(&totals[d], static_cast<u64>(sum_of_group));
    }
    __syncthreads();
    if (d == 0 && strays != 0) atomicAdd(&totals[digits], static_cast<u64>(strays));
}

// Computes the output position of each group's first key of each digit: after all lower digits, and after this digit's
// keys in earlier groups. A block of 32 x 32 threads takes 32 digits: one column of threads per digit, whose threads
// take adjacent groups. `counts`: counts of the groups. `bases`: the positions in the same layout; or null. `starts`:
// position of each digit. `offsets`: the first `buckets` positions, and the end of the last; or null.
extern "C" __global__ void __launch_bounds__(1024)
    split_bases(const u32* counts, const u64* totals, u32 groups, u64* bases, u64* starts, u64* offsets, u32 buckets) {
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
        if (offsets != nullptr && own < buckets) offsets[own] = upto - total;
        if (offsets != nullptr && own == buckets - 1) offsets[buckets] = upto;
    }
    if (bases == nullptr) return;
    const u32 each = (groups + 31) / 32;
    const u32 begin = row * each, end = begin + each < groups ? begin + each : groups;
    u64 sum = 0;
    if (own < digits) {
#pragma unroll 8
        for (u32 group = begin; group < end; ++group) sum += counts[group * digits + own];
    }
    sums[row][column] = sum;
    __syncthreads();
    const u64 turned = sums[column][row];  // transposed, so that a warp scans one digit
    const u64 upto = tile::scan_warp<Sum<u64>>(turned);
    __syncthreads();
    sums[column][row] = upto - turned + begins[row];
    __syncthreads();
    if (own >= digits) return;
    u64 at = sums[row][column];
#pragma unroll 8
    for (u32 group = begin; group < end; ++group) {
        bases[group * digits + own] = at;
        at += counts[group * digits + own];
    }
}
