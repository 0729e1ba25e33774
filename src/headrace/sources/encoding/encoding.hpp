// Describes the encoding of a source: how it is decoded, where it may be cut, and the sizes of characters in source and
// text.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/cpu/isa.hpp"
#include "sources/encoding/decode.hpp"

namespace headrace {

const DecodeKernels& decode_kernels(Isa isa);

enum class EncodingId : u8 { utf8, utf16_le, utf16_be, single_byte };

class Encoding {
public:
    Encoding() = default;
    Encoding(EncodingId id, const ByteTable& table, Isa isa);

    bool is_utf8() const { return id_ == EncodingId::utf8; }
    bool is_utf16() const { return id_ == EncodingId::utf16_le || id_ == EncodingId::utf16_be; }

    // Returns an upper bound of the text size for n bytes of the source. Two bytes of UTF-16 make up to three bytes,
    // and an odd last byte makes one.
    usize text_bound(usize n) const;

    // Decodes p[0, n), whose ends are valid cuts; returns the size of the text. `to` must have room for 64 bytes more.
    usize decode(const u8* p, usize n, u8* to) const;

    // Returns whether the two UTF-16 units at p are one character.
    bool is_pair(const u8* p) const { return is_first_of_pair(p) && (p[2 + top_] & 0xFC) == 0xDC; }
    bool is_first_of_pair(const u8* p) const { return (p[top_] & 0xFC) == 0xD8; }

    // Returns the size in the source of a character of the text, given its first byte. FF represents one unit.
    usize source_bytes(u8 lead) const { return is_utf16() ? (lead >= 0xF0 && lead != 0xFF ? 4 : 2) : 1; }
    // Returns the size in the source of the characters that begin in p[0, n) of the text.
    std::uint64_t source_bytes(const u8* p, usize n) const;

private:
    EncodingId id_ = EncodingId::utf8;
    const DecodeKernels* kernels_ = nullptr;
    usize top_ = 0;  // index of the high byte of a unit
    usize longest_ = 1;
    ByteTable table_{};
};

}  // namespace headrace
