// Decodes UTF-16 and code pages to UTF-8; compiled once for each instruction set.
//
// Vector code handles runs of ASCII and longer characters. The bytes of each character are made in a lane of its own,
// and one shuffle (AVX2) or compression (AVX-512) closes the gaps between lanes. With AVX2, surrogates are decoded one
// by one. Cost: each byte of the source is read once, and each byte of the text is written once. Source: Lemire and
// Mula, "Transcoding billions of Unicode characters per second with SIMD instructions" (2022), for shuffles that are
// chosen by the lengths of the characters.
#include "sources/encoding/decode.hpp"

#include "sources/encoding/decode_rules.hpp"

#if defined(HR_ISA_AVX512) || defined(HR_ISA_AVX2)
#include <immintrin.h>
#endif

HR_BEGIN_NAMESPACE
namespace {

// Writes the first character of p[0, n), n > 0; returns its size in the source.
template <bool Big>
HR_FN usize put_character(const u8* p, usize n, u8*& to) {
    const DecodedCharacter character = utf16_character(p, n, Big);
    __builtin_memcpy(to, &character.text, 4);
    to += character.length;
    return character.size;
}

#if defined(HR_ISA_AVX512)

constexpr usize STEP = 64, LOOKED_AT = STEP + 2, SLOW_STEP = STEP;

template <bool Big>
HR_FN __m512i load_units(const u8* p) {
    const __m512i bytes = _mm512_loadu_si512(p);
    return Big ? _mm512_or_si512(_mm512_slli_epi16(bytes, 8), _mm512_srli_epi16(bytes, 8)) : bytes;
}

// Masks of sixteen units: the first of a pair, the second of one, or a lone surrogate.
struct Surrogates {
    __mmask16 first, second, lone;
};

// Writes sixteen units. Each has a lane of four bytes; the lane of a pair also needs the next unit, in `next`.
HR_FN void put_lanes(__m256i units, __m256i next, Surrogates halves, u8*& to) {
    const auto trail = [](__m512i bits) {
        return _mm512_or_si512(_mm512_and_si512(bits, _mm512_set1_epi32(0x3F)), _mm512_set1_epi32(0x80));
    };
    const auto lead = [](__m512i bits, int mark) { return _mm512_or_si512(bits, _mm512_set1_epi32(mark)); };
    __m512i c = _mm512_cvtepu16_epi32(units);
    const __m512i ten_bits = _mm512_set1_epi32(0x3FF);
    const __m512i pair = _mm512_add_epi32(_mm512_set1_epi32(0x10000),
                                          _mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(c, ten_bits), 10),
                                                          _mm512_and_si512(_mm512_cvtepu16_epi32(next), ten_bits)));
    c = _mm512_mask_mov_epi32(c, halves.first, pair);
    const __mmask16 two = _mm512_cmpgt_epu32_mask(c, _mm512_set1_epi32(0x7F));
    const __mmask16 three = _mm512_cmpgt_epu32_mask(c, _mm512_set1_epi32(0x7FF));
    const __m512i last = trail(c), middle = trail(_mm512_srli_epi32(c, 6)), early = trail(_mm512_srli_epi32(c, 12));
    const __m512i of_two = _mm512_or_si512(lead(_mm512_srli_epi32(c, 6), 0xC0), _mm512_slli_epi32(last, 8));
    const __m512i of_three =
        _mm512_or_si512(_mm512_or_si512(lead(_mm512_srli_epi32(c, 12), 0xE0), _mm512_slli_epi32(middle, 8)),
                        _mm512_slli_epi32(last, 16));
    const __m512i of_four =
        _mm512_or_si512(_mm512_or_si512(lead(_mm512_srli_epi32(c, 18), 0xF0), _mm512_slli_epi32(early, 8)),
                        _mm512_or_si512(_mm512_slli_epi32(middle, 16), _mm512_slli_epi32(last, 24)));
    __m512i lanes = _mm512_mask_mov_epi32(c, two, of_two);
    lanes = _mm512_mask_mov_epi32(lanes, three, of_three);
    lanes = _mm512_mask_mov_epi32(lanes, halves.first, of_four);
    lanes = _mm512_mask_mov_epi32(lanes, halves.lone, _mm512_set1_epi32(UNDECODABLE));
    __m512i retained = _mm512_mask_mov_epi32(_mm512_set1_epi32(0xFF), two, _mm512_set1_epi32(0xFFFF));
    retained = _mm512_mask_mov_epi32(retained, three, _mm512_set1_epi32(0xFFFFFF));
    retained = _mm512_mask_mov_epi32(retained, halves.first, _mm512_set1_epi32(-1));
    retained = _mm512_mask_mov_epi32(retained, halves.lone, _mm512_set1_epi32(0xFF));
    retained = _mm512_mask_mov_epi32(retained, halves.second, _mm512_setzero_si512());
    const __mmask64 bytes = _mm512_movepi8_mask(retained);
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(bytes, lanes));
    to += __builtin_popcountll(bytes);
}

