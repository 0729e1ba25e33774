// Counts and copies the visible pairs of ranges, a thread for each range. Levels with a guide are read one after
// another if the range is short (short_range.cuh). Else all levels are walked through at once (level.hpp). A walk
// longer than `longest` items ends early and sets a flag. The caller then merges all levels into a clean one. There a
// count is the difference of two ranks, and many threads copy a range.
//
// Bytes moved per range: its keys, its result and the sectors of its items in each level. A halving that is not in a
// cache moves a sector of 32 bytes.
#include "gpu/block/partition_point.cuh"
#include "index/sorted_map/gpu/short_range.cuh"

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

// Returns the number of visible pairs of a short range; -1 if it is not short.
static __device__ __forceinline__ i64 short_count(const MapLevels& levels, const CodeRange<Code>& range) {
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

// Copies the visible pairs of a short range, each to the place of its rank. Returns false if the range is not short.
static __device__ __forceinline__ bool copy_short(const MapLevels& levels, const CodeRange<Code>& range,
                                                  const KeyRule<Code>& rule, u64 place, Code* keys, void* values) {
    __shared__ ShortRanges<Code, threads> gathered;
    __shared__ u32 positions[short_codes<Code>][threads];
    __shared__ u8 numbers[short_codes<Code>][threads];  // of levels; max_levels for a tombstone
    const i32 found = gather_codes(levels, range, gathered, [&](u32 k, const MapItem& item) {
        positions[k][threadIdx.x] = static_cast<u32>(item.at);
        const bool is_deleted = is_tombstone(levels.level[item.level], item.at);
        numbers[k][threadIdx.x] = static_cast<u8>(is_deleted ? max_levels : item.level);
    });
    if (found < 0) return false;
    for (i32 k = 0; k < found; ++k) {
        const Code code = gathered.code[k][threadIdx.x];
        const u32 number = numbers[k][threadIdx.x];
        if (number == max_levels) continue;
        u64 to = place;
        for (i32 i = 0; i < found; ++i) {
            to += gathered.code[i][threadIdx.x] < code && numbers[i][threadIdx.x] != max_levels ? 1 : 0;
        }
        keys[to] = key_of(rule, code);
        copy_value(levels.level[number].values, positions[k][threadIdx.x], values, to, levels.value_width);
    }
    return true;
}

extern "C" __global__ void __launch_bounds__(threads)
    copy_ranges(const __grid_constant__ MapLevels levels, const Code* lows, const Code* highs, u64 count,
                KeyRule<Code> rule, const i64* offsets, Code* keys, void* values) {
    const u64 i = item_of_thread();
    if (i >= count) return;
    const CodeRange<Code> range{rule.equal_code(lows[i]), rule.equal_code(highs[i])};
    if (range.low > range.high) return;
    u64 place = static_cast<u64>(offsets[i]);
    if (levels.guide.codes != nullptr && copy_short(levels, range, rule, place, keys, values)) return;
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
