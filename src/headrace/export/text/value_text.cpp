#include "export/text/value_text.hpp"

namespace headrace {
namespace {

u8* write_boolean(const ColumnView& column, i64 row, u8* out) {
    const i64 at = column.offset + row;
    const bool set = (column.values[at >> 3] >> (at & 7) & 1) != 0;
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

u8* write_decimal_at(const ColumnView& column, i64 row, u8* out) {
    const ColumnFormat& format = *column.format;
    u64 words[MAX_DECIMAL_WORDS];
    if (format.width == 4) {
        words[0] = static_cast<u64>(static_cast<i64>(column.value<i32>(row)));
    } else {
        __builtin_memcpy(words, column.values + (column.offset + row) * format.width, static_cast<usize>(format.width));
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

}  // namespace

usize value_width(const ColumnFormat& format) {
    if (is_text(format.kind) || format.kind == ArrowKind::null) return 0;
    if (format.kind == ArrowKind::dictionary) return value_width(*format.values);
    if (format.kind == ArrowKind::decimal) return decimal_width(format.decimal_words, format.scale);
    return LONGEST_TIME;
}

std::string_view value_alphabet(const ColumnFormat& format) {
    switch (format.kind) {
        case ArrowKind::boolean:
            return "truefalse";
        case ArrowKind::float16:
        case ArrowKind::float32:
        case ArrowKind::float64:
            return "0123456789+-.einfNa";
        case ArrowKind::decimal:
            return "0123456789-.";
        case ArrowKind::date32:
        case ArrowKind::date64:
        case ArrowKind::time32:
        case ArrowKind::time64:
        case ArrowKind::timestamp:
        case ArrowKind::duration:
            return "0123456789+-:. Zdays";
        case ArrowKind::dictionary:
            return value_alphabet(*format.values);
        default:
            return "0123456789-";
    }
}

u8* write_value(const ColumnView& column, i64 row, u8* out) {
    const ColumnFormat& format = *column.format;
    switch (format.kind) {
        case ArrowKind::boolean:
            return write_boolean(column, row, out);
        case ArrowKind::int8:
            return write_signed(out, column.value<i8>(row));
        case ArrowKind::int16:
            return write_signed(out, column.value<i16>(row));
        case ArrowKind::int32:
            return write_signed(out, column.value<i32>(row));
        case ArrowKind::int64:
            return write_signed(out, column.value<i64>(row));
        case ArrowKind::uint8:
            return write_unsigned(out, column.value<u8>(row));
        case ArrowKind::uint16:
            return write_unsigned(out, column.value<u16>(row));
        case ArrowKind::uint32:
            return write_unsigned(out, column.value<u32>(row));
        case ArrowKind::uint64:
            return write_unsigned(out, column.value<u64>(row));
        case ArrowKind::float16:
            return write_float(out, widen_half(column.value<u16>(row)));
        case ArrowKind::float32:
            return write_float(out, column.value<float>(row));
        case ArrowKind::float64:
            return write_float(out, column.value<double>(row));
        case ArrowKind::decimal:
            return write_decimal_at(column, row, out);
        case ArrowKind::date32:
            return write_date(out, column.value<i32>(row));
        case ArrowKind::date64:
            return write_date64(column.value<i64>(row), out);
        case ArrowKind::time32:
        case ArrowKind::time64: {
            const i64 units = format.kind == ArrowKind::time32 ? column.value<i32>(row) : column.value<i64>(row);
            return with_unit(format.unit, [&]<i64 UNITS>() { return write_time<UNITS>(out, units); });
        }
        case ArrowKind::timestamp: {
            const i64 units = column.value<i64>(row);
            return with_unit(format.unit,
                             [&]<i64 UNITS>() { return write_timestamp<UNITS>(out, units, format.instant); });
        }
        case ArrowKind::duration: {
            const i64 units = column.value<i64>(row);
            return with_unit(format.unit, [&]<i64 UNITS>() { return write_duration<UNITS>(out, units); });
        }
        default:
            return out;  // strings and dictionaries are written elsewhere, and nulls have no text
    }
}

}  // namespace headrace
