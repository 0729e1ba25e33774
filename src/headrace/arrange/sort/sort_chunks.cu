// Some million keys in one launch, digit by digit from the lowest: every block has a chunk of the keys and stays. It
// counts a digit of its chunk, tells the others, and when it knows their counts takes its chunk tile by tile, each
// ordered in shared memory and written to where all counts say; then all meet. Keys are read twice a digit, mostly from
// the second cache, and there is nothing to launch, to clear or to look back at between. (Merrill and Grimshaw 2011,
// "High performance and scalable radix sorting": reduce, then scan, in a grid that stays.) Rows move with keys, and
// what goes with keys is fetched by them at the end, or moves in their place where it is as wide.
//
// Bytes moved a digit: 3 w, and 8 for rows; at the end 2 (w + v).
#include "arrange/sort/all_counts.cuh"

using namespace headrace;

// Memory of a launch.
struct Chunks {
    tile::Counters* meeting;
    u32* counts;  // of each block, two digits a word; twice, since a block may be a digit ahead
    Key* keys;    // twice as many as there are, as rows: one half is read where the other is written
    u32* rows;
    void* spare;  // as large as the largest array that is sorted in place
    u32 spare_width;
    u32 chunk;  // keys of a block
};

static_assert(tile_keys <= Counts::mask);

// Where keys are, or go. Without rows: they are their places.
struct Where {
    Key* keys;
    u32* rows;
};

struct Turn {
    const Work& work;
    Where from, to;
    const u32* in_rows;  // of the source, what moves in the place of rows; null: those
};

// As it is moved: keys of the source are given ones.
template <bool given>
static __device__ __forceinline__ Key moved(const Turn& turn, Key key) {
    return given ? turn.work.digit.rule.moved(key) : key;
}

// A chunk's digits, into the warps' counters.
template <bool given>
static __device__ __forceinline__ u32 count_chunk(const Turn& turn, const Tile& chunk) {
    constexpr u32 together = 8;
    u32* const own = cleared_counters(turn.work);
    const Key* const in = turn.from.keys + chunk.begin;
    u32 at = threadIdx.x;
    for (; at + (together - 1) * threads < chunk.count; at += together * threads) {
        Key key[together];
#pragma unroll
        for (u32 k = 0; k < together; ++k) key[k] = in[at + k * threads];
#pragma unroll
        for (u32 k = 0; k < together; ++k) atomicAdd(&own[turn.work.digit.of(moved<given>(turn, key[k]))], 1u);
    }
    for (; at < chunk.count; at += threads) atomicAdd(&own[turn.work.digit.of(moved<given>(turn, in[at]))], 1u);
    __syncthreads();
    u32 count = 0;
    if (threadIdx.x < digits) {
#pragma unroll
        for (u32 w = 0; w < warps; ++w) count += turn.work.shared.next[w][threadIdx.x];
    }
    return count;
}

struct Items {
    Key key[items];
    u32 row[items];
};

template <bool given, bool whole>
static __device__ __forceinline__ void load_tile(Items& own, const Turn& turn, const Tile& tile) {
    load_items<whole>(own.key, turn.from.keys, tile);
#pragma unroll
    for (u32 j = 0; j < items; ++j) own.key[j] = moved<given>(turn, own.key[j]);
    if constexpr (with_values && given) {
#pragma unroll
        for (u32 j = 0; j < items; ++j) own.row[j] = static_cast<u32>(tile.begin) + item_place(j);
        if (turn.in_rows != nullptr) load_items<whole>(own.row, turn.in_rows, tile);
    }
    if constexpr (with_values && !given) load_items<whole>(own.row, turn.from.rows, tile);
}

