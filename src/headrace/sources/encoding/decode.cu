// Decodes text in UTF-16 or a code page to UTF-8 in GPU memory, one tile of the source a block. The first kernel counts
// the text bytes of each tile, and those of all tiles before it. The second kernel writes the text.
//
// A lane takes 16 bytes of the source at a time, next to those of its neighbours. It joins characters to words of text,
// and stores these to shared memory. Where the text of a lane ends within a word, the next lane stores that word. After
// a barrier, the former lane adds its bytes. From shared memory the text is copied.
//
// Bytes moved: the source twice, the text once.
#include "gpu/block/block.cuh"
#include "gpu/block/block_look_back.cuh"
#include "gpu/block/byte_masks.cuh"
#include "sources/encoding/decode_rules.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 rows = 2;  // of 16 bytes per thread
constexpr u32 tile_bytes = threads * rows * 16;
constexpr u32 max_growth = 3;  // bytes of text per byte of the source

enum class Coding : u32 { single_byte, utf16_le, utf16_be };

// Bytes of text, the first one lowest, and eight times their number.
struct TextBits {
    u32 text, bits;
};

// A code page in shared memory: for each byte its text, and eight times the number of the text's bytes in the highest
// byte.
struct PageEntries {
    u32 entry[256];
    bool keeps_ascii;

    HR_MEMBER TextBits operator[](u32 byte) const { return {entry[byte] & 0xFFFFFF, entry[byte] >> 24}; }
};

struct SourceText {
    const u8* source;
    u64 bytes;
    Coding coding;
    const PageEntries* page;
};

// A lane's 16 bytes of the source from `begin` on, of which `count` exist. Units of UTF-16 are little-endian.
struct SourceVector {
    u64 begin;
    u32 count;
    u32 word[4];
};

// Loads the four bytes from byte `at` on, which may be in two words.
HR_FN u32 word_at(const u32* words, u32 at) { return __funnelshift_r(words[at / 4], words[at / 4 + 1], 8 * at); }

HR_FN SourceVector load_vector(const SourceText& text, u64 tile, u32 row) {
    const u64 begin = tile * tile_bytes + ((tile::warp() * rows + row) * tile::lanes + tile::lane()) * 16;
    const u64 left = text.bytes - min(begin, text.bytes);
    SourceVector own{begin, static_cast<u32>(min(left, u64{16})), {}};
    const u8* const from = text.source + begin;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(from) & 15);
    if (left >= 16 && skew == 0) {
        const uint4 loaded = *reinterpret_cast<const uint4*>(from);
        own.word[0] = loaded.x, own.word[1] = loaded.y, own.word[2] = loaded.z, own.word[3] = loaded.w;
    } else if (left >= 20 && begin >= 4) {
        const u32* const words = reinterpret_cast<const u32*>(from - skew % 4);
#pragma unroll
        for (u32 i = 0; i < 4; ++i) own.word[i] = word_at(words, 4 * i + skew % 4);
    } else {
#pragma unroll
        for (u32 k = 0; k < 16; ++k) {
            if (k < own.count) own.word[k / 4] |= u32{from[k]} << (k % 4 * 8);
        }
    }
    if (text.coding == Coding::utf16_be) {
#pragma unroll
        for (u32 i = 0; i < 4; ++i) own.word[i] = tile::permute(own.word[i], 0, 0x2301);
    }
    return own;
}

HR_FN bool has_only(const SourceVector& own, u32 bits) {
    return own.count == 16 && ((own.word[0] | own.word[1] | own.word[2] | own.word[3]) & ~bits) == 0;
}

// Calls put(piece, piece) for each pair of bytes.
template <class Put>
HR_FN void for_each_byte(const PageEntries& page, const SourceVector& own, Put put) {
    if (__all_sync(tile::all_lanes, page.keeps_ascii && has_only(own, ~tile::top_bits))) {
#pragma unroll
        for (u32 i = 0; i < 4; ++i) put(TextBits{own.word[i], 32}, TextBits{});
    } else if (own.count == 16) {
#pragma unroll
        for (u32 k = 0; k < 16; k += 2) {
            const u32 pair = own.word[k / 4] >> (k % 4 * 8);
            put(page[pair & 0xFF], page[pair >> 8 & 0xFF]);
        }
    } else {
#pragma unroll
        for (u32 k = 0; k < 16; ++k) {
            if (k < own.count) put(page[own.word[k / 4] >> (k % 4 * 8) & 0xFF], TextBits{});
        }
    }
}

