// Decides whether a whole text is well-formed UTF-8, 64 bytes at a time.
// Source: Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte".
#pragma once

#include "columns/rules/utf8.hpp"
#include "core/cpu/simd.hpp"

HR_BEGIN_NAMESPACE

#if defined(HR_ISA_AVX512) || defined(HR_ISA_AVX2)

// Errors of a byte after another one. Each pair of bytes is looked up in three tables: by the first one's halves and by
// the second one's upper half. An error is real if all three have it.
struct Utf8Errors {
    static constexpr u8 TOO_SHORT = 1;            // a lead byte, then no continuation
    static constexpr u8 TOO_LONG = 2;             // ASCII, then a continuation
    static constexpr u8 OVERLONG_3 = 4;           // E0 80 to E0 9F
    static constexpr u8 TOO_LARGE = 8;            // F4 90 and above
    static constexpr u8 SURROGATE = 16;           // ED A0 and above
    static constexpr u8 OVERLONG_2 = 32;          // C0 and C1
    static constexpr u8 TOO_LARGE_1000 = 64;      // F5 80 and above; the same bit for OVERLONG_4, F0 80 to F0 8F
    static constexpr u8 TWO_CONTINUATIONS = 128;  // right only in sequences of three bytes and four
    static constexpr u8 ANY_LOW = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS;
    static constexpr u8 LARGE = ANY_LOW | TOO_LARGE | TOO_LARGE_1000;
    static constexpr u8 AFTER_LEAD = TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS;

    alignas(16) static constexpr u8 FIRST_HIGH[16] = {TOO_LONG,
                                                      TOO_LONG,
                                                      TOO_LONG,
                                                      TOO_LONG,
                                                      TOO_LONG,
                                                      TOO_LONG,
                                                      TOO_LONG,
                                                      TOO_LONG,
                                                      TWO_CONTINUATIONS,
                                                      TWO_CONTINUATIONS,
                                                      TWO_CONTINUATIONS,
                                                      TWO_CONTINUATIONS,
                                                      TOO_SHORT | OVERLONG_2,
                                                      TOO_SHORT,
                                                      TOO_SHORT | OVERLONG_3 | SURROGATE,
                                                      TOO_SHORT | TOO_LARGE | TOO_LARGE_1000};
    alignas(16) static constexpr u8 FIRST_LOW[16] = {ANY_LOW | OVERLONG_2 | OVERLONG_3 | TOO_LARGE_1000,
                                                     ANY_LOW | OVERLONG_2,
                                                     ANY_LOW,
                                                     ANY_LOW,
                                                     ANY_LOW | TOO_LARGE,
                                                     LARGE,
                                                     LARGE,
                                                     LARGE,
                                                     LARGE,
                                                     LARGE,
                                                     LARGE,
                                                     LARGE,
                                                     LARGE,
                                                     LARGE | SURROGATE,
                                                     LARGE,
                                                     LARGE};
    alignas(16) static constexpr u8 SECOND_HIGH[16] = {TOO_SHORT,
                                                       TOO_SHORT,
                                                       TOO_SHORT,
                                                       TOO_SHORT,
                                                       TOO_SHORT,
                                                       TOO_SHORT,
                                                       TOO_SHORT,
                                                       TOO_SHORT,
                                                       AFTER_LEAD | OVERLONG_3 | TOO_LARGE_1000,
                                                       AFTER_LEAD | OVERLONG_3 | TOO_LARGE,
                                                       AFTER_LEAD | SURROGATE | TOO_LARGE,
                                                       AFTER_LEAD | SURROGATE | TOO_LARGE,
                                                       TOO_SHORT,
                                                       TOO_SHORT,
                                                       TOO_SHORT,
                                                       TOO_SHORT};
};

