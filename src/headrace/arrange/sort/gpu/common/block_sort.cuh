// Sorts keys that a block has in registers by their low bits, digit by digit, and tracks the row of each key. A warp's
// keys are consecutive. A pass is that of onesweep_pass.cu, except that the tile stays in the block: ranks by ballots,
// an exchange through shared memory. Digits that all keys share are skipped. If a bucket fills a third of the tile,
// each warp has a third of its rows. A pass then takes a third of the instructions. Source: Stehle and Jacobsen 2017,
// section 4.4, "local sort".
//
// Columns are gathered by row at the end, whatever their width: the rows of a block are close together in memory.
#pragma once
#include "arrange/sort/gpu/common/digit.cuh"
#define HR_PLACES by_look_back
#include "arrange/sort/gpu/common/arrays.cuh"

namespace headrace {

// The keys of a tile and their rows in shared memory, in its first tile_keys x (sizeof(Key) + 2) bytes.
struct BlockStorage {
    Key* keys;
    u16* rows;
    SplitShared& shared;

    HR_MEMBER static BlockStorage in(void* memory) {
        u8* const bytes = static_cast<u8*>(memory);
        constexpr u32 keys = tile_keys * sizeof(Key), rows = with_values ? tile_keys * 2 : 0;
        return {reinterpret_cast<Key*>(bytes), reinterpret_cast<u16*>(bytes + keys),
                *reinterpret_cast<SplitShared*>(bytes + keys + rows)};
    }
};

// The rows of a warp that have keys. Their number is even: ranks are computed in pairs.
struct PartRows {
    u32 rounds;

    HR_MEMBER static PartRows of(u32 count) { return {((count - 1) / threads + 2) / 2 * 2}; }
    HR_MEMBER bool has(u32 j) const { return j < rounds; }
    // Returns the position of a lane's item j in the bucket.
    HR_MEMBER u32 place(u32 j) const { return (tile::warp() * rounds + j) * tile::lanes + tile::lane(); }
};

// Sets one 16-bit half. Items are set in ascending order.
HR_FN void set_half(u32 (&halves)[items / 2], u32 j, u32 value) {
    halves[j / 2] = j % 2 == 0 ? value : halves[j / 2] | value << 16;
}

// Counts digits as count_digits of split_tile.cuh does, for the rows that have keys. Missing keys count as the last
// digit.
HR_FN DigitRun count_part(const Key (&key)[items], const SplitWork& work, u32 count, const PartRows& own) {
    u32* const counters = cleared_counters(work);
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (!own.has(j)) continue;
        atomicAdd(counters + (own.place(j) < count ? work.digit.of(key[j]) : digits - 1), 1u);
    }
    __syncthreads();
    DigitRun found = scan_digits(work, {0, count});
    if (threadIdx.x == digits - 1) found.count += tile_keys - own.rounds * threads;
    return found;
}

// Ranks keys by their digit; `key` and `row` return in the digit's order.
HR_FN void exchange(Key (&key)[items], u32 (&row)[items / 2], const SplitWork& work, u32 count, const PartRows& own,
                    u16* rows) {
#pragma unroll
    for (u32 first = 0; first < items; first += 2) {
        if (!own.has(first)) continue;
        rank_items<2>(
            work.shared.next[tile::warp()],
            [&](u32 j) { return own.place(first + j) < count ? work.digit.of(key[first + j]) : digits - 1; },
            [&](u32 j, u32 at) {
                work.staging[at] = key[first + j];
                if constexpr (with_values) rows[at] = static_cast<u16>(half_of(row, first + j));
            });
        __syncwarp();  // counters are as the next pair expects them
    }
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (!own.has(j)) continue;
        key[j] = work.staging[own.place(j)];
        if constexpr (with_values) set_half(row, j, rows[own.place(j)]);
    }
}

