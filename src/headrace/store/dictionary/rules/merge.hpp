// Defines the merge of two sorted dictionaries without duplicates, for CPU and GPU. Of equal values that of the main
// dictionary is first, so its duplicate of the delta follows it directly. A cut of the merged sequence is the number of
// values of each dictionary before it. For example, with main 1 3 5 and delta 3 4, the sequence is 1 3 3' 4' 5, and the
// cut after 3 values has 2 of the main and 1 of the delta. (Merge path: Green, McColl and Bader 2012.)
#pragma once
#include "arrange/sort/sort_key.hpp"

HR_BEGIN_NAMESPACE

// Two dictionaries of numbers. The rule's codes order them; they differ if the bits differ.
template <class Bits>
struct NumberPair {
    const Bits* main;
    const Bits* delta;
    KeyRule<Bits> rule;

    HR_MEMBER bool is_main_first(u64 i, u64 k) const { return rule.code(main[i]) <= rule.code(delta[k]); }
    HR_MEMBER bool is_equal(u64 i, u64 k) const { return main[i] == delta[k]; }
};

// A dictionary of texts: text i has the bytes [offsets[i], offsets[i + 1]).
struct TextValues {
    const i64* offsets;
    const u8* bytes;
};

// Returns a word with its bytes in reverse order, e.g. 0x0102 becomes 0x0201000000000000. Compilers find the one
// instruction for it.
HR_FN u64 reversed_bytes(u64 word) {
    word = (word & 0x00FF00FF00FF00FF) << 8 | (word >> 8 & 0x00FF00FF00FF00FF);
    word = (word & 0x0000FFFF0000FFFF) << 16 | (word >> 16 & 0x0000FFFF0000FFFF);
    return word << 32 | word >> 32;
}

// Returns the first 8 bytes of a text from `at` on as a number of the same order, with zeros after its end.
HR_FN u64 prefix_of_text(const u8* text, u64 size, u64 at) {
    if (at + 8 <= size) return reversed_bytes(load_word(text + at));
    return at < size ? reversed_bytes(load_bytes(text + at, size - at)) : 0;
}

// Returns a number below, at or above 0: the order of two texts by their bytes, shorter ones first.
HR_FN i32 compare_texts(const TextValues& one, u64 i, const TextValues& other, u64 k) {
    const u8* const first = one.bytes + one.offsets[i];
    const u8* const second = other.bytes + other.offsets[k];
    const u64 first_size = static_cast<u64>(one.offsets[i + 1] - one.offsets[i]);
    const u64 second_size = static_cast<u64>(other.offsets[k + 1] - other.offsets[k]);
    const u64 common = first_size < second_size ? first_size : second_size;
    for (u64 at = 0; at < common; at += 8) {
        const u64 a = prefix_of_text(first, first_size, at), b = prefix_of_text(second, second_size, at);
        if (a != b) return a < b ? -1 : 1;
    }
    return first_size == second_size ? 0 : first_size < second_size ? -1 : 1;
}

struct TextPair {
    TextValues main;
    TextValues delta;

    HR_MEMBER bool is_main_first(u64 i, u64 k) const { return compare_texts(main, i, delta, k) <= 0; }
    HR_MEMBER bool is_equal(u64 i, u64 k) const { return compare_texts(main, i, delta, k) == 0; }
};

// Returns how many of the first `rank` values of the merged sequence are of the main dictionary.
template <class Pair>
HR_FN u64 main_before(const Pair& pair, u64 main_count, u64 delta_count, u64 rank) {
    u64 low = rank > delta_count ? rank - delta_count : 0, high = rank < main_count ? rank : main_count;
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (pair.is_main_first(middle, rank - 1 - middle)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Returns whether value k of the delta, before which are i values of the main dictionary, is one of them.
template <class Pair>
HR_FN bool is_duplicate(const Pair& pair, u64 i, u64 k) {
    return i > 0 && pair.is_equal(i - 1, k);
}

HR_END_NAMESPACE
