// Counts keys by block: keys are read in tiles, counters are in shared memory and are added to the result at the end.
//
// Replicated: a counter of 32 bits has several replicas, and lanes use different ones, up to one per bank. The hardware
// merges additions of 1 to the same word into one operation (ATOMS.POPC.INC). So few replicas are nearly as good as
// many, and equal keys cost nothing extra.
//
// Packed: counters have 16 bits, two in a word, and the block moves large counts to the result before one can overflow.
// Here additions to the same word are serialised, so adjacent equal keys of a thread are added at once. The bank
// depends on all bits of a bucket, since skewed keys often share their low bits.
#pragma once
#include "arrange/bucket/cells.hpp"
#include "gpu/block/tile_rows.cuh"

namespace headrace {

using Key = HR_KEY;
constexpr u32 threads = HR_THREADS;
constexpr u32 per = tile::per_vector<Key>;
constexpr u32 group = per < 4 ? per : 4;  // keys of a vector that are looked up together
constexpr u32 tile_keys = threads * HR_ROWS * per;
// Minimum blocks per multiprocessor: registers for 2048 threads, if the device allows that many.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200
constexpr u32 resident = 1536 / threads;
#else
constexpr u32 resident = 2048 / threads;
#endif

// Calls `add` with groups of the block's keys, or with single keys, and `end` after each tile or single key; all
// threads reach each `end`. `prefetches`: each tile is loaded before the previous tile is counted, which needs
// registers for both.
template <u32 rows, bool prefetches, class Add, class End>
HR_FN void visit(const Key* keys, i64 count, Add& add, End end) {
    constexpr u32 tile_keys = threads * rows * per;
    const i64 misplaced = static_cast<i64>(reinterpret_cast<u64>(keys) % 16) / static_cast<i64>(sizeof(Key));
    i64 head = misplaced == 0 ? 0 : per - misplaced;
    if (head > count) head = count;
    const i64 tiles = (count - head) / tile_keys;
    const i64 tail = head + tiles * tile_keys;
    const Key* const whole = keys + head;
    tile::Rows<Key, rows> mine, next;
    const auto load = [&](tile::Rows<Key, rows>& items, i64 number) {
        if (number < tiles) tile::load_rows(items, whole + number * tile_keys, tile_keys, true, Key());
    };
    if constexpr (prefetches) load(next, blockIdx.x);
    for (i64 number = blockIdx.x; number < tiles; number += gridDim.x) {
        if constexpr (prefetches) {
            mine = next;
            load(next, number + gridDim.x);
        } else {
            load(mine, number);
        }
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
#pragma unroll
            for (u32 k = 0; k < per; k += group) {
                Key some[group];
#pragma unroll
                for (u32 j = 0; j < group; ++j) some[j] = mine.row[row].item[k + j];
                add(some);
            }
        }
        end();
    }
    // Keys before the first and after the last tile: fewer than two tiles, shared by all blocks.
    const i64 rest = head + count - tail;
    for (i64 i = static_cast<i64>(blockIdx.x) * threads; i < rest; i += static_cast<i64>(gridDim.x) * threads) {
        const i64 at = i + threadIdx.x;
        if (at < rest) {
            const Key one[1] = {keys[at < head ? at : tail + at - head]};
            add(one);
        }
        end();
    }
}

// Counts keys in the replicas of a lane.
template <class Find>
struct Replicated {
    u32* mine;
    u32 shift;
    const Find& find;

    template <u32 n>
    HR_MEMBER void operator()(const Key (&some)[n]) const {
        u32 b[n];
        find.all(b, some);
#pragma unroll
        for (u32 k = 0; k < n; ++k) atomicAdd(&mine[b[k] << shift], 1u);
    }
};

