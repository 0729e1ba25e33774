// How many keys are in each bucket. Each block counts in shared memory and adds what it counted to the result when it
// has seen its keys. (Dissertation of Ashkiani 2017, section 3.6.2: a block's own histogram, added atomically;
// replicas against contention: Gomez-Luna et al. 2013, "An optimized approach to histogram computation on GPU".)
//
// Up to a few thousand buckets a counter has several replicas, so that a warp's 32 additions rarely meet. Up to 65,536
// buckets counters are 16 bits wide, two in a word: before one can overflow the block moves large ones to the result.
//
// Bytes moved per key of width w: w, and for each block 4 to 8 a bucket (and the cells where edges are given).
#include "arrange/bucket.hpp"
#include "core/tile/rows.cuh"

using namespace headrace;

using Key = HR_KEY;
constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 tile_keys = threads * rows * tile::per_vector<Key>;
constexpr u32 edges_kept = 2048;
// Blocks that a multiprocessor is to have: registers for 2048 threads, where it can have so many.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1200
constexpr u32 resident = 1536 / threads;
#else
constexpr u32 resident = 2048 / threads;
#endif

// By even parts; `edges` null.
struct Buckets {
    Even<Key> even;
    const Key* edges;
    const u32* cell_words;
    u32 cells;
};

// The buckets of several keys, one by one.
template <class Bucket, u32 n>
static __device__ __forceinline__ void one_by_one(const Bucket& bucket, u32 (&b)[n], const Key (&key)[n]) {
#pragma unroll
    for (u32 k = 0; k < n; ++k) b[k] = bucket(key[k]);
}

#if defined(HR_BUCKET)
// By an expression of the caller's (expression.py), such as (key >> 24u).
struct WithoutEdges {
    u32 count;
    __device__ __forceinline__ u32 operator()(Key key) const {
        const u32 bucket = HR_BUCKET;
        return bucket < count ? bucket : no_bucket;
    }
    template <u32 n>
    __device__ __forceinline__ void all(u32 (&b)[n], const Key (&key)[n]) const {
        one_by_one(*this, b, key);
    }
};
#else
// `short_product`: only the high word of the multiplier counts, as where ranges and parts are powers of two.
template <bool short_product>
struct WithoutEdges {
    Even<Key> even;
    u32 count;
    __device__ __forceinline__ u32 operator()(Key key) const {
        return Even<Key>::template part<short_product>(even, key, count);
    }
    template <u32 n>
    __device__ __forceinline__ void all(u32 (&b)[n], const Key (&key)[n]) const {
        one_by_one(*this, b, key);
    }
};
#endif

// Calls `count` with what finds the bucket of a key, without edges.
template <class Count>
static __device__ __forceinline__ void dispatch(const Buckets& how, u32 buckets, Count count) {
#if defined(HR_BUCKET)
    count(WithoutEdges{buckets});
#else
    if (has_short_product(how.even)) {
        count(WithoutEdges<true>{how.even, buckets});
    } else {
        count(WithoutEdges<false>{how.even, buckets});
    }
#endif
}

template <class Edges>
struct WithEdges {
    Even<Key> even;
    const u32* cell_words;
    u32 cells;
    Edges edges;
    __device__ __forceinline__ u32 operator()(Key key) const {
        if (!Even<Key>::contains(even, key)) return no_bucket;
        return bucket_in_cell(cell_words[Even<Key>::cell(even, key, cells)], key, edges);
    }
    // Most cells have one edge at most, which a comparison settles; a branch for each key would cost more.
    template <u32 n>
    __device__ __forceinline__ void all(u32 (&b)[n], const Key (&key)[n]) const {
        u32 word[n], most = 0;
#pragma unroll
        for (u32 k = 0; k < n; ++k) word[k] = cell_words[Even<Key>::cell(even, key[k], cells)];
#pragma unroll
        for (u32 k = 0; k < n; ++k) {
            const bool inside = word[k] > 0xFFFF;
            const u32 before = word[k] & 0xFFFF;
            const u32 found = before + (inside && edges[inside ? before : 0] <= key[k]);
            b[k] = Even<Key>::contains(even, key[k]) ? found : no_bucket;
            most = word[k] > most ? word[k] : most;
        }
        if (most <= 0x1FFFF) return;
#pragma unroll
        for (u32 k = 0; k < n; ++k) {
            if (b[k] != no_bucket) b[k] = bucket_in_cell(word[k], key[k], edges);
        }
    }
};

