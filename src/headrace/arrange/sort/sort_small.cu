// Blocks that sort together in one launch, digit by digit from the lowest: each holds its keys in registers, counts a
// digit, tells the others, puts its keys in the digit's order while they do the same, and writes to where all counts
// say; two meetings a digit. Digits that all keys share are left out. What goes with keys is fetched by their rows at
// the end.
//
// Bytes moved: 2 (w + 4) an item and digit in the second cache, and 512 a block from each of the others. Up to some
// 2^18 keys, what counts is the meetings.
#include "arrange/sort/block_sort.cuh"
#include "arrange/sort/meeting.cuh"

using namespace headrace;

// Memory of a launch.
struct Meeting {
    tile::Counters* meeting;
    u32* counts;  // of each block, two digits a word; twice, since a block may be a digit ahead
    Key* keys;    // twice as many as there are, as rows: where a block still reads, no other writes
    u32* rows;
};

// A word of counts: those of two digits, and which turn's they are, so that nothing but the word is waited for. A place
// has words of every other turn, and each block has seen all of one turn before any tells those of the next: two bits
// tell them apart.
struct Counts {
    static constexpr u32 bits_of_one = 15, mask = (1u << bits_of_one) - 1;
    static_assert(tile_keys <= mask);

    static __device__ __forceinline__ u32 pack(u32 low, u32 high, u32 turn) {
        return low | high << bits_of_one | (turn + 1) / 2 << 2 * bits_of_one;
    }
    static __device__ __forceinline__ u32 low(u32 word) { return word & mask; }
    static __device__ __forceinline__ u32 high(u32 word) { return word >> bits_of_one & mask; }
    static __device__ __forceinline__ bool is_of(u32 word, u32 turn) {
        return word >> 2 * bits_of_one == ((turn + 1) / 2 & 3);
    }
};

constexpr u32 count_words = digits / 2;  // of a block
constexpr u32 readers = threads / count_words;
constexpr u32 at_once = threads < 1024 && items > 2 ? 16 : 8;  // loads of a thread on their way together
static_assert(threads % count_words == 0);

struct Sums {
    u32 total, before;  // of all blocks, and of those before this one
};

// Words of some blocks, from `first` on, when all are there.
static __device__ __forceinline__ void wait_for_counts(u32 (&some)[at_once], const u32* counts, u32 first, u32 turn) {
    const u32* mine = counts + u64{first} * count_words;
    const u32 left = gridDim.x - first;
    bool missing = true;
    while (missing) {
        missing = false;
        forget(mine);  // or the compiler keeps an address for each k
#pragma unroll
        for (u32 k = 0; k < at_once; ++k) {
            some[k] = 0;
            if (k * readers >= left) continue;
            some[k] = tile::load_relaxed(mine + k * readers * count_words);
            missing |= !Counts::is_of(some[k], turn);
        }
    }
}

// The counts of all blocks, each reader's of every so many: for thread d below `digits`, its digit's.
static __device__ __forceinline__ Sums sum_counts(const u32* counts, u32 turn, Sums (&sums)[readers][digits]) {
    const u32 word = threadIdx.x % count_words, reader = threadIdx.x / count_words;
    Sums low = {}, high = {};
#pragma unroll 1
    for (u32 first = reader; first < gridDim.x; first += readers * at_once) {
        u32 some[at_once];
        wait_for_counts(some, counts + word, first, turn);
#pragma unroll
        for (u32 k = 0; k < at_once; ++k) {
            const u32 one = Counts::low(some[k]), other = Counts::high(some[k]);
            low.total += one;
            high.total += other;
            if (first + k * readers >= blockIdx.x) continue;
            low.before += one;
            high.before += other;
        }
    }
    sums[reader][2 * word] = low;
    sums[reader][2 * word + 1] = high;
    __syncthreads();
    Sums all = {};
    if (threadIdx.x < digits) {
#pragma unroll
        for (u32 r = 0; r < readers; ++r) {
            all.total += sums[r][threadIdx.x].total;
            all.before += sums[r][threadIdx.x].before;
        }
    }
    return all;
}

constexpr u32 nowhere = ~0u;

// Keys of a thread.
struct Own {
    Key key[items];
    u32 row[items];
    u32 to[items];  // place among all; nowhere: there is no such key
};

struct Turn {
    const Work& work;
    const Tile& tile;
    const Meeting& memory;
    Blocks& blocks;
    u32 number;
};

// Counts of this block, for all to read. In turn 0 memory may say anything, so the first half is met for, and the
// second made to say that nothing is there.
static __device__ __forceinline__ const u32* post_counts(const Turn& turn, u32 count) {
    const u32 half = gridDim.x * count_words, number = turn.number;
    u32* const counts = turn.memory.counts + number % 2 * half;
    const u32 next = tile::shuffle_down(count, 1);
    const u32 d = threadIdx.x, own = blockIdx.x * count_words + d / 2;
    if (d < digits && d % 2 == 0) {
        tile::store_relaxed(&counts[own], Counts::pack(count, next, number));
        if (number == 0) tile::store_relaxed(&counts[half + own], 0u);
    }
    if (number == 0) turn.blocks.come();
    return counts;
}

