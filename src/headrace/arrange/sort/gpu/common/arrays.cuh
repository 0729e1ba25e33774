// Loads and writes what a pass moves of a tile: keys, and columns or row numbers. The first pass turns keys into
// codes, the last one codes into keys. A column of row numbers is computed, not read.
//
// One column of 4 or 8 bytes moves together with its keys, or follows them. Then it is loaded into the registers that
// keys leave while these are written. Other columns move after the keys. The digit of each place is kept in a byte of
// shared memory, so values can reuse the memory of the keys.
#pragma once
#include "arrange/sort/gpu/common/digit.cuh"
// After the digit, which defines the rule of the split.
#include "arrange/multisplit/gpu/split_pairs.cuh"
#include "arrange/sort/gpu/common/device_plan.cuh"

namespace headrace {

// Chooses the buffers of a pass, from item `begin` on. A source that is null stays null.
HR_FN void choose_columns(Columns& columns, const SortArrays& arrays, const PassStep& step, u64 begin) {
    if (threadIdx.x != 0) return;
    columns.count = arrays.columns;
#pragma unroll 1
    for (u32 c = 0; c < arrays.columns; ++c) {
        const MovedColumn& moved = arrays.column[c];
        const u8* const from = static_cast<const u8*>(moved.from(step.from));
        columns.from[c] = from == nullptr ? nullptr : from + begin * moved.width;
        columns.to[c] = moved.to(step.to);
        columns.width[c] = moved.width;
    }
}

// Returns the only column, if there is one. It is built from kernel arguments, so the compiler keeps it in constant
// memory.
HR_FN Columns column_beside(const SortArrays& arrays, const PassStep& step, u64 begin) {
    Columns beside = {};
    if constexpr (only != 0) {
        const Value* const from = static_cast<const Value*>(arrays.column[0].from(step.from));
        beside.from[0] = from == nullptr ? nullptr : from + begin;
        beside.to[0] = arrays.column[0].to(step.to);
    }
    return beside;
}

// Whether one column of known width follows its keys.
constexpr bool follows_early = only != 0 && !together;

// Bytes of shared memory for each place of a tile.
constexpr u32 place_bytes = sizeof(Key) + (together ? only : with_values ? 1 : 0);

// Loads a tile whose first item has position `begin` among all.
template <bool whole>
HR_FN void load_moved(Loaded& loaded, const SplitWork& work, const SplitTile& tile, u64 begin) {
    if (!together || work.columns.from[0] != nullptr) return load_tile<whole>(loaded, work, tile);
    load_items<whole>(loaded.key, work.in, tile);
    u32 first = static_cast<u32>(begin) + item_place(0);
    forget(first);  // otherwise the compiler keeps the row numbers of all items
#pragma unroll
    for (u32 j = 0; j < items; ++j) loaded.value[together ? j : 0] = first + j * tile::lanes;
}

// Turns keys into codes, in the first pass.
HR_FN void make_codes([[maybe_unused]] Key (&key)[items], [[maybe_unused]] const KeyRule<Key>& rule,
                      [[maybe_unused]] bool is_first) {
    if constexpr (!with_equals) {
        if (!is_first) return;
#pragma unroll
        for (u32 j = 0; j < items; ++j) key[j] = rule.code(key[j]);
    }
}

HR_FN u8* digits_of_places(const SplitWork& work) { return reinterpret_cast<u8*>(work.staging + tile_keys); }

template <bool whole, class Decode>
HR_FN void write_keys_as(const SplitWork& work, const SplitTile& tile, const Decode& decode) {
    const bool writes = work.out != nullptr;
    if (!with_values && !writes) return;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 at = j * threads + threadIdx.x;
        if (!whole && at >= tile.count) continue;
        const Key key = read(work.staging, j);
        const u32 digit = work.digit.of(key);
        if constexpr (with_values) digits_of_places(work)[at] = static_cast<u8>(digit);
        if (writes) write(work.out, work.shared.to[digit], j, decode(key));
    }
}

template <bool whole, class Decode>
HR_FN void write_moved_as(const SplitWork& work, const SplitTile& tile, const Decode& decode) {
    if constexpr (!together) {
        write_keys_as<whole>(work, tile, decode);
    } else if (work.out != nullptr) {
        write_pairs<whole>(work, tile, decode);
    } else {
        write_pairs<whole, false>(work, tile, decode);
    }
}

