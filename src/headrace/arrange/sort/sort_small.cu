// A few blocks that sort together in one launch: each holds its keys in registers, counts a digit, tells the others,
// and writes to where all counts say; two meetings a digit. What goes with keys is fetched by their rows at the end.
// All blocks must be resident: there are no more than a card has multiprocessors, by far.
//
// Bytes moved are in the second cache; what counts is the meetings, of about a microsecond each.
#include "arrange/sort/block_sort.cuh"
#include "core/tile/look_back.cuh"

using namespace headrace;

// Memory of a launch. `meeting` is zero between launches.
struct Meeting {
    tile::Counters* meeting;  // how many blocks have come, and have ended
    u32* counts;              // of each block and digit
    Key* keys;
    u32* rows;
};

class Blocks {
public:
    __device__ __forceinline__ explicit Blocks(tile::Counters* counters) : counters_(counters) {}

    // What any thread of any block wrote before, all may read behind it.
    __device__ __forceinline__ void meet() {
        __threadfence();
        __syncthreads();
        ++meetings_;
        if (threadIdx.x == 0) {
            atomicAdd(&counters_->ticket, 1u);
            while (tile::load_acquire(&counters_->ticket) < meetings_ * gridDim.x) {
            }
            __threadfence();
        }
        __syncthreads();
    }
    __device__ __forceinline__ void end() {
        __syncthreads();
        if (threadIdx.x != 0) return;
        if (atomicInc(&counters_->ended, gridDim.x - 1) == gridDim.x - 1) tile::store_relaxed(&counters_->ticket, 0u);
    }

private:
    tile::Counters* counters_;
    u32 meetings_ = 0;
};

// Where this block's keys of each digit go, from the counts of all; whether there is one digit only.
static __device__ __forceinline__ bool place_digits(const Meeting& memory, const Found& found, u64 all,
                                                    Shared& shared) {
    const u32 d = threadIdx.x;
    u32 before = 0, total = 0;
    for (u32 block = 0; block < gridDim.x && d < digits; ++block) {
        const u32 some = memory.counts[block * digits + d];
        total += some;
        if (block < blockIdx.x) before += some;
    }
    if (__syncthreads_or(d < digits && total == all) != 0) return true;
    const u32 start = start_of(d < digits ? total : 0, shared);
    if (d < digits) shared.to[d] = start + before - found.start;
    __syncthreads();
    return false;
}

struct Own {
    Key key[items];
    u32 row[items];
};

// By one digit: out to memory, and after a meeting back.
static __device__ __forceinline__ void sort_digit(Own& own, const Work& work, const Tile& tile, const Meeting& memory,
                                                  Blocks& blocks) {
    u32* const rows = reinterpret_cast<u32*>(work.room + tile_keys);
    const Found found = count_digits<false>(own.key, work, tile);
    if (threadIdx.x < digits) memory.counts[blockIdx.x * digits + threadIdx.x] = found.count;
    blocks.meet();
    if (place_digits(memory, found, work.count, work.shared)) return blocks.meet();
    rank_items<items>(
        work.shared.next[tile::warp()], [&](u32 j) { return digit_at<false>(own.key, j, work.digit, tile); },
        [&](u32 j, u32 at) {
            work.room[at] = own.key[j];
            if constexpr (with_values) rows[at] = own.row[j];
        });
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 at = j * threads + threadIdx.x;
        if (at >= tile.count) continue;
        const Key key = work.room[at];
        const u64 to = work.shared.to[work.digit.of(key)] + at;
        memory.keys[to] = key;
        if constexpr (with_values) memory.rows[to] = rows[at];
    }
    blocks.meet();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (item_place(j) >= tile.count) continue;
        own.key[j] = memory.keys[tile.begin + item_place(j)];
        if constexpr (with_values) own.row[j] = memory.rows[tile.begin + item_place(j)];
    }
}

// As fetch_items, of rows of all blocks.
template <class Item>
static __device__ __forceinline__ void fetch_rows(const void* from, void* to, const Own& own, const Tile& tile,
                                                  u32 stride, Blocks& blocks) {
    Item item[items];
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (item_place(j) >= tile.count) continue;
        item[j] = static_cast<Item>(own.row[j]);
        if (from != nullptr) item[j] = static_cast<const Item*>(from)[own.row[j] * stride];
    }
    if (from == to) blocks.meet();
    Item* const out = static_cast<Item*>(to) + tile.begin * stride;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (item_place(j) < tile.count) out[item_place(j) * stride] = item[j];
    }
}

static __device__ __forceinline__ void fetch_array(const Moved& moved, const Own& own, const Tile& tile,
                                                   Blocks& blocks) {
    if (moved.width == 1) fetch_rows<u8>(moved.source, moved.target, own, tile, 1, blocks);
    if (moved.width == 2) fetch_rows<u16>(moved.source, moved.target, own, tile, 1, blocks);
    if (moved.width == 4) fetch_rows<u32>(moved.source, moved.target, own, tile, 1, blocks);
    if (moved.width == 8) fetch_rows<u64>(moved.source, moved.target, own, tile, 1, blocks);
    for (u32 half = 0; half < 2 && moved.width == 16; ++half) {
        const u64* const from = static_cast<const u64*>(moved.source) + half;
        fetch_rows<u64>(from, static_cast<u64*>(moved.target) + half, own, tile, 2, blocks);
    }
}

// Dynamic shared memory: a tile's keys, 4 bytes for each where there are values, and Shared.
extern "C" __global__ void __launch_bounds__(threads, 1)
    sort_small(u32 count, KeyRule<Key> rule, Arrays arrays, u32 writes_keys, Meeting memory) {
    HR_DYNAMIC_SHARED(uint4, room);
    constexpr u32 bytes = tile_keys * (sizeof(Key) + (with_values ? 4 : 0));
    Shared& shared = *reinterpret_cast<Shared*>(reinterpret_cast<u8*>(room) + bytes);
    Blocks blocks(memory.meeting);
    const u32 begin = blockIdx.x * tile_keys;
    const Tile tile = {begin, count - begin < tile_keys ? count - begin : tile_keys};
    const Digit first = digit_by_number(rule, 0);
    Own own = {};
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        own.row[j] = begin + item_place(j);
        if (item_place(j) >= tile.count) continue;
        own.key[j] = first.rule.moved(static_cast<const Key*>(arrays.keys.source)[begin + item_place(j)]);
    }
    const Columns columns = {};
    const Places places = {};
#pragma unroll 1
    for (u32 number = 0; number < key_digits; ++number) {
        const Digit digit = digit_by_number(rule, number);
        sort_digit(own, {nullptr, nullptr, count, digit, places, columns, shared, reinterpret_cast<Key*>(room)}, tile,
                   memory, blocks);
    }
    if (writes_keys != 0) {
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (item_place(j) >= tile.count) continue;
            static_cast<Key*>(arrays.keys.target)[begin + item_place(j)] = first.rule.given(own.key[j]);
        }
    }
    if constexpr (with_values) {
#pragma unroll 1
        for (u32 c = 0; c < arrays.columns; ++c) fetch_array(arrays.column[c], own, tile, blocks);
    }
    blocks.end();
}
