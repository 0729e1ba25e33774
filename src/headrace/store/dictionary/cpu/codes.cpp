#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "store/dictionary/cpu/dictionary_host.hpp"

namespace headrace {
namespace {

constexpr u64 piece_codes = 1 << 12;  // as u32 they fit the L1 cache
static_assert(piece_codes % 64 == 0);

// 8 codes begin and end with whole bytes, so their places in these are known when this is compiled.
constexpr u64 group_codes = 8;

template <u32 bits, class Use>
void read_groups(const u8* from, u64 groups, const Use& use) {
    for (u64 i = 0; i < groups; ++i, from += bits) {
#pragma GCC unroll 8
        for (u32 k = 0; k < group_codes; ++k) {
            u64 word;
            std::memcpy(&word, from + k * bits / 8, 8);
            use(i * group_codes + k, static_cast<u32>(word >> k * bits % 8 & code_mask(bits)));
        }
    }
}

template <u32 bits>
void unpack_groups(const u8* from, u64 groups, u32* codes) {
    read_groups<bits>(from, groups, [codes](u64 i, u32 code) { codes[i] = code; });
}

using Unpacker = void (*)(const u8*, u64, u32*);

template <u32... bits>
constexpr std::array<Unpacker, sizeof...(bits)> unpackers_of(std::integer_sequence<u32, bits...>) {
    return {unpack_groups<bits>...};
}

constexpr auto unpackers = unpackers_of(std::make_integer_sequence<u32, max_code_bits>());  // by bits, below 32

// Gathers items by codes. A code without an item has the last one, so that no code is checked by a branch.
template <class Item>
class ItemGather {
public:
    ItemGather(const CodedItems& items, u8* out) : items_(items), out_(out) {}

