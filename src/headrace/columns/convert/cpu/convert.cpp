// Converts fields to typed values, one column of one tile at a time. Compiled once per instruction set.
//
// A column's loop is specialised for its type. A fast form reads the common shapes. What it declines (nulls, other
// shapes, invalid values) takes the slow path, where the shared rules decide. Cost per field: 8 bytes of index and the
// field's text are read, and the value is written.
#include "columns/convert/cpu/convert.hpp"

#include "columns/convert/cpu/convert_strings.hpp"
#include "columns/convert/cpu/convert_values.hpp"
#include "columns/convert/cpu/shapes.hpp"
#include "columns/convert/cpu/valid_utf8.hpp"

HR_BEGIN_NAMESPACE
namespace {

template <class T>
HR_FN auto store_to(const ColumnJob& job) {
    T* const values = static_cast<T*>(job.values) + job.row_base;
    return [values](usize row, T value) { values[row] = value; };
}

template <class T, class Shape>
usize convert_numbers(const TileRows& rows, const ColumnJob& job, const Shape& shape) {
    if (are_usual(job.rules->marks)) return convert_values<T>(rows, job, shape, store_to<T>(job));
    return convert_values<T>(rows, job, MarkedShape<T, Shape>{shape, job.rules->marks, job.number}, store_to<T>(job));
}

template <class T>
usize convert_int(const TileRows& rows, const ColumnJob& job) {
    if constexpr (sizeof(T) == 8) {
        const bool hex = job.inferred && is_hex_kind(static_cast<Kind>(job.guess));
        if (hex) return convert_values<T>(rows, job, HexShape<T>{}, store_to<T>(job));
    }
    return convert_numbers<T>(rows, job, IntShape<T>{job.inferred});
}

template <class T>
usize convert_float(const TileRows& rows, const ColumnJob& job) {
    return convert_numbers<T>(rows, job, FloatShape<T>{job.inferred});
}

// Returns whether ISO 8601 is the only form of dates and times.
bool has_iso_alone(const ColumnJob& job) { return job.rules->dates.iso_first && job.rules->dates.count == 0; }

usize convert_date(const TileRows& rows, const ColumnJob& job) {
    if (has_iso_alone(job)) return convert_values<i32>(rows, job, DateShape{}, store_to<i32>(job));
    return convert_values<i32>(rows, job, FormattedDateShape{{*job.rules, job.inferred}}, store_to<i32>(job));
}

usize convert_timestamp(const TileRows& rows, const ColumnJob& job) {
    const TimestampShape shape = {job.type.units_per_second, job.type.utc, job.type.utc && job.inferred};
    if (has_iso_alone(job) && job.type.zone == nullptr) {
        return convert_values<i64>(rows, job, shape, store_to<i64>(job));
    }
    const FormattedTimestampShape formatted = {{*job.rules, job.inferred}, shape, job.type.zone};
    return convert_values<i64>(rows, job, formatted, store_to<i64>(job));
}

template <class T>
usize convert_time(const TileRows& rows, const ColumnJob& job) {
    return convert_values<T>(rows, job, TimeShape<T>{job.type.units_per_second}, store_to<T>(job));
}

usize convert_duration(const TileRows& rows, const ColumnJob& job) {
    const DurationShape shape = {job.type.units_per_second, !job.inferred};
    return convert_values<i64>(rows, job, shape, store_to<i64>(job));
}

usize convert_decimal(const TileRows& rows, const ColumnJob& job) {
    return convert_numbers<Int128>(rows, job, DecimalShape{{job.type.precision, job.type.scale}});
}

usize convert_null(const TileRows& rows, const ColumnJob& job) {
    return convert_values<bool>(rows, job, NullShape{}, [](usize, bool) {});
}

usize convert_bool(const TileRows& rows, const ColumnJob& job) {
    u64* const bits = job.bits;
    return convert_values<bool>(rows, job, BoolShape{*job.rules},
                                [bits](usize row, bool value) { set_bit_if(value, bits, row); });
}

// Classifies the fields of a column whose type is not inferred yet. All rows are null, and remain so if no field has a
// value. Text covers every kind, so nothing after it is classified.
ColumnCounts classify_column(const TileRows& rows, const ColumnJob& job) {
    const ColumnFields fields(rows, job.column);
    const ColumnRules& rules = *job.rules;
    KindSet seen = 0;
    for (usize row = 0; row < rows.rows; ++row) {
        set_bit_if(true, job.nulls, row);
        job.string_ends[row] = 0;
        if (fields.missing(row) || (seen & set_of(Kind::text))) continue;
        const u32 start = fields.start(row);
        const FieldBytes field = whole_text(rows, job, rows.text + start, fields.end(row) - start);
        if (is_null(rules, field.text, field.size, field.quoted)) continue;
        const bool may_be_word = meaning_of(rules, field.text, field.size) != 0;  // "1" may be a word for true
        if (rules.usual_forms && !may_be_word && is_plainly_of(seen, field.text, field.size)) continue;
        const Kind kind = classify_field(job, field.text, field.size);
        seen |= set_of(kind);
        job.misfits.kind(job.misfits.context, row, static_cast<u8>(kind), start);
    }
    return {rows.rows, 0, 0};
}

usize convert_fixed_width(const TileRows& rows, const ColumnJob& job) {
    switch (job.type.id) {
        case TypeId::boolean:
            return convert_bool(rows, job);
        case TypeId::int8:
            return convert_int<i8>(rows, job);
        case TypeId::int16:
            return convert_int<i16>(rows, job);
        case TypeId::int32:
            return convert_int<i32>(rows, job);
        case TypeId::int64:
            return convert_int<i64>(rows, job);
        case TypeId::uint8:
            return convert_int<u8>(rows, job);
        case TypeId::uint16:
            return convert_int<u16>(rows, job);
        case TypeId::uint32:
            return convert_int<u32>(rows, job);
        case TypeId::uint64:
            return convert_int<u64>(rows, job);
        case TypeId::float32:
            return convert_float<float>(rows, job);
        case TypeId::float64:
            return convert_float<double>(rows, job);
        case TypeId::date32:
            return convert_date(rows, job);
        case TypeId::timestamp:
            return convert_timestamp(rows, job);
        case TypeId::time32:
            return convert_time<i32>(rows, job);
        case TypeId::time64:
            return convert_time<i64>(rows, job);
        case TypeId::duration:
            return convert_duration(rows, job);
        case TypeId::decimal128:
            return convert_decimal(rows, job);
        case TypeId::null:
            return convert_null(rows, job);
        case TypeId::string:
        case TypeId::large_string:
        case TypeId::binary:
        case TypeId::large_binary:
            break;
    }
    return 0;
}

ColumnCounts convert(const TileRows& rows, const ColumnJob& job) {
    if (job.inferred && !has_type(static_cast<Kind>(job.guess))) return classify_column(rows, job);
    if (has_text(job.type) || has_bytes(job.type)) {
        const bool plain = job.raw || !rows.may_need_unquoting;
        return plain ? convert_strings<true>(rows, job) : convert_strings<false>(rows, job);
    }
    return {convert_fixed_width(rows, job), 0, 0};
}

usize field_text(const TileRows& rows, u32 start, u32 end, u8* to, bool& quoted) {
    const FieldBytes field = strip(*rows.dialect, rows.text + start, end - start);
    quoted = field.quoted;
    return copy_text(*rows.dialect, field, to);
}

}  // namespace

const ConvertKernels& convert_kernels() {
    static constexpr ConvertKernels kernels = {convert, field_text, is_valid_utf8};
    return kernels;
}

HR_END_NAMESPACE
