// Computes CRC-32 as zlib does, by carry-less multiplication.
#pragma once
#include "core/cpu/portable.hpp"

namespace headrace {

constexpr u64 checksum_block = 64;

// Returns whether this machine has the instructions.
bool has_folding_checksum();

// Returns the CRC-32 of bytes after others whose CRC-32 is `crc`. `size`: a multiple of 16, at least 64.
u32 folding_checksum(const u8* bytes, u64 size, u32 crc);

}  // namespace headrace
