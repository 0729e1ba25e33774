// Finds the first k keys of their order and their positions, and checks whether keys are in order. The k-th key is
// found digit by digit from the highest. Keys that share the digits already found are counted by the next one. Source:
// radix select, Alabi, Blanchard, Gordon and Steinbach 2012, "Fast k-selection algorithms for graphics processing
// units". Keys that precede the k-th key, and the first ones that equal it, are then copied in the order of their
// positions. A stable sort of these few keeps that order.
//
// Bytes moved per key of width w: w for each digit, and 2 w; to check the order w, up to the first disorder.
#include "arrange/sort/gpu/common/digit.cuh"
#include "arrange/sort/gpu/common/sort_task.hpp"
#include "gpu/block/block.cuh"
#include "gpu/block/look_back.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 per = tile::per_vector<Key>;
constexpr u32 tile_keys = threads * rows * per;
constexpr u32 warps = threads / tile::lanes;
static_assert(threads >= digits && sizeof(TopKState::counts) == digits * sizeof(u64));

struct PrecedingCounts {
    u64 lower;  // keys that precede the k-th
    u64 equal;
};

// Calls visit(key, position) for this thread's keys of [at, end). All threads call `end_tile` after each tile.
template <class Visit, class End>
HR_FN void visit_tiles(const Key* keys, u64 at, u64 end, u64 stride, const Visit& visit, const End& end_tile) {
    for (; at < end; at += stride) {
        const i64 more = static_cast<i64>(end - at);
        tile::Rows<Key, rows> some;
        tile::load_rows(some, keys + at, more, tile::aligned(keys + at) && more >= tile_keys, Key{});
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
#pragma unroll
            for (u32 k = 0; k < per; ++k) {
                const u32 place = tile::row_begin<Key, rows>(row) + k;
                if (place < more) visit(some.row[row].item[k], at + place, row * per + k);
            }
        }
        end_tile(at);
    }
}

// Finds the digit of the k-th key from all counts; by the last block.
HR_FN void take_digit(TopKState& top, u32 shift, u64 (&totals)[warps]) {
    const u32 d = threadIdx.x;
    const u64 count = d < digits ? tile::load_relaxed(&top.counts[d]) : 0;
    const u64 wanted = top.wanted;
    const u64 upto = tile::scan_warp<Sum<u64>>(count);
    const u64 before =
        tile::scan_warps<Sum<u64>, threads>(tile::shuffle(upto, tile::lanes - 1), totals).before + upto - count;
    __syncthreads();
    if (d < digits) top.counts[d] = 0;
    if (before < wanted && wanted <= before + count) {
        top.wanted = wanted - before;
        top.bits |= static_cast<u64>(d) << shift;
    }
}