// Calls `add_tile` with tiles of the block's keys, `add` with single ones, and `meet` after each; all threads come to
// each `meet`. `ahead`: a tile is loaded before the one before it is counted, at the price of its registers.
template <bool ahead, class AddTile, class Add, class Meet>
static __device__ __forceinline__ void visit(const Key* keys, i64 count, AddTile add_tile, Add add, Meet meet) {
    constexpr u32 per = tile::per_vector<Key>;
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
    if constexpr (ahead) load(next, blockIdx.x);
    for (i64 number = blockIdx.x; number < tiles; number += gridDim.x) {
        if constexpr (ahead) {
            mine = next;
            load(next, number + gridDim.x);
        } else {
            load(mine, number);
        }
        add_tile(mine);
        meet();
    }
    // What is before the first tile and behind the last: less than two tiles, shared by all blocks.
    const i64 rest = head + count - tail;
    for (i64 i = static_cast<i64>(blockIdx.x) * threads; i < rest; i += static_cast<i64>(gridDim.x) * threads) {
        const i64 at = i + threadIdx.x;
        if (at < rest) add(keys[at < head ? at : tail + at - head]);
        meet();
    }
}

// `replicas`: a power of two. Counter b has them at b * replicas.
template <class Bucket>
static __device__ __forceinline__ void count_replicated(const Key* keys, i64 count, u32* counters, u32 replicas,
                                                        const Bucket& bucket) {
    u32* const mine = counters + (threadIdx.x & (replicas - 1));
    const u32 shift = static_cast<u32>(trailing_zeros(replicas));
    constexpr u32 per = tile::per_vector<Key>;
    const auto add = [&](u32 b) {
        if (b != no_bucket) atomicAdd(&mine[b << shift], 1u);
    };
    visit<false>(
        keys, count,
        [&](const tile::Rows<Key, rows>& tile) {
#pragma unroll
            for (u32 row = 0; row < rows; ++row) {
                u32 b[per];
                bucket.all(b, tile.row[row].item);
#pragma unroll
                for (u32 k = 0; k < per; ++k) add(b[k]);
            }
        },
        [&](Key key) { add(bucket(key)); }, [] {});
}

// Shared memory: counters for `count` buckets times replicas; where edges are given the words of the cells before
// them, and edges up to `edges_kept` of them. `result` is added to.
extern "C" __global__ void __launch_bounds__(threads, resident)
    histogram(const Key* keys, i64 count, u64* result, u32 buckets, u32 replicas, Buckets how) {
    HR_DYNAMIC_SHARED(u32, shared);
    const u32 guide = how.edges == nullptr ? 0 : how.cells;
    const u32 kept = how.edges == nullptr || buckets > edges_kept ? 0 : buckets;
    u32* const counters = shared + guide + kept;
    for (u32 i = threadIdx.x; i < guide; i += threads) shared[i] = how.cell_words[i];
    for (u32 i = threadIdx.x; i + 1 < kept; i += threads) shared[guide + i] = bits_as<u32>(how.edges[i + 1]);
    for (u32 i = threadIdx.x; i < buckets * replicas; i += threads) counters[i] = 0;
    __syncthreads();
    if (how.edges == nullptr) {
        dispatch(how, buckets, [&](const auto& bucket) { count_replicated(keys, count, counters, replicas, bucket); });
    } else if (kept != 0) {
        const Key* const edges = reinterpret_cast<const Key*>(shared + guide);
        count_replicated(keys, count, counters, replicas, WithEdges<const Key*>{how.even, shared, how.cells, edges});
    } else {
        count_replicated(keys, count, counters, replicas,
                         WithEdges<const Key*>{how.even, shared, how.cells, how.edges + 1});
    }
    __syncthreads();
    for (u32 b = threadIdx.x; b < buckets; b += threads) {
        u32 sum = 0;
        for (u32 r = 0; r < replicas; ++r) sum += counters[b * replicas + ((r + b) & (replicas - 1))];
        if (sum != 0) atomicAdd(&result[b], static_cast<u64>(sum));
    }
}

