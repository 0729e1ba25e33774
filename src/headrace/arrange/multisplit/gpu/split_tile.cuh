// Processes one tile of keys in registers. It counts the digits, computes the position of each key in the tile, and
// writes sorted items from shared memory. Bytes moved: values in, keys and values out.
#pragma once
#include "arrange/multisplit/gpu/split_place.cuh"
#include "arrange/multisplit/gpu/split_rank.cuh"
#include "gpu/block/block.cuh"

// Defaults: values move after their keys, positions have 64 bits, and counters are advanced by stores.
#if !defined(HR_TO)
#define HR_TO u64
#endif
#if !defined(HR_TOGETHER)
#define HR_TOGETHER 0
#endif
#if !defined(HR_RANK)
#define HR_RANK by_stores
#endif

namespace headrace {

constexpr u32 threads = HR_THREADS;
constexpr u32 items = HR_ITEMS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 tile_keys = threads * items;
// HR_VALUES: 0 without values, 1 for values of any widths, else their common width. Code for all five widths costs 200
// loads and stores of local memory per tile.
constexpr bool with_values = HR_VALUES != 0;
constexpr u32 only = HR_VALUES > 1 ? HR_VALUES : 0;
constexpr u32 value_bytes = 4;  // shared memory per key for a value

// With `together`, the values of one column are loaded and moved with their keys. No state is needed afterwards, and a
// pair of equal widths is one word in shared memory. Otherwise values move after the keys and reuse their shared
// memory, where a byte for each position has its digit.
constexpr bool together = HR_TOGETHER != 0;
constexpr u32 staged_item_bytes = together || sizeof(Key) > value_bytes || !with_values ? sizeof(Key) : value_bytes;
constexpr u32 item_bytes = staged_item_bytes + (together ? only : with_values ? 1 : 0);
constexpr u32 item_words = (sizeof(Key) + 3) / 4 + (together ? only / 4 : 0);  // registers per item during ranking

// True if the next tile is loaded while this one is written.
constexpr bool loads_ahead = !with_values || together;

// Output positions. 32 bits suffice for at most 2^32 - 2^17 keys, and halve the loads of `to` and the cost of address
// computation; `bias` keeps sums from going below 0.
using To = HR_TO;
constexpr u32 bias = sizeof(To) == 4 ? tile_keys : 0;
static_assert(!together || only == 4 || only == 8);
static_assert(threads >= digits && items % 2 == 0 && tile_keys <= 1 << 16);

struct SplitShared {
    To to[digits];            // output position of a digit's key, minus its position in the tile, plus `bias`
    u64 base[digits];         // output position of the chunk's next key of a digit
    u32 next[warps][digits];  // position in the tile of a warp's next key of a digit
    u32 totals[warps];
    u32 spare[tile::lanes];  // scratch words of rank_items
    u32 tile;
};

struct SplitWork {
    const Key* in;
    Key* out;
    u64 count;
    const Digit& digit;
    const SplitPlaces& places;
    const Columns& columns;
    SplitShared& shared;
    Key* staging;

    // Shared memory for values that move together with their keys.
    template <class Value>
    HR_MEMBER Value* value_staging() const {
        return reinterpret_cast<Value*>(staging + tile_keys);
    }
    HR_MEMBER u8* digit_bytes() const { return reinterpret_cast<u8*>(staging) + tile_keys * staged_item_bytes; }
};

// Hides the value of a word from the compiler, so that derived values such as digits are recomputed and not kept in
// registers.
template <class Word>
HR_FN void forget([[maybe_unused]] Word& word) {
#if defined(__CUDACC__)
    if constexpr (sizeof(Word) == 4) asm volatile("" : "+r"(word));
    if constexpr (sizeof(Word) == 8) asm volatile("" : "+l"(word));
#endif
}

// Returns SplitShared::to of a digit that starts at `start` in the tile and at `at` in the output.
HR_FN To target(u64 at, u32 start) { return static_cast<To>(at - start + bias); }

struct SplitTile {
    u64 begin;
    u32 count;  // keys
};

// Returns the position in the tile of item j of this lane.
HR_FN u32 item_place(u32 j) { return (tile::warp() * items + j) * tile::lanes + tile::lane(); }

// Loads the items of each lane; items beyond the end of the tile stay unchanged.
template <bool whole, class Item>
HR_FN void load_items(Item (&item)[items], const Item* in, const SplitTile& tile) {
    const Item* const mine = in + tile.begin + item_place(0);
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (whole || item_place(j) < tile.count) item[j] = mine[j * tile::lanes];
    }
}

