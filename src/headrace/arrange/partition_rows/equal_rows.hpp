// Compares rows of columns for CPU and GPU, by the rules of hash_rows.hpp: equal rows have equal hashes. So -0.0 equals
// 0.0, all NaN are equal, and texts are equal whatever their layout.
#pragma once
#include "arrange/partition_rows/hash_rows.hpp"

HR_BEGIN_NAMESPACE

// A column, and for a dictionary the column of its texts; other columns have zeros there.
struct ComparedColumn {
    HashedColumn column;
    HashedColumn texts;
};

// Verdict on a pair of rows. `unmatched`: the row has no equal row anywhere.
enum class RowVerdict : u8 { unmatched, equal, unequal };

HR_FN bool is_dictionary(const ComparedColumn& compared) { return has_plain_texts(compared.texts); }

// `row`: in the buffers.
HR_FN RowText text_of_row(const ComparedColumn& compared, u64 row) {
    if (!is_dictionary(compared)) return plain_text(compared.column, row);
    const u32 code = item_at_any(static_cast<const u32*>(compared.column.values) + row);
    return plain_text(compared.texts, compared.texts.first + code);
}

// Compares values that are not null. `row`, `other_row`: in the buffers.
HR_FN bool are_values_equal(const ComparedColumn& one, u64 row, const ComparedColumn& other, u64 other_row) {
    if (is_dictionary(one) || has_plain_texts(one.column)) {
        const RowText a = text_of_row(one, row), b = text_of_row(other, other_row);
        return a.size == b.size && are_bytes_equal(a.begin, b.begin, a.size);
    }
    if (one.column.width == 16) {
        const u8* const a = static_cast<const u8*>(one.column.values) + 16 * row;
        return are_bytes_equal(a, static_cast<const u8*>(other.column.values) + 16 * other_row, 16);
    }
    return word_of_row(one.column, row) == word_of_row(other.column, other_row);  // of up to 8 bytes: the value itself
}

// Compares rows. Both columns have texts, or values of one type. If nulls are not equal, a null is `unmatched`.
HR_FN RowVerdict compare_row(const ComparedColumn& one, u64 row, const ComparedColumn& other, u64 other_row,
                             bool are_nulls_equal) {
    row += one.column.first;
    other_row += other.column.first;
    const bool is_one_null = is_null_row(one.column, row), is_other_null = is_null_row(other.column, other_row);
    if (is_one_null && !are_nulls_equal) return RowVerdict::unmatched;
    const bool are_equal =
        is_one_null || is_other_null ? is_one_null && is_other_null : are_values_equal(one, row, other, other_row);
    return are_equal ? RowVerdict::equal : RowVerdict::unequal;
}

HR_END_NAMESPACE
