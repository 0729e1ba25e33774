// Sorts few keys by rank: the number of keys that precede each, lower ones and equal ones of earlier rows. Every
// block ranks its own few keys among all, which it reads from the L2 cache. No block waits for another, and equal
// keys keep their order. Only a sort in place needs a grid barrier, before anything is written.
//
// A block sorts its own keys. It looks up every other key among them by binary search, with a load and a comparison a
// step. Each is counted in the gap where it belongs. The rank of an own key is the number of own keys before it, plus
// the counts of all gaps up to its own. For example, own keys 5 2 9 and others 1 4 4 7: the gaps before 2, 5 and 9
// count 1, 2 and 1. So 2 goes to position 0 + 1, 5 to 1 + 1 + 2, and 9 to 2 + 1 + 2 + 1.
//
// n = 16,384 with 128 keys a block: 7 steps a key, 32 keys a thread in each block. Bytes moved: n w a block from the
// L2 cache, and 2 (w + v) an item of device memory.
#include "arrange/sort/gpu/common/grid_barrier.cuh"
#include "arrange/sort/gpu/common/moved_item.cuh"
#include "arrange/sort/sort_key.hpp"
#include "gpu/block/tile_rows.cuh"

using namespace headrace;

using Key = HR_KEY;
constexpr bool with_equals = HR_EQUALS != 0;
constexpr u32 threads = HR_THREADS;
constexpr u32 block_groups = HR_BLOCK_GROUPS;  // of 32 keys that a block ranks
constexpr u32 lanes = tile::lanes;
constexpr u32 warps = threads / lanes;
constexpr u32 block_keys = block_groups * lanes;
constexpr u32 groups_at_once = 4;  // of one key a lane
static_assert((block_keys & (block_keys - 1)) == 0 && block_keys <= threads && block_keys * block_keys % threads == 0);

using Code = Either<sizeof(Key) == 8, u64, u32>;  // the type of comparisons

// Returns the slot of key number `at`. Probes of one step are a power of two apart and would all be in one bank
// without gaps.
HR_FN constexpr u32 slot_of(u32 at) { return at + at / (lanes * 4 / sizeof(Code)); }

HR_FN constexpr i32 bytes_to(u32 at) { return static_cast<i32>(slot_of(at) * sizeof(Code)); }

struct BlockKeys {
    Code code[block_keys];              // by row
    u32 place[block_keys];              // rank of each among them
    Code ordered[slot_of(block_keys)];  // in order, by slot
    u32 gap[slot_of(block_keys)];       // number of other keys between the preceding own key and this one
    u32 upto[block_keys];               // sum of gaps up to this one, from the first of its 32 on
};

// Where other keys' rows are relative to the block's: equal keys keep the order of rows.
enum class RowSide : u32 { before, after, mixed };

// Whether an own key precedes another key, whose row is earlier or not.
template <RowSide side>
HR_FN bool comes_before(Code own, Code other, bool is_earlier) {
    if constexpr (side == RowSide::before) return own < other;
    if constexpr (side == RowSide::after) return own <= other;
    return own < other || (own == other && !is_earlier);
}

// Sorts the block's keys. Several threads compare each key with all others.
HR_FN void order_own(BlockKeys& own, Code given) {
    constexpr u32 share = block_keys * block_keys / threads;
    const u32 row = threadIdx.x % block_keys, first = threadIdx.x / block_keys * share;
    if (threadIdx.x < block_keys) {
        own.code[row] = given;
        own.place[row] = own.gap[slot_of(row)] = 0;
    }
    __syncthreads();
    const Code code = own.code[row];
    u32 before = 0;
#pragma unroll 8
    for (u32 other = first; other < first + share; ++other) {
        before += own.code[other] < code || (own.code[other] == code && other < row) ? 1 : 0;
    }
    atomicAdd(&own.place[row], before);
    __syncthreads();
    if (threadIdx.x < block_keys) own.ordered[slot_of(own.place[row])] = given;
    __syncthreads();
}

struct InputKeys {
    const Key* keys;
    u32 count;
    const KeyRule<Key>& rule;

    HR_MEMBER Code code(u32 at) const {
        const Key key = keys[at];
        return with_equals ? rule.equal_code(key) : rule.code(key);
    }
    // Loads groups from number `first` on. Missing keys compare above all and come last.
    HR_MEMBER void load(Code (&some)[groups_at_once], u32 first) const {
#pragma unroll
        for (u32 j = 0; j < groups_at_once; ++j) {
            const u32 at = (first + j) * lanes + tile::lane();
            some[j] = ~Code{0};
            if (at < count) some[j] = code(at);
        }
    }
};