// Sorts the first `count` keys by their lowest `low_bits` bits. Keys are in the rows that PartRows describes. All
// threads call it; it contains barriers.
HR_FN void sort_block(Key (&key)[items], u32 (&row)[items / 2], const BlockStorage& staging, const KeyRule<Key>& rule,
                      u32 count, u32 low_bits) {
    const PartRows own = PartRows::of(count);
    const Columns columns = {};
    const SplitPlaces places = {};
#pragma unroll 1
    for (u32 shift = 0; shift < low_bits; shift += bits) {
        const Digit digit = digit_at_shift(rule, shift, low_bits - shift < bits ? low_bits - shift : bits);
        const SplitWork work{nullptr, nullptr, 0, digit, places, columns, staging.shared, staging.keys};
        const DigitRun found = count_part(key, work, count, own);
        if (__syncthreads_or(threadIdx.x < digits && found.count == count) != 0) continue;
        exchange(key, row, work, count, own, staging.rows);
    }
}

// Source rows of a block's items, of which the first has position `begin`.
struct Fetch {
    const u16* rows;
    void* stage;  // for each item, space as wide as a key
    u64 begin;
    u32 count;
};

template <class Item>
HR_FN void fetch_apart(const void* from, void* to, const Fetch& fetch) {
    const Item* const in = static_cast<const Item*>(from) + fetch.begin;
    Item* const out = static_cast<Item*>(to) + fetch.begin;
#pragma unroll 4
    for (u32 at = threadIdx.x; at < fetch.count; at += threads) out[at] = in[fetch.rows[at]];
}

// Gathers in place: all words of a plane are read before one is written. Items wider than a key are several planes.
template <class Word>
HR_FN void fetch_planes(void* items_there, u32 planes, const Fetch& fetch) {
    if constexpr (sizeof(Word) <= sizeof(Key)) {
        Word* const stage = static_cast<Word*>(fetch.stage);
        Word* const words = static_cast<Word*>(items_there) + fetch.begin * planes;
#pragma unroll 1
        for (u32 plane = 0; plane < planes; ++plane) {
#pragma unroll 4
            for (u32 at = threadIdx.x; at < fetch.count; at += threads)
                stage[at] = words[fetch.rows[at] * planes + plane];
            __syncthreads();
#pragma unroll 4
            for (u32 at = threadIdx.x; at < fetch.count; at += threads) words[at * planes + plane] = stage[at];
            __syncthreads();
        }
    }
}

template <class Row>
HR_FN void put_rows(void* to, const Fetch& fetch) {
    Row* const out = static_cast<Row*>(to) + fetch.begin;
    for (u32 at = threadIdx.x; at < fetch.count; at += threads)
        out[at] = static_cast<Row>(fetch.begin + fetch.rows[at]);
}

HR_FN void fetch_column(const MovedColumn& moved, const PassStep& step, const Fetch& fetch) {
    const void* const from = moved.from(step.from);
    void* const to = moved.to(step.to);
    const u32 width = moved.width;
    if (from == nullptr) {
        if (width == 4) put_rows<u32>(to, fetch);
        if (width == 8) put_rows<u64>(to, fetch);
    } else if (from != to) {
        if (width == 1) fetch_apart<u8>(from, to, fetch);
        if (width == 2) fetch_apart<u16>(from, to, fetch);
        if (width == 4) fetch_apart<u32>(from, to, fetch);
        if (width == 8) fetch_apart<u64>(from, to, fetch);
        if (width == 16) fetch_apart<uint4>(from, to, fetch);
    } else {
        const u32 word = width < sizeof(Key) ? width : static_cast<u32>(sizeof(Key));
        if (word == 1) fetch_planes<u8>(to, width, fetch);
        if (word == 2) fetch_planes<u16>(to, width / 2, fetch);
        if (word == 4) fetch_planes<u32>(to, width / 4, fetch);
        if (word == 8) fetch_planes<u64>(to, width / 8, fetch);
    }
}

}  // namespace headrace
