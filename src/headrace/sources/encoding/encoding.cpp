#include "sources/encoding/encoding.hpp"

#include <algorithm>

namespace headrace {

HR_FOR_EACH_ISA(const DecodeKernels&(), decode_kernels)

const DecodeKernels& decode_kernels(Isa isa) { return decode_kernels_for(isa)(); }

Encoding::Encoding(EncodingId id, const ByteTable& table, Isa isa)
    : id_(id), kernels_(&decode_kernels(isa)), top_(id == EncodingId::utf16_le ? 1 : 0), table_(table) {
    for (const u8 length : table.length) longest_ = std::max<usize>(longest_, length);
}

usize Encoding::text_bound(usize n) const {
    if (is_utf16()) return n / 2 * 3 + 1;
    return n * longest_;
}

usize Encoding::decode(const u8* p, usize n, u8* to) const {
    if (id_ == EncodingId::single_byte) return kernels_->single_byte(table_, p, n, to);
    return (id_ == EncodingId::utf16_le ? kernels_->utf16_le : kernels_->utf16_be)(p, n, to);
}

std::uint64_t Encoding::source_bytes(const u8* p, usize n) const {
    std::uint64_t leads = 0, pairs = 0;
    for (usize i = 0; i < n; ++i) {
        leads += (p[i] & 0xC0) != 0x80;
        pairs += (p[i] >= 0xF0) & (p[i] != 0xFF);
    }
    return is_utf16() ? 2 * (leads + pairs) : leads;
}

}  // namespace headrace