// Counts the keys of adjacent groups from number `first` on, except the block's own.
template <RowSide side>
HR_FN void count_groups(BlockKeys& own, const Code (&some)[groups_at_once], u32 first) {
    const u32 block_first_group = blockIdx.x * block_groups;
    const u8* const ordered = reinterpret_cast<const u8*>(own.ordered);
    i32 gap[groups_at_once] = {};  // signed, in bytes: a step's distance is part of its load
#pragma unroll
    for (u32 half = block_keys / 2; half > 0; half /= 2) {
#pragma unroll
        for (u32 j = 0; j < groups_at_once; ++j) {
            const Code probe = *reinterpret_cast<const Code*>(ordered + (gap[j] + bytes_to(half - 1)));
            if (comes_before<side>(probe, some[j], first + j < block_first_group)) gap[j] += bytes_to(half);
        }
    }
    const Code last = own.ordered[slot_of(block_keys - 1)];
#pragma unroll
    for (u32 j = 0; j < groups_at_once; ++j) {
        const bool is_own = side == RowSide::mixed && first + j - block_first_group < block_groups;
        if (is_own || comes_before<side>(last, some[j], first + j < block_first_group)) continue;
        atomicAdd(&own.gap[gap[j] / sizeof(Code)], 1u);
    }
}

// Counts the groups of each warp, in multiples of `groups_at_once`.
HR_FN void count_all(BlockKeys& own, const InputKeys& given, Code (&next_codes)[groups_at_once], u32 first, u32 last) {
    const u32 block_first_group = blockIdx.x * block_groups;
#pragma unroll 1
    for (; first < last; first += groups_at_once) {
        Code some[groups_at_once];
#pragma unroll
        for (u32 j = 0; j < groups_at_once; ++j) some[j] = next_codes[j];
        if (first + groups_at_once < last) given.load(next_codes, first + groups_at_once);
        if (first + groups_at_once <= block_first_group) {
            count_groups<RowSide::before>(own, some, first);
        } else if (first >= block_first_group + block_groups) {
            count_groups<RowSide::after>(own, some, first);
        } else {
            count_groups<RowSide::mixed>(own, some, first);
        }
    }
}

// Returns the position of the thread's key.
HR_FN u32 place_among_all(BlockKeys& own) {
    __syncthreads();
    const bool has_key = threadIdx.x < block_keys;
    if (has_key) own.upto[threadIdx.x] = tile::scan_warp<Sum<u32>>(own.gap[slot_of(threadIdx.x)]);
    __syncthreads();
    if (!has_key) return 0;
    const u32 place = own.place[threadIdx.x];
    u32 at = place + own.upto[place];
    for (u32 last = lanes - 1; last < place / lanes * lanes; last += lanes) at += own.upto[last];
    return at;
}

extern "C" __global__ void __launch_bounds__(threads, 1)
    rank_sort(u32 count, KeyRule<Key> rule, SortArrays arrays, u32 writes_keys, tile::Counters* counters) {
    __shared__ BlockKeys own;
    const InputKeys given = {static_cast<const Key*>(arrays.keys.source), count, rule};
    const u32 row = blockIdx.x * block_keys + threadIdx.x;
    const bool has_row = threadIdx.x < block_keys && row < count;
    const u32 batches = (count + lanes * groups_at_once - 1) / (lanes * groups_at_once);
    const u32 share = (batches + warps - 1) / warps * groups_at_once, first = tile::warp() * share;
    const u32 last = first + share < batches * groups_at_once ? first + share : batches * groups_at_once;
    Code next_codes[groups_at_once];
    given.load(next_codes, first);
    Key key = {};
    uint4 item = {};
    if (has_row && writes_keys != 0) key = given.keys[row];
    if (has_row && arrays.columns != 0) item = item_of(arrays.column[0], row);
    order_own(own, has_row ? given.code(row) : ~Code{0});
    count_all(own, given, next_codes, first, last);
    const u32 at = place_among_all(own);

    GridBarrier barrier(counters);
    bool has_waited = writes_keys != 0 && in_place(arrays.keys);
    has_waited |= arrays.columns != 0 && in_place(arrays.column[0]);
    if (has_waited) barrier.arrive_and_wait();
    if (has_row && writes_keys != 0) static_cast<Key*>(arrays.keys.target)[at] = key;
#pragma unroll 1
    for (u32 c = 0; c < arrays.columns; ++c) {
        if (c != 0) {
            if (has_row) item = item_of(arrays.column[c], row);
            if (in_place(arrays.column[c])) barrier.arrive_and_wait();
            has_waited |= in_place(arrays.column[c]);
        }
        if (has_row) put_item(arrays.column[c], at, item);
    }
    if (has_waited) barrier.end();
}
