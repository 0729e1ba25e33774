// Other encodings to UTF-8: the kernels' interface. What cannot be decoded (a lone surrogate, the odd last byte of
// UTF-16, a byte that a code page leaves undefined) becomes the byte FF, which no UTF-8 has, so that whoever checks the
// text finds it where it stands.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

// A code page: byte b stands for the first `length[b]` bytes of `text[b]`, lowest first.
struct ByteTable {
    u32 text[256];
    u8 length[256];
    bool keeps_ascii;  // bytes below 80 stand for themselves
};

// Each decodes p[0, n) to `to` and returns how many bytes that makes; up to 64 bytes behind them are overwritten.
struct DecodeKernels {
    usize (*utf16_le)(const u8* p, usize n, u8* to);
    usize (*utf16_be)(const u8* p, usize n, u8* to);
    usize (*single_byte)(const ByteTable& table, const u8* p, usize n, u8* to);
};

}  // namespace headrace