    void operator()(u64 i, u32 code) {
        largest_ = std::max(largest_, code);
        std::memcpy(out_ + i * sizeof(Item), items_.items + std::min(code, items_.last) * u64{sizeof(Item)},
                    sizeof(Item));
    }
    u32 largest() const { return largest_; }

private:
    CodedItems items_;
    u8* out_;
    u32 largest_ = 0;
};

template <u32 bits, class Item>
u32 gather_groups(const u8* from, u64 groups, const CodedItems& items, u8* out) {
    ItemGather<Item> gather(items, out);
    read_groups<bits>(from, groups, [&gather](u64 i, u32 code) { gather(i, code); });
    return gather.largest();
}

using Gatherer = u32 (*)(const u8*, u64, const CodedItems&, u8*);

template <class Item, u32... bits>
constexpr std::array<Gatherer, sizeof...(bits)> gatherers_of(std::integer_sequence<u32, bits...>) {
    return {gather_groups<bits, Item>...};
}

template <class Item>
constexpr auto gatherers = gatherers_of<Item>(std::make_integer_sequence<u32, max_code_bits>());  // by bits, below 32

// The codes [first, first + count) of the words: `groups` whole groups of 8 codes, whose 8 bytes are in the words, and
// then the others.
struct CodeRun {
    const u8* from;
    u64 groups;
};

CodeRun run_of(const CodeSource& source, u64 first, u64 count) {
    const u64 bytes = words_of_codes(source.first + source.count, static_cast<u32>(source.bits)) * 8;
    const u64 loads = bytes < 8 ? 0 : (bytes - 8) * 8 / source.bits + 1;  // codes whose 8 bytes are in the words
    const u64 fast = std::clamp<u64>(loads, first, first + count) - first;
    const u8* const from = reinterpret_cast<const u8*>(source.words) + first * source.bits / 8;
    return {from, first % group_codes == 0 ? fast / group_codes : 0};
}

// Writes 0 to the codes of rows [first, first + count) that are null, 8 rows of a byte at a time.
void clear_nulls(const u8* validity, u64 first, u64 count, u32* codes) {
    u64 i = 0;
    const auto clear_up_to = [&](u64 end) {
        for (; i < end; ++i) codes[i] &= -u32{validity[(first + i) / 8] >> (first + i) % 8 & 1u};
    };
    clear_up_to(std::min(count, -first % 8));
    for (; i + 8 <= count; i += 8) {
        const u32 byte = validity[(first + i) / 8];
        for (u32 k = 0; k < 8; ++k) codes[i + k] &= (byte & 1u << k) != 0 ? ~u32{0} : 0;
    }
    clear_up_to(count);
}

// Writes the new codes of codes [first, first + count) of the words. Counts and bits are no faster than the table on a
// CPU.
void translate_range(const CodeSource& source, u64 first, u64 count, u32* codes) {
    if (source.blocks.table == nullptr) {
        unpack_piece(source, first, count, codes);
    } else {
        const auto* const table = reinterpret_cast<const u8*>(source.blocks.table);
        gather_piece<u32>(source, first, count, {table, ~u32{0}}, reinterpret_cast<u8*>(codes));
    }
    if (source.validity != nullptr) clear_nulls(source.validity, first, count, codes);
}

void join_word(u64& word, u64 bits) { std::atomic_ref(word).fetch_or(bits, std::memory_order_relaxed); }

// Packs blocks of 64 codes, which are `bits` words each. The places of codes in these are known when this is compiled.
template <u32 bits>
void pack_blocks(const u32* codes, u64 blocks, u64* words) {
    for (u64 block = 0; block < blocks; ++block, codes += block_codes, words += bits) {
        u64 word = 0;
#pragma GCC unroll 64
        for (u32 i = 0; i < block_codes; ++i) {
            const u32 filled = i * bits % 64, end = filled + bits;
            word |= u64{codes[i]} << filled;
            if (end < 64) continue;
            words[i * bits / 64] = word;
            word = end == 64 ? 0 : u64{codes[i]} >> (64 - filled);
        }
    }
}

using Packer = void (*)(const u32*, u64, u64*);

template <u32... bits>
constexpr std::array<Packer, sizeof...(bits)> packers_of(std::integer_sequence<u32, bits...>) {
    return {pack_blocks<bits + 1>...};
}

constexpr auto packers = packers_of(std::make_integer_sequence<u32, max_code_bits>());  // by bits - 1

// Packs codes from code number `first` on. Neighbouring pieces may share the first and the last word, which are zero
// before; the others are overwritten.
void pack_range(const u32* codes, u64 count, u64 first, const PackedCodes& to) {
    if (to.bits == 0 || count == 0) return;
    const u64 begin = first * to.bits;
    u64 at = begin / 64, word = 0;
    u32 filled = static_cast<u32>(begin % 64);
    bool is_shared = filled != 0;
    for (u64 i = 0; i < count; ++i) {
        if (filled == 0 && count - i >= block_codes) {
            const u64 blocks = (count - i) / block_codes;
            packers[to.bits - 1](codes + i, blocks, to.words + at);
            at += blocks * to.bits;
            i += blocks * block_codes - 1;
            continue;
        }
        word |= u64{codes[i]} << filled;
        filled += to.bits;
        if (filled < 64) continue;
        if (is_shared) {
            join_word(to.words[at], word);
        } else {
            to.words[at] = word;
        }
        is_shared = false;
        ++at;
        filled -= 64;
        word = u64{codes[i]} >> (to.bits - filled);
    }
    if (filled != 0) join_word(to.words[at], word);
}

// Copies the words of codes that stay. `begin`: number of the first code, in both streams, a multiple of 64.
void copy_range(const CodeSource& source, u64 begin, u64 count, const PackedCodes& to) {
    const u64 first = begin * to.bits / 64, bits = count * to.bits, whole = bits / 64;
    std::copy_n(source.words + first, whole, to.words + first);
    if (bits % 64 != 0) join_word(to.words[first + whole], source.words[first + whole] & code_mask(bits % 64));
}

u64 pieces_of(u64 count) { return (count + piece_codes - 1) / piece_codes; }

// Clears the words that pieces share: the first and last word of each piece that begins at a multiple of the size.
void clear_edges(u64 first, u64 count, const PackedCodes& to) {
    if (to.bits == 0) return;
    for (u64 begin = 0; begin < count; begin += piece_codes) {
        const u64 end = std::min(count, begin + piece_codes);
        to.words[(first + begin) * to.bits / 64] = 0;
        to.words[((first + end) * to.bits - 1) / 64] = 0;
    }
}

}  // namespace

// Unpacks codes [first, first + count) of the words. A code is in the 8 bytes from its first byte on, which are one
// load, as long as they are in the words.
void unpack_piece(const CodeSource& source, u64 first, u64 count, u32* codes) {
    const u32 bits = static_cast<u32>(source.bits);
    if (bits == 0) {
        std::fill_n(codes, count, 0);
        return;
    }
    if (bits == 32) {  // an array, which need not have whole words
        std::memcpy(codes, reinterpret_cast<const u8*>(source.words) + first * 4, count * 4);
        return;
    }
    const CodeRun run = run_of(source, first, count);
    unpackers[bits](run.from, run.groups, codes);
    for (u64 i = run.groups * group_codes; i < count; ++i) codes[i] = code_at(source.words, first + i, bits);
}

template <class Item>
u32 gather_piece(const CodeSource& source, u64 first, u64 count, const CodedItems& items, u8* out) {
    const u32 bits = static_cast<u32>(source.bits);
    ItemGather<Item> gather(items, out);
    u64 at = 0;
    u32 largest = 0;
    if (bits != 0 && bits != 32) {
        const CodeRun run = run_of(source, first, count);
        largest = gatherers<Item>[bits](run.from, run.groups, items, out);
        at = run.groups * group_codes;
    }
    const u8* const array = reinterpret_cast<const u8*>(source.words) + first * 4;
    for (; at < count; ++at) {
        u32 code;
        if (bits == 32) {  // an array, which need not have whole words
            std::memcpy(&code, array + at * 4, 4);
        } else {
            code = code_at(source.words, first + at, bits);
        }
        gather(at, code);
    }
    return std::max(largest, gather.largest());
}

template u32 gather_piece<u8>(const CodeSource&, u64, u64, const CodedItems&, u8*);
template u32 gather_piece<u16>(const CodeSource&, u64, u64, const CodedItems&, u8*);
template u32 gather_piece<u32>(const CodeSource&, u64, u64, const CodedItems&, u8*);
template u32 gather_piece<Item16>(const CodeSource&, u64, u64, const CodedItems&, u8*);
template u32 gather_piece<u64>(const CodeSource&, u64, u64, const CodedItems&, u8*);

void translate_codes(const CodeSource& first, const CodeSource& second, const PackedCodes& to, unsigned threads) {
    clear_edges(0, first.count, to);
    clear_edges(first.count, second.count, to);
    const u64 pieces = pieces_of(first.count);
    const bool stays = first.blocks.table == nullptr && first.bits == to.bits && first.first == 0;
    for_each_piece(
        pieces + pieces_of(second.count), threads, [] { return std::vector<u32>(piece_codes); },
        [&](std::vector<u32>& codes, u64 piece) {
            const CodeSource& source = piece < pieces ? first : second;
            const u64 begin = (piece < pieces ? piece : piece - pieces) * piece_codes;
            const u64 count = std::min(piece_codes, source.count - begin);
            if (piece < pieces && stays) return copy_range(source, begin, count, to);
            translate_range(source, source.first + begin, count, codes.data());
            pack_range(codes.data(), count, (piece < pieces ? 0 : first.count) + begin, to);
        });
}

void pack_codes(const u32* codes, u64 count, const PackedCodes& to, unsigned threads) {
    clear_edges(0, count, to);
    for_each_piece(pieces_of(count), threads, [&](u64 piece) {
        const u64 begin = piece * piece_codes;
        pack_range(codes + begin, std::min(piece_codes, count - begin), begin, to);
    });
}

void unpack_codes(const CodeSource& source, u32* codes, unsigned threads) {
    for_each_piece(pieces_of(source.count), threads, [&](u64 piece) {
        const u64 begin = piece * piece_codes;
        unpack_piece(source, source.first + begin, std::min(piece_codes, source.count - begin), codes + begin);
    });
}

void take_codes(const CodeSource& source, const i64* rows, u64 count, u32* codes, unsigned threads) {
    const u32 bits = static_cast<u32>(source.bits);
    for_each_piece(pieces_of(count), threads, [&](u64 piece) {
        const u64 begin = piece * piece_codes, end = std::min(count, begin + piece_codes);
        for (u64 i = begin; i < end; ++i)
            codes[i] = code_at(source.words, source.first + static_cast<u64>(rows[i]), bits);
    });
}

}  // namespace headrace
