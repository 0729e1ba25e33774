// Looks up a field's text in staged memory among the words of its column (rules/word_table.hpp).
#pragma once

#include "columns/convert/gpu/digits.cuh"
#include "columns/rules/word_table.hpp"

namespace headrace {

constexpr u32 LONG_WORD = 128;  // the text may be a word of more than eight bytes, which only the rules look up

// Returns the meanings of the text of `n` bytes at staged byte `begin`, or LONG_WORD.
HR_FN u32 staged_meaning(const WordTable& table, const u32* text, u32 begin, u32 n) {
    if ((table.sizes >> (n < 63 ? n : 63) & 1) == 0) return 0;
    if (n > 8) return LONG_WORD;
    u32 words[2];
    load_from(text, begin, words);
    return meaning_of_word(table, u64{words[1]} << 32 | words[0], n);
}

}  // namespace headrace
