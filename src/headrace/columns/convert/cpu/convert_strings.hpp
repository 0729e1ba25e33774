// Converts the fields of a column of strings or bytes: copies, validates and replaces them.
#pragma once

#include "columns/convert/cpu/absent_fields.hpp"
#include "columns/convert/cpu/convert.hpp"
#include "columns/convert/cpu/field.hpp"
#include "columns/rules/utf8.hpp"
#include "core/cpu/simd.hpp"

HR_BEGIN_NAMESPACE

HR_FN bool has_text(const ColumnType& type) { return type.id == TypeId::string || type.id == TypeId::large_string; }

// Validates the raw bytes of the field, so that a fault's position is exact. Bytes that unquoting removes are ASCII.
HR_FN bool check_text(const TileRows& rows, const ColumnJob& job, usize row, const FieldBytes& field) {
    const usize invalid = find_invalid_utf8(field.text, field.size);
    if (invalid == field.size) return true;
    const u32 at = static_cast<u32>(field.text - rows.text + invalid);
    job.misfits.fault(job.misfits.context, row, Fault::encoding, at);
    return false;
}

// Replaces invalid UTF-8, as if the source had been repaired before its structure was searched.
template <bool Plain>
[[gnu::noinline]] usize put_mended(const TileRows& rows, const ColumnJob& job, const FieldBytes& field, u8* to) {
    if (Plain) return replace_invalid_utf8(field.text, field.size, to);
    const usize size = replace_invalid_utf8(field.text, field.size, job.scratch);
    return copy_text(*rows.dialect, {job.scratch, size, field.quoted}, to);
}

// Returns whether a field is quoted if it begins with a quote, and is what it encloses with quotes doubled.
HR_FN bool has_usual_quotes(const Dialect& dialect) {
    return dialect.quote >= 0 && dialect.double_quote && dialect.escape < 0 && !dialect.looks_ahead() &&
           !dialect.trims_fields();
}

// Copies a field with usual quotes and removes the first of two quotes inside. The last byte has no quote after it.
[[gnu::noinline]] HR_FN usize copy_marked(u8 quote, const FieldBytes& field, u8* to) {
    if (!field.quoted) return copy_blocks(field.text, field.size, to);
    u8* out = to;
    u64 is_second = 0;  // whether the block's first byte is the second of two quotes
    usize pos = 0;
    for (; pos + BLOCK < field.size; pos += BLOCK) {
        const u64 first = find_escapes(Block(field.text + pos).equals(quote), is_second);
        out += copy_except(field.text + pos, BLOCK, first, out);
        is_second = first >> 63;
    }
    const usize left = field.size - pos;
    const u64 first = find_escapes(Block(field.text + pos).equals(quote) & low_bits(left), is_second);
    return static_cast<usize>(out - to) + copy_except(field.text + pos, left, first & low_bits(left - 1), out);
}

// How fields of a column are read. Those with usual quotes call nothing, unless they are long or have quotes inside.
struct BareTexts {
    FieldBytes field(const u8* p, usize n) const { return {p, n, false}; }
    usize copy(const FieldBytes& field, u8* to) const {
        __builtin_memcpy(to, field.text, BLOCK);
        if (field.size > BLOCK) [[unlikely]]
            copy_blocks(field.text, field.size, to);
        return field.size;
    }
    bool may_be_null(const FieldBytes&) const { return true; }
};

struct UsualQuotes {
    u8 quote;
    FieldBytes field(const u8* p, usize n) const {
        const bool quoted = n >= 2 && *p == quote;
        return {p + (quoted ? 1 : 0), n - (quoted ? 2 : 0), quoted};
    }
    usize copy(const FieldBytes& field, u8* to) const {
        const u64 quotes = Block(field.text).equals(quote) & low_bits(field.size);
        if (field.size > BLOCK || quotes != 0) [[unlikely]]
            return copy_marked(quote, field, to);
        __builtin_memcpy(to, field.text, BLOCK);
        return field.size;
    }
    bool may_be_null(const FieldBytes& field) const { return !field.quoted; }
};

struct AnyQuotes {
    const Dialect& dialect;
    FieldBytes field(const u8* p, usize n) const { return strip(dialect, p, n); }
    usize copy(const FieldBytes& field, u8* to) const { return copy_text(dialect, field, to); }
    bool may_be_null(const FieldBytes& field) const { return !field.quoted; }
};

