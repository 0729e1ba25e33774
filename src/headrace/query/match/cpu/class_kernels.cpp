// Marks the bytes of a set in a text; compiled once per instruction set. The lower four bits of a byte and its top bit
// select a row of 8 bits, of which the other bits select one. Vectors look up both (simdjson; Langdale and Lemire
// 2019). Bytes moved per byte of text: 1, and 1/8 of masks.
#include "query/match/cpu/class_kernels.hpp"

#include "core/cpu/simd.hpp"
#include "core/cpu/vectors.hpp"

HR_BEGIN_NAMESPACE
namespace {

#if defined(HR_ISA_AVX512) || defined(HR_ISA_AVX2)

class ClassLookup {
public:
    explicit ClassLookup(const ByteClass& bytes) : lower_(table(bytes.row(0))), upper_(table(bytes.row(1))) {}

    HR_MEMBER u64 mask(const u8* text) const { return half(text) | static_cast<u64>(half(text + 32)) << 32; }

private:
    static __m256i table(const u8* entries) {
        return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(entries)));
    }

    HR_MEMBER u32 half(const u8* text) const {
        const __m256i bits = _mm256_set1_epi64x(static_cast<i64>(0x8040201008040201));
        const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text));
        // An index whose top bit is set looks up 0.
        const __m256i index = _mm256_and_si256(bytes, _mm256_set1_epi8(static_cast<char>(0x8F)));
        const __m256i other = _mm256_xor_si256(index, _mm256_set1_epi8(static_cast<char>(0x80)));
        const __m256i row = _mm256_or_si256(_mm256_shuffle_epi8(lower_, index), _mm256_shuffle_epi8(upper_, other));
        const __m256i column = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
        const __m256i bit = _mm256_shuffle_epi8(bits, column);
        return static_cast<u32>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(row, bit), bit)));
    }

    __m256i lower_, upper_;
};

#else

class ClassLookup {
public:
    explicit ClassLookup(const ByteClass& bytes) : bytes_(bytes) {}

    HR_MEMBER u64 mask(const u8* text) const {
        u64 mask = 0;
        for (u32 i = 0; i < BLOCK; ++i) mask |= u64{bytes_.has(text[i])} << i;
        return mask;
    }

private:
    const ByteClass& bytes_;
};

#endif

void mark(const ByteClass& bytes, const u8* text, u64 size, u64* masks) {
    const ClassLookup lookup(bytes);
    u64 at = 0;
    for (; at + BLOCK <= size; at += BLOCK) masks[at / BLOCK] = lookup.mask(text + at);
    if (at == size) return;
    u8 rest[BLOCK] = {};
    __builtin_memcpy(rest, text + at, size - at);
    masks[at / BLOCK] = lookup.mask(rest) & low_bits(size - at);
}

}  // namespace

const ClassKernels& class_kernels() {
    static constexpr ClassKernels kernels = {mark};
    return kernels;
}

HR_END_NAMESPACE
