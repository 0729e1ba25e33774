// The encoding of a source's text: how it is decoded, where it may be cut, and how source and text correspond.
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

    // The most bytes of text that n bytes of the source make: two bytes of UTF-16 make up to three, and an odd one one.
    usize text_bound(usize n) const;

    // Decodes p[0, n), which is cut where the encoding may be cut; returns the bytes of text. `to` has 64 bytes more.
    usize decode(const u8* p, usize n, u8* to) const;

    // Whether the two units of UTF-16 that begin at p are one character.
    bool is_pair(const u8* p) const { return is_first_of_pair(p) && (p[2 + top_] & 0xFC) == 0xDC; }
    bool is_first_of_pair(const u8* p) const { return (p[top_] & 0xFC) == 0xD8; }

    // Bytes of the source that a character of the text stands for, by its first byte. FF stands for one unit.
    usize source_bytes(u8 lead) const { return is_utf16() ? (lead >= 0xF0 && lead != 0xFF ? 4 : 2) : 1; }
    // And the characters of the text that begin in p[0, n).
    std::uint64_t source_bytes(const u8* p, usize n) const;

private:
    EncodingId id_ = EncodingId::utf8;
    const DecodeKernels* kernels_ = nullptr;
    usize top_ = 0;  // which byte of a unit is the higher one
    usize longest_ = 1;
    ByteTable table_{};
};

}  // namespace headrace