// Converts strings of which only empty ones may be null, and which need no validation.
template <class Texts>
ColumnCounts copy_strings(const TileRows& rows, const ColumnJob& job, const Texts& texts) {
    const ColumnFields fields(rows, job.column);
    const bool empty_is_null = job.rules->empty_is_null;
    // Copies of what the compiler would read again after each byte that is written.
    const u8* const text = rows.text;
    u8* const bytes = job.string_bytes;
    u32* const ends = job.string_ends;
    u8* out = bytes;
    usize nulls = 0;
    for (usize base = 0; base < rows.rows; base += 64) {
        const usize count = rows.rows - base < 64 ? rows.rows - base : 64;
        u64 absent = 0;
        for (usize i = 0; i < count; ++i) {
            const usize row = base + i;
            const u32 start = fields.start(row);
            const FieldBytes field = texts.field(text + start, fields.end(row) - start);
            const bool may_be_null = texts.may_be_null(field) & (empty_is_null || fields.missing(row));
            absent |= static_cast<u64>((field.size == 0) & may_be_null) << i;
            out += texts.copy(field, out);
            ends[row] = static_cast<u32>(out - bytes);
        }
        job.nulls[base / 64] = absent;
        nulls += static_cast<usize>(count_ones(absent));
    }
    return {nulls, static_cast<usize>(out - bytes), 0};
}

// Returns whether some texts with bytes may be null.
HR_FN bool has_null_words(const FieldRules& rules) { return rules.nulls.count > (rules.empty_is_null ? 1 : 0); }

HR_FN bool may_have_invalid_text(const TileRows& rows, const ColumnJob& job) {
    return rows.has_high_bytes && !job.is_valid && has_text(job.type);
}

// Returns whether the texts of a column are its fields' bytes, and only empty ones may be null.
HR_FN bool is_stored_as_written(const TileRows& rows, const ColumnJob& job) {
    const bool plain = job.raw || !rows.may_need_unquoting;
    return plain && !has_null_words(*job.rules) && !may_have_invalid_text(rows, job);
}

template <bool Plain>
ColumnCounts convert_strings(const TileRows& rows, const ColumnJob& job) {
    const ColumnFields fields(rows, job.column);
    const FieldRules& rules = *job.rules;
    const AbsentFields absent_fields(rows, fields, rules);
    const bool words = has_null_words(rules);
    const bool may_be_invalid = may_have_invalid_text(rows, job);
    const bool has_written = !Plain && rules.written_nulls.count != 0;
    if (!words && !may_be_invalid && !has_written && (Plain || !rules.quoted_may_be_null)) {
        if (Plain) return copy_strings(rows, job, BareTexts{});
        const Dialect& dialect = *rows.dialect;
        return has_usual_quotes(dialect) ? copy_strings(rows, job, UsualQuotes{static_cast<u8>(dialect.quote)})
                                         : copy_strings(rows, job, AnyQuotes{dialect});
    }
    u8* out = job.string_bytes;
    usize nulls = 0, replaced = 0;
    const bool mends = may_be_invalid && rules.replace_invalid;
    const bool checks = may_be_invalid && !mends;
    const bool looks_at_text = words && (mends || !absent_fields.looks_up());
    for (usize base = 0; base < rows.rows; base += 64) {
        const usize count = rows.rows - base < 64 ? rows.rows - base : 64;
        u64 absent = absent_fields.find(base, count);
        for (usize i = 0; i < count; ++i) {
            const usize row = base + i;
            const u32 start = fields.start(row);
            FieldBytes field = {rows.text + start, fields.end(row) - start, false};
            if (!Plain) field = strip(*rows.dialect, field.text, field.size);
            usize size = 0;
            if (checks && (absent >> i & 1) == 0 && !check_text(rows, job, row, field)) {
                absent |= u64{1} << i;
            } else if (mends && find_invalid_utf8(field.text, field.size) < field.size) {
                size = put_mended<Plain>(rows, job, field, out);
                ++replaced;
            } else {
                size = Plain ? copy_blocks(field.text, field.size, out) : copy_text(*rows.dialect, field, out);
            }
            const bool is_unlooked =
                !Plain && (field.quoted ? rules.quoted_may_be_null : words && *field.text == rows.dialect->quote);
            if ((looks_at_text || is_unlooked) && is_null(rules, out, size, field.quoted)) absent |= u64{1} << i;
            if (has_written && is_written_null(rules, field.text, field.size, field.quoted)) absent |= u64{1} << i;
            out += size & ((absent >> i & 1) - 1);
            job.string_ends[row] = static_cast<u32>(out - job.string_bytes);
        }
        job.nulls[base / 64] = absent;
        nulls += static_cast<usize>(count_ones(absent));
    }
    return {nulls, static_cast<usize>(out - job.string_bytes), replaced};
}

HR_END_NAMESPACE
