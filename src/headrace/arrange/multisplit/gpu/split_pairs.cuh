// Moves the keys of a tile through registers and shared memory, together with the values of one column.
//
// Keys and values are loaded at once and stored at one position of shared memory (as one word if they have equal
// widths). They are written from there. If values moved after their keys, a tile would need twice the address
// computations, two barriers more, and a second wait for memory.
#pragma once
#include "arrange/multisplit/gpu/split_tile.cuh"

namespace headrace {

using Value = Either<only == 8, u64, u32>;

struct Loaded {
    Key key[items];
    Value value[together ? items : 1];
};

struct alignas(2 * sizeof(Key) > sizeof(Value) ? 2 * sizeof(Key) : sizeof(Value)) KeyAndValue {
    Key key;
    Value value;
};
constexpr bool one_word = sizeof(Key) == sizeof(Value);

template <bool whole>
HR_FN void load_tile(Loaded& loaded, const SplitWork& work, const SplitTile& tile) {
    load_items<whole>(loaded.key, work.in, tile);
    if constexpr (together) load_items<whole>(loaded.value, static_cast<const Value*>(work.columns.from[0]), tile);
}

HR_FN void put_pair(const SplitWork& work, u32 at, Key key, Value value) {
    if constexpr (one_word) {
        reinterpret_cast<KeyAndValue*>(work.staging)[at] = {key, value};
    } else {
        work.staging[at] = key;
        work.value_staging<Value>()[at] = value;
    }
}

// Stores the items of a thread at their positions in the tile; `place` keeps the positions for values that follow.
template <bool whole>
HR_FN void put_items(Loaded& loaded, const SplitWork& work, const SplitTile& tile, u32 (&place)[items / 2]) {
    Key(&key)[items] = loaded.key;
#pragma unroll
    for (u32 j = 0; j < items; ++j) forget(key[j]);
    rank_items<items, HR_RANK>(
        work.shared.next[tile::warp()], [&](u32 j) { return digit_at<whole>(key, j, work.digit, tile); },
        [&](u32 j, u32 at) {
            if constexpr (together) put_pair(work, at, key[j], loaded.value[j]);
            if constexpr (!together) work.staging[at] = key[j];
            if constexpr (with_values && !together) place[j / 2] |= at << (j % 2 * 16);
        },
        work.shared.spare);
}

HR_FN KeyAndValue read_pair(const SplitWork& work, u32 j) {
    if constexpr (one_word) return read(reinterpret_cast<const KeyAndValue*>(work.staging), j);
    return {read(work.staging, j), read(work.value_staging<Value>(), j)};
}

// Writes pairs, or values alone; `given(key)` converts a key that was moved to the key that is written.
template <bool whole, bool writes_keys = true, class Given>
HR_FN void write_pairs(const SplitWork& work, const SplitTile& tile, const Given& given) {
    Value* const out = static_cast<Value*>(work.columns.to[0]);
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (!whole && j * threads + threadIdx.x >= tile.count) continue;
        const KeyAndValue pair = read_pair(work, j);
        const To to = work.shared.to[work.digit.of(pair.key)];
        if constexpr (writes_keys) write(work.out, to, j, given(pair.key));
        write<1>(out, to, j, pair.value);
    }
}

}  // namespace headrace