// Writes any 32 units; returns the bytes consumed, which are one unit fewer if the last one begins a pair.
template <bool Big>
HR_FN usize put_any(const u8* p, __m512i units, u8*& to) {
    const __m512i next = load_units<Big>(p + 2);
    const __m512i half = _mm512_set1_epi16(static_cast<short>(0xFC00));
    const auto are = [&](__m512i some, int top) {
        return _mm512_cmpeq_epi16_mask(_mm512_and_si512(some, half), _mm512_set1_epi16(static_cast<short>(top)));
    };
    const u32 high = are(units, 0xD800), low = are(units, 0xDC00);
    const u32 first = high & are(next, 0xDC00);
    const u32 cut = first & 0x80000000;
    const u32 second = first << 1;
    const u32 lone = (high & ~first) | (low & ~second);
    const auto halves = [&](int shift) {
        return Surrogates{static_cast<__mmask16>((first & ~cut) >> shift),
                          static_cast<__mmask16>((second | cut) >> shift), static_cast<__mmask16>(lone >> shift)};
    };
    put_lanes(_mm512_castsi512_si256(units), _mm512_castsi512_si256(next), halves(0), to);
    put_lanes(_mm512_extracti64x4_epi64(units, 1), _mm512_extracti64x4_epi64(next, 1), halves(16), to);
    return cut != 0 ? STEP - 2 : STEP;
}

// Writes 32 units; reads one more.
template <bool Big>
HR_FN usize put_step(const u8* p, u8*& to) {
    const __m512i units = load_units<Big>(p);
    const __mmask32 high = _mm512_cmpgt_epu16_mask(units, _mm512_set1_epi16(0x7F));
    if (high == 0) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi16_epi8(units));
        to += 32;
        return STEP;
    }
    if (_mm512_cmpgt_epu16_mask(units, _mm512_set1_epi16(0x7FF)) != 0) return put_any<Big>(p, units, to);
    const __m512i lead = _mm512_or_si512(_mm512_srli_epi16(units, 6), _mm512_set1_epi16(0xC0));
    const __m512i trail = _mm512_or_si512(_mm512_and_si512(units, _mm512_set1_epi16(0x3F)), _mm512_set1_epi16(0x80));
    const __m512i pairs = _mm512_or_si512(lead, _mm512_slli_epi16(trail, 8));
    const __mmask64 bytes = _mm512_movepi8_mask(_mm512_or_si512(_mm512_movm_epi16(high), _mm512_set1_epi16(0xFF)));
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(bytes, _mm512_mask_mov_epi16(units, high, pairs)));
    to += __builtin_popcountll(bytes);
    return STEP;
}

#elif defined(HR_ISA_AVX2)

constexpr usize STEP = 64, LOOKED_AT = STEP, SLOW_STEP = 16;

// For each combination of lengths: the shuffle that closes the gaps, and the number of bytes that remain.
struct Shuffles {
    u8 from[256][16];
    u8 size[256];
};

// For eight lanes of two bytes: bit i of the index is set if character i has two.
constexpr Shuffles shuffles_of_pairs() {
    Shuffles result{};
    for (usize lengths = 0; lengths < 256; ++lengths) {
        u8 size = 0;
        for (u8 i = 0; i < 8; ++i) {
            result.from[lengths][size++] = static_cast<u8>(2 * i);
            if (lengths >> i & 1) result.from[lengths][size++] = static_cast<u8>(2 * i + 1);
        }
        result.size[lengths] = size;
    }
    return result;
}

