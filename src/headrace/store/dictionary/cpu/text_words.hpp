// Reads texts of a dictionary as words of 8 bytes, whose order as numbers is that of the bytes.
#pragma once
#include <algorithm>
#include <cstring>

#include "store/dictionary/rules/merge.hpp"

namespace headrace {

// A text, and the bytes from its begin on that are readable.
struct TextBytes {
    const u8* bytes;
    u64 size;
    u64 readable;

    // Returns the word at byte `at`, with zeros after the end.
    u64 word(u64 at) const {
        if (at + 8 > readable) return prefix_of_text(bytes, size, at);
        const u64 rest = size > at ? std::min<u64>(size - at, 8) : 0;
        return rest == 0 ? 0 : reversed_bytes(load_word(bytes + at)) & ~u64{0} << (64 - 8 * rest);
    }

    // Returns the smaller of `limit` and the number of first bytes in common with another text. `depth`: bytes that are
    // known to be equal.
    u64 common_bytes(const TextBytes& other, u64 depth, u64 limit) const {
        const u64 end = std::min(limit, std::min(size, other.size));
        for (u64 at = depth; at < end; at += 8) {
            const u64 differing = word(at) ^ other.word(at);
            if (differing != 0) return std::min(end, at + static_cast<u64>(leading_zeros(differing)) / 8);
        }
        return end;
    }

    // Returns a number below, at or above 0: the order of two texts whose first `depth` bytes are equal.
    int compare(const TextBytes& other, u64 depth) const {
        const u64 end = std::min(size, other.size), common = common_bytes(other, depth, end);
        if (common < end) return bytes[common] < other.bytes[common] ? -1 : 1;
        return size == other.size ? 0 : size < other.size ? -1 : 1;
    }
};

// Copies a text. A short one is copied as 32 bytes where both sides have them; the next text overwrites those after it.
// `end`: of the memory at `out`.
inline void copy_text(const TextBytes& text, u8* out, const u8* end) {
    constexpr u64 short_text = 32;
    if (text.size <= short_text && text.readable >= short_text && end - out >= static_cast<i64>(short_text)) {
        std::memcpy(out, text.bytes, short_text);
    } else if (text.size != 0) {
        std::memcpy(out, text.bytes, text.size);
    }
}

// The texts of a dictionary, with the end of their bytes.
struct DictionaryTexts {
    TextValues values;
    u64 end;

    DictionaryTexts(const TextValues& given, u64 count) : values(given), end(static_cast<u64>(given.offsets[count])) {}
    u64 begin(u64 i) const { return static_cast<u64>(values.offsets[i]); }
    u64 size(u64 i) const { return static_cast<u64>(values.offsets[i + 1] - values.offsets[i]); }
    TextBytes operator[](u64 i) const { return {values.bytes + begin(i), size(i), end - begin(i)}; }
};

}  // namespace headrace
