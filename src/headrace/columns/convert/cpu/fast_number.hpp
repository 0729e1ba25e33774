// Reads integers and floats. Each fast form returns what rules/numbers/parse_int.hpp and parse_float.hpp return, or
// declines, and then the rule decides. 64 bytes from `p` on must be readable.
#pragma once

#include "columns/convert/cpu/number_scan.hpp"
#include "columns/rules/numbers/number_marks.hpp"
#include "columns/rules/numbers/parse_float.hpp"
#include "columns/rules/numbers/parse_int.hpp"
#include "core/cpu/simd.hpp"

HR_BEGIN_NAMESPACE

// Reads 1 to 24 digits, eight at a time. Declines a number of more than 64 bits.
HR_HOT bool scan_digits(const u8* p, usize n, u64& value) {
    if (n - 1 >= 24) return false;
    if (n <= 8) return short_digits(p, n, value);
    u64 head, tail;
    if (!short_digits(p + n - 8, 8, tail)) return false;
    if (n <= 16) {
        if (!short_digits(p, n - 8, head)) return false;
        value = head * 100'000'000 + tail;
        return true;
    }
    u64 middle;
    if (!short_digits(p, n - 16, head) || !short_digits(p + n - 16, 8, middle)) return false;
    return !__builtin_mul_overflow(head * 100'000'000 + middle, u64{100'000'000}, &value) &&
           !__builtin_add_overflow(value, tail, &value);
}

// Reads [+-]digits.
template <class T>
HR_HOT bool fast_int(NumberText number, T& out) {
    constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
    constexpr u64 top = ~u64{0} >> (64 - 8 * sizeof(T) + (is_signed ? 1 : 0));
    const bool negative = strip_sign(number);
    if (!is_signed && negative) return false;
    if (number.canonical && number.size > 1 && *number.text == '0') return false;
    u64 value;
    if (!scan_digits(number.text, number.size, value) || value > top + (negative ? 1 : 0)) return false;
    out = static_cast<T>(negative ? u64{0} - value : value);
    return true;
}

// Reads a float of any length by the rule's steps. For an inferred column it declines integers that may be rounded.
template <class T>
[[gnu::noinline]] HR_FN bool long_float(const NumberText& number, T& out) {
    const u8* const p = number.text;
    const usize n = number.size;
    if (number.point != '.' || n == 0) return false;
    if (number.canonical && (p[0] == '+' || has_leading_zero(p, n))) return false;
    Decimal decimal;
    if (!scan_decimal(p, n, decimal)) return false;
    const bool is_exact = decimal.mantissa <= u64{1} << 53 && !decimal.cut;
    if (number.canonical && decimal.exponent >= 0 && !is_exact) return false;
    const T value = round_decimal<T>(decimal);
    out = with_sign(value, decimal.negative);
    return value != infinite<T>();
}

// Reads a float of up to 19 significant digits with one division or multiplication. For an inferred column it declines
// integers that the float rounds, which the rule reports.
template <class T>
HR_HOT bool fast_float(const NumberText& number, T& out) {
    ScannedNumber scanned;
    T value;
    if (!scan_number(number, scanned) || !decimal_to_float<T>(scanned.mantissa, scanned.exponent, value))
        return long_float(number, out);
    if (number.canonical && scanned.is_integer) {
        if (scanned.mantissa >> 63 != 0 || static_cast<u64>(value) != scanned.mantissa) return false;
    }
    out = with_sign(value, scanned.negative);
    return true;
}

#if defined(HR_ISA_AVX512) || defined(HR_ISA_AVX2)

constexpr bool SCANS_ANY_POINT = true;

// Moves together the bytes of a vector that `kept` selects.
HR_FN __m128i kept_bytes(__m128i text, u32 kept) {
#if defined(HR_ISA_AVX512)
    return _mm_maskz_compress_epi8(static_cast<__mmask16>(kept), text);
#else
    constexpr u64 EACH = 0x0101010101010101;
    const u64 low = static_cast<u64>(_mm_cvtsi128_si64(text));
    const u64 high = static_cast<u64>(_mm_extract_epi64(text, 1));
    const int bits = 8 * count_ones(kept & 0xFF);
    const u64 front = _pext_u64(low, _pdep_u64(kept, EACH) * 0xFF);
    const u64 back = _pext_u64(high, _pdep_u64(kept >> 8, EACH) * 0xFF);
    if (bits == 64) return _mm_set_epi64x(static_cast<i64>(back), static_cast<i64>(front));
    const u64 behind = bits == 0 ? 0 : back >> (64 - bits);
    return _mm_set_epi64x(static_cast<i64>(behind), static_cast<i64>(front | back << bits));
#endif
}

// Removes the marks between groups of digits from a number of at most 16 bytes. Text that is no number may pass. `to`
// has 96 bytes. Grouping marks must be at every fourth position before the decimals: in "1,234,567.5" at 5 and 1.
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
        plain = kept_bytes(plain, used & ~groups);
        size -= static_cast<usize>(count_ones(groups));
    }
    _mm_store_si128(reinterpret_cast<__m128i*>(to), plain);
    return true;
}

#else

constexpr bool SCANS_ANY_POINT = false;

#endif

// Rewrites a number of at most 32 bytes with the usual marks. Text that is no number may pass. `to` has 96 bytes.
HR_FN bool fast_plain_number(const NumberMarks& marks, const u8* p, usize n, u8* to, usize& size) {
    if (n - 1 >= 32) return false;
#if defined(HR_ISA_AVX512) || defined(HR_ISA_AVX2)
    if (n <= 16) return strip_groups(marks, p, n, to, size);
#endif
    return to_plain_number(marks, p, n, to, size);
}

HR_END_NAMESPACE
