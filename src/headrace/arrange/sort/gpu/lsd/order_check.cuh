// Checks whether neighbours are in order, for keys that are loaded for another purpose. Once a warp has seen both a
// fall and a rise it stops checking; with keys in random order that is after its first tile.
#pragma once
#include "arrange/sort/gpu/common/device_plan.cuh"
#include "arrange/sort/gpu/common/digit.cuh"
#include "gpu/block/block.cuh"

namespace headrace {

constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 per = tile::per_vector<Key>;
constexpr u32 tile_keys = threads * rows * per;

// The type that shuffles take.
using KeyWord = decltype(BitsAs<Key>::of(Key{}));

struct Input {
    const Key* keys;
    u64 count;
    KeyRule<Key> rule;
    bool changes;  // whether a code differs from its key

    HR_MEMBER Input(const Key* all, u64 number, const KeyRule<Key>& own)
        : keys(all), count(number), rule(own), changes((own.fold | own.toggle | own.plus | own.infinity) != 0) {}

    HR_MEMBER Key code(Key key) const { return with_equals ? rule.equal_code(key) : rule.code(key); }
};

// Codes of a tile's keys; those of missing keys are 0. The key after each lane's vector is the next lane's first. The
// key after the warp's last vector is loaded.
struct Codes {
    tile::Rows<Key, rows> some;

    HR_MEMBER void load(const Input& input, u64 at) {
        const i64 left = static_cast<i64>(input.count - at);
        const bool whole = tile::aligned(input.keys) && left >= tile_keys;
        tile::load_rows(some, input.keys + at, left, whole, Key{});
        if (!input.changes) return;
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
#pragma unroll
            for (u32 k = 0; k < per; ++k) some.row[row].item[k] = input.code(some.row[row].item[k]);
        }
    }

    HR_MEMBER void compare_neighbours(const Input& input, u64 at, Disorder& found, bool equal_rises) const {
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
            const u64 first = at + tile::row_begin<Key, rows>(row);
            const KeyWord word = static_cast<KeyWord>(some.row[row].item[0]);
            Key following = static_cast<Key>(tile::shuffle_down(word, 1));
            if (tile::lane() == tile::lanes - 1 && first + per < input.count)
                following = input.code(input.keys[first + per]);
#pragma unroll
            for (u32 k = 0; k < per; ++k) {
                const Key own = some.row[row].item[k];
                const Key next = k + 1 < per ? some.row[row].item[k + 1 < per ? k + 1 : 0] : following;
                if (first + k + 1 >= input.count) continue;
                found.falls |= own > next;
                found.rises |= own < next || (equal_rises && own == next);
            }
        }
    }
};

// Whether the warp has seen a fall and a rise.
HR_FN bool has_both(const Disorder& found) {
    const bool falls = __any_sync(tile::all_lanes, found.falls != 0);
    return __any_sync(tile::all_lanes, found.rises != 0) != 0 && falls;
}

HR_FN void merge_disorder(const Disorder& found, Disorder* all) {
    const bool falls = __any_sync(tile::all_lanes, found.falls), rises = __any_sync(tile::all_lanes, found.rises);
    if (tile::lane() != 0) return;
    if (falls) tile::store_relaxed(&all->falls, 1u);
    if (rises) tile::store_relaxed(&all->rises, 1u);
}

}  // namespace headrace
