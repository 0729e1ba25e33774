// Extracts a field's text from its bytes, without skipped spaces, quotes and escapes, and recognises null texts.
#pragma once

#include "columns/convert/cpu/convert.hpp"
#include "columns/rules/escape_sequences.hpp"
#include "columns/rules/lenient_quotes.hpp"
#include "columns/rules/special_words.hpp"
#include "core/cpu/simd.hpp"

HR_BEGIN_NAMESPACE

// Returns the meanings of a text of more than eight bytes.
[[gnu::noinline]] HR_FN u8 meaning_of_long(const FieldRules& rules, const u8* p, usize n) {
    u8 meaning = is_one_of(rules.nulls, p, n) ? NULL_WORD : 0;
    if (is_one_of(rules.true_words, p, n)) meaning |= TRUE_WORD;
    if (is_one_of(rules.false_words, p, n)) meaning |= FALSE_WORD;
    return meaning;
}

// Returns the meanings of a field's text: NULL_WORD, TRUE_WORD, FALSE_WORD. Eight bytes from `p` on must be readable.
HR_HOT u8 meaning_of(const FieldRules& rules, const u8* p, usize n) {
    if (rules.words.has_long && n > 8) return meaning_of_long(rules, p, n);
    u64 word;
    __builtin_memcpy(&word, p, 8);
    return meaning_of_word(rules.words, word, n);
}

HR_HOT bool is_null(const FieldRules& rules, const u8* p, usize n, bool quoted) {
    return (!quoted || rules.quoted_may_be_null) && (meaning_of(rules, p, n) & NULL_WORD) != 0;
}

struct FieldBytes {
    const u8* text;
    usize size;
    bool quoted;
};

[[gnu::noinline]] HR_FN bool lenient_quoted(const Dialect& dialect, const u8* p, usize n) {
    return is_enclosed({dialect.quote, dialect.escape, dialect.double_quote}, p, n);
}

// Returns the field without skipped spaces and enclosing quotes; doubled quotes and escapes remain.
HR_HOT FieldBytes strip(const Dialect& dialect, const u8* p, usize n) {
    n = dialect.text_end(p, usize{0}, n);
    const usize begin = dialect.text_begin(p, usize{0}, n);
    p += begin;
    n -= begin;
    if (dialect.quote < 0 || n < 2 || *p != dialect.quote) return {p, n, false};
    if (dialect.looks_ahead() && !lenient_quoted(dialect, p, n)) return {p, n, false};
    return {p + 1, n - 2, true};
}

// Copies text 64 bytes at a time, and returns its size. Both buffers have 64 more bytes.
HR_HOT usize copy_blocks(const u8* p, usize n, u8* to) {
    for (usize pos = 0; pos < n; pos += BLOCK) __builtin_memcpy(to + pos, p + pos, BLOCK);
    return n;
}

// Copies the first n bytes of a block except those that are marked, at most 64, and returns their number. Both buffers
// have 64 more bytes.
HR_HOT usize copy_except(const u8* p, usize n, u64 dropped, u8* to) {
#if defined(HR_ISA_AVX512)
    const u64 retained = low_bits(n) & ~dropped;
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(retained, _mm512_loadu_si512(p)));
    return static_cast<usize>(count_ones(retained));
#else
    u8* out = to;
    usize at = 0;  // first byte that is not copied yet
    for (; dropped != 0; dropped &= dropped - 1) {
        const usize next = static_cast<usize>(trailing_zeros(dropped));
        __builtin_memcpy(out, p + at, BLOCK);
        out += next - at;
        at = next + 1;
    }
    __builtin_memcpy(out, p + at, BLOCK);
    return static_cast<usize>(out - to) + n - at;
#endif
}

// Copies the first n bytes of a block except those that are marked, and decodes each byte after an escape among those.
// `decodes`: the block's first byte is such a byte. Returns the number of bytes copied, with buffers as above.
HR_FN usize copy_decoded(const Dialect& dialect, const u8* p, usize n, u64 dropped, bool decodes, u8* to) {
    u8* out = to;
    for (usize at = 0;; dropped &= dropped - 1) {
        const usize next = dropped == 0 ? n : static_cast<usize>(trailing_zeros(dropped));
        __builtin_memcpy(out, p + at, BLOCK);
        if (decodes && at < n) *out = escaped_byte(p[at]);
        out += next - at;
        if (dropped == 0) return static_cast<usize>(out - to);
        decodes = p[next] == dialect.escape;
        at = next + 1;
    }
}

