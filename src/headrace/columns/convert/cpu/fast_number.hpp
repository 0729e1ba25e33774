// Reads integers and floats. Each fast form returns what rules/numbers/parse_int.hpp and parse_float.hpp return, or
// declines, and then the rule decides. 64 bytes from `p` on must be readable.
#pragma once

#include "columns/convert/cpu/number_scan.hpp"
#include "columns/rules/numbers/number_marks.hpp"
#include "columns/rules/numbers/parse_float.hpp"
#include "columns/rules/numbers/parse_int.hpp"
#include "core/cpu/simd.hpp"

HR_BEGIN_NAMESPACE

// Reads 9 to 24 digits. Declines a number of more than 64 bits.
HR_HOT bool scan_long_digits(const u8* p, usize n, u64& value) {
    u64 head, tail;
    if (n <= 16) {
        if (!short_digits(p, n - 8, head) || !short_digits(p + n - 8, 8, tail)) return false;
        value = head * 100'000'000 + tail;
        return true;
    }
    if (!short_digits(p, n - 16, head) || !sixteen_digits(p + n - 16, tail)) return false;
    return !__builtin_mul_overflow(head, u64{10'000'000'000'000'000}, &value) &&
           !__builtin_add_overflow(value, tail, &value);
}

// Reads [+-]digits.
template <class T>
HR_HOT bool fast_int(NumberText number, T& out) {
    constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
    constexpr u64 top = ~u64{0} >> (64 - 8 * sizeof(T) + (is_signed ? 1 : 0));
    const u64 negative = strip_sign(number);
    if (!is_signed && negative != 0) return false;
    if (number.size - 1 >= 24 || (number.canonical && number.size > 1 && *number.text == '0')) return false;
    u64 value;
    if (number.size <= 8 ? !short_digits(number.text, number.size, value)
                         : !scan_long_digits(number.text, number.size, value)) {
        return false;
    }
    if (value > top + negative) return false;
    out = static_cast<T>((value ^ (0 - negative)) + negative);
    return true;
}

// Reads a float of any length by the rule's steps. For an inferred column it declines integers that may be rounded.
template <class T>
[[gnu::noinline]] HR_FN bool long_float(const u8* p, usize n, bool canonical, T& out) {
    if (n == 0) return false;
    if (canonical && (p[0] == '+' || has_leading_zero(p, n))) return false;
    Decimal decimal;
    if (!scan_decimal(p, n, decimal)) return false;
    const bool is_exact = decimal.mantissa <= u64{1} << 53 && !decimal.cut;
    if (canonical && decimal.exponent >= 0 && !is_exact) return false;
    const T value = round_decimal<T>(decimal);
    out = with_sign(value, decimal.negative);
    return value != infinite<T>();
}

// Powers of ten whose product with any w < 2^64 is neither subnormal nor infinite.
template <class T>
constexpr i32 lowest_product_power = sizeof(T) == 8 ? -307 : -37;
template <class T>
constexpr i32 highest_product_power = sizeof(T) == 8 ? 288 : 18;

// Computes w * 10^power, rounded to nearest, by the first product of eisel_lemire.hpp, without a branch: whether a
// number rounds up is unpredictable. Declines the few numbers that this product does not decide, and other powers.
template <class T>
HR_HOT bool round_by_product(u64 w, i32 power, T& value) {
    using Format = FloatFormat<T>;
    constexpr i32 REST_BITS = 64 - Format::precision;
    constexpr u64 HALF = u64{1} << (REST_BITS - 1);
    if (power < lowest_product_power<T> || power > highest_product_power<T>) return false;
    const i32 shift = leading_zeros(w | 1);
    const u64 product = multiply_wide(w << shift, POWERS_OF_FIVE[power - LOWEST_POWER_OF_FIVE].high).high;
    const u32 spare = static_cast<u32>(~product >> 63);
    const u64 top = product << spare;
    // The product is up to one less than the true one, or two after the shift.
    if (((top - (HALF - 2)) & (2 * HALF - 1)) <= 2) return false;
    const u64 significand = ((top >> (REST_BITS - 1)) + 1) >> 1;
    const i32 exponent = floor_log2_of_power_of_ten(power) + 64 - shift - static_cast<i32>(spare);
    const u64 scale = static_cast<u32>(exponent - Format::smallest_exponent);
    const u64 bits = (scale << (Format::precision - 1)) + significand;
    value = bits_as<T>(static_cast<typename Format::Bits>(w == 0 ? 0 : bits));
    return true;
}

// Computes a scanned number. A division decides short decimals, since mantissa and power are exact. The length of a
// text is more predictable than the size of its mantissa.
template <class T>
HR_HOT bool round_scanned(const ScannedNumber& number, T& value) {
    constexpr u32 MAX_DIGITS = sizeof(T) == 8 ? 15 : 7;
    if (number.digit_count > MAX_DIGITS || number.has_exponent) [[unlikely]] {
        if (!round_by_product(number.mantissa, number.exponent, value)) return false;
        if (!number.is_cut) [[likely]]
            return true;
        // If the mantissa and the next one round to the same float, so does everything between them.
        T above;
        return round_by_product(number.mantissa + 1, number.exponent, above) && above == value;
    }
    value = static_cast<T>(static_cast<i64>(number.mantissa)) / static_cast<T>(EXACT_POWERS_OF_TEN[-number.exponent]);
    return true;
}

// Reads a float of up to 32 bytes with one division or multiplication. For an inferred column it declines
// integers that the float rounds, which the rule reports.
template <class T>
HR_HOT bool fast_float(NumberText number, T& out) {
    ScannedNumber scanned;
    T value;
    if (!scan_number(number, scanned) || !round_scanned(scanned, value)) return false;
    if (number.canonical && scanned.is_integer) [[unlikely]] {
        if (scanned.is_cut || scanned.mantissa >> 63 != 0 || static_cast<u64>(value) != scanned.mantissa) return false;
    }
    using Bits = typename FloatFormat<T>::Bits;
    out = bits_as<T>(bits_as<Bits>(value) | static_cast<Bits>(scanned.negative) << (8 * sizeof(T) - 1));
    return true;
}

#if defined(HR_ISA_AVX512) || defined(HR_ISA_AVX2)

constexpr bool SCANS_ANY_POINT = true;

// Moves together the bytes of a vector that `selected` selects.
HR_FN __m128i compressed(__m128i text, u32 selected) {
#if defined(HR_ISA_AVX512)
    return _mm_maskz_compress_epi8(static_cast<__mmask16>(selected), text);
#else
    constexpr u64 EACH = 0x0101010101010101;
    const u64 low = static_cast<u64>(_mm_cvtsi128_si64(text));
    const u64 high = static_cast<u64>(_mm_extract_epi64(text, 1));
    const int bits = 8 * count_ones(selected & 0xFF);
    const u64 front = _pext_u64(low, _pdep_u64(selected, EACH) * 0xFF);
    const u64 back = _pext_u64(high, _pdep_u64(selected >> 8, EACH) * 0xFF);
    if (bits == 64) return _mm_set_epi64x(static_cast<i64>(back), static_cast<i64>(front));
    const u64 spill = bits == 0 ? 0 : back >> (64 - bits);
    return _mm_set_epi64x(static_cast<i64>(spill), static_cast<i64>(front | back << bits));
#endif
}

// Removes the marks between groups of digits from a number of at most 16 bytes. Text that is no number may pass. `to`
// has 96 bytes, aligned to 32. Grouping marks must be at every fourth position before the decimals: in "1,234,567.5" at
// 5 and 1.
HR_FN bool strip_groups(const NumberMarks& marks, const u8* p, usize n, u8* to, usize& size) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const auto places = [&](u8 mark, u32 used) {
        const __m128i same = _mm_cmpeq_epi8(text, _mm_set1_epi8(static_cast<char>(mark)));
        return static_cast<u32>(_mm_movemask_epi8(same)) & used;
    };
    const u32 used = (u32{1} << n) - 1;
    const u32 points = places(marks.decimal, used);
    const u32 groups = places(static_cast<u8>(marks.thousands), used);
    if ((places('.', used) & ~(points | groups)) != 0) return false;
    const __m128i is_point = _mm_cmpeq_epi8(text, _mm_set1_epi8(static_cast<char>(marks.decimal)));
    __m128i plain = _mm_blendv_epi8(text, _mm_set1_epi8('.'), is_point);
    size = n;
    if (groups != 0) {
        const u32 end = points != 0 ? static_cast<u32>(trailing_zeros(points)) : static_cast<u32>(n);
        const u32 first = static_cast<u32>(trailing_zeros(groups));
        const u32 expected = (0x11111u << (end & 3)) & ((u32{1} << end) - 1) & ~((u32{1} << first) - 1);
        if (groups != expected || first - (p[0] == '-') - 1 >= 3) return false;
        const __m128i over = _mm_sub_epi8(text, _mm_set1_epi8('0'));
        const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(over, _mm_set1_epi8(9)), over);
        const u32 others = ~static_cast<u32>(_mm_movemask_epi8(is_digit)) & ((u32{1} << end) - 1) & ~groups;
        if (others > u32{p[0] == '-'}) return false;  // "1e.+05"
        plain = compressed(plain, used & ~groups);
        size -= static_cast<usize>(count_ones(groups));
    }
    // One store of the size that the scan loads, so that the processor forwards it.
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), _mm256_zextsi128_si256(plain));
    return true;
}

#else

constexpr bool SCANS_ANY_POINT = false;

#endif

// Rewrites a number of at most 32 bytes with the usual marks. Text that is no number may pass. `to` has 96
// bytes, aligned to 32.
HR_FN bool fast_plain_number(const NumberMarks& marks, const u8* p, usize n, u8* to, usize& size) {
    if (n - 1 >= 32) return false;
#if defined(HR_ISA_AVX512) || defined(HR_ISA_AVX2)
    if (n <= 16) return strip_groups(marks, p, n, to, size);
#endif
    return to_plain_number(marks, p, n, to, size);
}

HR_END_NAMESPACE
