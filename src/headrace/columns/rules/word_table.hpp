// Looks up texts with a special meaning in a column: nulls, and words for bools. A text of one to eight bytes is
// compared as one 64-bit word, without branches that depend on it.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

// Meanings of a text. A text may have several: "no" is a null and a word for false if the caller says so.
constexpr u8 NULL_WORD = 1, TRUE_WORD = 2, FALSE_WORD = 4;
constexpr u8 BOOL_WORDS = TRUE_WORD | FALSE_WORD;

struct WordSlot {
    u64 word;
    u8 size;  // 0: the slot is empty
    u8 meaning;
};

// A hash table with linear probing that does not wrap: a word is in one of `probes` slots from its hash on.
// `multiplier` is chosen so that `probes` is small: 1 for ten words.
struct WordTable {
    const WordSlot* slots = nullptr;
    u64 multiplier = 0;
    u32 shift = 0;
    u32 probes = 0;
    u8 of_empty = 0;        // meaning of the empty text
    bool has_long = false;  // some text has more than eight bytes
    u64 null_sizes = 0;     // bit n: some null has n bytes, also one with the escape; bit 63: 63 bytes or more
    u64 sizes = 0;          // the same of all texts
};

}  // namespace headrace

HR_BEGIN_NAMESPACE

HR_HOT u32 meaning_in_slot(const WordSlot& slot, u64 word, usize n) {
    const u32 same = (slot.word == word) & (slot.size == n);
    return slot.meaning & (0 - same);
}

// Returns the meanings of a text of at most eight bytes, and 0 for a longer one. `word`: the eight bytes from the
// text's first one on. The text is shifted to the top of the word: "ab" is 0x6261 << 48. Empty and longer texts give
// some word, and their size differs from that of every slot with a meaning.
HR_HOT u8 meaning_of_word(const WordTable& table, u64 word, usize n) {
    word <<= (64 - 8 * n) & 63;
    const WordSlot* slot = table.slots + (word * table.multiplier >> table.shift);
    u32 meaning = n == 0 ? table.of_empty : meaning_in_slot(*slot, word, n);
    for (u32 i = 1; i < table.probes; ++i) meaning |= meaning_in_slot(slot[i], word, n);
    return static_cast<u8>(meaning);
}

HR_END_NAMESPACE