// Counts digit `number`; those above are found.
extern "C" __global__ void __launch_bounds__(threads)
    count_top(const Key* keys, u64 count, KeyRule<Key> rule, u32 number, TopKState* top) {
    __shared__ u32 counters[digits];
    __shared__ u64 totals[warps];
    __shared__ u32 is_last;
    if (threadIdx.x < digits) counters[threadIdx.x] = 0;
    __syncthreads();
    const Digit digit = digit_by_number(rule, number);
    const u32 above = number * bits + bits;
    const Key found = static_cast<Key>(top->bits);
    visit_tiles(
        keys, blockIdx.x * u64{tile_keys}, count, gridDim.x * u64{tile_keys},
        [&](Key key, u64, u32) {
            const Key own = rule.equal_code(key);
            const bool shares =
                above >= key_bits || static_cast<Key>((own ^ found) >> (above < key_bits ? above : 0)) == 0;
            if (shares) atomicAdd(&counters[static_cast<u32>(own >> digit.rule.shift) & digit.rule.mask], 1u);
        },
        [](u64) {});
    __syncthreads();
    const u32 d = threadIdx.x;
    if (d < digits && counters[d] != 0) atomicAdd(&top->counts[d], static_cast<u64>(counters[d]));
    __threadfence();
    __syncthreads();
    if (d == 0) is_last = atomicInc(&top->ended, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (is_last == 0) return;
    __threadfence();
    take_digit(*top, number * bits, totals);
}

// Counts the keys of each block's chunk that precede the k-th, and that equal it.
extern "C" __global__ void __launch_bounds__(threads)
    count_chunks(const Key* keys, u64 count, KeyRule<Key> rule, const TopKState* top, TopKChunks chunks) {
    __shared__ u64 totals[warps];
    const Key limit = static_cast<Key>(top->bits);
    u64 lower = 0, equal = 0;
    const u64 begin = blockIdx.x * chunks.chunk;
    const u64 end = begin + chunks.chunk < count ? begin + chunks.chunk : count;
    visit_tiles(
        keys, begin, end, tile_keys,
        [&](Key key, u64, u32) {
            const Key own = rule.equal_code(key);
            lower += own < limit;
            equal += own == limit;
        },
        [](u64) {});
    lower = tile::reduce_block<Sum<u64>, threads>(lower, totals);
    if (threadIdx.x == 0) chunks.keys_before[2 * blockIdx.x] = lower;
    __syncthreads();
    equal = tile::reduce_block<Sum<u64>, threads>(equal, totals);
    if (threadIdx.x == 0) chunks.keys_before[2 * blockIdx.x + 1] = equal;
}

// Returns the sums of the counts of the preceding blocks.
HR_FN PrecedingCounts preceding_counts(const TopKChunks& chunks, u64 (&totals)[warps]) {
    PrecedingCounts sum = {};
    for (u32 block = threadIdx.x; block < blockIdx.x; block += threads) {
        sum.lower += chunks.keys_before[2 * block];
        sum.equal += chunks.keys_before[2 * block + 1];
    }
    __shared__ PrecedingCounts all;
    const u64 lower = tile::reduce_block<Sum<u64>, threads>(sum.lower, totals);
    __syncthreads();
    const u64 equal = tile::reduce_block<Sum<u64>, threads>(sum.equal, totals);
    if (threadIdx.x == 0) all = {lower, equal};
    __syncthreads();
    return all;
}

// Copies the first k keys, as given, and their positions of `index_bytes` each, in the order of positions.
extern "C" __global__ void __launch_bounds__(threads)
    take_top(const Key* keys, u64 count, KeyRule<Key> rule, const TopKState* top, TopKChunks chunks, Key* to,
             void* places, u32 index_bytes) {
    __shared__ u64 totals[warps];
    const Key limit = static_cast<Key>(top->bits);
    const u64 wanted = top->wanted;
    PrecedingCounts before = preceding_counts(chunks, totals);
    const u64 begin = blockIdx.x * chunks.chunk;
    const u64 end = begin + chunks.chunk < count ? begin + chunks.chunk : count;
    for (u64 at = begin; at < end; at += threads) {
        const u64 place = at + threadIdx.x;
        const Key key = place < end ? keys[place] : Key{};
        const Key own = rule.equal_code(key);
        // Both counts in one word: a row has at most `threads` of each.
        const u64 both = place >= end ? 0 : own < limit ? 1 : own == limit ? u64{1} << 32 : 0;
        const u64 upto = tile::scan_warp<Sum<u64>>(both);
        const auto sums = tile::scan_warps<Sum<u64>, threads>(tile::shuffle(upto, tile::lanes - 1), totals);
        const u64 mine = sums.before + upto - both;
        const u64 lower = before.lower + (mine & 0xFFFFFFFF), equal = before.equal + (mine >> 32);
        if ((both & 1) != 0 || (both != 0 && equal < wanted)) {
            const u64 target = lower + (equal < wanted ? equal : wanted);
            to[target] = key;
            if (index_bytes == 4) static_cast<u32*>(places)[target] = static_cast<u32>(place);
            if (index_bytes == 8) static_cast<u64*>(places)[target] = place;
        }
        before.lower += sums.total & 0xFFFFFFFF;
        before.equal += sums.total >> 32;
        __syncthreads();
    }
}

using KeyWord = decltype(BitsAs<Key>::of(Key{}));  // the type that shuffles take

// Compares each key with the next. `disorder` is set if a key precedes a lower one; then blocks stop.
extern "C" __global__ void __launch_bounds__(threads)
    is_sorted(const Key* keys, u64 count, KeyRule<Key> rule, u32* disorder) {
    for (u64 at = blockIdx.x * u64{tile_keys}; at < count; at += gridDim.x * u64{tile_keys}) {
        if (__syncthreads_or(threadIdx.x == 0 && tile::load_relaxed(disorder) != 0) != 0) return;
        const i64 more = static_cast<i64>(count - at);
        tile::Rows<Key, rows> some;
        tile::load_rows(some, keys + at, more, tile::aligned(keys) && more >= tile_keys, Key{});
        bool falls = false;
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
            const u64 first = at + tile::row_begin<Key, rows>(row);
            Key following = static_cast<Key>(tile::shuffle_down(static_cast<KeyWord>(some.row[row].item[0]), 1));
            if (tile::lane() == tile::lanes - 1 && first + per < count) following = keys[first + per];
            Key own = rule.equal_code(some.row[row].item[0]);
#pragma unroll
            for (u32 k = 0; k < per; ++k) {
                const Key next = rule.equal_code(k + 1 < per ? some.row[row].item[k + 1 < per ? k + 1 : 0] : following);
                falls |= first + k + 1 < count && own > next;
                own = next;
            }
        }
        if (__any_sync(tile::all_lanes, falls) && tile::lane() == 0) tile::store_relaxed(disorder, 1u);
    }
}
