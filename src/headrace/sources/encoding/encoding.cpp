#include "sources/encoding/encoding.hpp"

#include <algorithm>

namespace headrace {
namespace {

// Return the number of bytes of p[0, n) that fit. The count of a block is a byte, so that a vector of bytes counts as
// many of them at once as it has.
template <class Fits>
u64 count_bytes(const u8* p, usize n, const Fits& fits) {
    constexpr usize BLOCK = 192;
    u64 count = 0;
    for (usize begin = 0; begin < n; begin += BLOCK) {
        const usize size = std::min(BLOCK, n - begin);
        u8 fitting = 0;
        for (usize i = 0; i < size; ++i) fitting += static_cast<u8>(fits(p[begin + i]));
        count += fitting;
    }
    return count;
}

}  // namespace

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
    const u64 leads = count_bytes(p, n, [](u8 byte) { return (byte & 0xC0) != 0x80; });
    if (!is_utf16()) return leads;
    return 2 * (leads + count_bytes(p, n, [](u8 byte) { return (byte >= 0xF0) & (byte != 0xFF); }));
}

}  // namespace headrace
