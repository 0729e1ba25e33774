// Compares texts by size and first 8 bytes before the rest is read.
#pragma once
#include <cstring>

#include "arrange/filter/filter.hpp"

namespace headrace {

// Returns the bits of a word that the first 8 bytes of a text have.
inline u64 prefix_mask(u64 size) { return size >= 8 ? ~u64{0} : (u64{1} << 8 * size) - 1; }

// Returns the first 8 bytes of a text, zeros after a shorter one. `is_readable`: whether 8 bytes can be read.
inline u64 prefix_of(TextRef text, bool is_readable) {
    u64 word = 0;
    if ((text.size >= 8) | is_readable) {
        std::memcpy(&word, text.bytes, 8);
    } else if (text.size != 0) {
        std::memcpy(&word, text.bytes, text.size);
    }
    return word & prefix_mask(text.size);
}

// Returns whether two texts of one size and one prefix are equal.
inline bool has_same_rest(TextRef a, TextRef b) {
    return a.size <= 8 || std::memcmp(a.bytes + 8, b.bytes + 8, a.size - 8) == 0;
}

}  // namespace headrace
