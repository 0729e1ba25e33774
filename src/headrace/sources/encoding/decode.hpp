// Declares the CPU kernels that decode other encodings to UTF-8. What cannot be decoded (a lone surrogate, the odd last
// byte of UTF-16, an undefined byte of a code page) becomes the byte FF. Valid UTF-8 never contains FF, so the check of
// the text finds it at its position.
#pragma once

#include "sources/encoding/decode_rules.hpp"

namespace headrace {

// Each kernel decodes p[0, n) to `to` and returns the size of the text. It may overwrite up to 64 bytes after the text.
struct DecodeKernels {
    usize (*utf16_le)(const u8* p, usize n, u8* to);
    usize (*utf16_be)(const u8* p, usize n, u8* to);
    usize (*single_byte)(const ByteTable& table, const u8* p, usize n, u8* to);
};

}  // namespace headrace
