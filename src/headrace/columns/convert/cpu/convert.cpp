// Converts fields to typed values, one column of one tile at a time. Compiled once per instruction set.
//
// A column's loop is specialised for its type. A fast form reads the common shapes. What it declines (nulls, other
// shapes, invalid values) takes the slow path, where the shared rules decide. Cost per field: 8 bytes of index and the
// field's text are read, and the value is written.
#include "columns/convert/cpu/convert.hpp"

#include "columns/convert/cpu/absent_fields.hpp"
#include "columns/convert/cpu/field.hpp"
#include "columns/convert/cpu/lanes.hpp"
#include "columns/convert/cpu/shapes.hpp"
#include "columns/convert/cpu/valid_utf8.hpp"
#include "columns/rules/kinds.hpp"
#include "columns/rules/utf8.hpp"
#include "core/cpu/simd.hpp"

HR_BEGIN_NAMESPACE
namespace {

// Without a branch: bits of data are seldom predictable.
HR_FN void set_bit_if(bool condition, u64* bits, usize i) { bits[i / 64] |= u64{condition} << (i % 64); }

bool has_text(const ColumnType& type) { return type.id == TypeId::string || type.id == TypeId::large_string; }
bool has_bytes(const ColumnType& type) { return type.id == TypeId::binary || type.id == TypeId::large_binary; }

FieldBytes whole_text(const TileRows& rows, const ColumnJob& job, const u8* p, usize n) {
    if (!rows.may_need_unquoting) return {p, n, false};
    const FieldBytes field = strip(*rows.dialect, p, n);
    return {job.scratch, copy_text(*rows.dialect, field, job.scratch), field.quoted};
}

Kind classify_field(const ColumnJob& job, const u8* p, usize n) {
    const ColumnRules& rules = *job.rules;
    if ((meaning_of(rules, p, n) & BOOL_WORDS) != 0) return Kind::boolean;
    return rules.usual_forms ? classify(p, n) : classify(p, n, rules.marks, rules.dates, job.number);
}

constexpr usize BLOCK_ROWS = 64;  // rows of one word of null bits

template <class T>
constexpr bool is_double = false;
template <>
constexpr bool is_double<double> = true;

// Converts a value by the rule. Returns false for a null and for an invalid value, which is reported and null.
template <class T, class Shape>
[[gnu::noinline]] bool convert_by_rule(const TileRows& rows, const ColumnJob& job, usize row, u32 start, u32 end,
                                       const Shape& shape, T& out) {
    const FieldBytes field = whole_text(rows, job, rows.text + start, end - start);
    if (is_null(*job.rules, field.text, field.size, field.quoted)) return false;
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
// Converts rows [first, first + count) by eight, and returns those that are converted as bits. If none of the first
// eight is, the others are not tried, since texts of another form are seldom alone.
template <class T, class Shape>
HR_HOT u64 convert_lanes(const TileRows& rows, const ColumnFields& fields, usize first, usize count, const Shape& shape,
                         T* values) {
    const Dialect& dialect = *rows.dialect;
    if (dialect.skip_initial_space) return 0;
    // Whether a lenient field is quoted is decided field by field. No number begins with a quote, so `eight` declines
    // quoted ones.
    const bool strips = rows.may_need_unquoting && dialect.quote >= 0 && !dialect.lenient;
    u64 converted = 0;
    for (usize i = 0; i + LANES <= count; i += LANES) {
        LaneFields lanes = load_fields(rows, fields, first + i);
        if (strips) strip_quotes(lanes, static_cast<u8>(dialect.quote));
        converted |= u64{static_cast<u8>(~shape.eight(rows, lanes, values + i))} << i;
        if (converted == 0) break;
    }
    return converted;
}
#endif

// Returns the meanings of words that a fast form might take for values, so they are looked up before it.
u8 reserved_words(const ColumnJob& job) {
    const ColumnRules& rules = *job.rules;
    u8 reserved = rules.nulls_look_like_values ? NULL_WORD : 0;
    if (job.inferred && rules.words_look_like_values && job.type.id != TypeId::boolean) reserved |= BOOL_WORDS;
    return reserved;
}

// Converts a column of fixed width, 64 rows at a time. A shape has `fast`, `rule` and, with AVX-512, `eight`
// (shapes.hpp).
template <class T, class Shape, class Store>
HR_FN usize convert_values(const TileRows& rows, const ColumnJob& job, const Shape& shape, Store store) {
    const ColumnFields fields(rows, job.column);
    const ColumnRules& rules = *job.rules;
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
    for (usize base = 0; base < rows.rows; base += BLOCK_ROWS) {
        const usize count = rows.rows - base < BLOCK_ROWS ? rows.rows - base : BLOCK_ROWS;
        const u64 all = ~u64{0} >> (BLOCK_ROWS - count);
        // Absent fields are found at once where there are some. The first one after a block without is found by
        // reading.
        absent = absent_fields.come_first() || absent != 0 ? absent_fields.find(base, count) : 0;
        u64 unread = all & ~absent, failed = 0;
#if defined(HR_ISA_AVX512)
        if constexpr (requires { shape.eight(rows, LaneFields{}, static_cast<T*>(nullptr)); }) {
            T* const values = static_cast<T*>(job.values) + job.row_base + base;
            if (reserved == 0) unread &= ~convert_lanes(rows, fields, base, count, shape, values);
        }
#endif
        if (plain && reserved == 0 && unread == ~u64{0})
            unread = convert_plain_rows<T>(rows, fields, base, shape, store);
        for (u64 bits = absent; bits != 0; bits &= bits - 1)
            store(base + static_cast<usize>(trailing_zeros(bits)), T{});
        for (; unread != 0; unread &= unread - 1) {
            if (!read(base + static_cast<usize>(trailing_zeros(unread)))) [[unlikely]]
                failed |= unread & (0 - unread);
        }
        for (; failed != 0; failed &= failed - 1) {
            const usize row = base + static_cast<usize>(trailing_zeros(failed));
            T value{};
            if (absent_fields.is_absent(row) ||
                !convert_by_rule(rows, job, row, fields.start(row), fields.end(row), shape, value)) {
                value = T{};
                absent |= failed & (0 - failed);
            }
            store(row, value);
        }
        job.nulls[base / BLOCK_ROWS] = absent;
        nulls += static_cast<usize>(count_ones(absent));
    }
    return nulls;
}

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

// Validates the raw bytes of the field, so that a fault's position is exact. Bytes that unquoting removes are ASCII.
bool check_text(const TileRows& rows, const ColumnJob& job, usize row, const FieldBytes& field) {
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

// Converts strings of which only empty ones may be null, and which need no validation.
template <bool Plain>
ColumnCounts copy_strings(const TileRows& rows, const ColumnJob& job) {
    const ColumnFields fields(rows, job.column);
    const bool empty_is_null = job.rules->empty_is_null;
    u8* out = job.string_bytes;
    usize nulls = 0;
    for (usize row = 0; row < rows.rows; ++row) {
        const u32 start = fields.start(row);
        FieldBytes field = {rows.text + start, fields.end(row) - start, false};
        if (!Plain) field = strip(*rows.dialect, field.text, field.size);
        if (field.size == 0 && (Plain || !field.quoted) && (empty_is_null || fields.missing(row))) {
            set_bit_if(true, job.nulls, row);
            ++nulls;
        } else {
            out += Plain ? copy_until(field.text, field.size, out, [](const Block&) { return u64{0}; })
                         : copy_text(*rows.dialect, field, out);
        }
        job.string_ends[row] = static_cast<u32>(out - job.string_bytes);
    }
    return {nulls, static_cast<usize>(out - job.string_bytes), 0};
}

template <bool Plain>
ColumnCounts convert_strings(const TileRows& rows, const ColumnJob& job) {
    const ColumnFields fields(rows, job.column);
    const ColumnRules& rules = *job.rules;
    const AbsentFields absent_fields(rows, fields, rules);
    const bool words = rules.nulls.count > (rules.empty_is_null ? 1 : 0);
    const bool may_be_invalid = rows.has_high_bytes && !job.is_valid && has_text(job.type);
    if (!words && !may_be_invalid && (Plain || !rules.quoted_may_be_null)) return copy_strings<Plain>(rows, job);
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
                size = Plain ? copy_until(field.text, field.size, out, [](const Block&) { return u64{0}; })
                             : copy_text(*rows.dialect, field, out);
            }
            const bool is_unlooked =
                !Plain && (field.quoted ? rules.quoted_may_be_null : words && *field.text == rows.dialect->quote);
            if ((looks_at_text || is_unlooked) && is_null(rules, out, size, field.quoted)) absent |= u64{1} << i;
            out += size & ((absent >> i & 1) - 1);
            job.string_ends[row] = static_cast<u32>(out - job.string_bytes);
        }
        job.nulls[base / 64] = absent;
        nulls += static_cast<usize>(count_ones(absent));
    }
    return {nulls, static_cast<usize>(out - job.string_bytes), replaced};
}

// Classifies the fields of a column whose type is not inferred yet. All rows are null, and remain so if no field has a
// value.
ColumnCounts classify_column(const TileRows& rows, const ColumnJob& job) {
    const ColumnFields fields(rows, job.column);
    for (usize row = 0; row < rows.rows; ++row) {
        set_bit_if(true, job.nulls, row);
        job.string_ends[row] = 0;
        const u32 start = fields.start(row);
        const FieldBytes field = whole_text(rows, job, rows.text + start, fields.end(row) - start);
        if (fields.missing(row) || is_null(*job.rules, field.text, field.size, field.quoted)) continue;
        job.misfits.kind(job.misfits.context, row, static_cast<u8>(classify_field(job, field.text, field.size)), start);
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
