// Converts a field's text to a value by the rules that CPU and GPU share (columns/rules). These handle what
// tile_forms.cuh declines: nulls, other kinds of text, and invalid values.
#pragma once

#include "columns/convert/gpu/convert_task.hpp"
#include "columns/rules/escape_sequences.hpp"
#include "columns/rules/lenient_quotes.hpp"
#include "columns/rules/numbers/parse_decimal.hpp"
#include "columns/rules/numbers/parse_real.hpp"
#include "columns/rules/special_words.hpp"
#include "columns/rules/utf8.hpp"

namespace headrace {

// Families of the columns that the program converts. Bit 10: their types may be inferred. Bit 11: the program lists
// fields. Bit 12: each lane may have a column.
constexpr u32 families = HR_FAMILIES;
constexpr bool may_infer = (families >> 10 & 1) != 0;
constexpr bool has_lanes = (families >> 12 & 1) != 0;

HR_FN constexpr bool has_family(ConvertFamily family) { return (families >> static_cast<u32>(family) & 1) != 0; }

// The family of a column. It is a constant if the program has only one.
constexpr u32 family_bits = families & ((1u << 10) - 1);
HR_FN ConvertFamily family_of_column(const ConvertColumn& column) {
    constexpr bool is_single = (family_bits & (family_bits - 1)) == 0;
    if constexpr (!is_single) return column.family;
    u32 number = 0;
    for (u32 bits = family_bits; bits > 1; bits >>= 1) ++number;
    return static_cast<ConvertFamily>(number);
}

constexpr bool has_dates = has_family(ConvertFamily::date) || has_family(ConvertFamily::timestamp);
constexpr bool has_numbers = has_family(ConvertFamily::integer) || has_family(ConvertFamily::float32) ||
                             has_family(ConvertFamily::float64) || has_family(ConvertFamily::decimal);

// A field's text without skipped spaces and enclosing quotes. `doubled`: it may contain escapes, or the first of two
// quotes, that are to be removed. `after`: bytes of the field after the text.
struct FieldText {
    const u8* p;
    usize n;
    bool quoted;
    bool doubled;
    usize after;
};

enum class Family : u8 { boolean, integer, real, date, timestamp, time, duration, decimal, text, null };

HR_FN Family family_of(TypeId type) {
    switch (type) {
        case TypeId::boolean:
            return Family::boolean;
        case TypeId::float32:
        case TypeId::float64:
            return Family::real;
        case TypeId::date32:
            return Family::date;
        case TypeId::timestamp:
            return Family::timestamp;
        case TypeId::time32:
        case TypeId::time64:
            return Family::time;
        case TypeId::duration:
            return Family::duration;
        case TypeId::decimal128:
            return Family::decimal;
        case TypeId::string:
        case TypeId::large_string:
        case TypeId::binary:
        case TypeId::large_binary:
            return Family::text;
        case TypeId::null:
            return Family::null;
        default:
            return Family::integer;
    }
}

HR_FN IntegerRange range_of(const ConvertColumn& column) {
    return {~u64{0} >> (64 - 8 * column.width + (column.is_signed ? 1 : 0)), column.is_signed != 0};
}

// Maximum length in bytes of a number whose marks are not the usual ones, once it is rewritten with the usual ones.
constexpr usize max_plain_bytes = 128;

HR_COLD Parse timestamp_by_rule(const ConvertColumn& column, const u8* p, usize n, i64& out) {
    const DateFormats& formats = column.rules->dates;
    Timestamp t;
    Parse status;
    if (formats.iso_first && formats.count == 0) {
        status = parse_timestamp(p, n, t);
    } else {
        const DateFormat* used;
        status = parse_formatted(formats, p, n, t, used);
    }
    if (status != Parse::ok) return status;
    if (column.type == TypeId::date32) {
        if (!t.date_only) return Parse::invalid;
        out = t.seconds / 86400;
        return Parse::ok;
    }
    if (t.has_offset && !(column.flags & CONVERT_UTC)) return Parse::invalid;
    usize piece = 0;
    if (!t.has_offset && column.zone != nullptr && !to_utc(*column.zone, piece, t.seconds, t.seconds)) {
        return Parse::invalid;
    }
    return scale_timestamp(t, column.units_per_second, out);
}

template <class T>
HR_FN Parse float_by_rule(const u8* p, usize n, Int128& out) {
    T value{};
    const Parse status = parse_real(p, n, value);
    out = {bits_as<typename FloatFormat<T>::Bits>(value), 0};
    return status;
}

HR_COLD Parse number_by_rule(const ConvertColumn& column, const u8* p, usize n, Int128& out) {
    switch (column.type) {
        case TypeId::float32:
            if constexpr (has_family(ConvertFamily::float32)) return float_by_rule<float>(p, n, out);
            break;
        case TypeId::float64:
            if constexpr (has_family(ConvertFamily::float64)) return float_by_rule<double>(p, n, out);
            break;
        case TypeId::decimal128:
            if constexpr (has_family(ConvertFamily::decimal))
                return parse_decimal128(p, n, column.precision, column.scale, out);
            break;
        default:
            if constexpr (has_family(ConvertFamily::integer)) return parse_integer(p, n, range_of(column), out.low);
    }
    return Parse::invalid;
}

HR_COLD Parse duration_by_rule(const ConvertColumn& column, const u8* p, usize n, i64& out) {
    Duration duration;
    const Parse status = parse_duration(p, n, duration);
    return status == Parse::ok ? scale_duration(duration, column.units_per_second, out) : status;
}

// Converts a text that is not null, without escapes and doubled quotes.
HR_COLD Parse value_by_rule(const ConvertColumn& column, const u8* p, usize n, Int128& out) {
    const FieldRules& rules = *column.rules;
    i64 units = 0;
    Parse status = Parse::invalid;
    out = {0, 0};
    switch (family_of(column.type)) {
        case Family::boolean:
            out.low = is_one_of(rules.true_words, p, n) ? 1 : 0;
            return out.low != 0 || is_one_of(rules.false_words, p, n) ? Parse::ok : Parse::invalid;
        case Family::integer:
        case Family::real:
        case Family::decimal: {
            if (are_usual(rules.marks)) return number_by_rule(column, p, n, out);
            u8 plain[max_plain_bytes];
            usize size;
            if (!to_plain_number(rules.marks, p, n, plain, size)) return Parse::invalid;
            return number_by_rule(column, plain, size, out);
        }
        case Family::date:
        case Family::timestamp:
            if constexpr (has_dates) status = timestamp_by_rule(column, p, n, units);
            break;
        case Family::time:
            if constexpr (has_family(ConvertFamily::time)) status = parse_time(p, n, column.units_per_second, units);
            break;
        case Family::duration:
            if constexpr (has_family(ConvertFamily::time) || has_family(ConvertFamily::others))
                status = duration_by_rule(column, p, n, units);
            break;
        case Family::text:
        case Family::null:
            break;
    }
    out.low = static_cast<u64>(units);
    return status;
}

// Classifies a text that is neither empty nor null.
HR_COLD Kind kind_by_rule(const FieldRules& rules, const u8* p, usize n) {
    if (is_one_of(rules.true_words, p, n) || is_one_of(rules.false_words, p, n)) return Kind::boolean;
    if (rules.usual_forms) return classify(p, n);
    u8 plain[max_plain_bytes];
    return classify(p, n, rules.marks, rules.dates, plain);
}

HR_FN TextMarks marks_of(const ConvertTask& task) {
    const DfaTask& steps = task.dfa;
    return {task.dialect.quote,
            steps.escape,
            (task.dialect.flags & PLAIN_DOUBLES) != 0,
            steps.has_escape,
            steps.dialect.keeps_strays(),
            decodes_escapes(steps.dialect)};
}

HR_FN EnclosingMarks enclosing_marks_of(const ConvertTask& task) {
    return {task.dialect.quote, task.dfa.has_escape ? task.dfa.escape : -1, (task.dialect.flags & PLAIN_DOUBLES) != 0};
}

HR_COLD bool has_marks(const TextMarks& marks, const FieldText& field) {
    for (usize i = 0; i < field.n; ++i) {
        if (literal_index(marks, field, i) != i) return true;
    }
    return false;
}

// Returns whether a text with marks to be removed equals this word.
HR_COLD bool equals_undone(const FieldText& field, const TextMarks& marks, const Word& word) {
    usize at = 0;
    for (usize i = 0; i < field.n; ++i, ++at) {
        const u8 byte = literal_at(marks, field, i);
        if (at == word.size || byte != word.text[at]) return false;
    }
    return at == word.size;
}

HR_COLD bool is_null_text(const FieldRules& rules, const FieldText& field, const TextMarks& marks) {
    if (field.quoted && !rules.quoted_may_be_null) return false;
    if (is_written_null(rules, field.p, field.n, field.quoted)) return true;
    if (!field.doubled) return is_one_of(rules.nulls, field.p, field.n);
    for (usize i = 0; i < rules.nulls.count; ++i) {
        if (equals_undone(field, marks, rules.nulls.words[i])) return true;
    }
    return false;
}

// Result for a field that the fast forms declined.
enum class FieldOutcome : u8 { value, null, invalid, overflow, kind, deferred };

// Converts the text of a column whose type is inferred; parameters as for `resolve_field`.
HR_FN FieldOutcome resolve_inferred(const ConvertColumn& column, const u8* p, usize n, Int128& out, u32& kind) {
    const FieldRules& rules = *column.rules;
    const Kind found = kind_by_rule(rules, p, n);
    const bool held = holds(column.guess, found);
    if (held && value_by_rule(column, p, n, out) == Parse::ok) {
        u8 plain[max_plain_bytes];
        const bool is_float = column.guess == Kind::float64;
        if (is_float && is_rounded(rules.marks, p, n, bits_as<double>(out.low), plain)) kind = ROUNDED;
        return FieldOutcome::value;
    }
    out = {0, 0};
    kind = held ? UNFIT : static_cast<u32>(found);
    return FieldOutcome::kind;
}

// Converts a field. `kind` is set with FieldOutcome::kind, to the Kind seen or UNFIT, and to ROUNDED beside such a
// value.
HR_COLD FieldOutcome resolve_field(const ConvertColumn& column, const FieldText& field, const TextMarks& marks,
                                   Int128& out, u32& kind) {
    const FieldRules& rules = *column.rules;
    out = {0, 0};
    if (is_null_text(rules, field, marks)) return FieldOutcome::null;
    u8 whole[max_plain_bytes];
    const u8* p = field.p;
    usize n = field.n;
    if (field.doubled && has_marks(marks, field)) {
        if (n > max_plain_bytes) return FieldOutcome::deferred;
        n = 0;
        for (usize i = 0; i < field.n; ++i) whole[n++] = literal_at(marks, field, i);
        p = whole;
    }
    if (!are_usual(rules.marks) && n > max_plain_bytes) return FieldOutcome::deferred;
    if constexpr (may_infer) {
        if (column.flags & CONVERT_INFERRED) return resolve_inferred(column, p, n, out, kind);
    }
    const Parse status = value_by_rule(column, p, n, out);
    if (status == Parse::ok) return FieldOutcome::value;
    out = {0, 0};
    return status == Parse::overflow ? FieldOutcome::overflow : FieldOutcome::invalid;
}

}  // namespace headrace
