// Sorts digit by digit from the lowest in one launch of blocks that wait for each other. A block has its keys in
// registers. For each digit it counts, publishes its counts, and puts its keys in the digit's order while other blocks
// do the same. It then writes the keys to the positions that all counts imply. A grid barrier precedes the reads of
// what all blocks wrote, and one more the first digit (grid_histogram.cuh). Digits that all keys share are skipped.
// Columns are gathered by row at the end; one column of 4 bytes moves in place of rows.
//
// Bytes moved: 2 (w + 4) an item and digit in the L2 cache, and 512 a block from each of the others. Up to about 2^18
// keys, barriers dominate.
#include "arrange/sort/gpu/single_launch/grid_histogram.cuh"

using namespace headrace;

static_assert(tile_keys <= PackedCounts::mask);
constexpr u32 nowhere = ~0u;

// Keys of a thread.
struct ThreadKeys {
    Key key[items];
    u32 row[items];
    u32 to[items];  // position among all; `nowhere`: there is no such key
};

struct DigitPass {
    const SplitWork& work;
    const SplitTile& tile;
    AllCounts& counts;
    Sums& sums;
    u32 number;
};

// Orders keys by one digit and finds their positions. Returns false if all share the digit; then keys are unchanged.
HR_FN bool order_digit(ThreadKeys& own, const DigitPass& turn) {
    const SplitWork& work = turn.work;
    u32* const rows = reinterpret_cast<u32*>(work.staging + tile_keys);
    const DigitRun found = count_digits<false>(own.key, work, turn.tile);
    turn.counts.post(turn.number, found.count);
    rank_items<items>(
        work.shared.next[tile::warp()], [&](u32 j) { return digit_at<false>(own.key, j, work.digit, turn.tile); },
        [&](u32 j, u32 at) {
            work.staging[at] = own.key[j];
            if constexpr (with_values) rows[at] = own.row[j];
        });
    if (turn.counts.wait(turn.number, static_cast<u32>(work.count))) return false;
    const u32 d = threadIdx.x;
    const u32 start = start_of(d < digits ? turn.sums.total[d % digits] : 0, work.shared);
    if (d < digits) work.shared.to[d] = start + turn.sums.before[d] - found.start;
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 at = j * threads + threadIdx.x;
        own.to[j] = nowhere;
        if (at >= turn.tile.count) continue;
        own.key[j] = work.staging[at];
        if constexpr (with_values) own.row[j] = rows[at];
        own.to[j] = static_cast<u32>(work.shared.to[work.digit.of(own.key[j])]) + at;
    }
    return true;
}

HR_FN void stay(ThreadKeys& own, const SplitTile& tile) {
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        own.to[j] = item_place(j) < tile.count ? static_cast<u32>(tile.begin) + item_place(j) : nowhere;
    }
}

struct ExchangeHalf {
    Key* keys;
    u32* rows;
};

// Writes keys to one half of the memory and, after a barrier, loads those of the block's positions.
HR_FN void exchange_all(ThreadKeys& own, const SplitTile& tile, const ExchangeHalf& half, GridBarrier& barrier) {
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (own.to[j] == nowhere) continue;
        half.keys[own.to[j]] = own.key[j];
        if constexpr (with_values) half.rows[own.to[j]] = own.row[j];
    }
    barrier.arrive_and_wait();
    stay(own, tile);
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (own.to[j] == nowhere) continue;
        own.key[j] = half.keys[own.to[j]];
        if constexpr (with_values) own.row[j] = half.rows[own.to[j]];
    }
}

// Gathers a column. In place, all blocks must have read it before one writes.
template <class Item>
HR_FN void fetch_rows(const void* from, void* to, const ThreadKeys& own, u32 stride, GridBarrier& barrier) {
    Item item[items];
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (own.to[j] == nowhere) continue;
        item[j] = static_cast<Item>(own.row[j]);
        if (from != nullptr) item[j] = static_cast<const Item*>(from)[own.row[j] * stride];
    }
    if (from == to) barrier.arrive_and_wait();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (own.to[j] != nowhere) static_cast<Item*>(to)[own.to[j] * stride] = item[j];
    }
}

HR_FN void fetch_array(const MovedColumn& moved, const ThreadKeys& own, GridBarrier& barrier) {
    if (moved.width == 1) fetch_rows<u8>(moved.source, moved.target, own, 1, barrier);
    if (moved.width == 2) fetch_rows<u16>(moved.source, moved.target, own, 1, barrier);
    if (moved.width == 4) fetch_rows<u32>(moved.source, moved.target, own, 1, barrier);
    if (moved.width == 8) fetch_rows<u64>(moved.source, moved.target, own, 1, barrier);
    for (u32 half = 0; half < 2 && moved.width == 16; ++half) {
        const u64* const from = static_cast<const u64*>(moved.source) + half;
        fetch_rows<u64>(from, static_cast<u64*>(moved.target) + half, own, 2, barrier);
    }
}

constexpr u32 exchange_bytes = tile_keys * (sizeof(Key) + (with_values ? 4 : 0));

// Dynamic shared memory: a tile's keys, 4 bytes for each if there are columns, and Shared.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    cooperative_sort(u32 count, KeyRule<Key> rule, SortArrays arrays, u32 writes_keys, CooperativeMemory memory) {
    HR_DYNAMIC_SHARED(uint4, staging);
    SplitShared& shared = *reinterpret_cast<SplitShared*>(reinterpret_cast<u8*>(staging) + exchange_bytes);
    __shared__ Sums sums;
    GridBarrier barrier(static_cast<tile::Counters*>(memory.meeting));
    AllCounts counts(memory.counts, barrier, sums);
    const u32 begin = blockIdx.x * tile_keys;
    const u32 left = begin < count ? count - begin : 0;  // the last blocks may have none
    const SplitTile tile = {begin, left < tile_keys ? left : tile_keys};
    const Digit first = digit_by_number(rule, 0);
    ThreadKeys own = {};
    stay(own, tile);
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        own.row[j] = own.to[j];
        if (own.to[j] != nowhere) own.key[j] = first.rule.moved(static_cast<const Key*>(arrays.keys.source)[own.to[j]]);
    }
    const u32* const in_rows = moves_as_rows(arrays) ? static_cast<const u32*>(arrays.column[0].source) : nullptr;
    if (in_rows != nullptr) {
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (own.to[j] != nowhere) own.row[j] = in_rows[own.to[j]];
        }
    }
    const Columns columns = {};
    const SplitPlaces places = {};
    bool to_second = false;
#pragma unroll 1
    for (u32 number = 0; number < key_digits; ++number) {
        const Digit digit = digit_by_number(rule, number);
        const SplitWork work = {nullptr, nullptr, count,  digit,
                                places,  columns, shared, reinterpret_cast<Key*>(staging)};
        if (!order_digit(own, {work, tile, counts, sums, number}) || number + 1 == key_digits) continue;
        const u64 half = to_second ? count : 0;
        exchange_all(own, tile, {static_cast<Key*>(memory.keys) + half, memory.rows + half}, barrier);
        to_second = !to_second;
    }
    if (writes_keys != 0) {
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (own.to[j] != nowhere) static_cast<Key*>(arrays.keys.target)[own.to[j]] = first.rule.given(own.key[j]);
        }
    }
    if (moves_as_rows(arrays)) {
        fetch_rows<u32>(nullptr, arrays.column[0].target, own, 1, barrier);
    } else if constexpr (with_values) {
#pragma unroll 1
        for (u32 c = 0; c < arrays.columns; ++c) fetch_array(arrays.column[c], own, barrier);
    }
    barrier.end();
}
