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

// Returns 0 if the four bytes of the pattern from `offset` on, or those that are left, occur at position `at`.
HR_FN u32 unlike(const FindTask& task, u64 at, u64 offset) {
    const u32 word = text_word(task, at + offset);
    const u32 folded = task.ignore_case != 0 ? static_cast<u32>(fold_word(word)) : word;
    const u64 left = task.length - offset;
    return (folded ^ *reinterpret_cast<const u32*>(task.pattern + offset)) & low_mask(left >= 4 ? 32 : left * 8);
}

}  // namespace headrace
