#include "export/text/value_text.hpp"

#include <type_traits>

#include "columns/rules/numbers/int128.hpp"

namespace headrace {
namespace {

// All bytes that the text of a family's values may contain.
constexpr std::string_view boolean_alphabet = "truefalse", integer_alphabet = "0123456789-";
constexpr std::string_view real_alphabet = "0123456789+-.einfsNa(x)bcd", decimal_alphabet = "0123456789-.";
constexpr std::string_view date_alphabet = "0123456789+-:. Zdays", time_alphabet = date_alphabet;
constexpr std::string_view timestamp_alphabet = date_alphabet, duration_alphabet = date_alphabet;
constexpr std::string_view text_alphabet, null_alphabet;

template <class T>
u8* write_boolean_at(const ColumnCell& cell, u8* out) {
    const i64 at = cell.column.offset + cell.row;
    const bool set = (cell.column.values[at >> 3] >> (at & 7) & 1) != 0;
    __builtin_memcpy(out, set ? "true\0\0\0" : "false\0\0", 8);
    return out + 5 - set;
}

// Converts a half-precision float (5 bits of exponent, 10 of fraction), exactly.
float widen_half(u16 half) {
    const u32 sign = static_cast<u32>(half & 0x8000) << 16;
    const u32 exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 31) return bits_as<float>(sign | 0x7F800000 | fraction << 13);
    if (exponent != 0) return bits_as<float>(sign | (exponent + 112) << 23 | fraction << 13);
    const float subnormal = static_cast<float>(fraction) / 16777216.0f;  // in units of 2^-24
    return sign != 0 ? -subnormal : subnormal;
}

template <class T>
u8* write_decimal_at(const ColumnCell& cell, u8* out) {
    const ColumnFormat& format = *cell.column.format;
    u64 words[MAX_DECIMAL_WORDS];
    if (format.width == 4) {
        words[0] = static_cast<u64>(static_cast<i64>(cell.value<i32>()));
    } else {
        __builtin_memcpy(words, cell.column.values + (cell.column.offset + cell.row) * format.width,
                         static_cast<usize>(format.width));
    }
    return write_decimal(out, words, format.decimal_words, format.scale);
}

// Calls `write` with the unit as a compile-time constant, so that divisions become multiplications.
template <class Write>
u8* with_unit(TimeUnit unit, const Write& write) {
    switch (unit) {
        case TimeUnit::s:
            return write.template operator()<1>();
        case TimeUnit::ms:
            return write.template operator()<1000>();
        case TimeUnit::us:
            return write.template operator()<1000000>();
        default:
            return write.template operator()<1000000000>();
    }
}

u8* write_date64(i64 milliseconds, u8* out) {
    const Quotient day = divide_down<SECONDS_OF_DAY * 1000>(milliseconds);
    return day.rest == 0 ? write_date(out, day.whole) : write_timestamp<1000>(out, milliseconds, false);
}

// Each family has a function that writes a value: `write_`, its name in core/types.def, `_at`.
template <class T>
u8* write_integer_at(const ColumnCell& cell, u8* out) {
    if constexpr (std::is_signed_v<T>) return write_signed(out, cell.value<T>());
    return write_unsigned(out, cell.value<T>());
}

template <class T>
u8* write_real(u8* out, T value, bool plain_nan) {
    return value == value ? write_float(out, value) : write_nan(out, value, plain_nan);
}

template <class T>
u8* write_real_at(const ColumnCell& cell, u8* out) {
    return write_real(out, cell.value<T>(), cell.plain_nan);
}

template <class T>
u8* write_date_at(const ColumnCell& cell, u8* out) {
    return write_date(out, cell.value<T>());
}

template <class T>
u8* write_time_at(const ColumnCell& cell, u8* out) {
    const i64 units = cell.value<T>();
    return with_unit(cell.column.format->unit, [&]<i64 UNITS>() { return write_time<UNITS>(out, units); });
}

template <class T>
u8* write_timestamp_at(const ColumnCell& cell, u8* out) {
    const i64 units = cell.value<T>();
    const bool instant = cell.column.format->instant;
    return with_unit(cell.column.format->unit,
                     [&]<i64 UNITS>() { return write_timestamp<UNITS>(out, units, instant); });
}

template <class T>
u8* write_duration_at(const ColumnCell& cell, u8* out) {
    const i64 units = cell.value<T>();
    return with_unit(cell.column.format->unit, [&]<i64 UNITS>() { return write_duration<UNITS>(out, units); });
}

// Strings are written elsewhere, and nulls have no text.
template <class T>
u8* write_text_at(const ColumnCell&, u8* out) {
    return out;
}

template <class T>
u8* write_null_at(const ColumnCell&, u8* out) {
    return out;
}

}  // namespace

usize value_width(const ColumnFormat& format) {
    if (is_text(format.kind) || format.kind == ArrowKind::null) return 0;
    if (format.kind == ArrowKind::dictionary) return value_width(*format.values);
    if (format.kind == ArrowKind::decimal128) return decimal_width(format.decimal_words, format.scale);
    return LONGEST_TIME;
}

std::string_view value_alphabet(const ColumnFormat& format) {
    switch (format.kind) {
#define HR_TYPE(id, name, bits, family, ...) \
    case ArrowKind::id:                      \
        return family##_alphabet;
#include "core/types.def"
        case ArrowKind::float16:
            return real_alphabet;
        case ArrowKind::date64:
            return date_alphabet;
        case ArrowKind::dictionary:
            return value_alphabet(*format.values);
        default:
            return text_alphabet;
    }
}

u8* write_value(const ColumnCell& cell, u8* out) {
    switch (cell.column.format->kind) {
#define HR_TYPE(id, name, bits, family, Value, ...) \
    case ArrowKind::id:                             \
        return write_##family##_at<Value>(cell, out);
#include "core/types.def"
        case ArrowKind::float16:
            return write_real(out, widen_half(cell.value<u16>()), cell.plain_nan);
        case ArrowKind::date64:
            return write_date64(cell.value<i64>(), out);
        default:
            return out;  // strings and dictionaries are written elsewhere
    }
}

}  // namespace headrace