// Writes codes, in the last pass as keys, and values that move together with them.
template <bool whole>
HR_FN void write_moved(const SplitWork& work, const SplitTile& tile, const KeyRule<Key>& rule, bool is_last) {
    if (with_equals || !is_last) return write_moved_as<whole>(work, tile, [](Key key) { return key; });
    write_moved_as<whole>(work, tile, [&](Key key) { return rule.key(key); });
}

// Moves the items of one column, in as many rounds as shared memory requires. Without a source, items are row numbers
// from `begin` on.
template <bool whole, class Item>
HR_FN void move_column(const SplitWork& work, u32 column, const SplitTile& tile, const u32 (&place)[items / 2],
                       u32 begin) {
    constexpr bool all = sizeof(Item) <= sizeof(Key);
    constexpr u32 held = all ? tile_keys : tile_keys * sizeof(Key) / sizeof(Item);
    constexpr u32 group = all ? 8 : 2;  // loads in flight together
    u32 own[items / 2];                 // recomputed for each column
#pragma unroll
    for (u32 i = 0; i < items / 2; ++i) forget(own[i] = place[i]);
    const Item* const in = static_cast<const Item*>(work.columns.from[column]);
    Item* const out = static_cast<Item*>(work.columns.to[column]);
    Item* const there = reinterpret_cast<Item*>(work.staging);
    const u8* const digit = digits_of_places(work);
#pragma unroll 1
    for (u32 first = 0; first < tile_keys; first += held) {
        __syncthreads();  // the preceding contents are read
#pragma unroll
        for (u32 j = 0; j < items; j += group) {
            Item item[group];
#pragma unroll
            for (u32 k = 0; k < group && j + k < items; ++k) {
                const bool fits = all || half_of(own, j + k) - first < held;
                if (!fits || (!whole && item_place(j + k) >= tile.count)) continue;
                if constexpr (sizeof(Item) == 4) {
                    item[k] = in == nullptr ? begin + item_place(j + k) : in[tile.begin + item_place(j + k)];
                } else {
                    item[k] = in[tile.begin + item_place(j + k)];
                }
            }
#pragma unroll
            for (u32 k = 0; k < group && j + k < items; ++k) {
                const u32 at = half_of(own, j + k) - first;
                if ((all || at < held) && (whole || item_place(j + k) < tile.count)) there[at] = item[k];
            }
        }
        __syncthreads();
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            const u32 at = j * threads + threadIdx.x;
            const bool is_here = all || at - first < held;
            if (is_here && (whole || at < tile.count)) write(out, work.shared.to[digit[at]], j, there[at - first]);
        }
    }
}

// Values that follow their keys; their loads are in flight from the time keys are in shared memory.
struct Following {
    Value value[follows_early ? items : 1];

    // Loads the values of a tile whose first item has position `begin` among all. Without a source, they are row
    // numbers.
    template <bool whole>
    HR_MEMBER void load(const SplitWork& work, const SplitTile& tile, u64 begin) {
        const Value* const in = static_cast<const Value*>(work.columns.from[0]);
        if (in != nullptr) return load_items<whole>(value, in, tile);
#pragma unroll
        for (u32 j = 0; j < items; ++j) value[j] = static_cast<Value>(begin + item_place(j));
    }
    // Writes values where their keys went, after these.
    template <bool whole>
    HR_MEMBER void write_out(const SplitWork& work, const SplitTile& tile, const u32 (&place)[items / 2]) const {
        Value* const there = reinterpret_cast<Value*>(work.staging);
        Value* const out = static_cast<Value*>(work.columns.to[0]);
        const u8* const digit = digits_of_places(work);
        __syncthreads();  // keys are read
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (whole || item_place(j) < tile.count) there[half_of(place, j)] = value[j];
        }
        __syncthreads();
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            const u32 at = j * threads + threadIdx.x;
            if (whole || at < tile.count) write(out, work.shared.to[digit[at]], j, read(there, j));
        }
    }
};

template <bool whole>
HR_FN void move_all(const SplitWork& work, const SplitTile& tile, const u32 (&place)[items / 2], u64 begin) {
    const u32 first = static_cast<u32>(begin + tile.begin);
#pragma unroll 1
    for (u32 c = 0; c < work.columns.count; ++c) {
        const u32 width = work.columns.width[c];
        if (width == 4) move_column<whole, u32>(work, c, tile, place, first);
        if (width == 8) move_column<whole, u64>(work, c, tile, place, first);
        if (width == 1) move_column<whole, u8>(work, c, tile, place, first);
        if (width == 2) move_column<whole, u16>(work, c, tile, place, first);
        if (width == 16) move_column<whole, uint4>(work, c, tile, place, first);
    }
}

}  // namespace headrace
