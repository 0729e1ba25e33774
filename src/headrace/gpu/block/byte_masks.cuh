// Sixteen bytes of text in four words, looked at together: what is found is bit 7 of its byte, first byte lowest.
// (Lamport 1975, "Multiple byte processing with full-word instructions".) One byte value costs two operations a word:
//   y = byte & 0x7F,  (y ^ value) + 0x7F has bit 7 unless y == value
// and no addition carries into the next byte.
#pragma once
#include "gpu/block/memory_access.cuh"

namespace headrace {
namespace tile {

constexpr u32 top_bits = 0x80808080u;

// Bits 7 of sixteen bytes; other bits are 0.
struct Bits {
    u32 word[4];
};

__device__ __forceinline__ u32 repeated(u32 byte) { return byte * 0x01010101u; }

// Bit 7 of each byte of `low` (its bits 0 to 6) that is not `pattern`'s; other bits are anything.
__device__ __forceinline__ u32 differs(u32 low, u32 pattern) { return (low ^ pattern) + 0x7F7F7F7Fu; }

// Bytes equal to an ASCII value, which `pattern` repeats.
__device__ __forceinline__ u32 equals(u32 bytes, u32 pattern) {
    return ~(differs(bytes & ~top_bits, pattern) | bytes) & top_bits;
}

// Has bit 7 of the lowest byte that is zero, and of none below it; above it, of any. Other bits are anything.
__device__ __forceinline__ u32 borrows(u32 x) { return (x - 0x01010101u) & ~x; }

// The bits of the bytes before: those of the word before end in the lowest byte.
__device__ __forceinline__ u32 behind(u32 before, u32 bits) { return __funnelshift_l(before, bits, 8); }
__device__ __forceinline__ Bits behind(const Bits& bits, u32 before) {
    return {behind(before, bits.word[0]), behind(bits.word[0], bits.word[1]), behind(bits.word[1], bits.word[2]),
            behind(bits.word[2], bits.word[3])};
}

// Bits up to each byte, its own included, added modulo 2: bits 7 of the product are the sums' lowest bits, since what
// the additions carry stays below them.
__device__ __forceinline__ u32 parities(u32 bits) { return bits * 0x01010101u; }

// `sum` and the products of four bytes each.
__device__ __forceinline__ u32 dot4(u32 bytes, u32 weights, u32 sum) {
#if defined(__CUDACC__)
    return __dp4a(bytes, weights, sum);
#else
    for (u32 i = 0; i < 32; i += 8) sum += (bytes >> i & 0xFF) * (weights >> i & 0xFF);
    return sum;
#endif
}

// `sum` and the four bytes of a word.
__device__ __forceinline__ u32 add_bytes(u32 bytes, u32 sum) { return dot4(bytes, 0x01010101u, sum); }

// Whether one of sixteen bytes is `pattern`'s.
__device__ __forceinline__ bool has_byte(uint4 v, u32 pattern) {
    const u32 found =
        (borrows(v.x ^ pattern) | borrows(v.y ^ pattern)) | (borrows(v.z ^ pattern) | borrows(v.w ^ pattern));
    return (found & top_bits) != 0;
}

// Bits 7 of sixteen bytes side by side.
__device__ __forceinline__ u32 gather(const Bits& bits) {
    const u32 low = dot4(bits.word[1], 0x80402010, dot4(bits.word[0], 0x08040201, 0));
    const u32 high = dot4(bits.word[3], 0x80402010, dot4(bits.word[2], 0x08040201, 0));
    return low >> 7 | high << 1;
}

// Four bytes of the eight in `low` and `high`: byte i is that which selector i, of four bits, tells. Selectors must be
// below 8; what a larger one gives is anything.
__device__ __forceinline__ u32 permute(u32 low, u32 high, u32 selectors) {
#if defined(__CUDACC__)
    u32 bytes;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(low), "r"(high), "r"(selectors));
    return bytes;
#else
    return __byte_perm(low, high, selectors);
#endif
}

// Low halves of four bytes as selectors, side by side.
__device__ __forceinline__ u32 selectors_of(u32 bytes) {
    const u32 shifted = bytes >> 4;
    u32 pairs;
#if defined(__CUDACC__)
    asm("lop3.b32 %0, %1, %2, %3, 0xCA;" : "=r"(pairs) : "r"(0x000F000Fu), "r"(bytes), "r"(shifted));
#else
    pairs = (bytes & 0x000F000Fu) | (shifted & 0xFFF0FFF0u);
#endif
    return permute(pairs, 0, 0x4420);
}

// Bits 7 of four bytes, or of sixteen, side by side.
__device__ __forceinline__ u32 gathered(u32 bits) { return (bits >> 7) * 0x01020408u >> 24 & 15; }
__device__ __forceinline__ u32 gathered(const Bits& bits) {
    return gathered(bits.word[0]) | gathered(bits.word[1]) << 4 | gathered(bits.word[2]) << 8 |
           gathered(bits.word[3]) << 12;
}
__device__ __forceinline__ u32 any(const Bits& bits) {
    return bits.word[0] | bits.word[1] | bits.word[2] | bits.word[3];
}

// A thread's words, `count` from `first` on, of `total`, 16 bytes at a time where that can be; what is not there is 0,
// and not stored.
template <u32 total, u32 count>
__device__ __forceinline__ void load_part(const u32* from, u32 first, u32 (&words)[count]) {
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
__device__ __forceinline__ void store_part(u32* to, u32 first, const u32 (&words)[count]) {
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

// Bits up to each bit of a word, its own included, added modulo 2.
__device__ __forceinline__ u32 prefix_parities(u32 bits) {
#pragma unroll
    for (u32 distance = 1; distance < 32; distance *= 2) bits ^= bits << distance;
    return bits;
}

}  // namespace tile
}  // namespace headrace
