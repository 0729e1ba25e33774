// Converts fields of fixed width, by the common shapes alone. Fields of other shapes are listed for the rules
// (general/left_fields.cuh). If that is impossible, the record is no longer live, and convert.cu converts its tile.
#pragma once

#include "columns/convert/gpu/fast/row_fields.cuh"
#include "columns/convert/gpu/moments.cuh"
#include "columns/convert/gpu/numbers.cuh"
#include "columns/convert/gpu/words.cuh"
#include "columns/rules/dates/zone.hpp"
#include "columns/rules/special_words.hpp"

namespace headrace {

HR_FN const FieldRules& rules_of(const RowColumn& column) {
    return *reinterpret_cast<const FieldRules*>(column.offsets_or_rules);
}

// Returns the form of a column's numbers.
HR_FN NumberForm form_of(const RowColumn& column) {
    return {has_marks ? rules_of(column).marks : NumberMarks{}, (column.flags & ROW_CANONICAL) != 0,
            (column.flags & ROW_HEX) != 0};
}

// Returns the decimal mark, ^ '0', four times.
HR_FN u32 point_of(const RowColumn& column) {
    return tile::repeated(has_marks ? static_cast<u8>(rules_of(column).marks.decimal ^ '0') : u8{'.' ^ '0'});
}

// Clears bits of a word and the next one, for the 32 rows from `first` on.
HR_FN void clear_bits(u32* words, u64 first, u32 bits) {
    if (tile::lane() != 0) return;
    const u32 shift = static_cast<u32>(first % 32);
    atomicAnd(&words[first / 32], ~(bits << shift));
    if (shift != 0 && bits >> (32 - shift) != 0) atomicAnd(&words[first / 32 + 1], ~(bits >> (32 - shift)));
}

// Sets bits likewise.
HR_FN void set_bits(u32* words, u64 first, u32 bits) {
    if (tile::lane() != 0) return;
    const u32 shift = static_cast<u32>(first % 32);
    atomicOr(&words[first / 32], bits << shift);
    if (shift != 0 && bits >> (32 - shift) != 0) atomicOr(&words[first / 32 + 1], bits >> (32 - shift));
}

// Returns NULL_WORD if a field is a null word, 0 if it is no word that matters, and another number if the rules decide.
HR_FN u32 meaning_of_field(const RowMemory& memory, const RowTask& task, const RowColumn& column,
                           const FieldSpan& field) {
    const FieldRules& rules = rules_of(column);
    // Words are compared with the field's text, of which an escape is no part.
    if (by_dfa && dropped_until(memory, field.begin + field.n) != dropped_until(memory, field.begin)) {
        const u8* const text = staged_text(memory) + field.begin;
        return is_written_null(rules, text, field.n, field.quoted) ? u32{NULL_WORD} : LONG_WORD;
    }
    u32 meaning = staged_meaning(rules.words, staged_words(memory), field.begin, field.n);
    // Values that are not inferred may be words for bools.
    if (!(column.flags & ROW_CANONICAL) && column.kind != RowKind::boolean) meaning &= NULL_WORD | LONG_WORD;
    if (!field.quoted || meaning == 0) return meaning;
    return rules.quoted_may_be_null ? LONG_WORD : meaning & ~u32{NULL_WORD};
}

// The functions that read a field of a column. `common(field)`: the common shape, without branches. `negative(field)`:
// the same shape after a minus sign, without the sign. `other(field)`: longer shapes.
template <class Common, class Negative, class Other>
struct FieldForms {
    Common common;
    Negative negative;
    Other other;
};

// Lists a field of up to 31 bytes for the rules. Returns false if the record has no such field, or the list has no
// place.
HR_FN bool leave_field(RowMemory& memory, const RowColumn& column, u64 row, const Cursor& cursor) {
    if constexpr (!leaves_fields) return false;
    const u32 size = to_end(memory, cursor.at), end = cursor.at + size;
    if (size > 31 || end > cursor.end) return false;
    const u32 slot = atomicAdd(&memory.left_count, 1u);
    if (slot >= max_left) return false;
    memory.left[slot] = {static_cast<u16>(cursor.at), static_cast<u16>(row), column.number};
    return true;
}

// Makes empty fields null. Returns whether a record of some lane has a field that is neither null nor converted.
template <class T>
HR_FN bool take_empty(const RowTask& task, const RowColumn& column, const RowGroup& group,
                      const Cursor (&cursors)[per_lane], const FieldSpan (&fields)[per_lane],
                      Number<T> (&values)[per_lane]) {
    bool asks = false;
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        const bool open = cursors[i].live && !values[i].fine;
        // After the record's end every field is empty but does not belong to the record.
        const bool is_empty = fields[i].n == 0 && !fields[i].quoted && cursors[i].at <= cursors[i].end;
        const bool null = open && ((is_empty && (column.flags & ROW_EMPTY_IS_NULL)) || is_missing(task, cursors[i]));
        if (null) values[i] = {T{}, true};
        asks |= open && !null;
        const u32 nulls = __ballot_sync(tile::all_lanes, null);
        if (nulls != 0) clear_bits(column.validity, group.first + i * tile::lanes, nulls);
    }
    return __any_sync(tile::all_lanes, asks);
}

