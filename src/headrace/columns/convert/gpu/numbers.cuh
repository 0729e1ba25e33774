// Reads numbers from staged text: up to 19 significant digits with a sign, leading zeros and an exponent. Other decimal
// marks, marks between thousands, and words such as nan are read as well. Each function returns the value that the
// rules of columns/rules/numbers return, or declines.
//
// Example "-1.25e-3": the last eight bytes hold the 'e', so the exponent is -3 and the mantissa's text ends before it.
// "1.25" is read backwards from its end and without its point: 125, with two digits after the point. 125 * 10^-5 is
// rounded by the product of Eisel and Lemire (rules/numbers/eisel_lemire.hpp).
#pragma once

#include "columns/convert/gpu/digits.cuh"
#include "columns/rules/numbers/eisel_lemire.hpp"
#include "columns/rules/numbers/number_marks.hpp"
#include "columns/rules/numbers/parse_decimal.hpp"
#include "columns/rules/numbers/parse_int.hpp"

namespace headrace {

constexpr u32 max_mantissa_bytes = 24;  // without the sign
constexpr u32 max_exponent_bytes = 5;   // after the 'e'

// The form of a column's numbers. `canonical`: inferred numbers have neither '+' nor a zero before other digits. `hex`:
// an inferred column of hexadecimal numbers, which have no sign.
struct NumberForm {
    NumberMarks marks;
    bool canonical;
    bool hex = false;
};

// A number's text, without its sign.
struct Unsigned {
    u32 begin, end;
    bool negative;
    bool fine;
};

HR_FN Unsigned strip_sign(const u32* text, u32 begin, u32 end, bool canonical) {
    const u8* const bytes = reinterpret_cast<const u8*>(text);
    const bool negative = bytes[begin] == '-', plus = bytes[begin] == '+';
    return {begin + (negative || plus ? 1 : 0), end, negative, !(canonical && plus)};
}

// A number mantissa * 10^exponent.
struct StagedNumber {
    u64 mantissa;
    i32 exponent;
    bool is_integer;  // neither a decimal mark nor an exponent
    bool fine;
};

// Reads an exponent in the last bytes before `end`, if there is one, and moves `end` before it.
HR_FN bool strip_exponent(const u32* text, u32 begin, u32& end, i32& exponent) {
    u32 tail[2];
    load_before(text, end, tail);
    const u32 high = tile::equals(tail[1] | 0x20202020, 0x65656565) & last_bytes(static_cast<i32>(end - begin));
    const u32 low = tile::equals(tail[0] | 0x20202020, 0x65656565) & last_bytes(static_cast<i32>(end - begin) - 4);
    exponent = 0;
    if ((high | low) == 0) return true;
    const u32 n = static_cast<u32>(high != 0 ? __clz(static_cast<int>(high)) : 32 + __clz(static_cast<int>(low))) / 8;
    if (n - 1 >= max_exponent_bytes) return false;
    const u8 sign = reinterpret_cast<const u8*>(text)[end - n];
    const u32 digits = n - (sign == '-' || sign == '+' ? 1 : 0);
    const u32 cut = (tail[1] ^ 0x30303030) & last_bytes(static_cast<i32>(digits));
    exponent = static_cast<i32>(four_digits(cut));
    if (sign == '-') exponent = -exponent;
    end -= n + 1;
    return digits - 1 < 4 && not_digits(cut) == 0;
}

// Joins the last `digits` of 16 or 24 bytes. Returns false if one of them is not a digit, or the number exceeds 64
// bits.
template <u32 count>
HR_FN bool join_digits(const u32 (&words)[count], i32 digits, u64& value) {
    u32 wrong = 0, eights[count / 2];
#pragma unroll
    for (u32 i = 0; i < count; ++i) {
        const u32 cut = (words[i] ^ 0x30303030) & last_bytes(digits - static_cast<i32>(4 * (count - 1 - i)));
        wrong |= not_digits(cut);
        eights[i / 2] = i % 2 == 0 ? four_digits(cut) * 10000 : eights[i / 2] + four_digits(cut);
    }
    constexpr u64 unit = 100000000, largest = ~u64{0} / unit;
    u64 head = eights[0];
    if constexpr (count == 6) head = head * unit + eights[1];
    const u32 tail = eights[count / 2 - 1];
    value = head * unit + tail;
    return wrong == 0 && (count == 4 || head < largest || (head == largest && tail <= ~u64{0} % unit));
}

// Reads [end - n, end) as groups of three digits after the first one, "1,234,567".
HR_FN bool join_groups(const u32* text, u32 end, u32 n, u32 mark, u64& value) {
    u32 word[1], cut, wrong = 0;
    u64 scale = 1;
    value = 0;
    for (; n > 3; n -= 4, end -= 4, scale *= 1000) {
        load_before(text, end, word);
        cut = (word[0] ^ 0x30303030) & 0xFFFFFF00;
        wrong |= not_digits(cut) | ((word[0] ^ mark) & 0xFF);
        value += four_digits(cut) * scale;
    }
    load_before(text, end, word);
    cut = (word[0] ^ 0x30303030) & last_bytes(static_cast<i32>(n));
    value += four_digits(cut) * scale;
    return n != 0 && (wrong | not_digits(cut)) == 0;
}

// Digits with an optional decimal mark, and the number of those after the mark.
struct Mantissa {
    u64 value;
    u32 fraction;
    bool has_point;
    bool fine;
};

// Reads a mantissa of up to 16 or 24 bytes. It may have leading zeros.
template <u32 count>
HR_FN Mantissa read_mantissa(const u32* text, u32 begin, u32 end, const NumberForm& form) {
    u32 words[count];
    load_before(text, end, words);
    const u32 n = end - begin, after_point = close_point(words, tile::repeated(form.marks.decimal));
    Mantissa result{0, 0, after_point < n && after_point < 4 * count, false};
    if (!result.has_point) load_before(text, end, words);  // the mark was before this field
    if (result.has_point) result.fraction = after_point;
    const i32 digits = static_cast<i32>(n - (result.has_point ? 1 : 0));
    result.fine = digits > 0 && n <= 4 * count && join_digits(words, digits, result.value);
    if (count == 4 || result.fine || form.marks.thousands == NO_MARK) return result;
    // Groups before the decimal mark, and up to eight digits after it.
    const bool zero_first = form.canonical && reinterpret_cast<const u8*>(text)[begin] == '0';
    if (digits <= 0 || result.fraction > 8 || zero_first) return result;
    const u32 integer_end = end - result.fraction - (result.has_point ? 1 : 0);
    u64 integer, fraction;
    const u32 mark = static_cast<u32>(form.marks.thousands);
    result.fine = join_groups(text, integer_end, integer_end - begin, mark, integer) &&
                  integer < POWERS_OF_TEN[19 - result.fraction] &&
                  join_digits(words, static_cast<i32>(result.fraction), fraction);
    result.value = integer * POWERS_OF_TEN[result.fraction] + fraction;
    return result;
}

// Reads a number without its sign. Most have at most 16 bytes and no exponent.
HR_FN StagedNumber read_number(const u32* text, u32 begin, u32 end, const NumberForm& form) {
    StagedNumber result{0, 0, true, false};
    const u8* const bytes = reinterpret_cast<const u8*>(text);
    if (end - begin - 1 >= max_mantissa_bytes + max_exponent_bytes + 1) return result;
    if (form.canonical && end - begin > 1 && bytes[begin] == '0' && is_digit(bytes[begin + 1])) return result;
    Mantissa mantissa{};
    if (end - begin <= 16) mantissa = read_mantissa<4>(text, begin, end, form);
    if (!mantissa.fine) {
        const u32 whole_end = end;
        if (!strip_exponent(text, begin, end, result.exponent) || end - begin - 1 >= max_mantissa_bytes) return result;
        mantissa = read_mantissa<6>(text, begin, end, form);
        result.is_integer = end == whole_end;
    }
    result.mantissa = mantissa.value;
    result.exponent -= static_cast<i32>(mantissa.fraction);
    result.is_integer = result.is_integer && !mantissa.has_point;
    result.fine = mantissa.fine;
    return result;
}

// Reads 0x and up to sixteen hexadecimal digits.
HR_FN bool read_hex(const u32* text, u32 begin, u32 end, u64& value) {
    const u8* const bytes = reinterpret_cast<const u8*>(text);
    const u32 n = end - begin - 2;
    if (n - 1 >= 16 || bytes[begin] != '0' || (bytes[begin + 1] | 0x20) != 'x') return false;
    u32 wrong = 0;
    value = 0;
    for (u32 at = begin + 2; at < end; ++at) {
        const u32 letter = (bytes[at] | 0x20u) - 'a';
        wrong |= letter > 5 && !is_digit(bytes[at]) ? 1 : 0;
        value = value << 4 | (letter <= 5 ? letter + 10 : bytes[at] & 0xFu);
    }
    return wrong == 0;
}

// A number's text without its sign, and the number.
struct SignedNumber {
    Unsigned digits;
    StagedNumber number;
};

// Reads the number of a field. An integer may be hexadecimal.
HR_FN SignedNumber read_signed(const u32* text, u32 begin, u32 end, const NumberForm& form, bool may_be_hex) {
    SignedNumber result{strip_sign(text, begin, end, form.canonical), {0, 0, true, false}};
    const Unsigned& digits = result.digits;
    if (!digits.fine || digits.end - digits.begin - 1 >= 32) return result;
    if (may_be_hex && (form.hex || !form.canonical)) {
        const bool is_hex = read_hex(text, digits.begin, digits.end, result.number.mantissa);
        result.number.fine = is_hex && (!form.hex || digits.begin == begin);
        if (is_hex || form.hex) return result;
    }
    result.number = read_number(text, digits.begin, digits.end, form);
    return result;
}

// Returns an integer of up to 64 bits in `value`, or declines.
HR_FN bool to_integer(const SignedNumber& found, IntegerRange range, u64& value) {
    const bool negative = found.digits.negative;
    if (!found.number.fine || !found.number.is_integer || (negative && !range.is_signed)) return false;
    if (found.number.mantissa > range.largest + (negative ? 1 : 0)) return false;
    value = negative ? 0 - found.number.mantissa : found.number.mantissa;
    return true;
}

// Reads nan, inf and infinity, in any case.
template <class T>
HR_FN bool read_float_word(const u32* text, u32 begin, u32 n, T& value) {
    u32 words[2];
    load_from(text, begin, words);
    const u32 low = words[0] | 0x20202020, high = words[1] | 0x20202020, letters = low & 0xFFFFFF;
    using Bits = typename FloatFormat<T>::Bits;
    constexpr Bits quiet = Bits{1} << (FloatFormat<T>::precision - 2);
    const bool is_nan = n == 3 && letters == 0x6E616E;
    const bool is_infinite = letters == 0x666E69 && (n == 3 || (n == 8 && low >> 24 == 'i' && high == 0x7974696E));
    value = bits_as<T>(bits_as<Bits>(infinite<T>()) | (is_nan ? quiet : 0));
    return is_nan || is_infinite;
}

// Returns a float in `value`, or declines: integers of an inferred column that the float may round, and those of more
// than 53 bits.
template <class T>
HR_FN bool to_real(const u32* text, const SignedNumber& found, bool canonical, T& value) {
    const Unsigned& digits = found.digits;
    const StagedNumber& number = found.number;
    const u32 n = digits.end - digits.begin;
    if (number.fine) {
        if (canonical && number.is_integer && number.mantissa > u64{1} << 53) return false;
        using Format = FloatFormat<T>;
        if (number.exponent < Format::lowest_power || number.exponent > Format::highest_power) return false;
        const Estimate estimate =
            estimate_product<T>(number.mantissa | (number.mantissa == 0 ? 1 : 0), number.exponent);
        if (estimate.rounding == Rounding::unknown) return false;
        value = number.mantissa == 0 ? T{0} : rounded<T>(estimate);
        if (value == infinite<T>()) return false;
    } else if (!digits.fine || n - 1 >= 32 || !read_float_word(text, digits.begin, n, value)) {
        return false;
    }
    value = with_sign(value, digits.negative);
    return true;
}

// Returns mantissa * 10^exponent as a decimal of fixed scale in `value`, or declines.
HR_FN bool to_fixed_decimal(u64 mantissa, i32 exponent, i32 precision, i32 scale, Int128& value) {
    const i32 missing = scale + exponent, left = precision - missing;
    if (missing < 0 || missing > 19 || left < 0) return false;
    if (left < 20 && mantissa >= POWERS_OF_TEN[left]) return false;
    value = multiply(mantissa, POWERS_OF_TEN[missing]);
    return true;
}

// Returns the decimal of a number's text likewise.
HR_FN bool to_fixed_decimal(const SignedNumber& found, i32 precision, i32 scale, Int128& value) {
    const StagedNumber& number = found.number;
    if (!number.fine || !to_fixed_decimal(number.mantissa, number.exponent, precision, scale, value)) return false;
    if (found.digits.negative) value = negate(value);
    return true;
}

}  // namespace headrace
