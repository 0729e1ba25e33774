// Counts and copies the visible pairs of ranges, a thread for each range. Levels with a guide are read one after
// another if the range is short (short_range.cuh). Else all levels are walked through at once (level.hpp). A walk
// longer than `longest` items ends early and sets a flag. The caller then merges all levels into a clean one. There a
// count is the difference of two ranks, and many threads copy a range.
//
// Bytes moved per range: its keys, its result and the sectors of its items in each level. A halving that is not in a
// cache moves a sector of 32 bytes.
#include "gpu/block/block.cuh"
#include "gpu/block/partition_point.cuh"
#include "index/sorted_map/gpu/short_range.cuh"

using namespace headrace;

using Code = HR_CODE;
constexpr u32 threads = HR_THREADS;

HR_FN u64 item_of_thread() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }

// Returns the number of items of a range in the only level, which is clean.
HR_FN i64 clean_count(const MapLevels& levels, const CodeRange<Code>& range) {
    if (levels.count == 0) return 0;
    const MapLevel& level = levels.level[0];
    return static_cast<i64>(rank_in_level(level, range.high, 1) - rank_in_level(level, range.low, 0));
}

// Returns the number of visible pairs of a short range; -1 if it is not short.
HR_FN i64 short_count(const MapLevels& levels, const CodeRange<Code>& range) {
    __shared__ ShortRanges<Code, threads> gathered;
    i64 deleted = 0;
    const i32 found = gather_codes(levels, range, gathered, [&](u32, const MapItem& item) {
        deleted += is_tombstone(levels.level[item.level], item.at) ? 1 : 0;
    });
    return found < 0 ? -1 : found - deleted;
}

extern "C" __global__ void __launch_bounds__(threads)
    count_ranges(const __grid_constant__ MapLevels levels, const Code* lows, const Code* highs, u64 count,
                 KeyRule<Code> rule, u64 longest, i64* counts, u32* is_long) {
    const u64 i = item_of_thread();
    if (i >= count) return;
    const CodeRange<Code> range{rule.equal_code(lows[i]), rule.equal_code(highs[i])};
    i64 found = 0;
    if (range.low <= range.high && levels.is_clean != 0) {
        found = clean_count(levels, range);
    } else if (range.low <= range.high) {
        if (levels.guide.codes != nullptr) found = short_count(levels, range);
        if (levels.guide.codes == nullptr || found < 0) {
            u64 at[max_levels];
            begin_walk(levels, range.low, 0, at);
            found = count_codes(levels, range.high, at, longest);
            if (found < 0) *is_long = 1;
        }
    }
    counts[i] = found;
}

// The codes of the short ranges of a block, and the items that decide about them.
struct ShortItems {
    ShortRanges<Code, threads> gathered;
    u32 position[short_codes<Code>][threads];
    u8 level[short_codes<Code>][threads];  // max_levels for a tombstone
};

// Gathers the items of a short range, and returns their number; -1 if the range is not short. Counts the visible pairs.
HR_FN i32 gather_items(const MapLevels& levels, const CodeRange<Code>& range, ShortItems& items, u32& pairs) {
    return gather_codes(levels, range, items.gathered, [&](u32 k, const MapItem& item) {
        const bool is_deleted = is_tombstone(levels.level[item.level], item.at);
        items.position[k][threadIdx.x] = static_cast<u32>(item.at);
        items.level[k][threadIdx.x] = static_cast<u8>(is_deleted ? max_levels : item.level);
        pairs += is_deleted ? 0 : 1;
    });
}

// Copies the visible pairs of a short range, each to the place of its rank.
HR_FN void copy_short(const MapLevels& levels, const ShortItems& items, i32 found, const KeyRule<Code>& rule, u64 place,
                      Code* keys, void* values) {
    for (i32 k = 0; k < found; ++k) {
        const Code code = items.gathered.code[k][threadIdx.x];
        const u32 number = items.level[k][threadIdx.x];
        if (number == max_levels) continue;
        u64 to = place;
        for (i32 i = 0; i < found; ++i) {
            to += items.gathered.code[i][threadIdx.x] < code && items.level[i][threadIdx.x] != max_levels ? 1 : 0;
        }
        keys[to] = key_of(rule, code);
        copy_value(levels.level[number].values, items.position[k][threadIdx.x], values, to, levels.value_width);
    }
}

// Copies the visible pairs of a range to places that follow each other, by a walk.
HR_FN void copy_walk(const MapLevels& levels, const CodeRange<Code>& range, const KeyRule<Code>& rule, u64 place,
                     Code* keys, void* values) {
    u64 at[max_levels];
    begin_walk(levels, range.low, 0, at);
    visit_codes(levels, range.high, at, [&](const MapItem& item, bool is_pair) {
        if (!is_pair) return true;
        keys[place] = key_of(rule, code_at<Code>(levels, item));
        copy_value(levels.level[item.level].values, item.at, values, place, levels.value_width);
        ++place;
        return true;
    });
}