// Counters are swept while none can have come to 2^16: after a sweep all are below this.
constexpr u32 swept_16 = 0x4000;
static_assert(tile_keys + swept_16 <= 0x10000);

// The word that has the counters of buckets 2 * word and the next; its own inverse. Which bank that is depends on all
// of the bucket's bits: of skewed keys the low ones are often the same.
static __device__ __forceinline__ u32 place_of(u32 word) { return word ^ ((word >> 5) * 0x9E37 >> 8 & 31); }

// Moves counters of `swept_16` and more to the result, with their neighbour in the word.
static __device__ __forceinline__ void sweep(u32* counters, u64* result, u32 window) {
    constexpr u32 mask = 0x10001 * (0x10000 - swept_16);
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

// Equal keys that follow each other in a thread are added at once: atomics on one word take their turns.
template <class Bucket>
static __device__ __forceinline__ void count_packed(const Key* keys, i64 count, u32* counters, u64* result, u32 first,
                                                    u32 size, u32 window, const Bucket& bucket) {
    const auto add = [&](u32 b, u32 by) {
        if (b < size) atomicAdd(&counters[place_of(b / 2)], by << (b & 1) * 16);
    };
    u32 added = 0;
    visit<true>(
        keys, count,
        [&](const tile::Rows<Key, rows>& tile) {
            constexpr u32 per = tile::per_vector<Key>;
            u32 last = bucket(tile.row[0].item[0]) - first;
            u32 run = 1;
#pragma unroll
            for (u32 i = 1; i < rows * per; ++i) {
                const u32 b = bucket(tile.row[i / per].item[i % per]) - first;
                if (b == last) {
                    ++run;
                } else {
                    add(last, run);
                    last = b;
                    run = 1;
                }
            }
            add(last, run);
        },
        [&](Key key) { add(bucket(key) - first, 1); },
        [&] {
            added += tile_keys;
            if (added + tile_keys + swept_16 <= 0x10000) return;
            added = 0;
            __syncthreads();
            sweep(counters, result + first, window);
            __syncthreads();
        });
}

// Blocks with the same y count the `window` buckets from y * window on; `window` is a multiple of 64. Shared memory: as
// above, with 2 bytes a bucket of the window.
extern "C" __global__ void __launch_bounds__(threads)
    histogram_packed(const Key* keys, i64 count, u64* result, u32 buckets, u32 window, Buckets how) {
    HR_DYNAMIC_SHARED(u32, shared);
    const u32 guide = how.edges == nullptr ? 0 : how.cells;
    const u32 first = blockIdx.y * window;
    const u32 size = buckets - first < window ? buckets - first : window;
    u32* const counters = shared + guide;
    for (u32 i = threadIdx.x; i < guide; i += threads) shared[i] = how.cell_words[i];
    for (u32 i = threadIdx.x; i < window / 2; i += threads) counters[i] = 0;
    __syncthreads();
    if (how.edges == nullptr) {
        dispatch(how, buckets,
                 [&](const auto& bucket) { count_packed(keys, count, counters, result, first, size, window, bucket); });
    } else {
        count_packed(keys, count, counters, result, first, size, window,
                     WithEdges<const Key*>{how.even, shared, how.cells, how.edges + 1});
    }
    __syncthreads();
    for (u32 b = threadIdx.x; b < size; b += threads) {
        const u32 sum = (counters[place_of(b / 2)] >> ((b & 1) * 16)) & 0xFFFF;
        if (sum != 0) atomicAdd(&result[first + b], static_cast<u64>(sum));
    }
}

// The words of the cells; `edges` as they are given, `buckets` + 1 of them.
extern "C" __global__ void __launch_bounds__(threads)
    histogram_cells(Even<Key> even, const Key* edges, u32 buckets, u32 cells, u32* cell_words) {
    const u32 cell = blockIdx.x * threads + threadIdx.x;
    if (cell >= cells) return;
    const u32 before = edges_before_cell(even, cell, cells, edges + 1, buckets - 1);
    cell_words[cell] = cell_word(before, edges_before_cell(even, cell + 1, cells, edges + 1, buckets - 1) - before);
}
