// Writes a tile that is sorted in shared memory to the result, then sorts and writes the values at the same positions.
// Bytes moved: values in, keys and values out.
#pragma once
#include "arrange/multisplit/gpu/split_tile.cuh"

namespace headrace {

// Writes the sorted keys of a tile; if values follow, also keeps the digit of each position.
template <bool whole>
HR_FN void write_keys(const SplitWork& work, const SplitTile& tile) {
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (!whole && j * threads + threadIdx.x >= tile.count) continue;
        const Key key = read(work.staging, j);
        const u32 digit = work.digit.of(key);
        if constexpr (with_values) work.digit_bytes()[j * threads + threadIdx.x] = static_cast<u8>(digit);
        write(work.out, work.shared.to[digit], j, key);
    }
}

// Writes the sorted values at positions [first, end) of the tile; `values_there` has the value of position `first`.
template <bool whole, bool all, class Value>
HR_FN void write_values(const SplitWork& work, const Value* values_there, Value* out, const SplitTile& tile, u32 first,
                        u32 end) {
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 at = j * threads + threadIdx.x;
        if ((whole || at < tile.count) && (all || (at >= first && at < end))) {
            write(out, work.shared.to[work.digit_bytes()[at]], j, values_there[at - first]);
        }
    }
}

// Moves the values of a column, as many at a time as shared memory has space for; each thread loads a few at a time.
template <bool whole, class Value>
HR_FN void move_values(const SplitWork& work, u32 column, const SplitTile& tile, const u32 (&place)[items / 2]) {
    constexpr bool all = sizeof(Value) <= staged_item_bytes;
    constexpr u32 held = all ? tile_keys : tile_keys * staged_item_bytes / sizeof(Value);
    constexpr u32 group = all ? items : 2;
    u32 own[items / 2];  // a fresh copy per column: the compiler would keep derived values in registers across columns
#pragma unroll
    for (u32 i = 0; i < items / 2; ++i) forget(own[i] = place[i]);
    const Value* const in = static_cast<const Value*>(work.columns.from[column]) + tile.begin + item_place(0);
    Value* const there = reinterpret_cast<Value*>(work.staging);
#pragma unroll 1
    for (u32 first = 0; first < tile_keys; first += held) {
        __syncthreads();  // the previous content is read
#pragma unroll
        for (u32 j = 0; j < items; j += group) {
            Value value[group];
#pragma unroll
            for (u32 k = 0; k < group; ++k) {
                const bool is_there = all || half_of(own, j + k) - first < held;
                if (is_there && (whole || item_place(j + k) < tile.count)) value[k] = in[(j + k) * tile::lanes];
            }
#pragma unroll
            for (u32 k = 0; k < group; ++k) {
                const u32 at = half_of(own, j + k) - first;
                if ((all || at < held) && (whole || item_place(j + k) < tile.count)) there[at] = value[k];
            }
        }
        __syncthreads();
        Value* const out = static_cast<Value*>(work.columns.to[column]);
        write_values<whole, all>(work, there, out, tile, first, first + held);
    }
}

// True if columns have one common width that shared memory takes at once. Then the values of a column are loaded while
// the keys or the previous column are written.
constexpr bool alike = only != 0 && !together;
static_assert(only <= staged_item_bytes || together);

struct PrefetchedValues {
    Value value[items];

    template <bool whole>
    HR_MEMBER void load(const SplitWork& work, const SplitTile& tile, u32 column) {
        load_items<whole>(value, static_cast<const Value*>(work.columns.from[column]), tile);
    }
};

// Moves all columns; the load of column 0 was issued before.
template <bool whole>
HR_FN void move_alike(const SplitWork& work, const SplitTile& tile, const u32 (&place)[items / 2],
                      PrefetchedValues& prefetched) {
    Value* const there = reinterpret_cast<Value*>(work.staging);
#pragma unroll 1
    for (u32 column = 0; column < work.columns.count; ++column) {
        __syncthreads();  // the previous content is read
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (whole || item_place(j) < tile.count) there[half_of(place, j)] = prefetched.value[j];
        }
        if (column + 1 < work.columns.count) prefetched.load<whole>(work, tile, column + 1);
        __syncthreads();
        write_values<whole, true>(work, there, static_cast<Value*>(work.columns.to[column]), tile, 0, tile_keys);
    }
}

template <bool whole>
HR_FN void move_columns(const SplitWork& work, const SplitTile& tile, const u32 (&place)[items / 2]) {
#pragma unroll 1
    for (u32 column = 0; column < work.columns.count; ++column) {
        const u32 width = work.columns.width[column];
        if (width == 4) move_values<whole, u32>(work, column, tile, place);
        if (width == 8) move_values<whole, u64>(work, column, tile, place);
        if (width == 1) move_values<whole, u8>(work, column, tile, place);
        if (width == 2) move_values<whole, u16>(work, column, tile, place);
        if (width == 16) move_values<whole, uint4>(work, column, tile, place);
    }
}

}  // namespace headrace
