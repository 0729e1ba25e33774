// Splits the text of a number of up to 32 bytes into mantissa and exponent, with vectors of 32 bytes. One path reads
// integers, decimals and exponents, of up to 19 significant digits. For "-12.50e3":
//
//   marks of "12.50e3"   ..P..E.      points and other bytes as bit masks; 'e' begins the exponent
//   digits               1250         moved to the vector's right end over the point, with zeros before them
//   pairs, fours, eights 12 50        adjacent numbers are merged: a * 10^k + b
//
// 64 bytes from `p` on must be readable.
#pragma once

#include "columns/convert/cpu/short_digits.hpp"
#include "columns/rules/numbers/parse_int.hpp"
#include "core/cpu/simd.hpp"

HR_BEGIN_NAMESPACE

// The value is mantissa * 10^exponent.
struct ScannedNumber {
    u64 mantissa;
    i32 exponent;
    bool negative;
    bool is_integer;  // the text has neither a point nor an exponent
};

// A text in which a number is read. `canonical`: declines '+' and leading zeros, with which inference takes a text for
// a string. `point`: the decimal mark.
struct NumberText {
    const u8* text;
    usize size;
    bool canonical;
    u8 point = '.';
};

// Removes the sign. Returns whether there is a '-'.
HR_HOT bool strip_sign(NumberText& number) {
    const u8 first = *number.text;
    const bool negative = first == '-';
    const usize sign = negative || (first == '+' && !number.canonical) ? 1 : 0;
    number.text += sign;
    number.size -= sign;
    return negative;
}

#if defined(HR_ISA_AVX512) || defined(HR_ISA_AVX2)

// Reads "e-05", "E+3" and "e7".
HR_HOT bool scan_short_exponent(const u8* p, usize n, i32& exponent) {
    if ((p[0] | 0x20) != 'e') return false;
    const bool negative = p[1] == '-';
    const usize begin = negative || p[1] == '+' ? 2 : 1;
    u64 value;
    if (n - begin - 1 >= 8 || n <= begin || !short_digits(p + begin, n - begin, value)) return false;
    exponent = static_cast<i32>(negative ? 0 - value : value);
    return true;
}

// Two numbers of up to 16 digits: the digits of a vector, 0 to 15 and 16 to 31.
struct DigitHalves {
    u64 high, low;
};

HR_HOT u64 join_eights(__m128i eights) {
    const u64 both = static_cast<u64>(_mm_cvtsi128_si64(eights));
    return (both & 0xFFFFFFFF) * 100'000'000 + (both >> 32);
}

// Reads `count` digits in p[0, 32), over a point after the first `before` digits.
HR_HOT DigitHalves read_digits_over_point(const u8* p, usize count, usize before) {
    const auto all = [](usize value) { return _mm256_set1_epi8(static_cast<char>(value)); };
    // Lane j takes digit j - (32 - count); digits after the point are one byte further on.
    const __m256i lanes = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                           22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    const __m256i digit = _mm256_sub_epi8(lanes, all(32 - count));
    const __m256i byte = _mm256_sub_epi8(digit, _mm256_cmpgt_epi8(digit, all(before - 1)));
    // A shuffle has 16 bytes to choose from and gives zero for indices from 128 on. Adding 112 moves 16 there.
    const __m256i head = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    const __m256i tail = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16)));
    const __m256i text = _mm256_or_si256(_mm256_shuffle_epi8(head, _mm256_adds_epu8(byte, all(112))),
                                         _mm256_shuffle_epi8(tail, _mm256_sub_epi8(byte, all(16))));
    const __m256i digits = _mm256_subs_epu8(text, all('0'));
    const __m256i pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(1 << 8 | 10));
    const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(1 << 16 | 100));
    const __m256i packed = _mm256_packus_epi32(fours, fours);
    const __m256i eights = _mm256_madd_epi16(packed, _mm256_set1_epi32(1 << 16 | 10000));
    return {join_eights(_mm256_castsi256_si128(eights)), join_eights(_mm256_extracti128_si256(eights, 1))};
}

HR_HOT bool scan_number(NumberText number, ScannedNumber& out) {
    out.negative = strip_sign(number);
    const u8* const p = number.text;
    usize n = number.size;
    if (n - 1 >= 32) return false;
    if (number.canonical && p[0] == '0' && n > 1 && is_digit(p[1])) return false;
    const __m256i text = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    const __m256i digits = _mm256_sub_epi8(text, _mm256_set1_epi8('0'));
    const __m256i is_digit = _mm256_cmpeq_epi8(_mm256_min_epu8(digits, _mm256_set1_epi8(9)), digits);
    const __m256i is_point = _mm256_cmpeq_epi8(text, _mm256_set1_epi8(static_cast<char>(number.point)));
    const u64 used = (u64{1} << n) - 1;
    u64 points = static_cast<u32>(_mm256_movemask_epi8(is_point)) & used;
    const u64 others = ~(u64{static_cast<u32>(_mm256_movemask_epi8(is_digit))} | points) & used;
    i32 exponent = 0;
    if (others != 0) {
        const usize end = static_cast<usize>(trailing_zeros(others));
        if (!scan_short_exponent(p + end, n - end, exponent)) return false;
        n = end;
    }
    if ((points & (points - 1)) != 0) return false;
    const usize before = static_cast<usize>(trailing_zeros(points | u64{1} << n));
    const usize count = n - (points != 0 ? 1 : 0);
    if (count == 0) return false;
    const DigitHalves halves = read_digits_over_point(p, count, before);
    if (halves.high >= 1000) return false;
    out.mantissa = halves.high * 10'000'000'000'000'000 + halves.low;
    out.exponent = exponent - static_cast<i32>(count - before);
    out.is_integer = points == 0 && others == 0;
    return true;
}

#else

HR_FN bool scan_number(NumberText, ScannedNumber&) {
    return false;  // the rule's scan reads eight digits at a time
}

#endif

HR_END_NAMESPACE
