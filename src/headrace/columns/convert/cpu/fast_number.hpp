// Reads short, plain integers and floats. Each fast form returns what rules/numbers/parse_int.hpp and parse_float.hpp
// return, or declines, and then the rule decides. 16 bytes from `p` on must be readable.
#pragma once

#include "columns/rules/numbers/number_marks.hpp"
#include "columns/rules/numbers/parse_float.hpp"
#include "columns/rules/numbers/parse_int.hpp"
#include "core/cpu/simd.hpp"

HR_BEGIN_NAMESPACE

// Reads up to eight digits. "1234" is shifted to the word's upper bytes, so zeros precede it. Then neighbours are
// merged: digits to pairs, pairs to fours, fours to eight.
HR_FN bool short_digits(const u8* p, usize n, u64& value) {
    u64 digits;
    __builtin_memcpy(&digits, p, 8);
    digits = (digits ^ 0x3030303030303030) << (64 - 8 * n);
    if (((digits + 0x7676767676767676) | digits) & 0x8080808080808080) return false;
    digits = digits * (10 * 0x100 + 1) >> 8 & 0x00FF00FF00FF00FF;
    digits = digits * (100 * 0x10000 + 1) >> 16 & 0x0000FFFF0000FFFF;
    value = digits * (10000 * 0x100000000 + 1) >> 32;
    return true;
}

// Reads [-]digits, up to 16 of them. `canonical`: declines leading zeros, with which inference takes the text for a
// string.
template <class T>
HR_FN bool fast_int(const u8* p, usize n, bool canonical, T& out) {
    constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
    constexpr u64 top = ~u64{0} >> (64 - 8 * sizeof(T) + (is_signed ? 1 : 0));
    const u64 negative = is_signed && n > 0 && *p == '-';
    p += negative;
    n -= negative;
    if (n - 1 >= 16 || (canonical && n > 1 && *p == '0')) return false;
    u64 value, head;
    if (n <= 8) {
        if (!short_digits(p, n, value)) return false;
    } else {
        if (!short_digits(p, n - 8, head) || !short_digits(p + n - 8, 8, value)) return false;
        value += head * 100'000'000;
    }
    if (value > top + negative) return false;
    out = static_cast<T>(negative ? u64{0} - value : value);
    return true;
}

#if defined(HR_ISA_AVX512) || defined(HR_ISA_AVX2)

// Reads [-]digits[.digits] of at most 16 bytes after the sign, e.g. "-73.993896". The digits are shifted to the right
// end of a vector, over the point, then multiplied and added in pairs. `point`: number of digits after the point.
HR_FN bool short_decimal(const u8* p, usize n, u64& mantissa, usize& point) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i digits = _mm_sub_epi8(text, _mm_set1_epi8('0'));
    const u32 used = (u32{1} << n) - 1;
    const u32 points = static_cast<u32>(_mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8('.')))) & used;
    const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
    if (((static_cast<u32>(_mm_movemask_epi8(is_digit)) | points) & used) != used) return false;
    if (points & (points - 1)) return false;
    const usize before = points ? static_cast<usize>(trailing_zeros(points)) : n;
    const usize count = n - (points ? 1 : 0);
    if (count == 0) return false;
    // Lane j takes digit j - (16 - count); digits after the point are one byte further on. A negative index yields
    // zero.
    const __m128i lanes = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m128i digit = _mm_sub_epi8(lanes, _mm_set1_epi8(static_cast<char>(16 - count)));
    const __m128i behind = _mm_cmpgt_epi8(digit, _mm_set1_epi8(static_cast<char>(static_cast<int>(before) - 1)));
    const __m128i right = _mm_shuffle_epi8(digits, _mm_sub_epi8(digit, behind));
    const __m128i pairs = _mm_maddubs_epi16(right, _mm_set1_epi16(1 << 8 | 10));
    const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(1 << 16 | 100));
    const __m128i packed = _mm_packus_epi32(fours, fours);
    const __m128i eights = _mm_madd_epi16(packed, _mm_set1_epi32(1 << 16 | 10000));
    const u64 both = static_cast<u64>(_mm_cvtsi128_si64(eights));
    mantissa = (both & 0xFFFFFFFF) * 100'000'000 + (both >> 32);
    point = count - before;
    return true;
}

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

// Rewrites a number of at most 16 bytes without exponent with the usual marks. Text that is no number may pass. `to`
// has 32 bytes. Grouping marks must be at every fourth position before the decimals: in "1,234,567.5" at 5 and 1.
HR_FN bool fast_plain_number(const NumberMarks& marks, const u8* p, usize n, u8* to, usize& size) {
    if (n - 1 >= 16) return false;
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const auto places = [&](u8 mark, u32 used) {
        const __m128i same = _mm_cmpeq_epi8(text, _mm_set1_epi8(static_cast<char>(mark)));
        return static_cast<u32>(_mm_movemask_epi8(same)) & used;
    };
    const u32 used = (u32{1} << n) - 1;
    const u32 points = places(marks.decimal, used);
    const u32 groups = marks.thousands == NO_MARK ? 0 : places(static_cast<u8>(marks.thousands), used);
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
    _mm_store_si128(reinterpret_cast<__m128i*>(to + 16), _mm_setzero_si128());
    return true;
}

HR_CONSTANT double EXACT_POWERS[16] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// Divides once, with correct rounding, since mantissa and power are both exact in T (Clinger 1990). Longer numbers are
// left to the rule's second method.
template <class T>
HR_FN bool fast_float(const u8* p, usize n, bool canonical, T& out) {
    const usize negative = n > 0 && *p == '-';
    p += negative;
    n -= negative;
    if (n - 1 >= 16 || (canonical && *p == '0' && static_cast<u8>(p[1] - '0') < 10 && n > 1)) return false;
    u64 mantissa;
    usize point;
    if (!short_decimal(p, n, mantissa, point)) return false;
    constexpr u64 exact = sizeof(T) == 8 ? u64{1} << 53 : u64{1} << 24;
    constexpr usize max_point = sizeof(T) == 8 ? 15 : 10;
    T value;
    if (mantissa <= exact && point <= max_point) {
        value = static_cast<T>(static_cast<T>(mantissa) / static_cast<T>(EXACT_POWERS[point]));
    } else if ((canonical && point == 0) || !decimal_to_float<T>(mantissa, -static_cast<i32>(point), value)) {
        // For inferred floats the rule checks whether an integer is rounded.
        return false;
    }
    out = negative ? -value : value;
    return true;
}

#else

HR_FN bool fast_plain_number(const NumberMarks& marks, const u8* p, usize n, u8* to, usize& size) {
    __builtin_memset(to, 0, 32);
    return n <= 16 && to_plain_number(marks, p, n, to, size);
}

template <class T>
HR_FN bool fast_float(const u8*, usize, bool, T&) {
    return false;  // the rule has a fast path of its own
}

#endif

HR_END_NAMESPACE