// Reads a field of each of a lane's records. Lanes whose fields have not the common shape try the other forms. Null
// words are looked up before the longer shapes.
template <class T, class Forms>
HR_FN void read_column(RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                       Cursor (&cursors)[per_lane], const Forms& forms) {
    Number<T> values[per_lane];
    FieldSpan fields[per_lane];
    bool asks = false, has_empty = false;
    const bool words_first = has_words && (column.flags & ROW_RESERVED);
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        fields[i] = field_at(memory, task, cursors[i], padded_bytes(memory, task, cursors[i].at));
        values[i] = forms.common(fields[i]);
        if (words_first && cursors[i].live && values[i].fine) {
            values[i].fine = meaning_of_field(memory, task, column, fields[i]) == 0;
        }
        asks |= cursors[i].live && !values[i].fine;
        has_empty |= fields[i].n == 0;
    }
    asks = __any_sync(tile::all_lanes, asks);
    if (asks && __any_sync(tile::all_lanes, has_empty)) asks = take_empty(task, column, group, cursors, fields, values);
    if (asks) {
        // One copy of the code for all records of a lane.
#pragma unroll 1
        for (u32 i = 0; i < per_lane; ++i) {
            FieldSpan field = fields[0];
            Cursor cursor = cursors[0];
            Number<T> value = values[0];
#pragma unroll
            for (u32 j = 1; j < per_lane; ++j) {
                field = i == j ? fields[j] : field;
                cursor = i == j ? cursors[j] : cursor;
                value = i == j ? values[j] : value;
            }
            bool open = cursor.live && !value.fine, null = false;
            if (open && !words_first && field.n - 1 <= window_bytes && staged_text(memory)[field.begin] == '-') {
                value = forms.negative(FieldSpan{field.begin + 1, field.n - 1, field.next, field.quoted});
                open = !value.fine;
            }
            if (open && field.n - 1 < 31) {
                const u32 meaning = meaning_of_field(memory, task, column, field);
                null = meaning == NULL_WORD;
                if (meaning == 0) value = forms.other(field);
            }
            // The rules set the validity of a field that has a value.
            null = null ||
                   (cursor.live && !value.fine && leave_field(memory, column, group.row + i * tile::lanes, cursor));
            if (null) value = {T{}, true};
            const u32 nulls = __ballot_sync(tile::all_lanes, null);
            if (nulls != 0) clear_bits(column.validity, group.first + i * tile::lanes, nulls);
#pragma unroll
            for (u32 j = 0; j < per_lane; ++j) values[j] = i == j ? value : values[j];
        }
    }
    T* const to = reinterpret_cast<T*>(column.values) + group.row;
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        cursors[i].live = cursors[i].live && values[i].fine;
        if (!cursors[i].live) continue;
        *tile::in_global(to + i * tile::lanes) = values[i].value;
        cursors[i].at = fields[i].next;
    }
}

// Returns whether a decimal number fits a window. Inferred numbers have no zero before other digits.
HR_FN bool fits_window(const RowColumn& column, const LeadingBytes& window, u32 n, Digits digits) {
    const bool fits = are_digits(digits) && n - 1 < window_bytes;
    return column.flags & ROW_CANONICAL ? fits && !(column.flags & ROW_HEX) && !has_zero_first(window, n) : fits;
}

template <class T>
HR_FN void read_integers(RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                         Cursor (&cursors)[per_lane]) {
    const u32* const text = staged_words(memory);
    const auto common = [&](const FieldSpan& field) {
        const LeadingBytes window = open_window(text, field.begin);
        const Digits digits = align(window, field.n);
        const u32 magnitude = number_of(digits);
        return Number<T>{static_cast<T>(magnitude),
                         fits_window(column, window, field.n, digits) && magnitude <= column.largest};
    };
    const bool is_signed = column.flags & ROW_SIGNED;
    const auto negative = [&](const FieldSpan& field) {
        const Number<T> found = common(field);
        return Number<T>{static_cast<T>(0 - found.value), found.fine && is_signed};
    };
    const auto other = [&](const FieldSpan& field) {
        if constexpr (sizeof(T) < 8) {
            return small_integer<T>(text, field.begin, field.n, is_signed);
        } else {
            u64 value = 0;
            const IntegerRange range{~u64{0} >> (is_signed ? 1 : 0), is_signed};
            const SignedNumber found = read_signed(text, field.begin, field.begin + field.n, form_of(column), true);
            const bool fine = to_integer(found, range, value);
            return Number<T>{static_cast<T>(value), fine};
        }
    };
    read_column<T>(memory, task, column, group, cursors, FieldForms{common, negative, other});
}

