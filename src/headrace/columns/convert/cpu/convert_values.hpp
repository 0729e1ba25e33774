// Converts the fields of a column of fixed width, 64 rows at a time: by a fast form, and by the rule where that
// declines.
#pragma once

#include "columns/convert/cpu/absent_fields.hpp"
#include "columns/convert/cpu/convert.hpp"
#include "columns/convert/cpu/field.hpp"
#include "columns/convert/cpu/lanes.hpp"
#include "columns/rules/kinds.hpp"
#include "core/cpu/simd.hpp"

HR_BEGIN_NAMESPACE

HR_FN FieldBytes written_text(const TileRows& rows, const u8* p, usize n) {
    return rows.may_need_unquoting ? strip(*rows.dialect, p, n) : FieldBytes{p, n, false};
}

HR_FN FieldBytes whole_text(const TileRows& rows, const ColumnJob& job, FieldBytes written) {
    if (!rows.may_need_unquoting) return {written.text, written.size, false};
    return {job.scratch, copy_text(*rows.dialect, written, job.scratch), written.quoted};
}

HR_FN Kind classify_field(const ColumnJob& job, const u8* p, usize n) {
    const FieldRules& rules = *job.rules;
    if ((meaning_of(rules, p, n) & BOOL_WORDS) != 0) return Kind::boolean;
    return rules.usual_forms ? classify(p, n) : classify(p, n, rules.marks, rules.dates, job.number);
}

constexpr usize BLOCK_ROWS = 64;  // rows of one word of null bits
constexpr int SPARSE_ROWS = 16;   // so few fields of a block are read one by one

template <class T>
constexpr bool is_double = false;
template <>
constexpr bool is_double<double> = true;

// Converts a value by the rule. Returns false for a null and for an invalid value, which is reported and null.
template <class T, class Shape>
[[gnu::noinline]] bool convert_by_rule(const TileRows& rows, const ColumnJob& job, usize row, u32 start, u32 end,
                                       const Shape& shape, T& out) {
    const FieldBytes written = written_text(rows, rows.text + start, end - start);
    if (is_written_null(*job.rules, written.text, written.size, written.quoted)) return false;
    const FieldBytes field = whole_text(rows, job, written);
    const u8 meaning = meaning_of(*job.rules, field.text, field.size);
    if ((meaning & NULL_WORD) != 0 && (!field.quoted || job.rules->quoted_may_be_null)) return false;
    if constexpr (requires { shape.word(field.text, field.size, out); }) {
        if (meaning == 0 && shape.word(field.text, field.size, out)) return true;
    }
    if (job.inferred) {
        const Kind kind = classify_field(job, field.text, field.size);
        const bool fits =
            holds(static_cast<Kind>(job.guess), kind) && shape.rule(field.text, field.size, out) == Parse::ok;
        // The kind fits the column but the value does not, e.g. a time in microseconds that is out of range in
        // nanoseconds.
        if constexpr (is_double<T>) {
            if (fits && is_rounded(job.rules->marks, field.text, field.size, out, job.number)) {
                job.misfits.kind(job.misfits.context, row, ROUNDED, start);
            }
        }
        if (!fits) {
            const bool held = holds(static_cast<Kind>(job.guess), kind);
            job.misfits.kind(job.misfits.context, row, held ? UNFIT : static_cast<u8>(kind), start);
        }
        return fits;
    }
    const Parse status = shape.rule(field.text, field.size, out);
    if (status == Parse::ok) return true;
    job.misfits.fault(job.misfits.context, row, status == Parse::overflow ? Fault::overflow : Fault::type, start);
    return false;
}

// Converts a value by the fast form, and by one for texts of any length if there is one.
template <class T, class Shape>
HR_HOT bool is_fast(const Shape& shape, const FieldBytes& field, T& out) {
    if (shape.fast(field.text, field.size, out)) return true;
    if constexpr (requires { shape.general(field.text, field.size, out); }) {
        return field.size != 0 && shape.general(field.text, field.size, out);
    }
    return false;
}

// Converts 64 rows without quotes by the fast form. Returns the rows that it declines as bits. No function is called,
// so that the loop's constants stay in registers.
template <class T, class Shape, class Store>
HR_HOT u64 convert_plain_rows(const TileRows& rows, const ColumnFields& fields, usize first, const Shape& shape,
                              Store store) {
    u64 declined = 0;
    for (usize i = 0; i < BLOCK_ROWS; ++i) {
        const u32 start = fields.start(first + i);
        T value{};
        if (shape.fast(rows.text + start, fields.end(first + i) - start, value)) [[likely]] {
            store(first + i, value);
        } else {
            declined |= u64{1} << i;
        }
    }
    return declined;
}

#if defined(HR_ISA_AVX512)
struct LaneRows {
    u64 converted, nulls;
};

// Converts rows [first, first + count) by eight, and returns those that are converted or null words as bits. If none of
// the first eight is, the others are not tried, since texts of another form are seldom alone.
template <class T, class Shape>
HR_HOT LaneRows convert_lanes(const TileRows& rows, const ColumnFields& fields, usize first, usize count,
                              const Shape& shape, const NullLanes& words, T* values) {
    const Dialect& dialect = *rows.dialect;
    LaneRows found = {0, 0};
    if (dialect.trims_fields()) return found;
    // Whether a lenient field is quoted is decided field by field. No number begins with a quote, so `eight` declines
    // quoted ones.
    const bool strips = rows.may_need_unquoting && dialect.quote >= 0 && !dialect.looks_ahead();
    for (usize i = 0; i + LANES <= count; i += LANES) {
        LaneFields lanes = load_fields(rows, fields, first + i);
        if (words.any()) [[unlikely]]
            found.nulls |= u64{words.among(lanes)} << i;
        if (strips) strip_quotes(lanes, static_cast<u8>(dialect.quote));
        found.converted |= u64{static_cast<u8>(~shape.eight(rows, lanes, values + i))} << i;
        if ((found.converted | found.nulls) == 0) break;
    }
    return found;
}
#endif