// One tile, whose keys are loaded; then those of the next are, if it is a whole one.
template <bool given, bool whole>
static __device__ __forceinline__ void sort_tile(Items& own, const Turn& turn, const Tile& tile, const Tile& next) {
    const Work& work = turn.work;
    u32* const rows = reinterpret_cast<u32*>(work.room + tile_keys);
    const Found found = count_digits<whole>(own.key, work, tile);
    if (threadIdx.x < digits) {
        const u64 base = work.shared.base[threadIdx.x];
        work.shared.to[threadIdx.x] = static_cast<To>(base - found.start);
        work.shared.base[threadIdx.x] = base + found.count;
    }
    __syncthreads();
    rank_items<items>(
        work.shared.next[tile::warp()], [&](u32 j) { return digit_at<whole>(own.key, j, work.digit, tile); },
        [&](u32 j, u32 at) {
            work.room[at] = own.key[j];
            if constexpr (with_values) rows[at] = own.row[j];
        });
    if (next.count == tile_keys) load_tile<given, true>(own, turn, next);
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 at = j * threads + threadIdx.x;
        if (!whole && at >= tile.count) continue;
        const Key key = work.room[at];
        const u64 to = work.shared.to[work.digit.of(key)] + at;
        turn.to.keys[to] = key;
        if constexpr (with_values) turn.to.rows[to] = rows[at];
    }
}

static __device__ __forceinline__ Tile tile_of(const Tile& chunk, u32 begin) {
    const u32 left = begin < chunk.count ? chunk.count - begin : 0;
    return {chunk.begin + begin, left < tile_keys ? left : tile_keys};
}

template <bool given>
static __device__ __forceinline__ void sort_chunk(const Turn& turn, const Tile& chunk) {
    Items own = {};
    Tile tile = tile_of(chunk, 0);
    u32 begin = 0;
    if (tile.count == tile_keys) load_tile<given, true>(own, turn, tile);
#pragma unroll 1
    while (tile.count == tile_keys) {
        const Tile next = tile_of(chunk, begin += tile_keys);
        sort_tile<given, true>(own, turn, tile, next);
        tile = next;
    }
    if (tile.count == 0) return;
    load_tile<given, false>(own, turn, tile);
    sort_tile<given, false>(own, turn, tile, {});
}

// By one digit. False: all keys have the same one, and are where they were.
template <bool given>
static __device__ __forceinline__ bool take_turn(const Turn& turn, const Tile& chunk, AllCounts& counts, Sums& sums,
                                                 u32 number) {
    Shared& shared = turn.work.shared;
    counts.post(number, count_chunk<given>(turn, chunk));
    if (counts.wait(number, static_cast<u32>(turn.work.count))) return false;
    const u32 d = threadIdx.x;
    const u32 start = start_of(d < digits ? sums.total[d % digits] : 0, shared);
    if (d < digits) shared.base[d] = start + sums.before[d];
    sort_chunk<given>(turn, chunk);
    return true;
}

static __device__ __forceinline__ void copy_rows(const u32* from, u32* to, const Tile& chunk) {
#pragma unroll 4
    for (u32 at = threadIdx.x; at < chunk.count; at += threads) to[chunk.begin + at] = from[chunk.begin + at];
}

// What goes with a chunk's places, from `to` on; by its rows, or by the places themselves.
template <class Item>
static __device__ __forceinline__ void fetch_rows(const Item* from, Item* to, const u32* rows, const Tile& chunk) {
#pragma unroll 4
    for (u32 at = threadIdx.x; at < chunk.count; at += threads) {
        const u64 row = rows == nullptr ? chunk.begin + at : rows[chunk.begin + at];
        if constexpr (sizeof(Item) == 4 || sizeof(Item) == 8) {
            to[at] = from == nullptr ? static_cast<Item>(row) : from[row];
        } else {
            to[at] = from[row];
        }
    }
}

