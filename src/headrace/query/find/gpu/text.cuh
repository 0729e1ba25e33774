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
HR_COLD uint4 partial_vector(const u8* text, i64 size, i64 at) {
    u32 word[4] = {};
    for (u32 i = 0; i < 16; ++i) {
        const i64 byte = at + i;
        if (byte >= 0 && byte < size) word[i / 4] |= static_cast<u32>(text[byte]) << (i % 4 * 8);
    }
    return {word[0], word[1], word[2], word[3]};
}

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

// Reads the 16 bytes of the text from `at` on, as five aligned words where those are inside the text.
HR_FN uint4 text_vector(const FindTask& task, u64 at) {
    const u8* const p = task.text + at;
    const u32 odd = static_cast<u32>(reinterpret_cast<u64>(p) & 3), shift = odd * 8;
    if (at >= odd && at - odd + 20 <= task.size) {
        const u32* const words = reinterpret_cast<const u32*>(p - odd);
        const u32 a = words[0], b = words[1], c = words[2], d = words[3], e = words[4];
        return {__funnelshift_r(a, b, shift), __funnelshift_r(b, c, shift), __funnelshift_r(c, d, shift),
                __funnelshift_r(d, e, shift)};
    }
    return {text_word(task, at), text_word(task, at + 4), text_word(task, at + 8), text_word(task, at + 12)};
}

HR_FN u32 folded(const FindTask& task, u32 word) {
    return task.ignore_case != 0 ? static_cast<u32>(fold_word(word)) : word;
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

// The same for the first 16 bytes. `offset` is a multiple of 16.
HR_FN u32 unlike_vector(const FindTask& task, u64 at, u64 offset, u64 end) {
    const uint4 text = text_vector(task, at + offset);
    const uint4 pattern = *reinterpret_cast<const uint4*>(task.pattern + offset);
    const u64 left = end - offset;
    return ((folded(task, text.x) ^ pattern.x) & bits_before(left, 0)) |
           ((folded(task, text.y) ^ pattern.y) & bits_before(left, 4)) |
           ((folded(task, text.z) ^ pattern.z) & bits_before(left, 8)) |
           ((folded(task, text.w) ^ pattern.w) & bits_before(left, 12));
}

}  // namespace headrace
