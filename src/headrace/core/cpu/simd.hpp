// Processes 64 bytes at a time: the vector operations of the structure search for the translation unit's instruction
// set (HR_ISA_AVX512, HR_ISA_AVX2, else 64-bit words). A mask has one bit a byte, bit 0 for the byte at the lowest
// address: Block("a,b,").equals(',') == 0b1010 in its low four bits.
#pragma once

#include "core/cpu/portable.hpp"

#if defined(HR_ISA_AVX512) || defined(HR_ISA_AVX2)
#include <immintrin.h>
#endif

HR_BEGIN_NAMESPACE

constexpr usize BLOCK = 64;

// Places are positions of a block, in the form that a comparison gives them; their bits take further instructions.
#if defined(HR_ISA_AVX2)

class Places {
public:
    Places(__m256i low, __m256i high) : low_(low), high_(high) {}
    Places operator&(const Places& other) const {
        return {_mm256_and_si256(low_, other.low_), _mm256_and_si256(high_, other.high_)};
    }
    Places operator|(const Places& other) const {
        return {_mm256_or_si256(low_, other.low_), _mm256_or_si256(high_, other.high_)};
    }
    u64 bits() const {
        return static_cast<u32>(_mm256_movemask_epi8(low_)) |
               static_cast<u64>(static_cast<u32>(_mm256_movemask_epi8(high_))) << 32;
    }

private:
    __m256i low_, high_;
};

#else

class Places {
public:
    explicit Places(u64 bits) : bits_(bits) {}
    Places operator&(const Places& other) const { return Places(bits_ & other.bits_); }
    Places operator|(const Places& other) const { return Places(bits_ | other.bits_); }
    u64 bits() const { return bits_; }

private:
    u64 bits_;
};

#endif

// HighBytes accumulates whether any of several blocks has a byte outside ASCII.
#if defined(HR_ISA_AVX512)

class Block {
public:
    explicit Block(const u8* p) : bytes_(_mm512_loadu_si512(p)) {}
    bool operator==(const Block& other) const { return _mm512_cmpneq_epi64_mask(bytes_, other.bytes_) == 0; }
    Places places(u8 c) const { return Places(_mm512_cmpeq_epi8_mask(bytes_, _mm512_set1_epi8(static_cast<char>(c)))); }
    u64 equals(u8 c) const { return places(c).bits(); }
    u64 looked_up(const u8* table) const {
        const __m512i found = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
        return _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(found, bytes_), bytes_);
    }

private:
    friend class HighBytes;
    __m512i bytes_;
};

class HighBytes {
public:
    void add(const Block& block) { seen_ = _mm512_or_si512(seen_, block.bytes_); }
    bool any() const { return _mm512_movepi8_mask(seen_) != 0; }

private:
    __m512i seen_ = _mm512_setzero_si512();
};

#elif defined(HR_ISA_AVX2)

class Block {
public:
    explicit Block(const u8* p)
        : low_(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))),
          high_(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32))) {}
    bool operator==(const Block& other) const {
        const __m256i unlike =
            _mm256_or_si256(_mm256_xor_si256(low_, other.low_), _mm256_xor_si256(high_, other.high_));
        return _mm256_testz_si256(unlike, unlike) != 0;
    }
    Places places(u8 c) const {
        const __m256i wanted = _mm256_set1_epi8(static_cast<char>(c));
        return {_mm256_cmpeq_epi8(low_, wanted), _mm256_cmpeq_epi8(high_, wanted)};
    }
    u64 equals(u8 c) const { return places(c).bits(); }
    u64 looked_up(const u8* table) const {
        const __m256i found = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
        const Places places(_mm256_cmpeq_epi8(_mm256_shuffle_epi8(found, low_), low_),
                            _mm256_cmpeq_epi8(_mm256_shuffle_epi8(found, high_), high_));
        return places.bits();
    }

private:
    friend class HighBytes;
    __m256i low_, high_;
};

class HighBytes {
public:
    void add(const Block& block) { seen_ = _mm256_or_si256(seen_, _mm256_or_si256(block.low_, block.high_)); }
    bool any() const { return _mm256_movemask_epi8(seen_) != 0; }

private:
    __m256i seen_ = _mm256_setzero_si256();
};

#else

class Block {
public:
    explicit Block(const u8* p) { __builtin_memcpy(words_, p, BLOCK); }
    bool operator==(const Block& other) const { return __builtin_memcmp(words_, other.words_, BLOCK) == 0; }
    Places places(u8 c) const { return Places(equals(c)); }
    u64 equals(u8 c) const {
        u64 mask = 0;
        for (usize i = 0; i < 8; ++i) mask |= gather(zero_bytes(words_[i] ^ c * EACH)) << (8 * i);
        return mask;
    }

private:
    friend class HighBytes;
    static constexpr u64 EACH = 0x0101010101010101;
    // Return 0x80 in exactly the zero bytes: adding 0x7F carries into the top bit of any other byte.
    static u64 zero_bytes(u64 x) { return ~(((x & 0x7F * EACH) + 0x7F * EACH) | x | 0x7F * EACH); }
    // Return the eight top bits as one byte; the multiplication moves bit 8 i + 7 to bit 56 + i.
    static u64 gather(u64 tops) { return ((tops >> 7) * 0x0102040810204080) >> 56; }
    u64 words_[8];
};

class HighBytes {
public:
    void add(const Block& block) {
        for (const u64 word : block.words_) seen_ |= word;
    }
    bool any() const { return (seen_ & 0x80 * Block::EACH) != 0; }

private:
    u64 seen_ = 0;
};