// A number of up to eight bytes without its decimal mark, and how many of its digits follow the mark.
struct ShortNumber {
    u32 digits, fraction;
    bool fine;
};
HR_FN ShortNumber short_number(const u32* text, const RowColumn& column, const FieldSpan& field, u32 point) {
    const LeadingBytes window = open_window(text, field.begin);
    Digits digits = align(window, field.n);
    const u32 after_point = close_point(digits, point);
    const bool has_point = after_point != no_point;
    const bool fine = fits_window(column, window, field.n, digits) && field.n - (has_point ? 1 : 0) != 0;
    return {number_of(digits), has_point ? after_point / 8 : 0, fine};
}

template <class T>
HR_FN void read_reals(RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                      Cursor (&cursors)[per_lane]) {
    const u32* const text = staged_words(memory);
    const u32 point = point_of(column);
    const auto common = [&](const FieldSpan& field) {
        const ShortNumber found = short_number(text, column, field, point);
        return Number<T>{divide_by_power(static_cast<T>(found.digits), found.fraction), found.fine};
    };
    const auto negative = [&](const FieldSpan& field) {
        const Number<T> found = common(field);
        return Number<T>{-found.value, found.fine};
    };
    const auto other = [&](const FieldSpan& field) {
        T value = 0;
        const NumberForm form = form_of(column);
        const SignedNumber found = read_signed(text, field.begin, field.begin + field.n, form, false);
        const bool fine = to_real(text, found, form.canonical, value);
        return Number<T>{value, fine};
    };
    read_column<T>(memory, task, column, group, cursors, FieldForms{common, negative, other});
}

// Reads numbers of type decimal128.
HR_FN void read_decimals(RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                         Cursor (&cursors)[per_lane]) {
    const i32 precision = static_cast<i32>(column.largest & 0xFF), scale = static_cast<i32>(column.largest >> 8);
    const u32* const text = staged_words(memory);
    const u32 point = point_of(column);
    const auto common = [&](const FieldSpan& field) {
        const ShortNumber found = short_number(text, column, field, point);
        const i32 exponent = -static_cast<i32>(found.fraction);
        Int128 value{};
        const bool fine = to_fixed_decimal(found.digits, exponent, precision, scale, value) && found.fine;
        return Number<Int128>{value, fine};
    };
    const auto negative = [&](const FieldSpan& field) {
        const Number<Int128> found = common(field);
        return Number<Int128>{negate(found.value), found.fine};
    };
    const auto other = [&](const FieldSpan& field) {
        Int128 value{};
        const SignedNumber found = read_signed(text, field.begin, field.begin + field.n, form_of(column), false);
        const bool fine = to_fixed_decimal(found, precision, scale, value);
        return Number<Int128>{value, fine};
    };
    read_column<Int128>(memory, task, column, group, cursors, FieldForms{common, negative, other});
}

// Reads a date or a timestamp by the column's formats.
HR_FN bool read_by_formats(const u32* text, const RowColumn& column, const FieldSpan& field, Moment& moment) {
    const bool inferred = column.flags & ROW_CANONICAL;
    return read_moment(text, field.begin, field.begin + field.n, rules_of(column), inferred, moment);
}

HR_FN void read_dates(RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                      Cursor (&cursors)[per_lane]) {
    const u32* const text = staged_words(memory);
    const auto common = [&](const FieldSpan& field) {
        Moment moment;
        bool fine = false;
        if constexpr (has_formats) {
            fine = read_by_formats(text, column, field, moment) && !moment.has_time && !moment.has_offset;
        } else {
            fine = fast_date(text, field.begin + date_bytes, field.n, moment.days);
        }
        return Number<i32>{moment.days, fine};
    };
    const auto none = [](const FieldSpan&) { return Number<i32>{0, false}; };
    read_column<i32>(memory, task, column, group, cursors, FieldForms{common, none, none});
}

// Takes a time without an offset for a local time of the column's zone, if it has one. Returns false if the clocks did
// not show that time, or showed it twice.
HR_FN bool move_to_utc(const RowColumn& column, const RowGroup& group, Moment& moment) {
    if (!has_zones || !(column.flags & ROW_ZONE) || moment.has_offset) return true;
    const i64 local = i64{moment.days} * 86400 + moment.seconds;
    i64 utc = 0;
    usize piece = 0;
    const bool fine = to_utc(*group.columns[column.number].zone, piece, local, utc);
    moment.offset = static_cast<i32>(local - utc);
    return fine;
}

