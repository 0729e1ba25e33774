// Merges sorted dictionaries and translates packed codes in host memory, on several threads.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "arrange/gather/widths.hpp"
#include "store/dictionary/rules/codes.hpp"
#include "store/dictionary/rules/merge.hpp"

namespace headrace {

// Numbers of the values of each dictionary.
struct MergeCounts {
    u64 main;
    u64 delta;
};

// The new codes of the values of both dictionaries.
struct CodeTables {
    u32* main;
    u32* delta;
};

// Two dictionaries of numbers of `width` bytes: 1, 2, 4 or 8.
struct NumberDictionaries {
    const void* main;
    const void* delta;
    MergeCounts counts;
    unsigned width;
    const void* rule;  // a KeyRule of that width
};

// Writes the merged dictionary, which has room for all values, and both tables. Returns the number of merged values.
// Bytes moved per value of width w: 2 w, and 4 for its code.
u64 merge_numbers(const NumberDictionaries& dictionaries, void* merged, const CodeTables& tables, unsigned threads);

// Two dictionaries of texts.
struct TextDictionaries {
    TextPair texts;
    MergeCounts counts;
};

// Texts that are written: offsets of `width` bytes, 4 or 8, one more than texts, and bytes.
struct NewTexts {
    void* offsets;
    u8* bytes;
    unsigned width;
};

// Writes both tables, calls `allocate` with the numbers of texts and bytes, and writes the merged dictionary there.
void merge_texts(const TextDictionaries& dictionaries, const CodeTables& tables,
                 const std::function<NewTexts(u64, u64)>& allocate, unsigned threads);

// Writes the numbers of texts in their order. Equal texts are in the order of their numbers.
void sort_texts(const TextValues& texts, u64 count, u32* order, unsigned threads);

// Numbers of 1, 2, 4 or 8 bytes, and decimals of 16.
struct NumberArray {
    const void* items;
    u64 count;
    unsigned width;
};

// Writes the number of each item: distinct items are numbered from 0 on. Returns the distinct ones by their numbers, as
// bytes; none if there are more than `limit`, and then the numbers are undefined.
std::optional<std::vector<u8>> number_items(const NumberArray& items, u64 limit, u32* numbers, unsigned threads);

// Keys of 1, 2, 4 or 8 bytes in an order, and the place of each before the sort. Keys are the same if their bits are.
struct SortedNumbers {
    const void* keys;
    const u32* places;
    u64 count;
    unsigned width;
};

// Writes the distinct keys to `distinct`, which has room for all, and the number of each key's distinct one to its
// place. Returns the number of distinct keys.
u64 number_sorted(const SortedNumbers& sorted, void* distinct, u32* numbers, unsigned threads);

struct PackedCodes {
    u64* words;
    u32 bits;
};

// Writes the new codes of both sources, by their tables, one after another. Bytes moved per code: (old bits + new bits)
// / 8.
void translate_codes(const CodeSource& first, const CodeSource& second, const PackedCodes& to, unsigned threads);

void pack_codes(const u32* codes, u64 count, const PackedCodes& to, unsigned threads);

void unpack_codes(const CodeSource& source, u32* codes, unsigned threads);

// Writes codes [first, first + count) of the words as u32, without translation.
void unpack_piece(const CodeSource& source, u64 first, u64 count, u32* codes);

// Items by code, up to code `last`.
struct CodedItems {
    const u8* items;
    u32 last;
};

// Writes the items of codes [first, first + count) of the words; those of larger codes than the last one are undefined.
// Returns the largest code. An item has 1, 2, 4, 8 or 16 bytes. No array of codes is written.
template <class Item>
u32 gather_piece(const CodeSource& source, u64 first, u64 count, const CodedItems& items, u8* out);

// Writes the values of the codes. Returns the largest code that has no value; 0 if all codes have one. Bytes moved per
// value of width w: 2 w, and bits / 8.
u64 decode_numbers(const CodeSource& source, const NumberArray& values, void* to, unsigned threads);

// A dictionary of texts with offsets of `width` bytes, 4 or 8.
struct EncodedTextValues {
    const void* offsets;
    const u8* bytes;
    u64 count;
    u64 bytes_count;
    unsigned width;
};

// Calls `allocate` with the number of bytes, and writes the texts of the codes. Returns the largest code that has no
// text, and then writes nothing; 0 if all codes have one.
u64 decode_texts(const CodeSource& source, const EncodedTextValues& texts, const std::function<NewTexts(u64)>& allocate,
                 unsigned threads);

// Writes the codes of rows, each below `source.count`.
void take_codes(const CodeSource& source, const i64* rows, u64 count, u32* codes, unsigned threads);

}  // namespace headrace