// Returns a character that is no surrogate.
HR_FN TextBits piece_of_unit(u32 unit) {
    const u32 second = 0x80C0 | unit >> 6 | (unit & 0x3F) << 8;
    const u32 third = 0x8080E0 | unit >> 12 | (unit & 0xFC0) << 2 | (unit & 0x3F) << 16;
    return unit < 0x80 ? TextBits{unit, 8} : unit < 0x800 ? TextBits{second, 16} : TextBits{third, 24};
}

HR_FN bool has_surrogate(u32 word) {
    const u32 other = (word & 0xF800F800) ^ 0xD800D800;
    return (other & 0xFFFF) == 0 || other >> 16 == 0;
}

// Calls put(piece, {}) for each character that begins in the 16 bytes, by the rules.
template <class Put>
HR_FN void for_each_character(const SourceText& text, const SourceVector& own, Put put) {
    const bool big = text.coding == Coding::utf16_be;
#pragma unroll 1
    for (u32 k = 0; k < own.count; k += 2) {
        const u8* const p = text.source + own.begin + k;
        const u64 left = text.bytes - own.begin - k;
        if (own.begin + k != 0 && is_behind_first_half(p, left, big)) continue;
        const DecodedCharacter character = utf16_character(p, left, big);
        put(TextBits{character.text, 8u * character.length}, TextBits{});
    }
}

// Calls put(piece, piece) for each pair of units.
template <class Put>
HR_FN void for_each_unit(const SourceText& text, const SourceVector& own, Put put) {
    if (__all_sync(tile::all_lanes, has_only(own, 0x007F007F))) {
#pragma unroll
        for (u32 i = 0; i < 4; i += 2)
            put(TextBits{tile::permute(own.word[i], own.word[i + 1], 0x6420), 32}, TextBits{});
        return;
    }
    bool usual = own.count == 16;
#pragma unroll
    for (u32 i = 0; i < 4; ++i) usual = usual && !has_surrogate(own.word[i]);
    if (usual) {
#pragma unroll
        for (u32 i = 0; i < 4; ++i) put(piece_of_unit(own.word[i] & 0xFFFF), piece_of_unit(own.word[i] >> 16));
    } else {
        for_each_character(text, own, put);
    }
}

// Calls put(piece, piece) for pieces of the text of 16 bytes, in order. The second piece may be empty. All lanes call
// it.
template <class Put>
HR_FN void for_each_pair(const SourceText& text, const SourceVector& own, Put put) {
    if (text.coding == Coding::single_byte) return for_each_byte(*text.page, own, put);
    for_each_unit(text, own, put);
}

HR_FN u32 text_bytes(const SourceText& text, const SourceVector& own) {
    u32 bits = 0;
    for_each_pair(text, own, [&](TextBits first, TextBits second) { bits += first.bits + second.bits; });
    return bits / 8;
}

// Stores text to shared memory, a word at a time.
class TextWriter {
public:
    // `at`: byte that the text begins at.
    HR_MEMBER TextWriter(u32* staged, u32 at) : to_(staged + at / 4), bits_(at % 4 * 8), word_(0) {}
    TextWriter() = default;

    HR_MEMBER void put(TextBits piece) {
        const u32 rest = __funnelshift_l(piece.text, 0, bits_);
        word_ |= piece.text << bits_;
        bits_ += piece.bits;
        if (bits_ < 32) return;
        *to_++ = word_;
        word_ = rest;
        bits_ -= 32;
    }
    HR_MEMBER void put(TextBits first, TextBits second) {
        const u32 bits = first.bits + second.bits;
        if (bits <= 32)
            return put(TextBits{first.bits < 32 ? first.text | second.text << first.bits : first.text, bits});
        put(first);
        put(second);
    }
    // Adds the bytes after the last whole word.
    HR_MEMBER void end() const {
        if (bits_ != 0) atomicOr(to_, word_);
    }

private:
    u32* to_;
    u32 bits_, word_;
};

