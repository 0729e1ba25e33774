// Defines packed codes, for CPU and GPU: code i has bits [i * bits, (i + 1) * bits) of a little-endian stream of words.
// For example, the codes 1, 2, 3 of 2 bits are the word 0b111001. 64 codes fill `bits` words of 64 bits exactly, and
// 32 codes as many of 32 bits.
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

constexpr u32 max_code_bits = 32;
constexpr u32 block_codes = 64;  // codes that fill whole words

HR_FN u64 words_of_codes(u64 count, u32 bits) { return (count * bits + 63) / 64; }

HR_FN u64 code_mask(u64 bits) { return (u64{1} << bits) - 1; }

// Returns code `i`. It reads no word after the one that has the code's last bit.
HR_FN u32 code_at(const u64* words, u64 i, u32 bits) {
    if (bits == 0) return 0;
    const u64 bit = i * bits, word = bit / 64;
    const u32 shift = static_cast<u32>(bit % 64);
    u64 found = words[word] >> shift;
    if (shift + bits > 64) found |= words[word + 1] << (64 - shift);
    return static_cast<u32>(found & code_mask(bits));
}

// An increasing translation table as counts and bits. Word k is of the old codes [32 k, 32 k + 32). Its high half has
// the first of their new codes. Bit j of the low half is set if one new code lies between those of the old codes j - 1
// and j. So the new code of j is the high half, j and the number of set bits up to j. If more than one new code lies
// between two neighbours, bit 0 is set, and `table` has the block's codes. For example, if 0 1 2 become 5 6 8, the high
// half is 5 and the bits are 0b100. (Rank in bit vectors: Jacobson 1989.)
struct CodeBlocks {
    const u64* words;
    const u32* table;
};
constexpr u32 counted_codes = 32;

// Returns the new code of an old one.
HR_FN u32 code_of_blocks(const CodeBlocks& blocks, u32 code) {
    const u64 word = blocks.words[code / counted_codes];
    const u32 place = code % counted_codes, bits = static_cast<u32>(word);
    if (bits & 1) return blocks.table[code];
    return static_cast<u32>(word >> 32) + place + static_cast<u32>(count_ones(bits << (31 - place)));
}

// The packed codes [first, first + count) of a column, and their translation.
struct CodeSource {
    const u64* words;
    u64 first;
    u64 count;
    u64 bits;
    const u8* validity;  // bits, 0 for codes that become 0; null if there are none
    CodeBlocks blocks;   // `table` alone has the new codes if `words` is null; codes stay if `table` is null
};

// Returns the new code of code number `i` in the words.
HR_FN u32 new_code(const CodeSource& source, u64 i, u32 code) {
    if (source.validity != nullptr && (source.validity[i / 8] >> i % 8 & 1) == 0) return 0;
    if (source.blocks.words != nullptr) return code_of_blocks(source.blocks, code);
    return source.blocks.table != nullptr ? source.blocks.table[code] : code;
}

HR_END_NAMESPACE
