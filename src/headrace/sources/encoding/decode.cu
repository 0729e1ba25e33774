// Decodes text in UTF-16 or a code page to UTF-8 in GPU memory, one tile of the source a block. The first kernel counts
// the text bytes of each tile. The host scans the counts, which gives each tile its offset. The second kernel writes
// the text.
//
// A tile is staged in shared memory, and so is its text, so that loads and stores of device memory are adjacent. A lane
// takes four bytes of the source at a time, next to those of its neighbours.
//
// Bytes moved: the source twice, the text once.
#include "gpu/block/block.cuh"
#include "gpu/block/byte_masks.cuh"
#include "sources/encoding/decode_rules.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 rows = 8;  // words of four bytes per thread
constexpr u32 tile_bytes = threads * rows * 4;
constexpr u32 margin = 16;  // staged bytes before and after the tile, and as many for the alignment
constexpr u32 vectors = tile_bytes / 16 + 3;
constexpr u32 max_growth = 3;  // bytes of text per byte of the source
static_assert(rows % 2 == 0 && 4 * max_growth * tile::lanes < 1u << 16);

enum class Coding : u32 { single_byte, utf16_le, utf16_be };

// A code page in shared memory: for each byte its text, and the number of the text's bytes in the highest byte.
struct PageEntries {
    u32 entry[256];
    bool keeps_ascii;
};

struct DecodeMemory {
    uint4 source[vectors];
    PageEntries page;
    u32 parts[threads / tile::lanes];
};

// A block's part of the source. Staged byte s is the source's byte s + origin.
struct SourceTile {
    const PageEntries* page;
    Coding coding;
    i64 origin;
    u64 bytes;
};

HR_FN u32 word_at(const void* staged, u32 at) {
    const u32* const words = static_cast<const u32*>(staged) + at / 4;
    return __funnelshift_r(words[0], words[1], 8 * at);
}

// Loads 16 bytes of the source; bytes outside it are zero.
HR_FN uint4 edge_vector(const u8* source, u64 bytes, i64 at) {
    u32 words[4] = {};
#pragma unroll
    for (u32 k = 0; k < 16; ++k) {
        const i64 place = at + k;
        if (place >= 0 && static_cast<u64>(place) < bytes) words[k / 4] |= u32{source[place]} << (k % 4 * 8);
    }
    return {words[0], words[1], words[2], words[3]};
}

// Stages the block's tile and the code page. Ends with a barrier.
HR_FN SourceTile stage_tile(DecodeMemory& memory, const u8* source, u64 bytes, const ByteTable* page, Coding coding) {
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(source) & 15);
    const i64 origin = static_cast<i64>(u64{blockIdx.x} * tile_bytes) - margin - skew;
    for (u32 v = threadIdx.x; v < vectors; v += threads) {
        const i64 at = origin + 16 * i64{v};
        const bool inside = at >= 0 && static_cast<u64>(at) + 16 <= bytes;
        memory.source[v] = inside ? *reinterpret_cast<const uint4*>(source + at) : edge_vector(source, bytes, at);
    }
    if (coding == Coding::single_byte) {
        for (u32 i = threadIdx.x; i < 256; i += threads)
            memory.page.entry[i] = page->text[i] | u32{page->length[i]} << 24;
        if (threadIdx.x == 0) memory.page.keeps_ascii = page->keeps_ascii != 0;
    }
    __syncthreads();
    return {&memory.page, coding, origin, bytes};
}

// Calls put(text, length) for each character that begins in a row's four bytes of this lane.
template <class Put>
HR_FN void for_each_character(const DecodeMemory& memory, const SourceTile& tile, u32 row, Put put) {
    const u64 begin = u64{blockIdx.x} * tile_bytes + ((tile::warp() * rows + row) * tile::lanes + tile::lane()) * 4;
    if (begin >= tile.bytes) return;
    const u64 left = tile.bytes - begin;
    const u32 at = static_cast<u32>(static_cast<i64>(begin) - tile.origin), word = word_at(memory.source, at);
    const bool is_single = tile.coding == Coding::single_byte, big = tile.coding == Coding::utf16_be;
    const u32 not_ascii = is_single ? tile::top_bits : big ? 0x80FF80FF : 0xFF80FF80;
    if (left >= 4 && (word & not_ascii) == 0 && (!is_single || tile.page->keeps_ascii)) {
#pragma unroll
        for (u32 k = 0; k < 4; ++k) {
            if (is_single || k % 2 == (big ? 1 : 0)) put(word >> (8 * k) & 0xFF, 1u);
        }
        return;
    }
    if (is_single) {
#pragma unroll
        for (u32 k = 0; k < 4; ++k) {
            const u32 entry = tile.page->entry[word >> (8 * k) & 0xFF];
            if (k < left) put(entry & 0xFFFFFF, entry >> 24);
        }
        return;
    }
    const u8* const p = reinterpret_cast<const u8*>(memory.source) + at;
    for (u32 k = 0; k < 4 && k < left; k += 2) {
        if (begin + k != 0 && is_behind_first_half(p + k, left - k, big)) continue;
        const DecodedCharacter character = utf16_character(p + k, left - k, big);
        put(character.text, u32{character.length});
    }
}