// Returns the digit of key j. Keys beyond the end of the tile get the last digit, so they are sorted last.
template <bool whole>
HR_FN u32 digit_at(const Key (&key)[items], u32 j, const Digit& digit, const SplitTile& tile) {
    if (!whole && item_place(j) >= tile.count) return digits - 1;
    return digit.of(key[j]);
}

struct DigitRun {
    u32 start;  // position of the thread's digit in the tile
    u32 count;
};

// Returns the position of the thread's digit, which has `count` keys: the sum of the counts of preceding threads.
HR_FN u32 start_of(u32 count, SplitShared& shared) {
    const u32 upto = tile::scan_warp<Sum<u32>>(count);
    if (tile::lane() == tile::lanes - 1) shared.totals[tile::warp()] = upto;
    __syncthreads();
    const u32 before = tile::lane() < tile::warp() ? shared.totals[tile::lane()] : 0;
    return __reduce_add_sync(tile::all_lanes, before) + upto - count;
}

// Sums the counts of all warps for each digit, one thread per digit. Afterwards `next` has the position in the tile of
// each warp's first key of each digit.
HR_FN DigitRun scan_digits(const SplitWork& work, const SplitTile& tile) {
    SplitShared& shared = work.shared;
    const u32 d = threadIdx.x;
    // True if a thread has registers for the counts of all warps besides its items, of 65,536 per multiprocessor.
    constexpr bool keeps_counts = 65536 / (threads * HR_BLOCKS) >= warps + items * item_words + 36;
    u32 count = 0, of_warp[warps] = {};
    if (d < digits) {
#pragma unroll
        for (u32 w = 0; w < warps; ++w) count += of_warp[w] = shared.next[w][d];
    }
    const u32 start = start_of(count, shared);
    u32 own = d;
    forget(own);  // or the compiler duplicates the code below for threads with and without a digit
    if (own < digits) {
        u32 at = start;
#pragma unroll
        for (u32 w = 0; w < warps; ++w) {
            const u32 some = keeps_counts ? of_warp[w] : shared.next[w][d];
            shared.next[w][d] = at;
            at += some;
        }
    }
    return {start, d == digits - 1 ? count - (tile_keys - tile.count) : count};
}

// Called once, before a barrier.
HR_FN void clear_spare(SplitShared& shared) {
    if (threadIdx.x < tile::lanes) shared.spare[threadIdx.x] = 0;
}

HR_FN u32* cleared_counters(const SplitWork& work) {
    u32* const own = work.shared.next[tile::warp()];
    if constexpr (digits % (4 * tile::lanes) == 0) {
#pragma unroll
        for (u32 d = 0; d < digits; d += 4 * tile::lanes) {
            *reinterpret_cast<uint4*>(own + d + 4 * tile::lane()) = uint4{0, 0, 0, 0};
        }
    } else {
        for (u32 d = tile::lane(); d < digits; d += tile::lanes) own[d] = 0;
    }
    __syncwarp();
    return own;
}

template <bool whole>
HR_FN DigitRun count_digits(const Key (&key)[items], const SplitWork& work, const SplitTile& tile) {
    u32* const own = cleared_counters(work);
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const bool is_there = whole || item_place(j) < tile.count;
        const u32 offset = is_there ? work.digit.offset_of(key[j]) : 4 * (digits - 1);
        atomicAdd(reinterpret_cast<u32*>(reinterpret_cast<u8*>(own) + offset), 1u);
    }
    __syncthreads();
    return scan_digits(work, tile);
}

// Writes the thread's item j, of every `threads`-th position of the tile. `to`: SplitShared::to of its digit. `which`:
// number of the output array. With one index for two arrays, the compiler shares the product and adds it to both, which
// takes four instructions instead of two.
template <u32 which = 0, class Item>
HR_FN void write(Item* out, To to, u32 j, Item item) {
    (out + static_cast<To>(to + threadIdx.x + which))[static_cast<i64>(j * threads) - bias - which] = item;
}

// Returns the thread's item j from the sorted tile in shared memory.
template <class Item>
HR_FN Item read(const Item* there, u32 j) {
    return (there + threadIdx.x)[j * threads];
}

HR_FN u32 half_of(const u32 (&halves)[items / 2], u32 j) { return halves[j / 2] >> (j % 2 * 16) & 0xFFFF; }

}  // namespace headrace
