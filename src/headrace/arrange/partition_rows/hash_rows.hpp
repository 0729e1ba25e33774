// Hashes the rows of a table, column by column, for CPU and GPU. Equal rows have equal hashes on every machine,
// whatever the layout of their texts.
#pragma once
#include "arrange/bucket/rules.hpp"
#include "core/hash.hpp"

HR_BEGIN_NAMESPACE

// Values of one column in Arrow's layout. `width`: bytes per value, 0 for bits; bytes per offset if `offsets` is not
// null. `data`: buffers of string views. `words`: for a dictionary, whose values are codes, the word of each text. All
// null values have the same word.
struct HashedColumn {
    const void* values;
    const void* offsets;
    const u8* validity;  // bits, or null
    const u8* const* data;
    const u64* words;
    u64 first;  // number of the first row in the buffers
    u32 width;
    u32 is_float;  // float of 4 or 8 bytes: -0.0 equals 0.0, and all NaN are equal
};
static_assert(sizeof(HashedColumn) == 56);

constexpr u64 word_of_null = golden_ratio;

template <class Value>
HR_FN u64 word_of_value(const HashedColumn& column, u64 row) {
    return BitsAs<Value>::of(one_of_equals(item_at_any(static_cast<const Value*>(column.values) + row)));
}

// Bytes of a text.
struct RowText {
    const u8* begin;
    u64 size;
};

template <class Offset>
HR_FN RowText text_between(const HashedColumn& column, u64 row) {
    const Offset* const offsets = static_cast<const Offset*>(column.offsets);
    const u64 begin = item_at_any(offsets + row);
    return {static_cast<const u8*>(column.values) + begin, item_at_any(offsets + row + 1) - begin};
}

// A view begins with a size of 4 bytes. A short view then has up to 12 bytes of text. A long one has a prefix, the
// number of a buffer and an offset in it, of 4 bytes each.
HR_FN RowText text_of_view(const HashedColumn& column, u64 row) {
    const u8* const view = static_cast<const u8*>(column.values) + row * 16;
    const u32* const words = reinterpret_cast<const u32*>(view);
    const u32 size = item_at_any(words);
    if (size <= 12) return {view + 4, size};
    return {column.data[item_at_any(words + 2)] + item_at_any(words + 3), size};
}

// Whether the column has offsets or views. A dictionary has neither: its texts are another column.
HR_FN bool has_plain_texts(const HashedColumn& column) { return column.data != nullptr || column.offsets != nullptr; }

// `row`: in the buffers.
HR_FN RowText plain_text(const HashedColumn& column, u64 row) {
    if (column.data != nullptr) return text_of_view(column, row);
    return column.width == 4 ? text_between<u32>(column, row) : text_between<u64>(column, row);
}

HR_FN u64 word_of_row(const HashedColumn& column, u64 row) {
    if (column.words != nullptr) return column.words[item_at_any(static_cast<const u32*>(column.values) + row)];
    if (has_plain_texts(column)) {
        const RowText text = plain_text(column, row);
        return hash_bytes(text.begin, text.size);
    }
    if (column.width == 0) return static_cast<const u8*>(column.values)[row / 8] >> (row % 8) & 1;
    if (column.width == 1) return word_of_value<u8>(column, row);
    if (column.width == 2) return word_of_value<u16>(column, row);
    if (column.width == 16) return hash_bytes(static_cast<const u8*>(column.values) + row * 16, 16);
    if (column.width == 4) {
        return column.is_float != 0 ? word_of_value<float>(column, row) : word_of_value<u32>(column, row);
    }
    return column.is_float != 0 ? word_of_value<double>(column, row) : word_of_value<u64>(column, row);
}

// `row`: in the buffers.
HR_FN bool is_null_row(const HashedColumn& column, u64 row) {
    return column.validity != nullptr && (column.validity[row / 8] >> (row % 8) & 1) == 0;
}

HR_FN u64 word_at(const HashedColumn& column, u64 row) {
    row += column.first;
    return is_null_row(column, row) ? word_of_null : word_of_row(column, row);
}

// Hashes that users see are the same in each process. Those of tables inside one process depend on its secret, so that
// no rows can be chosen whose hashes are equal.
HR_FN u64 secret_word_at(const HashedColumn& column, u64 row, u64 secret) {
    row += column.first;
    if (is_null_row(column, row)) return word_of_null;
    if (column.words == nullptr && has_plain_texts(column)) {
        const RowText text = plain_text(column, row);
        return hash_text(text.begin, text.size, secret);
    }
    if (column.words == nullptr && column.width == 16) {
        return hash_text(static_cast<const u8*>(column.values) + row * 16, 16, secret);
    }
    return word_of_row(column, row);
}

// Combines a hash with the next word: for one hash, different words have different results.
HR_FN u64 combine_by_secret(u64 hash, u64 word, u64 secret) {
    return mix_bits(fold_product(hash ^ secret, secret * golden_ratio | 1) + word);
}

HR_END_NAMESPACE