// In place all blocks fetch before one writes; each has its own part of the spare memory.
template <class Item>
static __device__ __forceinline__ void fetch_array(const Moved& moved, const Where& where, const Tile& chunk,
                                                   const Chunks& memory, Blocks& blocks) {
    const Item* const from = static_cast<const Item*>(moved.source);
    Item* const to = static_cast<Item*>(moved.target) + chunk.begin;
    if (moved.source != moved.target) return fetch_rows(from, to, where.rows, chunk);
    if (where.rows == nullptr) return;
    Item* const spare = reinterpret_cast<Item*>(static_cast<u8*>(memory.spare) + chunk.begin * memory.spare_width);
    fetch_rows(from, spare, where.rows, chunk);
    blocks.meet();
#pragma unroll 4
    for (u32 at = threadIdx.x; at < chunk.count; at += threads) to[at] = spare[at];
    __syncthreads();
}

static __device__ __forceinline__ void fetch_any(const Moved& moved, const Where& where, const Tile& chunk,
                                                 const Chunks& memory, Blocks& blocks) {
    if (moved.width == 1) fetch_array<u8>(moved, where, chunk, memory, blocks);
    if (moved.width == 2) fetch_array<u16>(moved, where, chunk, memory, blocks);
    if (moved.width == 4) fetch_array<u32>(moved, where, chunk, memory, blocks);
    if (moved.width == 8) fetch_array<u64>(moved, where, chunk, memory, blocks);
    if (moved.width == 16) fetch_array<uint4>(moved, where, chunk, memory, blocks);
}

static __device__ __forceinline__ void write_target(const Key* from, Key* target, bool is_given, const Tile& chunk,
                                                    const SortDigit<Key>& rule) {
    if (from == target) return;
#pragma unroll 4
    for (u32 at = threadIdx.x; at < chunk.count; at += threads) {
        const Key key = from[chunk.begin + at];
        target[chunk.begin + at] = is_given ? key : rule.given(key);
    }
}

// Dynamic shared memory: a tile's keys, 4 bytes for each where there are values, and Shared.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    sort_chunks(u32 count, KeyRule<Key> rule, Arrays arrays, u32 writes_keys, Chunks memory) {
    HR_DYNAMIC_SHARED(uint4, room);
    __shared__ Sums sums;
    constexpr u32 bytes = tile_keys * (sizeof(Key) + (with_values ? 4 : 0));
    Shared& shared = *reinterpret_cast<Shared*>(reinterpret_cast<u8*>(room) + bytes);
    Blocks blocks(memory.meeting);
    AllCounts counts(memory.counts, blocks, sums);
    const u32 begin = blockIdx.x * memory.chunk;
    const Tile chunk = {begin, count - begin < memory.chunk ? count - begin : memory.chunk};
    const Columns columns = {};
    const Places places = {};
    Key* const source = static_cast<Key*>(const_cast<void*>(arrays.keys.source));
    Where from = {source, nullptr}, to = {memory.keys, memory.rows};
    const u32* const in_rows = moves_as_rows(arrays) ? static_cast<const u32*>(arrays.column[0].source) : nullptr;
#pragma unroll 1
    for (u32 number = 0; number < key_digits; ++number) {
        const Digit digit = digit_by_number(rule, number);
        const Work work = {nullptr, nullptr, count, digit, places, columns, shared, reinterpret_cast<Key*>(room)};
        const Turn turn = {work, from, to, in_rows};
        const bool has_moved = from.keys == source ? take_turn<true>(turn, chunk, counts, sums, number)
                                                   : take_turn<false>(turn, chunk, counts, sums, number);
        if (!has_moved) continue;
        blocks.meet();
        const u64 half = to.keys == memory.keys ? count : 0;
        from = to;
        to = {memory.keys + half, memory.rows + half};
    }
    const SortDigit<Key> keys = digit_by_number(rule, 0).rule;
    if (writes_keys != 0)
        write_target(from.keys, static_cast<Key*>(arrays.keys.target), from.keys == source, chunk, keys);
    if (moves_as_rows(arrays) && from.rows != nullptr) {
        copy_rows(from.rows, static_cast<u32*>(arrays.column[0].target), chunk);
    } else if constexpr (with_values) {
#pragma unroll 1
        for (u32 c = 0; c < arrays.columns; ++c) fetch_any(arrays.column[c], from, chunk, memory, blocks);
    }
    blocks.end();
}
