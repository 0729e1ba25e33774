// Formats floats as the shortest decimal text that reads back as the same bits; of several shortest texts, the nearest.
// The layout is Python's: 1.0, 0.1, 1e+16, 1.5e-07, NaN, inf, -0.0. A NaN has the text that parse_real.hpp reads.
//
// Source: Raffaello Giulietti, "The Schubfach way to render doubles" (2021). A float v = c 2^q represents
// all reals nearer to it than to its neighbours. The exponent k is chosen so that this interval is between 1 and 10
// units of 10^k wide. It then contains a multiple of 10^k, and at most one of 10^(k+1), which is shorter. The
// interval's ends and v are needed only as multiples of 10^k / 4. Each takes one multiplication by a 128-bit power of
// ten from the table that parsing uses too. The product is rounded "to odd": its last bit is set if anything was cut
// off, so that comparisons remain exact.
#pragma once

#include <charconv>

#include "columns/rules/numbers/eisel_lemire.hpp"
#include "export/text/format_number.hpp"

HR_BEGIN_NAMESPACE

// The value digits * 10^exponent.
struct ShortestDecimal {
    u64 digits;
    i32 exponent;
};

// Returns 10^power, scaled by a power of two into [2^127, 2^128) and rounded up.
HR_FN PowerOfFive power_rounded_up(i32 power) {
    PowerOfFive five = POWERS_OF_FIVE[power - LOWEST_POWER_OF_FIVE];
    if (power < 0 || power > LARGEST_EXACT_POWER_OF_FIVE) {
        five.low += 1;
        five.high += five.low == 0 ? 1 : 0;
    }
    return five;
}

// Returns factor * c / 2^128; the last bit is set if more than the least amount was cut off.
HR_FN u64 multiply_to_odd(PowerOfFive factor, u64 c) {
    const Product below = multiply_wide(factor.low, c);
    const Product above = multiply_wide(factor.high, c);
    const u64 middle = above.low + below.high;
    return (above.high + (middle < above.low ? 1 : 0)) | (middle > 1 ? 1 : 0);
}

// Returns the shortest decimal in the interval of c 2^q. `closer_below`: the neighbour below is at half the distance.
HR_FN ShortestDecimal shortest_decimal(u64 c, i32 q, bool closer_below) {
    const i32 k = (q * 1262611 - (closer_below ? 524031 : 0)) >> 22;  // floor(log10(2^q)), or floor(log10(3/4 * 2^q))
    const i32 shift = q + floor_log2_of_power_of_ten(-k) + 1;
    const PowerOfFive power = power_rounded_up(-k);
    const u64 value = multiply_to_odd(power, 4 * c << shift);
    // The interval includes its ends if c is even, because ties are read back as the even neighbour.
    const u64 odd = c & 1;
    const u64 lower = multiply_to_odd(power, (4 * c - 2 + (closer_below ? 1 : 0)) << shift) + odd;
    const u64 upper = multiply_to_odd(power, (4 * c + 2) << shift) - odd;

    const u64 whole = value / 4;
    if (whole >= 10) {
        const u64 tenth = whole / 10;
        const bool below_inside = lower <= 40 * tenth;
        const bool above_inside = 40 * tenth + 40 <= upper;
        if (below_inside != above_inside) return {tenth + (above_inside ? 1 : 0), k + 1};
    }
    const bool below_inside = lower <= 4 * whole;
    const bool above_inside = 4 * whole + 4 <= upper;
    if (below_inside != above_inside) return {whole + (above_inside ? 1 : 0), k};
    const u64 middle = 4 * whole + 2;
    const bool up = value > middle || (value == middle && (whole & 1) != 0);
    return {whole + (up ? 1 : 0), k};
}

// Writes digits and exponent as text. `decimal.digits` is not 0 and has at most 17 digits.
HR_FN u8* lay_out(u8* out, ShortestDecimal decimal) {
    u8 text[40];
    u8* end = write_unsigned(text, decimal.digits);
    const int point = static_cast<int>(end - text) + decimal.exponent;  // digits before the decimal point
    while (end > text + 1 && end[-1] == '0') --end;
    const int count = static_cast<int>(end - text);
    if (point > 16 || point < -3) {
        *out++ = text[0];
        if (count > 1) *out++ = '.';
        __builtin_memcpy(out, text + 1, 16);
        out += count - 1;
        *out++ = 'e';
        *out++ = point > 0 ? '+' : '-';
        const u32 power = static_cast<u32>(point > 0 ? point - 1 : 1 - point);
        return write_padded(out, power, power > 99 ? 3 : 2);
    }
    if (point <= 0) {
        __builtin_memcpy(out, "0.0000", 6);
        out += 2 - point;
        __builtin_memcpy(out, text, 17);
        return out + count;
    }
    __builtin_memcpy(out, text, 17);
    for (int i = count; i < point; ++i) out[i] = '0';
    out[point] = '.';
    out[point + 1] = '0';
    if (count <= point) return out + point + 2;
    __builtin_memcpy(out + point + 1, text + point, 17);
    return out + count + 1;
}

