// Extracts digits of keys in the order of the sort. If a code can be turned back into its key without loss, keys move
// as codes. The first pass makes them and the last one undoes it, so passes in between compare plain words. If keys
// that compare equal have different bits and must keep their order (HR_EQUALS), keys move unchanged. Their equal code
// is computed wherever a digit is needed (sort_key.hpp).
//
// Macros: HR_RULE, if defined before this header, replaces SortDigit as the digit of a split. HR_DIGITS_OF_KEYS
// states that every digit is a whole byte of a key.
#pragma once
#include "arrange/bucket/rules.hpp"
#include "arrange/sort/sort_key.hpp"
#include "core/operators.hpp"

namespace headrace {

constexpr bool with_equals = HR_EQUALS != 0;

// Whether digits are bytes, which one instruction extracts.
#if defined(HR_DIGITS_OF_KEYS)
constexpr bool by_bytes_of_keys = HR_BITS == 8;
#else
constexpr bool by_bytes_of_keys = false;
#endif

template <class Word>
struct SortDigit {
    static constexpr bool total = true;
    KeyRule<Word> rule;
    u32 shift;
    u32 mask;

    // Converts a key as given to its form in passes, and back.
    HR_MEMBER Word moved(Word key) const { return with_equals ? key : rule.code(key); }
    HR_MEMBER Word given(Word moved) const { return with_equals ? moved : rule.key(moved); }
    // Returns the bits that order a key in its form in passes.
    HR_MEMBER Word bits_of(Word moved) const { return with_equals ? rule.equal_code(moved) : moved; }
    HR_MEMBER u32 of(Word moved) const {
        if constexpr (by_bytes_of_keys && sizeof(Word) == 4) return __byte_perm(bits_of(moved), 0, 0x4440 | shift / 8);
        return static_cast<u32>(bits_of(moved) >> shift) & mask;
    }
    // Returns four times the digit of a 4-byte key: its offset in a table of words.
    HR_MEMBER u32 offset_of(u32 moved) const {
        return turned(static_cast<u32>(bits_of(static_cast<Word>(moved))), shift - 2) & mask << 2;
    }
};

}  // namespace headrace

#if !defined(HR_RULE)
#define HR_RULE SortDigit
#endif
#include "arrange/multisplit/gpu/split_rank.cuh"

namespace headrace {

constexpr u32 key_bits = 8 * sizeof(Key);
constexpr u32 key_digits = (key_bits + bits - 1) / bits;

// Returns the digit at a bit position. `Made` must be a SortDigit.
template <class Made = Digit>
HR_FN Made digit_at_shift(const KeyRule<Key>& rule, u32 shift, u32 width) {
    return {{rule, shift, (1u << width) - 1}, digits - 1, 0};
}

// Returns digit `number` of the key. 0 is the lowest; the highest may have fewer bits.
template <class Made = Digit>
HR_FN Made digit_by_number(const KeyRule<Key>& rule, u32 number) {
    const u32 left = key_bits - number * bits;
    return digit_at_shift<Made>(rule, number * bits, left < bits ? left : bits);
}

}  // namespace headrace
