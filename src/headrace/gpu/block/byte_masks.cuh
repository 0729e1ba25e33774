// Compares sixteen bytes of text in four words (Lamport 1975, "Multiple byte processing with full-word instructions").
// A match sets bit 7 of its byte; the first byte is the lowest. One byte value costs two operations a word.
//   y = byte & 0x7F,  (y ^ value) + 0x7F has bit 7 unless y == value.
// No addition carries into the next byte.
#pragma once
#include "gpu/block/memory_access.cuh"

namespace headrace::tile {

constexpr u32 top_bits = 0x80808080u;

// Bit 7 of each of sixteen bytes; all other bits are 0.
struct Bits {
    u32 word[4];
};

HR_FN u32 repeated(u32 byte) { return byte * 0x01010101u; }

// Sets bit 7 of each byte that differs from `pattern`; all other bits are undefined. `low`: bits 0 to 6 of each byte.
HR_FN u32 differs(u32 low, u32 pattern) { return (low ^ pattern) + 0x7F7F7F7Fu; }

// Sets bit 7 of each byte equal to an ASCII value. `pattern`: that value in each byte.
HR_FN u32 equals(u32 bytes, u32 pattern) { return ~(differs(bytes & ~top_bits, pattern) | bytes) & top_bits; }

// Sets bit 7 of the lowest byte that is zero, and clears it in the bytes below. All other bits are undefined.
HR_FN u32 borrows(u32 x) { return (x - 0x01010101u) & ~x; }

// Returns `sum` plus the dot product of four bytes and four weights.
HR_FN u32 dot4(u32 bytes, u32 weights, u32 sum) {
#if defined(__CUDACC__)
    return __dp4a(bytes, weights, sum);
#else
    for (u32 i = 0; i < 32; i += 8) sum += (bytes >> i & 0xFF) * (weights >> i & 0xFF);
    return sum;
#endif
}

// Returns whether one of sixteen bytes equals the byte that `pattern` repeats.
HR_FN bool has_byte(uint4 v, u32 pattern) {
    const u32 found =
        (borrows(v.x ^ pattern) | borrows(v.y ^ pattern)) | (borrows(v.z ^ pattern) | borrows(v.w ^ pattern));
    return (found & top_bits) != 0;
}

// Packs bit 7 of sixteen bytes into the low 16 bits.
HR_FN u32 gather(const Bits& bits) {
    const u32 low = dot4(bits.word[1], 0x80402010, dot4(bits.word[0], 0x08040201, 0));
    const u32 high = dot4(bits.word[3], 0x80402010, dot4(bits.word[2], 0x08040201, 0));
    return low >> 7 | high << 1;
}

// Picks four of the eight bytes in `low` and `high`: byte i is the one with the index in selector i, of four bits. If a
// selector is 8 or more, its byte is undefined.
HR_FN u32 permute(u32 low, u32 high, u32 selectors) {
#if defined(__CUDACC__)
    u32 bytes;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(low), "r"(high), "r"(selectors));
    return bytes;
#else
    return __byte_perm(low, high, selectors);
#endif
}

// Packs the low halves of four bytes into four selectors.
HR_FN u32 selectors_of(u32 bytes) {
    const u32 shifted = bytes >> 4;
    u32 pairs;
#if defined(__CUDACC__)
    asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(pairs) : "r"(0x000F000Fu), "r"(bytes), "r"(shifted));
#else
    pairs = (bytes & 0x000F000Fu) | (shifted & 0xFFF0FFF0u);
#endif
    return permute(pairs, 0, 0x4420);
}

// Packs bit 7 of four bytes, or of sixteen, into the low bits.
HR_FN u32 gathered(u32 bits) { return (bits >> 7) * 0x01020408u >> 24 & 15; }
HR_FN u32 gathered(const Bits& bits) {
    return gathered(bits.word[0]) | gathered(bits.word[1]) << 4 | gathered(bits.word[2]) << 8 |
           gathered(bits.word[3]) << 12;
}
HR_FN u32 any(const Bits& bits) { return bits.word[0] | bits.word[1] | bits.word[2] | bits.word[3]; }

// Loads or stores a thread's `count` words from index `first` on, of `total` words. Accesses are 16 bytes wide where
// the sizes allow it. Words past the end load as 0 and are not stored.
template <u32 total, u32 count>
HR_FN void load_part(const u32* from, u32 first, u32 (&words)[count]) {
    if constexpr (total % count == 0 && count % 4 == 0) {
        const bool there = first < total;
#pragma unroll
        for (u32 i = 0; i < count; i += 4) {
            const uint4 four = there ? *reinterpret_cast<const uint4*>(from + first + i) : uint4{0, 0, 0, 0};
            words[i] = four.x;
            words[i + 1] = four.y;
            words[i + 2] = four.z;
            words[i + 3] = four.w;
        }
    } else {
#pragma unroll
        for (u32 i = 0; i < count; ++i) words[i] = first + i < total ? from[first + i] : 0;
    }
}
template <u32 total, u32 count>
HR_FN void store_part(u32* to, u32 first, const u32 (&words)[count]) {
    if constexpr (total % count == 0 && count % 4 == 0) {
        if (first >= total) return;
#pragma unroll
        for (u32 i = 0; i < count; i += 4)
            *reinterpret_cast<uint4*>(to + first + i) = {words[i], words[i + 1], words[i + 2], words[i + 3]};
    } else {
#pragma unroll
        for (u32 i = 0; i < count; ++i) {
            if (first + i < total) to[first + i] = words[i];
        }
    }
}

// Computes, for each bit, the parity of that bit and all lower ones.
HR_FN u32 prefix_parities(u32 bits) {
#pragma unroll
    for (u32 distance = 1; distance < 32; distance *= 2) bits ^= bits << distance;
    return bits;
}

}  // namespace headrace::tile