// Counts with replicated counters. `find.all(b, keys)` computes the buckets of a vector of keys, `buckets` for keys in
// no bucket. `replicas`: a power of two; those of counter b, of `buckets` + 1, start at b * replicas. A single block
// writes the result, several blocks add to it.
template <u32 rows, class Find>
HR_FN void count_replicated(const Key* keys, i64 count, u64* result, u32* counters, u32 buckets, u32 replicas,
                            const Find& find) {
    for (u32 i = threadIdx.x; i < (buckets + 1) * replicas; i += threads) counters[i] = 0;
    __syncthreads();
    const Replicated<Find> add{counters + (threadIdx.x & (replicas - 1)), static_cast<u32>(trailing_zeros(replicas)),
                               find};
    visit<rows, false>(keys, count, add, [] {});
    __syncthreads();
    for (u32 b = threadIdx.x; b < buckets; b += threads) {
        u32 sum = 0;
        for (u32 r = 0; r < replicas; ++r) sum += counters[b * replicas + ((r + b) & (replicas - 1))];
        if (gridDim.x == 1) {
            result[b] = sum;
        } else if (sum != 0) {
            atomicAdd(&result[b], static_cast<u64>(sum));
        }
    }
}

// Counters are swept before one can reach 2^16; after a sweep all are below this.
constexpr u32 swept = 0x4000;
static_assert(tile_keys + swept <= 0x10000);

// Maps a word to the one with the counters of buckets 2 * word and 2 * word + 1; the mapping is its own inverse.
HR_FN u32 place_of(u32 word) { return word ^ ((word >> 5) * 0x9E37 >> 8 & 31); }

// Moves counters of at least `swept` to the result, together with the other counter of the word.
HR_FN void sweep(u32* counters, u64* result, u32 window) {
    constexpr u32 mask = 0x10001 * (0x10000 - swept);
    for (u32 i = threadIdx.x * 4; i < window / 2; i += threads * 4) {
        const uint4 four = *reinterpret_cast<const uint4*>(&counters[i]);
        if (((four.x | four.y | four.z | four.w) & mask) == 0) continue;
        for (u32 j = i; j < i + 4; ++j) {
            const u32 word = counters[j];
            if ((word & mask) == 0) continue;
            counters[j] = 0;
            u64* const pair = result + place_of(j) * 2;
            if ((word & 0xFFFF) != 0) atomicAdd(pair, static_cast<u64>(word & 0xFFFF));
            if (word >> 16 != 0) atomicAdd(pair + 1, static_cast<u64>(word >> 16));
        }
    }
}

// Counts keys of the buckets from `first` up to, and without, `first` + `size`; runs of equal keys are added at once.
template <class Find>
struct Packed {
    u32* counters;
    u32 first;
    u32 size;
    u32 last;  // bucket of the run; first - 1 is in no window
    u32 run;
    const Find& find;

    HR_MEMBER void add_run() {
        const u32 b = last - first;
        if (b < size) atomicAdd(&counters[place_of(b / 2)], run << (b & 1) * 16);
        run = 0;
    }
    template <u32 n>
    HR_MEMBER void operator()(const Key (&some)[n]) {
        u32 b[n];
        find.all(b, some);
#pragma unroll
        for (u32 k = 0; k < n; ++k) {
            if (b[k] != last) {
                add_run();
                last = b[k];
            }
            ++run;
        }
    }
    HR_MEMBER void end() {
        add_run();
        last = first - 1;
    }
};

// Counts with packed counters the buckets from `first` up to, and without, `first` + `window`, a multiple of 64, of
// `buckets`. A single block with less than a tile writes the result, all others add to it.
template <class Find>
HR_FN void count_packed(const Key* keys, i64 count, u64* result, u32* counters, u32 buckets, u32 first, u32 window,
                        const Find& find) {
    const u32 size = buckets - first < window ? buckets - first : window;
    const bool writes = gridDim.x == 1 && count <= tile_keys;
    result += first;
    for (u32 i = threadIdx.x; i < window / 2; i += threads) counters[i] = 0;
    __syncthreads();
    u32 added = 0;
    Packed<Find> add{counters, first, size, first - 1, 0, find};
    const auto end = [&] {
        add.end();
        added += tile_keys;
        if (added + tile_keys + swept <= 0x10000) return;
        added = 0;
        __syncthreads();
        if (!writes) sweep(counters, result, window);
        __syncthreads();
    };
    visit<HR_ROWS, true>(keys, count, add, end);
    __syncthreads();
    for (u32 b = threadIdx.x; b < size; b += threads) {
        const u32 sum = (counters[place_of(b / 2)] >> ((b & 1) * 16)) & 0xFFFF;
        if (writes) {
            result[b] = sum;
        } else if (sum != 0) {
            atomicAdd(&result[b], static_cast<u64>(sum));
        }
    }
}

}  // namespace headrace
