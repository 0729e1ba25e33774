// Declares the CPU kernel that marks the bytes of a set in a text.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

// A set of bytes, in the form that vectors look up. Byte b is in it if bit (b >> 4) % 8 of rows[b >> 7][b % 16] is set.
class ByteClass {
public:
    void add(u8 byte) { rows_[byte >> 7][byte & 15] |= static_cast<u8>(1u << (byte >> 4 & 7)); }
    bool has(u8 byte) const { return (rows_[byte >> 7][byte & 15] >> (byte >> 4 & 7) & 1) != 0; }
    const u8* row(u32 half) const { return rows_[half]; }

private:
    alignas(16) u8 rows_[2][16] = {};
};

struct ClassKernels {
    // Writes a mask for each 64 bytes of the text: bit i if byte i is in the class, 0 past the end.
    void (*mark)(const ByteClass& bytes, const u8* text, u64 size, u64* masks);
};

}  // namespace headrace
