// Splits the text of a number of up to 32 bytes into mantissa and exponent, with vectors of 32 bytes. One path reads
// integers, decimals and exponents, and keeps 19 significant digits. For "12.50e3":
//
// | marks                 ..P..E.   bytes that are no digits, as bits of a mask
// | digits                1250      moved to the vector's right end, over the point
// | pairs, fours, eights  12 50     neighbours are merged: a * 10^k + b
//
// 64 bytes from `p` on must be readable.
#pragma once

#include "columns/convert/cpu/short_digits.hpp"
#include "columns/rules/numbers/parse_decimal.hpp"
#include "columns/rules/numbers/parse_int.hpp"
#include "core/cpu/simd.hpp"

HR_BEGIN_NAMESPACE

// The value is mantissa * 10^exponent, or if digits were cut off, between that and (mantissa + 1) * 10^exponent.
struct ScannedNumber {
    u64 mantissa;
    i32 exponent;
    u32 digit_count;  // with leading zeros and the sign
    u64 negative;     // 1 or 0
    bool is_cut;
    bool has_exponent;
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

// Returns 1 if two bytes are equal, otherwise 0. GCC's `sete` would wait for the register's preceding value.
HR_HOT u64 is_same(u64 a, u64 b) { return ((a ^ b) - 1) >> 63; }

// Removes the sign, without a branch: signs are unpredictable. Returns 1 for '-', otherwise 0.
HR_HOT u64 strip_sign(NumberText& number) {
    const u64 negative = is_same(*number.text, '-');
    const u64 sign = number.canonical ? negative : negative | is_same(*number.text, '+');
    number.text += sign;
    number.size -= sign;
    return negative;
}

#if defined(HR_ISA_AVX512) || defined(HR_ISA_AVX2)

// Reads the exponent in p[0, n), such as "e-05", "E+3" and "e7", with up to four digits. `marks`: its bytes that are no
// digits, as bits. The digits are shifted to the upper bytes of a word, with zeros before them. Then neighbours are
// merged to pairs, and pairs to one number.
HR_HOT bool scan_short_exponent(const u8* p, usize n, u64 marks, i32& exponent) {
    u64 word;
    __builtin_memcpy(&word, p, 8);
    const u64 has_sign = marks >> 1;
    const usize count = n - 1 - has_sign;
    if ((word & 0xDF) != 'E' || has_sign > 1 || count - 1 >= 4) return false;
    // '+' is 0x2B and '-' is 0x2D. One branch: either may be next.
    if (has_sign != 0 && ((word - ('+' << 8)) & 0xFD00) != 0) return false;
    const u32 negative = static_cast<u32>(word >> 10 & has_sign);
    u32 digits = (static_cast<u32>(word >> (8 + 8 * has_sign)) ^ 0x30303030) << (32 - 8 * count);
    digits = digits * (10 * 0x100 + 1) >> 8 & 0x00FF00FF;
    digits = digits * (100 * 0x10000 + 1) >> 16;
    exponent = static_cast<i32>((digits ^ (0 - negative)) + negative);
    return true;
}

// Bytes -32 to 31, and 32 times 0 and 32 times -1.
alignas(64) constexpr i8 INDICES[64] = {-32, -31, -30, -29, -28, -27, -26, -25, -24, -23, -22, -21, -20, -19, -18, -17,
                                        -16, -15, -14, -13, -12, -11, -10, -9,  -8,  -7,  -6,  -5,  -4,  -3,  -2,  -1,
                                        0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   10,  11,  12,  13,  14,  15,
                                        16,  17,  18,  19,  20,  21,  22,  23,  24,  25,  26,  27,  28,  29,  30,  31};
alignas(64) constexpr i8 LAST_LANES[64] = {0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
                                           0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
                                           -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                           -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

// The digits of a number, without the point.
struct DigitSpan {
    usize count;
    usize decimals;  // after the point
};

// A number of up to 32 digits: high * 10^16 + low.
struct DigitHalves {
    u64 high, low;
};

HR_HOT u64 join_eights(__m128i eights) {
    const u64 both = static_cast<u64>(_mm_cvtsi128_si64(eights));
    return (both & 0xFFFFFFFF) * 100'000'000 + (both >> 32);
}

HR_HOT __m128i load_16(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
HR_HOT __m256i load_32(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }

HR_HOT __m256i all_bytes(char value) { return _mm256_set1_epi8(value); }

// Merges the digits of a vector to pairs, fours, eights and one number.
HR_HOT u64 sum_digits(__m128i digits) {
    const __m128i pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(1 << 8 | 10));
    const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(1 << 16 | 100));
    const __m128i packed = _mm_packus_epi32(fours, fours);
    return join_eights(_mm_madd_epi16(packed, _mm_set1_epi32(1 << 16 | 10000)));
}

// Reads the digits in p[0, 16), over a point. Lane j takes digit j - (16 - count); digits after the point are one byte
// further on. A negative index yields zero.
HR_HOT u64 read_16_digits(const u8* p, DigitSpan span) {
    const __m128i digit = load_16(INDICES + 16 + span.count);
    const __m128i byte = _mm_sub_epi8(digit, load_16(LAST_LANES + 16 + span.decimals));
    const __m128i digits = _mm_subs_epu8(_mm_shuffle_epi8(load_16(p), byte), _mm_set1_epi8('0'));
    return sum_digits(digits);
}

// Reads p[0, 16), if it consists of digits.
HR_HOT bool sixteen_digits(const u8* p, u64& value) {
    const __m128i digits = _mm_sub_epi8(load_16(p), _mm_set1_epi8('0'));
    const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
    value = sum_digits(digits);
    return _mm_movemask_epi8(is_digit) == 0xFFFF;
}

// Reads up to 16 hexadecimal digits. They are moved to the vector's right end, with zeros before them, and merged to
// bytes.
HR_HOT bool fast_hex_digits(const u8* p, usize n, u64& value) {
    if (n - 1 >= 16) return false;
    const __m128i text = _mm_shuffle_epi8(load_16(p), load_16(INDICES + 16 + n));
    const __m128i lower = _mm_sub_epi8(_mm_or_si128(text, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
    const __m128i digit = _mm_sub_epi8(text, _mm_set1_epi8('0'));
    const __m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(lower, _mm_set1_epi8(5)), lower);
    const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit);
    const u32 found = static_cast<u32>(_mm_movemask_epi8(_mm_or_si128(is_letter, is_digit)));
    if (found != (0xFFFFu << (16 - n) & 0xFFFF)) return false;
    const __m128i low_half = _mm_and_si128(text, _mm_set1_epi8(0xF));  // of a letter 1..6
    const __m128i values = _mm_add_epi8(low_half, _mm_and_si128(is_letter, _mm_set1_epi8(9)));
    const __m128i bytes = _mm_maddubs_epi16(values, _mm_set1_epi16(1 << 8 | 16));
    value = __builtin_bswap64(static_cast<u64>(_mm_cvtsi128_si64(_mm_packus_epi16(bytes, bytes))));
    return true;
}

// Reads the digits in p[0, 32) likewise, as two numbers: the last 16 digits and those before them.
HR_HOT DigitHalves read_32_digits(const u8* p, DigitSpan span) {
    const __m256i digit = load_32(INDICES + span.count);
    const __m256i byte = _mm256_sub_epi8(digit, load_32(LAST_LANES + span.decimals));
    // A shuffle selects from 16 bytes and gives zero for indices from 128 on. Adding 112 moves 16 there.
    const __m256i head = _mm256_broadcastsi128_si256(load_16(p));
    const __m256i tail = _mm256_broadcastsi128_si256(load_16(p + 16));
    const __m256i text = _mm256_or_si256(_mm256_shuffle_epi8(head, _mm256_adds_epu8(byte, all_bytes(112))),
                                         _mm256_shuffle_epi8(tail, _mm256_sub_epi8(byte, all_bytes(16))));
    const __m256i digits = _mm256_subs_epu8(text, all_bytes('0'));
    const __m256i pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(1 << 8 | 10));
    const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(1 << 16 | 100));
    const __m256i packed = _mm256_packus_epi32(fours, fours);
    const __m256i eights = _mm256_madd_epi16(packed, _mm256_set1_epi32(1 << 16 | 10000));
    return {join_eights(_mm256_castsi256_si128(eights)), join_eights(_mm256_extracti128_si256(eights, 1))};
}

