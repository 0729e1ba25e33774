// Merges one slice of two dictionaries, for CPU and GPU. (Krueger et al. 2011, section 3.1.) The main dictionary is cut
// into slices of equal size. The slice of the delta begins at the first value that is not smaller than the first main
// value of the slice. The first slice has all smaller values as well. For example, main 10 20 30 40 50 60 and delta
// 1 15 20 55 70 in three slices:
//
//   main 10 20 | 30 40 | 50 60      delta 1 15 20 | | 55 70
//
// The section of a slice in the intermediate dictionary begins at the sum of both begins. So it has enough memory for
// all values of the slice. (The paper gives each slice an equal section, which is too small for some slices.)
#pragma once
#include "store/dictionary/rules/merge.hpp"

HR_BEGIN_NAMESPACE

// Two dictionaries of numbers, and how many slices they are cut into.
template <class Bits>
struct SlicedPair {
    NumberPair<Bits> pair;
    u64 main_count;
    u64 delta_count;
    u64 slices;
};

// Begin of a slice in both dictionaries.
struct SliceBegin {
    u64 main;
    u64 delta;
};

// The intermediate dictionary, and positions in the slice for each value of both dictionaries.
template <class Bits>
struct SliceTarget {
    Bits* sections;
    u32* main_codes;
    u32* delta_codes;
};

// Returns the begin of slice `number`, or the end of the last one.
template <class Bits>
HR_FN SliceBegin begin_of_slice(const SlicedPair<Bits>& all, u64 number) {
    const u64 main = all.main_count * number / all.slices;
    if (number == 0) return {0, 0};
    if (number == all.slices) return {all.main_count, all.delta_count};
    u64 low = 0, high = all.delta_count;
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (main < all.main_count && all.pair.is_main_first(main, middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return {main, low};
}

// Merges the values from one begin to the next. Returns the number of distinct values.
template <class Bits>
HR_FN u32 merge_slice(const SlicedPair<Bits>& all, const SliceBegin& begin, const SliceBegin& end,
                      const SliceTarget<Bits>& to) {
    const NumberPair<Bits>& pair = all.pair;
    u64 i = begin.main, k = begin.delta;
    u32 found = 0;
    while (i < end.main || k < end.delta) {
        const bool has_both = i < end.main && k < end.delta;
        const bool takes_main = k == end.delta || (has_both && pair.is_main_first(i, k));
        const bool takes_delta = i == end.main || (has_both && (!takes_main || pair.is_equal(i, k)));
        to.sections[begin.main + begin.delta + found] = takes_main ? pair.main[i] : pair.delta[k];
        if (takes_main) to.main_codes[i++] = found;
        if (takes_delta) to.delta_codes[k++] = found;
        ++found;
    }
    return found;
}

HR_END_NAMESPACE