#endif

// A set of at most four bytes. If their low nibbles differ, each byte has one candidate, which vectors look up by its
// low nibble (Block::looked_up). That costs as much as one comparison.
class ByteSet {
public:
    void add(u8 byte) {
        looks_up_ = looks_up_ && byte < 0x80 && (used_ >> (byte & 15) & 1) == 0;
        used_ |= 1u << (byte & 15);
        table_[byte & 15] = byte;
        bytes_[count_++] = byte;
    }
    u64 in(const Block& block) const {
#if defined(HR_ISA_AVX512) || defined(HR_ISA_AVX2)
        if (looks_up_) return block.looked_up(table_);
#endif
        u64 mask = 0;
        for (u32 i = 0; i < count_; ++i) mask |= block.equals(bytes_[i]);
        return mask;
    }

private:
    // Unused slots hold a value with another low nibble. Bytes from 0x80 on are looked up as 0.
    u8 table_[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0};
    u8 bytes_[4] = {};
    u32 count_ = 0, used_ = 0;
    bool looks_up_ = true;
};

// Return a mask of the first n bytes of a block; all of them if n is 64 or more.
HR_FN u64 low_bits(usize n) { return n >= BLOCK ? ~u64{0} : (u64{1} << n) - 1; }

// Return the escape characters that escape the byte after them. An escaped one does not, so of each run of them every
// other one does, from the first on. `carry`: 1 if the last byte of the block before escapes the first of this one.
// Example:
// | text      a \ n b \ \ c \ \ \ d
// | escapes   . 1 . . 1 . . 1 . 1 .
// A run begins at an odd position or at an even one. Subtracting the escapes from the odd positions, with a carry out
// of each run, gives both kinds at once. (simdjson, json_escape_scanner.)
HR_FN u64 find_escapes(u64 characters, u64 carry) {
    constexpr u64 ODD = 0xAAAAAAAAAAAAAAAA;
    const u64 candidates = characters & ~carry;
    return (((candidates << 1 | ODD) - candidates) ^ ODD) & characters;
}

// Return the parity of the bits up to and including each bit: prefix_xor(0b00100100) == 0b00011100. Applied to the mask
// of quotes, it gives the bytes inside quotes, including the opening quote and excluding the closing one.
HR_FN u64 prefix_xor(u64 bits) {
#if defined(HR_ISA_AVX512) || defined(HR_ISA_AVX2)
    const __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<i64>(bits)), _mm_set1_epi8(-1), 0);
    return static_cast<u64>(_mm_cvtsi128_si64(product));
#else
    for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
    return bits;
#endif
}

// Return the bits of `bits` at the set bits of `mask`, packed from bit 0 on: extract_bits(0b0100, 0b0110) == 0b10. For
// marked ends among all ends it gives the index of each marked one.
HR_FN u64 extract_bits(u64 bits, u64 mask) {
#if defined(HR_ISA_AVX512) || defined(HR_ISA_AVX2)
    return _pext_u64(bits, mask);
#else
    u64 found = 0;
    for (u64 next = 1; mask != 0; mask &= mask - 1, next <<= 1) {
        if (bits & mask & (u64{0} - mask)) found |= next;
    }
    return found;
#endif
}

// Write base + i for every set bit i, ascending, and return their number. Up to 64 items may be written in any case.
HR_FN usize flatten(u64 bits, u32 base, u32* out) {
    const usize count = static_cast<usize>(count_ones(bits));
#if defined(HR_ISA_AVX512)
    alignas(64) static constexpr struct Iota {
        u8 at[64];
        constexpr Iota() : at{} {
            for (u8 i = 0; i < 64; ++i) at[i] = i;
        }
    } iota;
    const __m512i positions = _mm512_maskz_compress_epi8(bits, _mm512_load_si512(iota.at));
    const __m512i origin = _mm512_set1_epi32(static_cast<int>(base));
    _mm512_storeu_si512(out, _mm512_add_epi32(origin, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(positions))));
    if (count > 16) {
        const __m128i second = _mm512_extracti32x4_epi32(positions, 1);
        _mm512_storeu_si512(out + 16, _mm512_add_epi32(origin, _mm512_cvtepu8_epi32(second)));
        if (count > 32) {
            const __m128i third = _mm512_extracti32x4_epi32(positions, 2);
            const __m128i fourth = _mm512_extracti32x4_epi32(positions, 3);
            _mm512_storeu_si512(out + 32, _mm512_add_epi32(origin, _mm512_cvtepu8_epi32(third)));
            _mm512_storeu_si512(out + 48, _mm512_add_epi32(origin, _mm512_cvtepu8_epi32(fourth)));
        }
    }
#else
    // Write eight at a time without a bounds check; the next block overwrites the surplus.
    for (usize written = 0; written < count; written += 8) {
        for (usize i = 0; i < 8; ++i) {
            out[written + i] = base + static_cast<u32>(bits ? trailing_zeros(bits) : 0);
            bits &= bits - 1;
        }
    }
#endif
    return count;
}

// The same for masks with rarely more than one bit: branch-free for none or one, and without vectors.
HR_FN usize flatten_few(u64 bits, u32 base, u32* out) {
    if (bits & (bits - 1)) return flatten(bits, base, out);
    *out = base + static_cast<u32>(count_ones(bits - 1) & 63);
    return bits != 0;
}

HR_END_NAMESPACE
