#include <bit>
#include <cstring>
#include <vector>

#include "arrange/gather/take_host.hpp"
#include "arrange/gather/widths.hpp"
#include "core/cpu/cache_blocks.hpp"
#include "core/cpu/vectors.hpp"

namespace headrace {
namespace {

template <class Item>
void take_of(const RowNumbers& rows, const void* from, void* to, unsigned threads) {
    const Item* const in = static_cast<const Item*>(from);
    Item* const out = static_cast<Item*>(to);
    const Pieces pieces(rows.count, sizeof(u64));
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        for (u64 i = begin; i < end; ++i) put_item(out + i, item_at(in + rows.number[i]));
    });
}

void take_bytes(const RowNumbers& rows, const void* from, void* to, unsigned width, unsigned threads) {
    const auto* const in = static_cast<const u8*>(from);
    auto* const out = static_cast<u8*>(to);
    const Pieces pieces(rows.count, sizeof(u64));
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        for (u64 i = begin; i < end; ++i) std::memcpy(out + i * width, in + rows.number[i] * width, width);
    });
}

// Copies the texts of rows to `out`, up to `out_end`. A short text is copied as 32 bytes where both sides have them;
// the next text overwrites those after it.
template <class Offset>
void copy_texts(const RowNumbers& rows, const Texts& texts, u8* out, const u8* out_end) {
    const Offset* const offsets = static_cast<const Offset*>(texts.offsets) + texts.first;
    u64 last = 0;
    for (u64 i = 0; i < rows.count; ++i) last = std::max<u64>(last, item_at_any(offsets + rows.number[i] + 1));
    for (u64 i = 0; i < rows.count; ++i) {
        const u64 begin = item_at_any(offsets + rows.number[i]);
        const u64 size = item_at_any(offsets + rows.number[i] + 1) - begin;
        if (size <= 32 && begin + 32 <= last && out + 32 <= out_end) {
            std::memcpy(out, texts.bytes + begin, 32);
        } else if (size != 0) {
            std::memcpy(out, texts.bytes + begin, size);
        }
        out += size;
    }
}

// Writes the size of each text, then the sums of the sizes before it in their place. Returns the sum of all. Offsets of
// 4 bytes are not summed if they cannot represent it.
template <class Offset>
u64 put_offsets(const RowNumbers& rows, const Texts& texts, Offset* to, unsigned threads) {
    const Offset* const offsets = static_cast<const Offset*>(texts.offsets) + texts.first;
    const Pieces pieces(rows.count, sizeof(u64));
    std::vector<u64> begins(pieces.number() + 1);
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        u64 bytes = 0;
        for (u64 i = begin; i < end; ++i) {
            const Offset size = item_at_any(offsets + rows.number[i] + 1) - item_at_any(offsets + rows.number[i]);
            put_item(to + i, size);
            bytes += size;
        }
        begins[piece + 1] = bytes;
    });
    for (u64 piece = 0; piece < pieces.number(); ++piece) begins[piece + 1] += begins[piece];
    if (sizeof(Offset) == 4 && begins.back() > max_offset) return begins.back();
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        u64 at = begins[piece];
        for (u64 i = begin; i < end; ++i) {
            const u64 size = item_at(to + i);
            put_item(to + i, static_cast<Offset>(at));
            at += size;
        }
    });
    put_item(to + rows.count, static_cast<Offset>(begins.back()));
    return begins.back();
}

}  // namespace

void take_items(const RowNumbers& rows, const void* from, void* to, unsigned width, unsigned threads) {
    if (!std::has_single_bit(width) || width > 16) return take_bytes(rows, from, to, width, threads);
    with_width<u8, u16, u32, u64, Item16>(width, [&]<class Item>(Item) { take_of<Item>(rows, from, to, threads); });
}

u64 take_bits(const RowNumbers& rows, const u8* bits, u64 first, u8* to, unsigned threads) {
    const Pieces pieces(rows.count, sizeof(u64));  // whole bytes of bits
    std::atomic<u64> set{0};
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        u64 found = 0;
        for (u64 i = begin; i < end; i += 8) {
            u32 byte = 0;
            for (u64 k = i; k < i + 8 && k < end; ++k) byte |= u32{bit_at(bits, first + rows.number[k])} << (k - i);
            to[i / 8] = static_cast<u8>(byte);
            found += static_cast<u64>(count_ones(byte));
        }
        set += found;
    });
    return set;
}

u64 place_texts(const RowNumbers& rows, const Texts& texts, void* offsets, unsigned threads) {
    if (texts.width == 8) return put_offsets(rows, texts, static_cast<u64*>(offsets), threads);
    return put_offsets(rows, texts, static_cast<u32*>(offsets), threads);
}

void take_texts(const RowNumbers& rows, const Texts& texts, const void* offsets, u8* to, unsigned threads) {
    const Texts result{offsets, to, 0, texts.width, 0};
    const Pieces pieces(rows.count, sizeof(u64));
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        const RowNumbers part{rows.number + begin, end - begin};
        u8* const out = to + text_begin(result, begin);
        const u8* const out_end = to + text_begin(result, end);
        if (texts.width == 8) return copy_texts<u64>(part, texts, out, out_end);
        copy_texts<u32>(part, texts, out, out_end);
    });
}

}  // namespace headrace
