// Counts and copies the visible pairs of ranges, a thread for each range: a walk through all levels (level.hpp). A walk
// longer than `longest` items ends early and sets a flag. The caller then merges all levels into a clean one. There a
// count is the difference of two ranks, and many threads copy a range.
//
// Bytes moved per range: its keys, its result and the sectors of its items in each level. A halving that is not in a
// cache moves a sector of 32 bytes.
#include "gpu/block/partition_point.cuh"
#include "index/sorted_map/level.hpp"

using namespace headrace;

using Code = HR_CODE;
constexpr u32 threads = HR_THREADS;

static __device__ __forceinline__ u64 item_of_thread() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }

// Returns the number of items of a range in the only level, which is clean.
static __device__ __forceinline__ i64 clean_count(const MapLevels& levels, const CodeRange<Code>& range) {
    if (levels.count == 0) return 0;
    const MapLevel& level = levels.level[0];
    return static_cast<i64>(rank_in_level(level, range.high, 1) - rank_in_level(level, range.low, 0));
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
        u64 at[max_levels];
        begin_walk(levels, range.low, 0, at);
        found = count_codes(levels, range.high, at, longest);
        if (found < 0) *is_long = 1;
    }
    counts[i] = found;
}

extern "C" __global__ void __launch_bounds__(threads)
    copy_ranges(const __grid_constant__ MapLevels levels, const Code* lows, const Code* highs, u64 count,
                KeyRule<Code> rule, const i64* offsets, Code* keys, void* values) {
    const u64 i = item_of_thread();
    if (i >= count) return;
    const CodeRange<Code> range{rule.equal_code(lows[i]), rule.equal_code(highs[i])};
    if (range.low > range.high) return;
    u64 at[max_levels];
    begin_walk(levels, range.low, 0, at);
    u64 place = static_cast<u64>(offsets[i]);
    visit_codes(levels, range.high, at, [&](const MapItem& item, bool is_pair) {
        if (!is_pair) return true;
        keys[place] = key_of(rule, code_at<Code>(levels, item));
        copy_value(levels.level[item.level].values, item.at, values, place, levels.value_width);
        ++place;
        return true;
    });
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
