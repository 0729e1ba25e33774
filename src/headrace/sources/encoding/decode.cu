// Decodes text in UTF-16 or a code page to UTF-8 in GPU memory, one tile of the source a block. The first kernel counts
// the text bytes of each tile. The host scans the counts, which gives each tile its offset. The second kernel writes
// the text.
//
// Bytes moved: the source twice, the text once.
#include "gpu/block/block.cuh"
#include "sources/encoding/decode_rules.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 thread_bytes = 32;
constexpr u32 tile_bytes = threads * thread_bytes;

enum class Coding : u32 { single_byte, utf16_le, utf16_be };

// A code page. The text of byte b is the first `length[b]` bytes of `text[b]`, lowest byte first.
struct CodePage {
    u32 text[256];
    u8 length[256];
};

// Calls put(text, length) for each character that begins in this thread's bytes of the tile.
template <class Put>
HR_FN void for_each_character(const u8* source, u64 bytes, const CodePage* page, Coding coding, Put put) {
    const u64 begin = u64{blockIdx.x} * tile_bytes + threadIdx.x * thread_bytes, end = min(begin + thread_bytes, bytes);
    if (coding == Coding::single_byte) {
        for (u64 at = begin; at < end; ++at) put(page->text[source[at]], u32{page->length[source[at]]});
        return;
    }
    const bool big = coding == Coding::utf16_be;
    for (u64 at = begin; at < end; at += 2) {
        if (at != 0 && is_behind_first_half(source + at, bytes - at, big)) continue;
        const DecodedCharacter character = utf16_character(source + at, bytes - at, big);
        put(character.text, u32{character.length});
    }
}

// Writes sizes[tile], the text bytes of each tile.
extern "C" __global__ void __launch_bounds__(threads)
    size_decoded(const u8* source, u64 bytes, const CodePage* page, Coding coding, u64* sizes) {
    __shared__ u32 parts[threads / tile::lanes];
    u32 size = 0;
    for_each_character(source, bytes, page, coding, [&](u32, u32 length) { size += length; });
    size = tile::reduce_block<Sum<u32>, threads>(size, parts);
    if (threadIdx.x == 0) sizes[blockIdx.x] = size;
}

// Writes the text. begins[tile]: offset of the tile's text.
extern "C" __global__ void __launch_bounds__(threads)
    put_decoded(const u8* source, u64 bytes, const CodePage* page, Coding coding, const u64* begins, u8* text) {
    __shared__ u32 parts[threads / tile::lanes];
    u32 size = 0;
    for_each_character(source, bytes, page, coding, [&](u32, u32 length) { size += length; });
    const u32 until = tile::scan_warp<Sum<u32>>(size);
    const tile::WarpPrefix<u32> warps =
        tile::scan_warps<Sum<u32>, threads>(tile::shuffle(until, tile::lanes - 1), parts);
    u8* to = text + begins[blockIdx.x] + warps.before + until - size;
    for_each_character(source, bytes, page, coding, [&](u32 character, u32 length) {
        for (; length != 0; --length, character >>= 8) *to++ = static_cast<u8>(character);
    });
}
