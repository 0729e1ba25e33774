// Formats integers as decimal text. Eight digits are made at once in one word, and leading zeros are shifted out. A
// number below 10^8 therefore takes the same time whatever its width, without a branch. Each function writes from `out`
// on, returns the end, and may overwrite up to 8 bytes after it.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

constexpr u64 ASCII_ZEROS = 0x3030303030303030;
constexpr u32 TEN_TO_8 = 100000000;

// Returns the digits of value < 10^8 as eight bytes, the first at the lowest address. Example: 1234 -> 00 00 00 00 01
// 02 03 04. All lanes are divided by 100 and by 10 at once: 10486 / 2^20 and 103 / 2^10 are exact enough for their
// ranges.
HR_FN u64 spread_digits(u32 value) {
    const u64 fours = value / 10000 | static_cast<u64>(value % 10000) << 32;
    const u64 hundreds = ((fours * 10486) >> 20) & 0x0000007F0000007F;
    const u64 twos = hundreds | (fours - hundreds * 100) << 16;
    const u64 tens = ((twos * 103) >> 10) & 0x000F000F000F000F;
    return tens | (twos - tens * 10) << 8;
}

HR_FN void store_word(u8* out, u64 word) { __builtin_memcpy(out, &word, 8); }

// Writes exactly eight digits, with leading zeros.
HR_FN u8* write_eight_digits(u8* out, u32 value) {
    store_word(out, spread_digits(value) + ASCII_ZEROS);
    return out + 8;
}

// Writes the last `digits` (1 to 8) digits of value < 10^8, with leading zeros: (out, 7, 3) -> "007".
HR_FN u8* write_padded(u8* out, u32 value, int digits) {
    store_word(out, (spread_digits(value) + ASCII_ZEROS) >> (8 * (8 - digits)));
    return out + digits;
}

HR_FN u8* write_below_ten_to_8(u8* out, u32 value) {
    const u64 digits = spread_digits(value);
    const int leading = trailing_zeros(digits | u64{1} << 56) / 8;  // the last digit remains, also for 0
    store_word(out, (digits + ASCII_ZEROS) >> (8 * leading));
    return out + 8 - leading;
}

HR_FN u8* write_unsigned(u8* out, u64 value) {
    if (value < TEN_TO_8) return write_below_ten_to_8(out, static_cast<u32>(value));
    const u64 above = value / TEN_TO_8;
    const u32 below = static_cast<u32>(value % TEN_TO_8);
    if (above < TEN_TO_8) {
        out = write_below_ten_to_8(out, static_cast<u32>(above));
    } else {
        out = write_below_ten_to_8(out, static_cast<u32>(above / TEN_TO_8));
        out = write_eight_digits(out, static_cast<u32>(above % TEN_TO_8));
    }
    return write_eight_digits(out, below);
}

HR_FN u8* write_signed(u8* out, i64 value) {
    *out = '-';
    const u64 bits = static_cast<u64>(value);
    return write_unsigned(out + (value < 0), value < 0 ? u64{0} - bits : bits);
}

// Decimals are integers of `words` 64-bit words (two's complement, lowest first) divided by 10^scale. All digits are
// written: 1200 with scale 2 is "12.00", with scale -2 "120000". The text has at most `decimal_width(words, scale)`
// bytes.
constexpr int MAX_DECIMAL_WORDS = 4;

HR_FN usize decimal_width(int words, i32 scale) {
    return static_cast<usize>(words) * 20 + static_cast<usize>(scale < 0 ? -scale : scale) + 3;
}

HR_FN bool negate_if_negative(u64* words, int count) {
    if (static_cast<i64>(words[count - 1]) >= 0) return false;
    u64 carry = 1;
    for (int i = 0; i < count; ++i) {
        words[i] = ~words[i] + carry;
        carry = carry & (words[i] == 0 ? 1 : 0);
    }
    return true;
}

// Divides by 10^8 and returns the remainder. It divides 32 bits at a time, so that every step fits in 64 bits.
HR_FN u32 divide_by_ten_to_8(u64* words, int count) {
    u64 rest = 0;
    for (int i = count - 1; i >= 0; --i) {
        const u64 high = rest << 32 | words[i] >> 32;
        const u64 low = (high % TEN_TO_8) << 32 | (words[i] & 0xFFFFFFFF);
        words[i] = (high / TEN_TO_8) << 32 | low / TEN_TO_8;
        rest = low % TEN_TO_8;
    }
    return static_cast<u32>(rest);
}

HR_FN u8* write_decimal(u8* out, u64* words, int count, i32 scale) {
    if (negate_if_negative(words, count)) *out++ = '-';
    u8 digits[80];  // 2^256 has 78 digits
    int begin = static_cast<int>(sizeof digits);
    for (bool more = true; more;) {
        begin -= 8;
        write_eight_digits(digits + begin, divide_by_ten_to_8(words, count));
        more = false;
        for (int i = 0; i < count; ++i) more = more || words[i] != 0;
    }
    const int end = static_cast<int>(sizeof digits);
    while (begin < end - 1 && digits[begin] == '0') ++begin;
    const int whole = end - begin - scale;  // digits before the decimal point, if positive
    const bool zero = digits[begin] == '0';
    if (scale <= 0) {
        for (; begin < end; ++begin) *out++ = digits[begin];
        for (i32 i = 0; i < -scale && !zero; ++i) *out++ = '0';
        return out;
    }
    for (int i = 0; i < whole; ++i) *out++ = digits[begin++];
    if (whole <= 0) *out++ = '0';
    *out++ = '.';
    for (int i = whole; i < 0; ++i) *out++ = '0';
    for (; begin < end; ++begin) *out++ = digits[begin];
    return out;
}

HR_END_NAMESPACE