// Keys in the order of one digit, and where they go. False: all have the same one, and keys are as they were.
static __device__ __forceinline__ bool order_digit(Own& own, const Turn& turn) {
    __shared__ Sums sums[readers][digits];
    const Work& work = turn.work;
    u32* const rows = reinterpret_cast<u32*>(work.room + tile_keys);
    const Found found = count_digits<false>(own.key, work, turn.tile);
    const u32* const counts = post_counts(turn, found.count);
    __syncthreads();
    rank_items<items>(
        work.shared.next[tile::warp()], [&](u32 j) { return digit_at<false>(own.key, j, work.digit, turn.tile); },
        [&](u32 j, u32 at) {
            work.room[at] = own.key[j];
            if constexpr (with_values) rows[at] = own.row[j];
        });
    if (turn.number == 0) turn.blocks.wait();
    const Sums all = sum_counts(counts, turn.number, sums);
    const u32 d = threadIdx.x;
    if (__syncthreads_or(d < digits && all.total == work.count) != 0) return false;
    const u32 start = start_of(d < digits ? all.total : 0, work.shared);
    if (d < digits) work.shared.to[d] = start + all.before - found.start;
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 at = j * threads + threadIdx.x;
        own.to[j] = nowhere;
        if (at >= turn.tile.count) continue;
        own.key[j] = work.room[at];
        if constexpr (with_values) own.row[j] = rows[at];
        own.to[j] = static_cast<u32>(work.shared.to[work.digit.of(own.key[j])]) + at;
    }
    return true;
}

static __device__ __forceinline__ void stay(Own& own, const Tile& tile) {
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        own.to[j] = item_place(j) < tile.count ? static_cast<u32>(tile.begin) + item_place(j) : nowhere;
    }
}

// Out to memory, its first half or its second, and after a meeting back, a block's side by side.
static __device__ __forceinline__ void exchange_all(Own& own, const Turn& turn, bool to_second) {
    const u64 half = to_second ? turn.work.count : 0;
    Key* const keys = turn.memory.keys + half;
    u32* const rows = turn.memory.rows + half;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (own.to[j] == nowhere) continue;
        keys[own.to[j]] = own.key[j];
        if constexpr (with_values) rows[own.to[j]] = own.row[j];
    }
    turn.blocks.meet();
    stay(own, turn.tile);
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (own.to[j] == nowhere) continue;
        own.key[j] = keys[own.to[j]];
        if constexpr (with_values) own.row[j] = rows[own.to[j]];
    }
}

// What goes with the keys; in place, all blocks must have read it before one writes.
template <class Item>
static __device__ __forceinline__ void fetch_rows(const void* from, void* to, const Own& own, u32 stride,
                                                  Blocks& blocks) {
    Item item[items];
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (own.to[j] == nowhere) continue;
        item[j] = static_cast<Item>(own.row[j]);
        if (from != nullptr) item[j] = static_cast<const Item*>(from)[own.row[j] * stride];
    }
    if (from == to) blocks.meet();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (own.to[j] != nowhere) static_cast<Item*>(to)[own.to[j] * stride] = item[j];
    }
}

static __device__ __forceinline__ void fetch_array(const Moved& moved, const Own& own, Blocks& blocks) {
    if (moved.width == 1) fetch_rows<u8>(moved.source, moved.target, own, 1, blocks);
    if (moved.width == 2) fetch_rows<u16>(moved.source, moved.target, own, 1, blocks);
    if (moved.width == 4) fetch_rows<u32>(moved.source, moved.target, own, 1, blocks);
    if (moved.width == 8) fetch_rows<u64>(moved.source, moved.target, own, 1, blocks);
    for (u32 half = 0; half < 2 && moved.width == 16; ++half) {
        const u64* const from = static_cast<const u64*>(moved.source) + half;
        fetch_rows<u64>(from, static_cast<u64*>(moved.target) + half, own, 2, blocks);
    }
}

// Dynamic shared memory: a tile's keys, 4 bytes for each where there are values, and Shared.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    sort_small(u32 count, KeyRule<Key> rule, Arrays arrays, u32 writes_keys, Meeting memory) {
    HR_DYNAMIC_SHARED(uint4, room);
    constexpr u32 bytes = tile_keys * (sizeof(Key) + (with_values ? 4 : 0));
    Shared& shared = *reinterpret_cast<Shared*>(reinterpret_cast<u8*>(room) + bytes);
    Blocks blocks(memory.meeting);
    const u32 begin = blockIdx.x * tile_keys;
    const Tile tile = {begin, count - begin < tile_keys ? count - begin : tile_keys};
    const Digit first = digit_by_number(rule, 0);
    Own own = {};
    stay(own, tile);
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        own.row[j] = own.to[j];
        if (own.to[j] != nowhere) own.key[j] = first.rule.moved(static_cast<const Key*>(arrays.keys.source)[own.to[j]]);
    }
    const Columns columns = {};
    const Places places = {};
    bool to_second = false;
#pragma unroll 1
    for (u32 number = 0; number < key_digits; ++number) {
        const Digit digit = digit_by_number(rule, number);
        const Work work = {nullptr, nullptr, count, digit, places, columns, shared, reinterpret_cast<Key*>(room)};
        const Turn turn = {work, tile, memory, blocks, number};
        if (!order_digit(own, turn) || number + 1 == key_digits) continue;
        exchange_all(own, turn, to_second);
        to_second = !to_second;
    }
    if (writes_keys != 0) {
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (own.to[j] != nowhere) static_cast<Key*>(arrays.keys.target)[own.to[j]] = first.rule.given(own.key[j]);
        }
    }
    if constexpr (with_values) {
#pragma unroll 1
        for (u32 c = 0; c < arrays.columns; ++c) fetch_array(arrays.column[c], own, blocks);
    }
    blocks.end();
}