template <class T>
struct HundredthsOf;
template <>
struct HundredthsOf<double> {
    static constexpr double most = 1e15;  // different decimals of at most 15 digits are different doubles
};
template <>
struct HundredthsOf<float> {
    static constexpr float most = 1e6f;
};

// Most float columns contain prices or whole numbers: value * 100 is an integer of few digits. Rounding finds the
// integer, and a division proves it, because the text would be read as the same quotient of exact numbers.
template <class T>
HR_FN u8* write_hundredths(u8* out, T value) {
    if (!(value < HundredthsOf<T>::most / 100)) return nullptr;
    const u64 hundredths = static_cast<u64>(value * T{100} + T{0.5});
    if (static_cast<T>(hundredths) / T{100} != value) return nullptr;
    out = write_unsigned(out, hundredths / 100);
    const u32 rest = static_cast<u32>(hundredths % 100);
    out[0] = '.';
    out[1] = static_cast<u8>('0' + rest / 10);
    out[2] = static_cast<u8>('0' + rest % 10);
    return out + 2 + (rest % 10 != 0);
}

constexpr usize LONGEST_FLOAT = 26;  // -1.7976931348623157e+308 has 24 bytes

HR_FN u8* write_hex(u8* out, u64 value) {
    int shift = 60;
    while (shift > 0 && value >> shift == 0) shift -= 4;
    for (; shift >= 0; shift -= 4) *out++ = static_cast<u8>("0123456789abcdef"[value >> shift & 15]);
    return out;
}

// Writes NaN, -NaN, NaN(0x1) for a quiet NaN with payload 1, or sNaN(0x1) for a signaling one; always NaN if `plain`.
template <class T>
HR_COLD u8* write_nan(u8* out, T value, bool plain) {
    using Bits = typename FloatFormat<T>::Bits;
    constexpr Bits QUIET = Bits{1} << (FloatFormat<T>::precision - 2);
    const Bits bits = bits_as<Bits>(value), payload = bits & (QUIET - 1);
    const bool quiet = (bits & QUIET) != 0;
    if (!plain && bits >> (sizeof(T) * 8 - 1) != 0) *out++ = '-';
    if (!plain && !quiet) *out++ = 's';
    __builtin_memcpy(out, "NaN(0x", 6);
    if (plain || (quiet && payload == 0)) return out + 3;
    out = write_hex(out + 6, payload);
    *out = ')';
    return out + 1;
}

// Writes a value that is not NaN. Overwrites at most 24 bytes after its longest text.
template <class T>
HR_FN u8* write_float(u8* out, T value) {
    using Bits = typename FloatFormat<T>::Bits;
    constexpr int fraction_bits = FloatFormat<T>::precision - 1;
    const Bits bits = bits_as<Bits>(value);
    const Bits fraction = bits & ((Bits{1} << fraction_bits) - 1);
    const i32 exponent = static_cast<i32>(bits >> fraction_bits) & FloatFormat<T>::infinite_scale;
    const bool negative = bits >> (sizeof(T) * 8 - 1) != 0;
    *out = '-';
    out += negative;
    if (exponent == FloatFormat<T>::infinite_scale) {
        __builtin_memcpy(out, "inf", 3);
        return out + 3;
    }
    const T magnitude = negative ? -value : value;
    if (u8* end = write_hundredths(out, magnitude)) return end;

    const u64 c = exponent == 0 ? fraction : fraction | Bits{1} << fraction_bits;
    const i32 q = (exponent == 0 ? 1 : exponent) + FloatFormat<T>::smallest_exponent - 1 - fraction_bits;
    constexpr i32 smallest_q = -1022;  // below it, 10^-k may exceed the table's largest power
    if (q < smallest_q) {
        char* begin = reinterpret_cast<char*>(out);
        return reinterpret_cast<u8*>(std::to_chars(begin, begin + LONGEST_FLOAT, magnitude).ptr);
    }
    return lay_out(out, shortest_decimal(c, q, fraction == 0 && exponent > 1));
}

HR_END_NAMESPACE