// For four lanes of four bytes: bit i of the index is set if character i has two or more. Bit 4 + i is set if it has
// three.
constexpr Shuffles shuffles_of_lanes() {
    Shuffles result{};
    for (usize lengths = 0; lengths < 256; ++lengths) {
        u8 size = 0;
        for (u8 i = 0; i < 4; ++i) {
            const u8 length = static_cast<u8>(1 + (lengths >> i & 1) + (lengths >> (4 + i) & 1));
            for (u8 k = 0; k < length; ++k) result.from[lengths][size++] = static_cast<u8>(4 * i + k);
        }
        result.size[lengths] = size;
    }
    return result;
}

constexpr Shuffles PAIRS = shuffles_of_pairs();
constexpr Shuffles LANES = shuffles_of_lanes();

HR_FN void put_shuffled(__m128i bytes, const Shuffles& shuffles, usize lengths, u8*& to) {
    const __m128i from = _mm_loadu_si128(reinterpret_cast<const __m128i*>(shuffles.from[lengths]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(bytes, from));
    to += shuffles.size[lengths];
}

// Writes four characters of up to three bytes.
HR_FN void put_lanes(__m128i c, u8*& to) {
    const __m128i two = _mm_cmpgt_epi32(c, _mm_set1_epi32(0x7F));
    const __m128i three = _mm_cmpgt_epi32(c, _mm_set1_epi32(0x7FF));
    const __m128i low = _mm_set1_epi32(0x3F), mark = _mm_set1_epi32(0x80);
    const __m128i trail = _mm_or_si128(_mm_and_si128(c, low), mark);
    const __m128i middle = _mm_or_si128(_mm_and_si128(_mm_srli_epi32(c, 6), low), mark);
    const __m128i of_two =
        _mm_or_si128(_mm_or_si128(_mm_srli_epi32(c, 6), _mm_set1_epi32(0xC0)), _mm_slli_epi32(trail, 8));
    const __m128i of_three = _mm_or_si128(_mm_or_si128(_mm_srli_epi32(c, 12), _mm_set1_epi32(0xE0)),
                                          _mm_or_si128(_mm_slli_epi32(middle, 8), _mm_slli_epi32(trail, 16)));
    const __m128i lanes = _mm_blendv_epi8(_mm_blendv_epi8(c, of_two, two), of_three, three);
    const int lengths = _mm_movemask_ps(_mm_castsi128_ps(two)) | _mm_movemask_ps(_mm_castsi128_ps(three)) << 4;
    put_shuffled(lanes, LANES, static_cast<usize>(lengths), to);
}

// Writes eight units; returns false, and writes nothing, if one is a surrogate.
HR_FN bool put_eight(__m128i units, u8*& to) {
    const __m128i above = _mm_and_si128(units, _mm_set1_epi16(static_cast<short>(0xF800)));
    const __m128i zero = _mm_setzero_si128();
    if (_mm_testz_si128(above, above)) {
        const __m128i two = _mm_cmpgt_epi16(units, _mm_set1_epi16(0x7F));
        const __m128i lead = _mm_or_si128(_mm_srli_epi16(units, 6), _mm_set1_epi16(0xC0));
        const __m128i trail = _mm_or_si128(_mm_and_si128(units, _mm_set1_epi16(0x3F)), _mm_set1_epi16(0x80));
        const __m128i pairs = _mm_or_si128(lead, _mm_slli_epi16(trail, 8));
        const int lengths = _mm_movemask_epi8(_mm_packs_epi16(two, zero));
        put_shuffled(_mm_blendv_epi8(units, pairs, two), PAIRS, static_cast<usize>(lengths), to);
        return true;
    }
    const __m128i surrogates = _mm_cmpeq_epi16(above, _mm_set1_epi16(static_cast<short>(0xD800)));
    if (!_mm_testz_si128(surrogates, surrogates)) return false;
    put_lanes(_mm_unpacklo_epi16(units, zero), to);
    put_lanes(_mm_unpackhi_epi16(units, zero), to);
    return true;
}

template <bool Big>
HR_FN __m256i load_units(const u8* p) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    return Big ? _mm256_or_si256(_mm256_slli_epi16(bytes, 8), _mm256_srli_epi16(bytes, 8)) : bytes;
}