// Copies text of a dialect with lenient quotes and escapes, by bytes.
[[gnu::noinline]] HR_FN usize copy_lenient(const Dialect& dialect, const FieldBytes& field, u8* to) {
    const TextMarks marks = {
        static_cast<u8>(dialect.quote), static_cast<u8>(dialect.escape), dialect.double_quote, true, true,
        decodes_escapes(dialect)};
    const struct {
        const u8* p;
        usize n;
        bool quoted;
    } given = {field.text, field.size, field.quoted};
    u8* out = to;
    for (usize i = 0; i < given.n; ++i) *out++ = literal_at(marks, given, i);
    return static_cast<usize>(out - to);
}

// Copies text and removes escapes, and the first of two quotes inside quotes. Either way one byte is dropped, and the
// byte after it is literal, or a letter to decode. The last byte has none after it and is literal, as is a lenient
// quote that is not doubled.
HR_HOT usize copy_text(const Dialect& dialect, const FieldBytes& field, u8* to) {
    const bool doubled = field.quoted && dialect.double_quote, escapes = dialect.escape >= 0;
    if (!doubled && !escapes) return copy_blocks(field.text, field.size, to);
    if (dialect.keeps_strays() && escapes) return copy_lenient(dialect, field, to);
    u8* out = to;
    u64 found = 0;
    for (usize pos = 0; pos < field.size; pos += BLOCK) {
        const u8* const p = field.text + pos;
        const Block block(p);
        const usize left = field.size - pos;
        u64 marks = doubled ? block.equals(static_cast<u8>(dialect.quote)) : 0;
        if (escapes) marks |= block.equals(static_cast<u8>(dialect.escape));
        marks &= low_bits(left);
        if ((marks | found >> 63) == 0) {
            __builtin_memcpy(out, p, BLOCK);
            out += left < BLOCK ? left : BLOCK;
            found = 0;
            continue;
        }
        const bool is_literal = found >> 63 != 0;
        found = find_escapes(marks, is_literal);
        u64 dropped = left <= BLOCK ? found & ~(u64{1} << (left - 1)) : found;
        if (dialect.keeps_strays()) dropped &= marks >> 1 | u64{p[BLOCK] == dialect.quote} << 63;
        const usize size = left < BLOCK ? left : BLOCK;
        out += escapes && decodes_escapes(dialect)
                   ? copy_decoded(dialect, p, size, dropped, is_literal && p[-1] == dialect.escape, out)
                   : copy_except(p, size, dropped, out);
    }
    return static_cast<usize>(out - to);
}

// Iterates over the fields of one column of a tile's index.
class ColumnFields {
public:
    ColumnFields(const TileRows& rows, usize column)
        : column_(column), end_(rows.ends + column), widths_(rows.widths), stride_(rows.columns) {
        const bool last = column + 1 == rows.columns;
        if (rows.field_starts != nullptr) {
            start_ = rows.field_starts + column;
            start_stride_ = rows.columns;
        } else {
            start_ = column == 0 ? rows.starts : rows.ends + column - 1;
            start_stride_ = column == 0 ? 1 : rows.columns;
            start_offset_ = column == 0 ? 0 : 1;
            back_ = (last ? rows.dialect->line_end_length : rows.dialect->separator_length) - 1;
        }
    }
    u32 start(usize row) const { return start_[row * start_stride_] + start_offset_; }
    u32 end(usize row) const { return end_[row * stride_] - back_; }
    // Returns whether the record of a row ends before this column.
    bool missing(usize row) const { return widths_ != nullptr && widths_[row] <= column_; }

    const u32* starts() const { return start_; }
    const u32* ends() const { return end_; }
    usize start_stride() const { return start_stride_; }
    usize stride() const { return stride_; }
    u32 start_offset() const { return start_offset_; }  // from an entry of starts() to the field's first byte
    u32 back() const { return back_; }                  // from an entry of ends() to the end of the field's bytes

private:
    usize column_;
    const u32* start_;
    const u32* end_;
    const u32* widths_;
    usize stride_, start_stride_;
    u32 start_offset_ = 0, back_ = 0;
};

// Without a branch: bits of data are seldom predictable.
HR_FN void set_bit_if(bool condition, u64* bits, usize i) { bits[i / 64] |= u64{condition} << (i % 64); }

HR_END_NAMESPACE