// Loads the code page. Ends with a barrier.
HR_FN void load_page(PageEntries& entries, const ByteTable* page, Coding coding) {
    if (coding == Coding::single_byte) {
        for (u32 i = threadIdx.x; i < 256; i += threads) entries.entry[i] = page->text[i] | u32{page->length[i]} << 27;
        if (threadIdx.x == 0) entries.keeps_ascii = page->keeps_ascii != 0;
    }
    __syncthreads();
}

// Copies a tile's text from shared memory.
HR_FN void copy_text(const u32* text, u32 size, u8* to) {
    const u8* const bytes = reinterpret_cast<const u8*>(text);
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(to) & 3);
    for (u32 last = 4 * threadIdx.x + 4; last < size + skew + 4; last += 4 * threads) {
        const u32 from = last < skew + 4 ? 0 : last - 4 - skew, stop = min(last - skew, size);
        if (stop - from == 4) {
            *reinterpret_cast<u32*>(to + from) = word_at(text, from);
            continue;
        }
        for (u32 i = from; i < stop; ++i) to[i] = bytes[i];
    }
}

// Writes begins[tile], the offset of the tile's text; that of tile gridDim.x is the text's end. `states`: one more than
// tiles, of zeros.
extern "C" __global__ void __launch_bounds__(threads)
    size_decoded(const u8* source, u64 bytes, const ByteTable* page, Coding coding, tile::Chain<u64>::Word* states,
                 u64* begins) {
    __shared__ PageEntries entries;
    __shared__ u32 number, parts[threads / tile::lanes];
    tile::Chain<u64> chain(states);
    if (threadIdx.x == 0) number = chain.take_tile();
    load_page(entries, page, coding);
    const SourceText text{source, bytes, coding, &entries};
    u32 size = 0;
#pragma unroll
    for (u32 row = 0; row < rows; ++row) size += text_bytes(text, load_vector(text, number, row));
    size = tile::reduce_block<Sum<u32>, threads>(size, parts);
    if (tile::warp() != 0) return;
    const u64 total = tile::shuffle(size, 0);
    if (tile::lane() == 0) chain.post<Sum<u64>>(number, total);
    const u64 before = chain.prefix<Sum<u64>>(number, total);
    if (tile::lane() == 0) begins[number] = before;
    if (tile::lane() == 0 && number == gridDim.x - 1) begins[gridDim.x] = before + total;
}

// Writes the text. `begins`: that of `size_decoded`.
extern "C" __global__ void __launch_bounds__(threads, 6)
    put_decoded(const u8* source, u64 bytes, const ByteTable* page, Coding coding, const u64* begins, u8* result) {
    __shared__ PageEntries entries;
    __shared__ u32 parts[threads / tile::lanes];
    __shared__ u32 staged[max_growth * tile_bytes / 4 + 2];
    load_page(entries, page, coding);
    const SourceText text{source, bytes, coding, &entries};
    const bool is_last = blockIdx.x == gridDim.x - 1;
    if (is_last) {  // only there may a lane have too few bytes for a word
        for (u32 i = threadIdx.x; i < max_growth * tile_bytes / 4 + 2; i += threads) staged[i] = 0;
    }
    SourceVector own[rows];
    u32 sizes[rows], size = 0;
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        own[row] = load_vector(text, blockIdx.x, row);
        sizes[row] = text_bytes(text, own[row]);
        size += sizes[row];
    }
    const tile::WarpPrefix<u32> warps =
        tile::scan_warps<Sum<u32>, threads>(__reduce_add_sync(tile::all_lanes, size), parts);
    if (!is_last && threadIdx.x < 2) staged[warps.total / 4 + threadIdx.x] = 0;  // the last word of text, or that after
    u32 begin = warps.before;
    TextWriter writers[rows];
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        const u32 until = tile::scan_warp<Sum<u32>>(sizes[row]);
        writers[row] = TextWriter(staged, begin + until - sizes[row]);
        for_each_pair(text, own[row], [&](TextBits first, TextBits second) { writers[row].put(first, second); });
        begin += tile::shuffle(until, tile::lanes - 1);
    }
    __syncthreads();
#pragma unroll
    for (u32 row = 0; row < rows; ++row) writers[row].end();
    __syncthreads();
    copy_text(staged, warps.total, result + begins[blockIdx.x]);
}