// Takes the first 19 significant digits of 20 or more.
HR_HOT void cut_digits(DigitHalves halves, ScannedNumber& out) {
    const i64 dropped = count_digits(halves.high) - 3;
    const u64 unit = POWERS_OF_TEN[dropped];
    out.mantissa = halves.high * POWERS_OF_TEN[16 - dropped] + halves.low / unit;
    out.exponent += static_cast<i32>(dropped);
    out.is_cut = true;
}

// Returns the bytes of p[0, 32) that are no digits as bits. Adding 70 moves digits to 118 .. 127.
HR_HOT u64 find_marks(const u8* p) {
    const __m256i moved = _mm256_add_epi8(load_32(p), all_bytes(70));
    return static_cast<u32>(~_mm256_movemask_epi8(_mm256_cmpgt_epi8(moved, all_bytes(117))));
}

// The branches are as predictable as the form of a column's texts. A sign is read as a digit 0, so that the vectors'
// addresses do not depend on it.
HR_HOT bool scan_number(NumberText number, ScannedNumber& out) {
    const u8* const p = number.text;
    usize n = number.size;
    if (n - 1 >= 32) return false;
    out.negative = is_same(p[0], '-');
    const u64 sign = number.canonical ? out.negative : out.negative | is_same(p[0], '+');
    const u64 marks = find_marks(p) & ((u64{1} << n) - 1) & ~sign;
    const usize before = static_cast<usize>(trailing_zeros(marks | u64{1} << n));
    DigitSpan span{n - (marks != 0 ? 1 : 0), 0};
    out.exponent = 0;
    out.has_exponent = false;
    if (marks != 0 && ((marks & (marks - 1)) != 0 || p[before] != number.point)) [[unlikely]] {
        const bool has_point = p[before] == number.point;
        n = has_point ? static_cast<usize>(trailing_zeros(marks & (marks - 1))) : before;
        if (!scan_short_exponent(p + n, number.size - n, marks >> n, out.exponent)) return false;
        span.count = n - (has_point ? 1 : 0);
        out.has_exponent = true;
    }
    span.decimals = span.count - before;
    if (span.count == sign) return false;
    if (number.canonical && p[sign] == '0' && before > sign + 1) return false;
    out.exponent -= static_cast<i32>(span.decimals);
    out.is_cut = false;
    if (n <= 16) {
        out.mantissa = read_16_digits(p, span);
    } else {
        const DigitHalves halves = read_32_digits(p, span);
        out.mantissa = halves.high * 10'000'000'000'000'000 + halves.low;
        if (halves.high >= 1000) [[unlikely]]
            cut_digits(halves, out);
    }
    out.is_integer = marks == 0;
    out.digit_count = static_cast<u32>(span.count);
    return true;
}

#else

// Reads p[0, 16), if it consists of digits.
HR_HOT bool sixteen_digits(const u8* p, u64& value) {
    u64 head, tail;
    if (!short_digits(p, 8, head) || !short_digits(p + 8, 8, tail)) return false;
    value = head * 100'000'000 + tail;
    return true;
}

HR_HOT bool fast_hex_digits(const u8* p, usize n, u64& value) { return parse_hex_magnitude(p, n, value) == Parse::ok; }

HR_FN bool scan_number(NumberText, ScannedNumber&) {
    return false;  // the rule's scan reads eight digits at a time
}

#endif

HR_END_NAMESPACE