constexpr u32 block_pairs = threads * short_codes<Code>;

// Returns the number of visible pairs of a range; more than block_pairs if its walk is longer than `longest`.
HR_FN u32 walked_pairs(const MapLevels& levels, const CodeRange<Code>& range, u64 longest) {
    u64 at[max_levels];
    begin_walk(levels, range.low, 0, at);
    const i64 found = count_codes(levels, range.high, at, longest);
    return found < 0 || found > block_pairs ? block_pairs + 1 : static_cast<u32>(found);
}

// Counts the pairs of ranges and copies them, those of a block one after another from item block * block_pairs on. If
// they are more, the counts of the block are negative, and larger than those of all other blocks together.
extern "C" __global__ void __launch_bounds__(threads)
    gather_ranges(const __grid_constant__ MapLevels levels, const Code* lows, const Code* highs, u64 count,
                  KeyRule<Code> rule, u64 longest, i64* counts, Code* keys, void* values) {
    __shared__ ShortItems items;
    __shared__ u32 totals[threads / tile::lanes];
    const u64 i = item_of_thread();
    CodeRange<Code> range{1, 0};
    if (i < count) range = {rule.equal_code(lows[i]), rule.equal_code(highs[i])};
    i32 found = 0;
    u32 pairs = 0;
    if (range.low <= range.high) found = gather_items(levels, range, items, pairs);
    if (found < 0) pairs = walked_pairs(levels, range, longest);
    const u32 joined = tile::scan_warp<Sum<u32>>(pairs);
    const auto warps = tile::scan_warps<Sum<u32>, threads>(tile::shuffle(joined, tile::lanes - 1), totals);
    if (i < count) counts[i] = warps.total > block_pairs ? -(i64{1} << 36) : pairs;
    if (warps.total > block_pairs) return;
    const u64 place = static_cast<u64>(blockIdx.x) * block_pairs + warps.before + joined - pairs;
    if (found < 0) {
        copy_walk(levels, range, rule, place, keys, values);
    } else {
        copy_short(levels, items, found, rule, place, keys, values);
    }
}

// Copies the pairs that gather_ranges has left for each block to their places.
extern "C" __global__ void __launch_bounds__(threads)
    copy_gathered(u64 count, const i64* offsets, const Code* from_keys, const void* from_values, u32 value_width,
                  Code* keys, void* values) {
    const u64 first = static_cast<u64>(blockIdx.x) * threads, last = first + threads;
    const u64 begin = static_cast<u64>(offsets[first]), end = static_cast<u64>(offsets[last < count ? last : count]);
    const u64 from = static_cast<u64>(blockIdx.x) * block_pairs;
    for (u64 i = threadIdx.x; i < end - begin; i += threads) {
        keys[begin + i] = from_keys[from + i];
        copy_value(from_values, from + i, values, begin + i, value_width);
    }
}

extern "C" __global__ void __launch_bounds__(threads)
    copy_ranges(const __grid_constant__ MapLevels levels, const Code* lows, const Code* highs, u64 count,
                KeyRule<Code> rule, const i64* offsets, Code* keys, void* values) {
    __shared__ ShortItems items;
    const u64 i = item_of_thread();
    if (i >= count) return;
    const CodeRange<Code> range{rule.equal_code(lows[i]), rule.equal_code(highs[i])};
    if (range.low > range.high) return;
    const u64 place = static_cast<u64>(offsets[i]);
    if (levels.guide.codes != nullptr) {
        u32 pairs = 0;
        const i32 found = gather_items(levels, range, items, pairs);
        if (found >= 0) return copy_short(levels, items, found, rule, place, keys, values);
    }
    copy_walk(levels, range, rule, place, keys, values);
}

// Writes the position of the first item of each range in a clean level.
extern "C" __global__ void __launch_bounds__(threads)
    begin_ranges(const __grid_constant__ MapLevels levels, const Code* lows, u64 count, KeyRule<Code> rule,
                 u64* begins) {
    const u64 i = item_of_thread();
    if (i >= count) return;
    const MapLevel& level = levels.level[0];
    begins[i] = rank_in_level(level, rule.equal_code(lows[i]), 0);
}

// Copies the items of ranges of a clean level, a thread for each of `items` items.
extern "C" __global__ void __launch_bounds__(threads)
    copy_clean_ranges(const __grid_constant__ MapLevels levels, u64 items, KeyRule<Code> rule, const u64* begins,
                      u64 count, const i64* offsets, Code* keys, void* values) {
    const u64 place = item_of_thread();
    if (place >= items) return;
    const u64 after = tile::partition_point(0, count, [&](u64 i) { return static_cast<u64>(offsets[i]) <= place; });
    const MapLevel& level = levels.level[0];
    const u64 at = begins[after - 1] + place - static_cast<u64>(offsets[after - 1]);
    keys[place] = key_of(rule, codes_of<Code>(level)[at]);
    copy_value(level.values, at, values, place, levels.value_width);
}