// Returns the text bytes of each of this lane's words, and their sum.
HR_FN u32 measure_words(const DecodeMemory& memory, const SourceTile& tile, u32 (&sizes)[rows]) {
    u32 sum = 0;
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        sizes[row] = 0;
        for_each_character(memory, tile, row, [&](u32, u32 length) { sizes[row] += length; });
        sum += sizes[row];
    }
    return sum;
}

// Stores the text of this lane's word of a row at `to`, in shared memory.
HR_FN void put_row(const DecodeMemory& memory, const SourceTile& tile, u32 row, u8* to) {
    for_each_character(memory, tile, row, [&](u32 character, u32 length) {
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
            if (i < length) to[i] = static_cast<u8>(character >> (8 * i));
        }
        to += length;
    });
}

// Copies a tile's text from shared memory.
HR_FN void put_text(const u8* text, u32 size, u8* to) {
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(to) & 3);
    for (u32 last = 4 * threadIdx.x + 4; last < size + skew + 4; last += 4 * threads) {
        const u32 from = last < skew + 4 ? 0 : last - 4 - skew, stop = min(last - skew, size);
        if (stop - from == 4) {
            *reinterpret_cast<u32*>(to + from) = word_at(text, from);
            continue;
        }
        for (u32 i = from; i < stop; ++i) to[i] = text[i];
    }
}

// Writes sizes[tile], the text bytes of each tile.
extern "C" __global__ void __launch_bounds__(threads)
    size_decoded(const u8* source, u64 bytes, const ByteTable* page, Coding coding, u64* sizes) {
    __shared__ DecodeMemory memory;
    const SourceTile tile = stage_tile(memory, source, bytes, page, coding);
    u32 of_words[rows];
    const u32 size = tile::reduce_block<Sum<u32>, threads>(measure_words(memory, tile, of_words), memory.parts);
    if (threadIdx.x == 0) sizes[blockIdx.x] = size;
}

// Writes the text. begins[tile]: offset of the tile's text.
extern "C" __global__ void __launch_bounds__(threads)
    put_decoded(const u8* source, u64 bytes, const ByteTable* page, Coding coding, const u64* begins, u8* text) {
    __shared__ DecodeMemory memory;
    __shared__ uint4 staged[max_growth * tile_bytes / 16 + 1];
    u8* const decoded = reinterpret_cast<u8*>(staged);
    const SourceTile tile = stage_tile(memory, source, bytes, page, coding);
    u32 sizes[rows];
    const u32 size = __reduce_add_sync(tile::all_lanes, measure_words(memory, tile, sizes));
    const tile::WarpPrefix<u32> warps = tile::scan_warps<Sum<u32>, threads>(size, memory.parts);
    u32 begin = warps.before;
#pragma unroll
    for (u32 row = 0; row < rows; row += 2) {
        // Two rows are scanned at once, since the bytes of a row fit 16 bits.
        const u32 until = tile::scan_warp<Sum<u32>>(sizes[row] | sizes[row + 1] << 16);
        const u32 total = tile::shuffle(until, tile::lanes - 1), next = begin + (total & 0xFFFF);
        put_row(memory, tile, row, decoded + begin + (until & 0xFFFF) - sizes[row]);
        put_row(memory, tile, row + 1, decoded + next + (until >> 16) - sizes[row + 1]);
        begin = next + (total >> 16);
    }
    if (threadIdx.x < 4) decoded[warps.total + threadIdx.x] = 0;  // put_text may load a word beyond the text
    __syncthreads();
    put_text(decoded, warps.total, text + begins[blockIdx.x]);
}