// Writes 32 units, or those before the first eight with a surrogate.
template <bool Big>
HR_FN usize put_step(const u8* p, u8*& to) {
    const __m256i first = load_units<Big>(p), second = load_units<Big>(p + 32);
    const __m256i beyond_ascii = _mm256_set1_epi16(static_cast<short>(0xFF80));
    if (_mm256_testz_si256(_mm256_or_si256(first, second), beyond_ascii)) {
        const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(first, second), 0b11'01'10'00);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), packed);
        to += 32;
        return STEP;
    }
    if (!put_eight(_mm256_castsi256_si128(first), to)) return 0;
    if (!put_eight(_mm256_extracti128_si256(first, 1), to)) return 16;
    if (!put_eight(_mm256_castsi256_si128(second), to)) return 32;
    return put_eight(_mm256_extracti128_si256(second, 1), to) ? STEP : 48;
}

#else

constexpr usize STEP = 8, LOOKED_AT = STEP, SLOW_STEP = STEP;

// Writes four units, or none if one is not ASCII.
template <bool Big>
HR_FN usize put_step(const u8* p, u8*& to) {
    u64 units;
    __builtin_memcpy(&units, p, STEP);
    if ((units & (Big ? 0x80FF80FF80FF80FF : 0xFF80FF80FF80FF80)) != 0) return 0;
    if (Big) units >>= 8;
    units = (units | units >> 8) & 0x0000FFFF0000FFFF;
    const u32 packed = static_cast<u32>(units | units >> 16);
    __builtin_memcpy(to, &packed, 4);
    to += 4;
    return STEP;
}

#endif

// put_step reads LOOKED_AT bytes, decodes at most STEP of them and returns how many. If that is 0, SLOW_STEP bytes are
// decoded one character at a time.

template <bool Big>
usize decode_utf16(const u8* p, usize n, u8* to) {
    u8* const begin = to;
    const u8* const end = p + n;
    while (p < end) {
        const usize left = static_cast<usize>(end - p);
        if (left >= LOOKED_AT) {
            const usize consumed = put_step<Big>(p, to);
            p += consumed;
            if (consumed != 0) continue;
        }
        const u8* const stop = left < SLOW_STEP ? end : p + SLOW_STEP;
        while (p < stop) p += put_character<Big>(p, static_cast<usize>(end - p), to);
    }
    return static_cast<usize>(to - begin);
}

// Writes the text of one byte of a code page.
HR_FN void put_byte(const ByteTable& table, u8 byte, u8*& to) {
    __builtin_memcpy(to, &table.text[byte], 4);
    to += table.length[byte];
}

// put_run decodes RUN bytes. With AVX-512 a run of two vectors branches less often on the text than one of 16 bytes.
#if defined(HR_ISA_AVX512)

constexpr usize RUN = 32;

HR_FN void put_run(const ByteTable& table, const u8* p, u8*& to) {
    // A table has zeros after each text, and only the first byte of a text may be zero.
    constexpr u64 FIRST_BYTES = 0x1111111111111111;
    for (usize i = 0; i < RUN; i += 16) {
        const __m512i places = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i)));
        const __m512i lanes = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), 0xFFFF, places, table.text, 4);
        const __mmask64 bytes = _mm512_test_epi8_mask(lanes, lanes) | FIRST_BYTES;
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(bytes, lanes));
        to += __builtin_popcountll(bytes);
    }
}

#else

constexpr usize RUN = 16;

HR_FN void put_run(const ByteTable& table, const u8* p, u8*& to) {
    for (usize i = 0; i < RUN; ++i) put_byte(table, p[i], to);
}

#endif

usize decode_single_byte(const ByteTable& table, const u8* p, usize n, u8* to) {
    constexpr u64 HIGH_BITS = 0x8080808080808080;
    u8* const begin = to;
    usize pos = 0;
    for (; n - pos >= RUN; pos += RUN) {
        u64 words[RUN / sizeof(u64)], any = 0;
        __builtin_memcpy(words, p + pos, RUN);
        for (const u64 word : words) any |= word;
        if (table.keeps_ascii != 0 && (any & HIGH_BITS) == 0) {
            __builtin_memcpy(to, words, RUN);
            to += RUN;
        } else {
            put_run(table, p + pos, to);
        }
    }
    for (; pos < n; ++pos) put_byte(table, p[pos], to);
    return static_cast<usize>(to - begin);
}

}  // namespace

const DecodeKernels& decode_kernels() {
    static constexpr DecodeKernels kernels = {decode_utf16<false>, decode_utf16<true>, decode_single_byte};
    return kernels;
}

HR_END_NAMESPACE
