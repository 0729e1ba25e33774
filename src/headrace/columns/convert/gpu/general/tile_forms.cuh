// Reads a field of a column of fixed width from staged text: words first, then the forms of the column's family. What
// is declined here goes to the shared rules (tile_rules.cuh).
#pragma once

#include "columns/convert/gpu/general/tile_rows.cuh"
#include "columns/convert/gpu/moments.cuh"
#include "columns/convert/gpu/numbers.cuh"
#include "columns/convert/gpu/words.cuh"
#include "columns/rules/kinds.hpp"

namespace headrace {

// Copies of the column properties that the loop over groups uses. They stay in registers: the compiler must assume that
// stores to the result change the column table.
struct LoopColumn {
    u8* values;
    u32* validity;
    u32 largest;
    u32 point;  // the decimal mark, four times
    ConvertFamily family;
    u8 width;
    u8 flags;
    bool first;  // the first column of the record
};

HR_FN LoopColumn loop_column(const ConvertColumn& column) {
    const u32 point = tile::repeated(column.rules->marks.decimal);
    return {column.values, column.validity, column.largest,      point, family_of_column(column),
            column.width,  column.flags,    column.position == 0};
}

// The forms load the words before a field's end. Texts that end in the first bytes of the staged head, followed by
// spaces, are left to the rules.
constexpr u32 min_read_end = 32;

// A lane's field in staged text, without enclosing quotes. If the lane has none, `end` is in the head. Then `n` is too
// large for every form, as it is if the field began before the staged head.
struct UnitField {
    u32 begin, end;
    u32 n;
    bool quoted;
};

HR_FN UnitField locate(const ConvertMemory& memory, const ConvertTask& task, const ConvertTile& tile,
                       const LoopColumn& column, bool mine, i32 slot) {
    const u16* const place = memory.places + (mine ? slot : 0);
    UnitField field{place[0] + 1u, end_of_field(memory, task, place[1]), 0, false};
    if constexpr (by_dfa) {
        if (column.first) field.begin = last_start(memory, place[1], field.begin);
        field.begin = task.dfa.dialect.text_begin(staged_text(memory), field.begin, field.end);
        const u32 end = task.dfa.dialect.text_end(staged_text(memory), field.begin, field.end);
        if (end < min_read_end) return {field.begin, field.end, ~0u, false};
        field.end = end;
        field.quoted = field.begin < field.end && field.end - field.begin >= 2 && is_opening(memory, task, field.begin);
    } else if (column.first || may_quote) {
        const u8* const text = staged_text(memory);
        u32 first = field.begin < field.end ? text[field.begin] : 0;
        if (column.first && field.begin < field.end && is_line_end(task.dialect, static_cast<u8>(first))) {
            field.begin = skip_line_ends(memory, task.dialect, tile, field.begin);
            first = text[field.begin];
        }
        field.quoted = may_quote && first == task.dialect.quote && (task.dialect.flags & PLAIN_QUOTES) &&
                       field.end - field.begin >= 2;
    }
    if (field.quoted) {
        ++field.begin;
        --field.end;
    }
    field.n = mine ? field.end - field.begin : ~0u;
    return field;
}

HR_FN const u32* staged_words(const ConvertMemory& memory) { return reinterpret_cast<const u32*>(memory.text); }

// Reads a number of up to eight bytes: digits, and for floats a decimal mark.
HR_FN bool read_short(const ConvertMemory& memory, const LoopColumn& column, const UnitField& field, u64& value) {
    u32 words[2], magnitude;
    load_before(staged_words(memory), field.end, words);
    u32 closed[2] = {words[0], words[1]};
    const u32 after_point = column.family == ConvertFamily::integer ? 8 : close_point(closed, column.point);
    const bool has_point = after_point < field.n && after_point < 8;
    closed[0] = has_point ? closed[0] : words[0];
    closed[1] = has_point ? closed[1] : words[1];
    const u32 digits = field.n - (has_point ? 1 : 0), fraction = has_point ? after_point : 0;
    bool fine = value_of(closed, static_cast<i32>(digits), magnitude) && digits - 1 < 8 && field.n <= 8;
    if (column.family == ConvertFamily::integer) {
        value = magnitude;
        fine = fine && magnitude <= column.largest;
    } else if (column.family == ConvertFamily::float64) {
        value = bits_as<u64>(divide_by_power(static_cast<double>(magnitude), fraction));
    } else {
        value = bits_as<u32>(divide_by_power(static_cast<float>(magnitude), fraction));
    }
    if (!(column.flags & CONVERT_INFERRED) || field.n <= 1) return fine;
    const u8* const text = staged_text(memory) + field.begin;
    return fine && !(text[0] == '0' && is_digit(text[1]));
}

HR_FN bool read_instant(const ConvertMemory& memory, const ConvertColumn& column, const UnitField& field, i64& value) {
    const bool inferred = column.flags & CONVERT_INFERRED;
    Moment moment;
    if (!read_moment(staged_words(memory), field.begin, field.end, *column.rules, inferred, moment)) return false;
    if (column.family == ConvertFamily::date) {
        value = moment.days;
        return !moment.has_time && !moment.has_offset;
    }
    const bool is_utc = column.flags & CONVERT_UTC;
    // A local time of a zone is left to the rules, as is one of an inferred column of instants.
    if (moment.has_offset ? !is_utc : column.zone != nullptr || (inferred && is_utc)) return false;
    return scale_moment(moment, column.units_per_second, value);
}

template <class T>
HR_FN bool to_bits(const u32* text, const SignedNumber& found, bool canonical, u64& bits) {
    T value{};
    const bool fine = to_real(text, found, canonical, value);
    bits = bits_as<typename FloatFormat<T>::Bits>(value);
    return fine;
}

// Reads a number. All families share one copy of the code that reads its digits.
HR_FN bool read_number_field(const u32* text, const ConvertColumn& column, const UnitField& field, Int128& value) {
    const bool is_integer = column.family == ConvertFamily::integer, inferred = column.flags & CONVERT_INFERRED;
    const NumberForm form{column.rules->marks, inferred, inferred && is_hex_kind(column.guess)};
    const SignedNumber found = read_signed(text, field.begin, field.end, form, is_integer);
    switch (column.family) {
        case ConvertFamily::integer:
            return has_family(ConvertFamily::integer) && to_integer(found, range_of(column), value.low);
        case ConvertFamily::float32:
            return has_family(ConvertFamily::float32) && to_bits<float>(text, found, inferred, value.low);
        case ConvertFamily::float64:
            return has_family(ConvertFamily::float64) && to_bits<double>(text, found, inferred, value.low);
        default:
            return has_family(ConvertFamily::decimal) && to_fixed_decimal(found, column.precision, column.scale, value);
    }
}

// Reads a field by the long forms of the column's family. If it declines, the value is undefined.
HR_FN bool read_long(const ConvertMemory& memory, const ConvertColumn& column, const UnitField& field, Int128& value) {
    const u32* const text = staged_words(memory);
    i64 units = 0;
    bool fine = false;
    switch (column.family) {
        case ConvertFamily::integer:
        case ConvertFamily::float32:
        case ConvertFamily::float64:
        case ConvertFamily::decimal:
            return has_numbers && read_number_field(text, column, field, value);
        case ConvertFamily::date:
        case ConvertFamily::timestamp:
            fine = has_dates && read_instant(memory, column, field, units);
            break;
        case ConvertFamily::time:
            if constexpr (has_family(ConvertFamily::time)) {
                const i64 each = column.units_per_second;
                const bool inferred = column.flags & CONVERT_INFERRED;  // then a clock time is no duration
                if (column.type != TypeId::duration) {
                    fine = read_time(text, field.begin, field.end, each, false, units);
                } else if (!inferred || column.rules->dates.count == 0) {  // a text may have the format of a date
                    fine = read_duration(text, field.begin, field.end, each, inferred, units);
                }
            }
            break;
        default:
            break;
    }
    value.low = static_cast<u64>(units);
    return fine;
}

// Result of reading a field. `left`: the rules must decide.
enum class FormOutcome : u8 { value, null, left };

// Looks a field up among the column's words. Returns `value` if no word has a meaning that prevents reading the text.
HR_FN FormOutcome look_up(const ConvertMemory& memory, const ConvertColumn& column, const UnitField& field,
                          Int128& value) {
    const FieldRules& rules = *column.rules;
    const u32 meaning = staged_meaning(rules.words, staged_words(memory), field.begin, field.n);
    if (meaning == LONG_WORD) return FormOutcome::left;
    if ((meaning & NULL_WORD) && (!field.quoted || rules.quoted_may_be_null)) return FormOutcome::null;
    const bool inferred = column.flags & CONVERT_INFERRED, is_word = (meaning & BOOL_WORDS) != 0;
    value.low = meaning & TRUE_WORD ? 1 : 0;
    if (column.family == ConvertFamily::boolean) return is_word ? FormOutcome::value : FormOutcome::left;
    return inferred && is_word ? FormOutcome::left : FormOutcome::value;
}

// Returns whether bytes of the field are not part of its text.
HR_FN bool has_dropped(const ConvertMemory& memory, const UnitField& field) {
    return may_quote && dropped_until(memory, field.end) != dropped_until(memory, field.begin);
}

// Reads a field that the short form declined.
HR_FN FormOutcome read_form(const ConvertMemory& memory, const ConvertColumn& column, const UnitField& field,
                            Int128& value) {
    if (field.n > 64 || has_dropped(memory, field)) return FormOutcome::left;
    const FormOutcome outcome = look_up(memory, column, field, value);
    if (outcome != FormOutcome::value || column.family == ConvertFamily::boolean) return outcome;
    return read_long(memory, column, field, value) ? FormOutcome::value : FormOutcome::left;
}

}  // namespace headrace
