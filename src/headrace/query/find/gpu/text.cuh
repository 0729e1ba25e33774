// Reads a text in aligned vectors of 16 bytes and in words at any address, and compares it with a pattern. Bytes
// outside the text read as 0 and are not accessed, so vectors at its ends are read byte by byte.
#pragma once
#include "gpu/block/memory_access.cuh"
#include "gpu/block/warp.cuh"
#include "query/find/gpu/find_task.hpp"
#include "query/find/pattern/fold.hpp"

namespace headrace {

// Number of bytes before the text in its first vector.
HR_FN u32 shift_of(const u8* text) { return static_cast<u32>(reinterpret_cast<u64>(text) & 15); }

// Reads the bytes of the text from `at` on, which may be before it or past its end.
HR_FN uint4 bytes_inside(const u8* text, i64 size, i64 at) {
    u32 word[4] = {};
#pragma unroll
    for (u32 i = 0; i < 16; ++i) {
        const i64 byte = at + i;
        if (byte >= 0 && byte < size) word[i / 4] |= static_cast<u32>(text[byte]) << (i % 4 * 8);
    }
    return {word[0], word[1], word[2], word[3]};
}
HR_COLD uint4 partial_vector(const u8* text, i64 size, i64 at) { return bytes_inside(text, size, at); }

// Reads the four bytes of the text from `at` on, as two aligned words where those are inside the text.
HR_FN u32 text_word(const FindTask& task, u64 at) {
    const u8* const p = task.text + at;
    const u32 odd = static_cast<u32>(reinterpret_cast<u64>(p) & 3);
    if (at >= odd && at - odd + 8 <= task.size) {
        const u32* const words = reinterpret_cast<const u32*>(p - odd);
        return __funnelshift_r(words[0], words[1], odd * 8);
    }
    u32 word = 0;
    for (u32 i = 0; i < 4 && at + i < task.size; ++i) word |= static_cast<u32>(p[i]) << (i * 8);
    return word;
}

// Returns the bytes from `odd` on of two vectors that follow each other.
HR_FN uint4 vector_from(uint4 first, uint4 second, u32 odd) {
    const u32 words[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
    u32 pairs[6], part[5];
#pragma unroll
    for (u32 i = 0; i < 6; ++i) pairs[i] = (odd & 8) != 0 ? words[i + 2] : words[i];
#pragma unroll
    for (u32 i = 0; i < 5; ++i) part[i] = (odd & 4) != 0 ? pairs[i + 1] : pairs[i];
    const u32 shift = odd % 4 * 8;
    return {__funnelshift_r(part[0], part[1], shift), __funnelshift_r(part[1], part[2], shift),
            __funnelshift_r(part[2], part[3], shift), __funnelshift_r(part[3], part[4], shift)};
}

// Vectors of a text from any address on. Each aligned vector is read once: lanes that read far from each other take as
// long for a word as for a vector.
class VectorStream {
public:
    HR_MEMBER explicit VectorStream(const u8* from)
        : odd_(shift_of(from)), at_(reinterpret_cast<const uint4*>(from - odd_)), vector_(*at_) {}

    // Whether the aligned vectors that `count` bytes from `at` on take, and the one after them, lie in the text.
    HR_MEMBER static bool has(const FindTask& task, u64 at, u64 count) {
        const u32 odd = shift_of(task.text + at);
        return at >= odd && at - odd + (count + 31) / 16 * 16 <= task.size;
    }

    HR_MEMBER uint4 next() {
        const uint4 before = vector_;
        vector_ = *++at_;
        return vector_from(before, vector_, odd_);
    }

private:
    u32 odd_;  // bytes of the first aligned vector before the text's
    const uint4* at_;
    uint4 vector_;
};

// Reads the 16 bytes of the text from `at` on.
HR_FN uint4 text_vector(const FindTask& task, u64 at) {
    if (VectorStream::has(task, at, 16)) return VectorStream(task.text + at).next();
    return partial_vector(task.text, static_cast<i64>(task.size), static_cast<i64>(at));
}

HR_FN u32 folded(const FindTask& task, u32 word) {
    return task.ignore_case != 0 ? static_cast<u32>(fold_word(word)) : word;
}

HR_FN uint4 folded(const FindTask& task, uint4 v) {
    if (task.ignore_case == 0) return v;
    return {folded(task, v.x), folded(task, v.y), folded(task, v.z), folded(task, v.w)};
}

// Bits of the bytes before `left` of a word that begins at byte `begin`.
HR_FN u32 bits_before(u64 left, u32 begin) {
    return left <= begin ? 0 : low_mask(left >= begin + 4 ? 32 : (left - begin) * 8);
}

// Returns 0 if the bytes of the pattern from `offset` to `end` occur at position `at`. Only the first four are
// compared.
HR_FN u32 unlike_word(const FindTask& task, u64 at, u64 offset, u64 end) {
    const u32 word = folded(task, text_word(task, at + offset));
    return (word ^ *reinterpret_cast<const u32*>(task.pattern + offset)) & bits_before(end - offset, 0);
}

// The same for a vector of the text, which is compared with that of the pattern at `offset`, a multiple of 16.
HR_FN u32 unlike_vector(const FindTask& task, uint4 text, u64 offset, u64 end) {
    const uint4 own = folded(task, text), pattern = *reinterpret_cast<const uint4*>(task.pattern + offset);
    const uint4 unlike = {own.x ^ pattern.x, own.y ^ pattern.y, own.z ^ pattern.z, own.w ^ pattern.w};
    const u64 left = end - offset;
    if (left >= 16) return unlike.x | unlike.y | unlike.z | unlike.w;
    return (unlike.x & bits_before(left, 0)) | (unlike.y & bits_before(left, 4)) | (unlike.z & bits_before(left, 8)) |
           (unlike.w & bits_before(left, 12));
}

}  // namespace headrace