// Returns the meanings of words that a fast form might take for values, so they are looked up before it.
HR_FN u8 reserved_words(const ColumnJob& job) {
    const FieldRules& rules = *job.rules;
    u8 reserved = rules.nulls_look_like_values ? NULL_WORD : 0;
    if (job.inferred && rules.words_look_like_values && job.type.id != TypeId::boolean) reserved |= BOOL_WORDS;
    return reserved;
}

// Returns the function that stores the value of a row of the tile.
template <class T>
HR_FN auto store_to(const ColumnJob& job) {
    T* const values = static_cast<T*>(job.values) + job.row_base;
    return [values](usize row, T value) { values[row] = value; };
}

// Converts a column of fixed width, 64 rows at a time. A shape has `fast`, `rule` and, with AVX-512, `eight`
// (shapes.hpp).
template <class T, class Shape, class Store>
HR_FN usize convert_values(const TileRows& rows, const ColumnJob& job, const Shape& shape, Store store) {
    const ColumnFields fields(rows, job.column);
    const FieldRules& rules = *job.rules;
    const AbsentFields absent_fields(rows, fields, rules);
    const bool plain = !rows.may_need_unquoting;
    const u8 reserved = reserved_words(job);
    const auto read = [&](usize row) __attribute__((always_inline)) {
        const u32 start = fields.start(row);
        FieldBytes field = {rows.text + start, fields.end(row) - start, false};
        if (!plain) field = strip(*rows.dialect, field.text, field.size);
        if (reserved != 0 && (meaning_of(rules, field.text, field.size) & reserved) != 0) return false;
        T value{};
        const bool is_read = is_fast(shape, field, value);
        store(row, value);
        return is_read;
    };
    usize nulls = 0;
    u64 absent = 0;
#if defined(HR_ISA_AVX512)
    constexpr bool HAS_LANES = requires { shape.eight(rows, LaneFields{}, static_cast<T*>(nullptr)); };
    const bool looks_up = HAS_LANES && absent_fields.looks_up();
    const NullLanes words = looks_up ? NullLanes(rules, rows.dialect->quote) : NullLanes();
    // Lanes find these words themselves, outside of quotes.
    const bool finds_all = words.any() && (plain || !rules.quoted_may_be_null);
    const bool may_use_lanes = HAS_LANES && (reserved & ~(finds_all ? NULL_WORD : 0)) == 0;
    usize lanes_from = 0;  // after a block that lanes decline, some are not tried
#endif
    for (usize base = 0; base < rows.rows; base += BLOCK_ROWS) {
        const usize count = rows.rows - base < BLOCK_ROWS ? rows.rows - base : BLOCK_ROWS;
        const u64 all = ~u64{0} >> (BLOCK_ROWS - count);
        bool with_words = true;
#if defined(HR_ISA_AVX512)
        const bool uses_lanes = may_use_lanes && base >= lanes_from;
        with_words = !(uses_lanes && words.any());
#endif
        // Absent fields are found at once where there are some. The first one after a block without is found by
        // reading.
        absent = absent_fields.come_first(with_words) || absent != 0 ? absent_fields.find(base, count, with_words) : 0;
        if (absent != 0) {
            for (usize i = 0; i < count; ++i) store(base + i, T{});
        }
        u64 unread = all & ~absent, failed = 0, faults = 0;
#if defined(HR_ISA_AVX512)
        if constexpr (HAS_LANES) {
            if (uses_lanes && count_ones(unread) > SPARSE_ROWS) {
                T* const values = static_cast<T*>(job.values) + job.row_base + base;
                const LaneRows found = convert_lanes(rows, fields, base, count, shape, words, values);
                absent |= found.nulls;
                unread &= ~(found.converted | found.nulls);
                if ((found.converted | found.nulls) == 0) lanes_from = base + 8 * BLOCK_ROWS;
                // Lanes store eight values, also those of absent fields.
                for (u64 bits = absent; bits != 0; bits &= bits - 1)
                    store(base + static_cast<usize>(trailing_zeros(bits)), T{});
            }
        }
#endif
        if (plain && reserved == 0 && unread == ~u64{0})
            unread = convert_plain_rows<T>(rows, fields, base, shape, store);
        for (; unread != 0; unread &= unread - 1) {
            if (!read(base + static_cast<usize>(trailing_zeros(unread)))) [[unlikely]]
                failed |= unread & (0 - unread);
        }
        for (; failed != 0; failed &= failed - 1) {
            const usize row = base + static_cast<usize>(trailing_zeros(failed));
            T value{};
            const bool is_absent = absent_fields.is_absent(row);
            if (is_absent || !convert_by_rule(rows, job, row, fields.start(row), fields.end(row), shape, value)) {
                value = T{};
                (is_absent ? absent : faults) |= failed & (0 - failed);
            }
            store(row, value);
        }
        job.nulls[base / BLOCK_ROWS] = absent | faults;
        nulls += static_cast<usize>(count_ones(absent | faults));
    }
    return nulls;
}

HR_END_NAMESPACE
