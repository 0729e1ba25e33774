// Defines the position of a key in a sorted array, and where runs of equal keys begin. CPU and GPU compare keys by
// their equal codes (sort_key.hpp): NaN are last and equal each other, and -0 equals 0. For example:
//
//   sorted keys 1 3 3 7: before the key 3 is 1 key, up to and with it are 3; runs begin at 0, 1 and 3
#pragma once
#include "arrange/sort/sort_key.hpp"

HR_BEGIN_NAMESPACE

// A search in sorted keys. Positions count keys before a key, and keys equal to it if `after_equal`. If `from_end`,
// the position is subtracted from `count`.
struct SearchOptions {
    u32 after_equal;
    u32 from_end;
};

HR_FN i64 result_position(u64 position, u64 count, const SearchOptions& options) {
    return static_cast<i64>(options.from_end != 0 ? count - position : position);
}

// Returns whether a key of code `found` is before the position that is searched.
template <class Bits>
HR_FN bool is_before(Bits found, Bits wanted, u32 after_equal) {
    return found < wanted || (after_equal != 0 && found == wanted);
}

// One halving of the search: `length` > 1 candidates begin at `low`. Returns where the remaining `length` - `length` /
// 2 candidates begin. Each search in the same keys has the same halvings, so several searches can run side by side.
template <class Bits, class Rule>
HR_FN u64 halve(const Bits* sorted, u64 low, u64 length, Bits wanted, const Rule& rule, u32 after_equal) {
    const u64 half = length / 2;
    return low + (is_before(rule.equal_code(sorted[low + half - 1]), wanted, after_equal) ? half : 0);
}

// Returns whether key `i` differs from the key before it. The first key does.
template <class Bits>
HR_FN bool begins_run(const Bits* keys, u64 i, const KeyRule<Bits>& rule) {
    return i == 0 || rule.equal_code(keys[i]) != rule.equal_code(keys[i - 1]);
}

HR_END_NAMESPACE