HR_FN void read_timestamps(RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                           Cursor (&cursors)[per_lane]) {
    const i64 units = column.largest;
    // Inferred instants have offsets.
    const bool is_utc = column.flags & ROW_UTC, needs_offset = is_utc && (column.flags & ROW_CANONICAL);
    const u32* const text = staged_words(memory);
    const auto none = [](const FieldSpan&) { return Number<i64>{0, false}; };
    const auto other = [&](const FieldSpan& field) {
        Moment moment;
        i64 value = 0;
        const bool read = has_formats ? read_by_formats(text, column, field, moment)
                                      : read_iso(text, field.begin, field.begin + field.n, moment);
        const bool fine = read && (moment.has_offset ? is_utc : !needs_offset) && move_to_utc(column, group, moment) &&
                          scale_moment(moment, units, value);
        return Number<i64>{value, fine};
    };
    const auto common = [&](const FieldSpan& field) {
        i64 value = 0;
        const bool fine = fast_timestamp(text, field.begin + timestamp_bytes, field.n, units, value);
        return Number<i64>{value, fine && !needs_offset && !(has_zones && (column.flags & ROW_ZONE))};
    };
    if constexpr (has_formats) {
        read_column<i64>(memory, task, column, group, cursors, FieldForms{other, none, none});
    } else {
        read_column<i64>(memory, task, column, group, cursors, FieldForms{common, none, other});
    }
}

// Reads times of a day.
template <class T>
HR_FN void read_times(RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                      Cursor (&cursors)[per_lane]) {
    const i64 units = column.largest;
    const u32* const text = staged_words(memory);
    const auto common = [&](const FieldSpan& field) {
        u32 words[2], seconds = 0;
        load_from(text, field.begin, words);
        const bool fine = fast_clock(words[0], words[1], seconds) && field.n == 8;
        return Number<T>{static_cast<T>(seconds * units), fine};
    };
    const auto none = [](const FieldSpan&) { return Number<T>{0, false}; };
    const auto other = [&](const FieldSpan& field) {
        i64 value = 0;
        const bool fine = read_time(text, field.begin, field.begin + field.n, units, false, value);
        return Number<T>{static_cast<T>(value), fine};
    };
    read_column<T>(memory, task, column, group, cursors, FieldForms{common, none, other});
}

HR_FN void read_durations(RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                          Cursor (&cursors)[per_lane]) {
    // An inferred duration is neither a clock time nor a date of some format.
    const bool inferred = column.flags & ROW_CANONICAL;
    const bool may_be_date = inferred && rules_of(column).dates.count != 0;
    const auto none = [](const FieldSpan&) { return Number<i64>{0, false}; };
    const auto other = [&](const FieldSpan& field) {
        const u32* const text = staged_words(memory);
        i64 value = 0;
        const bool fine =
            !may_be_date && read_duration(text, field.begin, field.begin + field.n, column.largest, inferred, value);
        return Number<i64>{value, fine};
    };
    read_column<i64>(memory, task, column, group, cursors, FieldForms{none, none, other});
}

HR_FN void read_booleans(RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                         Cursor (&cursors)[per_lane]) {
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        const FieldSpan field = field_at(memory, task, cursors[i], padded_bytes(memory, task, cursors[i].at));
        const bool open = cursors[i].live && field.n <= 8 && (field.n != 0 || cursors[i].at <= cursors[i].end);
        u32 meaning = 0;
        if (open) meaning = meaning_of_field(memory, task, column, field);
        const bool is_empty = open && field.n == 0 && !field.quoted && (column.flags & ROW_EMPTY_IS_NULL);
        bool null = is_empty || meaning == NULL_WORD || is_missing(task, cursors[i]);
        bool fine = null || meaning == TRUE_WORD || meaning == FALSE_WORD;
        if (cursors[i].live && !fine) {
            fine = null = leave_field(memory, column, group.row + i * tile::lanes, cursors[i]);
        }
        const u32 nulls = __ballot_sync(tile::all_lanes, null);
        const u32 trues = __ballot_sync(tile::all_lanes, !null && meaning == TRUE_WORD);
        if (nulls != 0) clear_bits(column.validity, group.first + i * tile::lanes, nulls);
        if (trues != 0) set_bits(reinterpret_cast<u32*>(column.values), group.first + i * tile::lanes, trues);
        cursors[i].live = cursors[i].live && fine;
        if (cursors[i].live) cursors[i].at = field.next;
    }
}

}  // namespace headrace