#if defined(HR_ISA_AVX512)
using Utf8Vector = __m512i;
HR_FN Utf8Vector load_bytes(const u8* p) { return _mm512_loadu_si512(p); }
HR_FN Utf8Vector repeated(u8 value) { return _mm512_set1_epi8(static_cast<char>(value)); }
HR_FN Utf8Vector table_of(const u8* table) {
    return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(table)));
}
HR_FN Utf8Vector bytes_and(Utf8Vector a, Utf8Vector b) { return _mm512_and_si512(a, b); }
HR_FN Utf8Vector bytes_or(Utf8Vector a, Utf8Vector b) { return _mm512_or_si512(a, b); }
HR_FN Utf8Vector bytes_xor(Utf8Vector a, Utf8Vector b) { return _mm512_xor_si512(a, b); }
HR_FN Utf8Vector bytes_less(Utf8Vector a, Utf8Vector b) { return _mm512_subs_epu8(a, b); }
HR_FN Utf8Vector looked_up(Utf8Vector table, Utf8Vector at) { return _mm512_shuffle_epi8(table, at); }
HR_FN Utf8Vector upper_halves(Utf8Vector a) { return bytes_and(_mm512_srli_epi16(a, 4), repeated(0x0F)); }
HR_FN bool any_bit(Utf8Vector a) { return _mm512_test_epi64_mask(a, a) != 0; }
#else
using Utf8Vector = __m256i;
HR_FN Utf8Vector load_bytes(const u8* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
HR_FN Utf8Vector repeated(u8 value) { return _mm256_set1_epi8(static_cast<char>(value)); }
HR_FN Utf8Vector table_of(const u8* table) {
    return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table)));
}
HR_FN Utf8Vector bytes_and(Utf8Vector a, Utf8Vector b) { return _mm256_and_si256(a, b); }
HR_FN Utf8Vector bytes_or(Utf8Vector a, Utf8Vector b) { return _mm256_or_si256(a, b); }
HR_FN Utf8Vector bytes_xor(Utf8Vector a, Utf8Vector b) { return _mm256_xor_si256(a, b); }
HR_FN Utf8Vector bytes_less(Utf8Vector a, Utf8Vector b) { return _mm256_subs_epu8(a, b); }
HR_FN Utf8Vector looked_up(Utf8Vector table, Utf8Vector at) { return _mm256_shuffle_epi8(table, at); }
HR_FN Utf8Vector upper_halves(Utf8Vector a) { return bytes_and(_mm256_srli_epi16(a, 4), repeated(0x0F)); }
HR_FN bool any_bit(Utf8Vector a) { return _mm256_testz_si256(a, a) == 0; }
#endif

// Collects the errors of blocks. Each block is read with the three bytes before it.
class Utf8Check {
public:
    void add(const u8* block) {
        for (usize at = 0; at < BLOCK; at += sizeof(Utf8Vector)) add_vector(block + at);
    }
    bool found() const { return any_bit(errors_); }

private:
    void add_vector(const u8* p) {
        const Utf8Vector bytes = load_bytes(p), before = load_bytes(p - 1);
        const Utf8Vector low = bytes_and(before, repeated(0x0F));
        const Utf8Vector errors = bytes_and(bytes_and(looked_up(table_of(Utf8Errors::FIRST_HIGH), upper_halves(before)),
                                                      looked_up(table_of(Utf8Errors::FIRST_LOW), low)),
                                            looked_up(table_of(Utf8Errors::SECOND_HIGH), upper_halves(bytes)));
        // The third byte from E0 on and the fourth from F0 on have to be second continuations.
        const Utf8Vector third = bytes_less(load_bytes(p - 2), repeated(0xE0 - 0x80));
        const Utf8Vector fourth = bytes_less(load_bytes(p - 3), repeated(0xF0 - 0x80));
        const Utf8Vector wanted = bytes_and(bytes_or(third, fourth), repeated(0x80));
        errors_ = bytes_or(errors_, bytes_xor(errors, wanted));
    }
    Utf8Vector errors_ = repeated(0);
};

HR_FN bool is_valid_utf8(const u8* text, usize n) {
    Utf8Check check;
    // The first block after zeros, and the last one, possibly empty, before zeros: a sequence may not be cut there.
    alignas(64) u8 edge[2 * BLOCK] = {};
    const usize first = n < BLOCK ? n : BLOCK;
    __builtin_memcpy(edge + BLOCK, text, first);
    check.add(edge + BLOCK);
    if (n < BLOCK) return !check.found();
    usize at = BLOCK;
    for (; at + BLOCK <= n; at += BLOCK) {
        HighBytes high;
        high.add(Block(text + at - 3));
        high.add(Block(text + at));
        if (high.any()) check.add(text + at);
    }
    alignas(64) u8 last[2 * BLOCK] = {};
    __builtin_memcpy(last + BLOCK - 3, text + at - 3, 3 + n - at);
    check.add(last + BLOCK);
    return !check.found();
}

#else

HR_FN bool is_valid_utf8(const u8* text, usize n) { return find_invalid_utf8(text, n) == n; }

#endif

HR_END_NAMESPACE
