// Lists of the hits of a tile that has few, in the place of its marks. A tile has as many sub-tiles as a block has
// threads, of at most 128 positions each. A list begins with a bit for each sub-tile, which is set if it has hits. A
// byte for each hit follows: its place in the sub-tile and, for the first one there, `is_first`. The number of bytes
// with `is_first` up to a hit gives its sub-tile among those whose bit is set.
//
// Example: sub-tiles of 128 positions and hits at 5, 9 and 300. Bits 0 and 2 are set, and the bytes are 0x85, 9, 0xAC.
//
// Bytes moved: 1 per hit and 1/8 per sub-tile, written and read once.
#pragma once
#include "gpu/block/warp.cuh"

namespace headrace {

constexpr u32 is_first = 0x80;

// Returns the maximum number of hits of a list. More take less time as marks.
HR_FN constexpr u32 max_listed(u32 tile_positions) { return tile_positions * 3 / 64; }

// Writes the hits of a warp to a list of the block in shared memory. `masks`: a bit for each of 16 positions of the
// warp's vectors. `before`: hits of the warps before. `vectors`: memory for the masks.
template <u32 rows, u32 warps>
HR_FN void list_hits(const u32 (&masks)[rows], u32 before, u16 (&vectors)[rows * 32], u32* list) {
    static_assert(rows % 2 == 0 && rows * 16 <= is_first);
#pragma unroll
    for (u32 row = 0; row < rows; ++row) vectors[row * tile::lanes + tile::lane()] = static_cast<u16>(masks[row]);
    __syncwarp();
    // A lane lists a sub-tile.
    u32 words[rows / 2], own = 0;
#pragma unroll
    for (u32 i = 0; i < rows / 2; ++i) {
        words[i] = reinterpret_cast<const u32*>(vectors)[tile::lane() * (rows / 2) + i];
        own += static_cast<u32>(__popc(words[i]));
    }
    const u32 some = __ballot_sync(tile::all_lanes, own != 0);
    if (tile::lane() == 0) list[tile::warp()] = some;
    u8* to = reinterpret_cast<u8*>(list + warps) + before + tile::scan_warp<Sum<u32>>(own) - own;
    u32 flag = is_first;
#pragma unroll
    for (u32 i = 0; i < rows / 2; ++i) {
        for (u32 left = words[i]; left != 0; left &= left - 1) {
            *to++ = static_cast<u8>((32 * i + static_cast<u32>(trailing_zeros(left))) | flag);
            flag = 0;
        }
    }
}

// Memory of a warp that writes the positions of a list.
template <u32 warps, u32 tile_positions>
struct ListMemory {
    static constexpr u32 threads = warps * tile::lanes;
    static constexpr u32 vectors = (4 * warps + max_listed(tile_positions) + 15) / 16;
    static_assert(threads <= 256);
    uint4 list[vectors];
    u8 numbers[threads + 1];  // of the sub-tiles that have hits, from 1 on
};

// Copies the vectors of a list to shared memory. All are loaded before the first is stored.
template <u32 warps, u32 tile_positions>
HR_FN void load_list(const u32* list, u32 count, ListMemory<warps, tile_positions>& memory) {
    constexpr u32 each = (ListMemory<warps, tile_positions>::vectors + tile::lanes - 1) / tile::lanes;
    const uint4* const from = reinterpret_cast<const uint4*>(list) + tile::lane();
    const u32 vectors = (4 * warps + count + 15) / 16;
    uint4 loaded[each];
#pragma unroll
    for (u32 i = 0; i < each; ++i) {
        loaded[i] = i * tile::lanes + tile::lane() < vectors ? __ldg(from + i * tile::lanes) : uint4{0, 0, 0, 0};
    }
#pragma unroll
    for (u32 i = 0; i < each; ++i) {
        if (i * tile::lanes + tile::lane() < vectors) memory.list[i * tile::lanes + tile::lane()] = loaded[i];
    }
    __syncwarp();
}

// Writes the positions of a list by a warp, two a lane where they are aligned. `first`: position of the tile's first
// mark.
template <u32 warps, u32 tile_positions>
HR_FN void write_list(const u32* list, u32 count, u64 first, u64* out, ListMemory<warps, tile_positions>& memory) {
    constexpr u32 sub_tile = tile_positions / (warps * tile::lanes);
    load_list(list, count, memory);
    const u32* const words = reinterpret_cast<const u32*>(memory.list);
    u32 subs = 0;                                  // sub-tiles with hits up to here
    if (tile::lane() == 0) memory.numbers[0] = 0;  // of a lane that has no hit
#pragma unroll
    for (u32 i = 0; i < warps; ++i) {
        const u32 some = words[i];
        if ((some >> tile::lane() & 1) != 0)
            memory.numbers[subs + static_cast<u32>(__popc(some & low_mask(tile::lane() + 1)))] =
                static_cast<u8>(i * tile::lanes + tile::lane());
        subs += static_cast<u32>(__popc(some));
    }
    __syncwarp();
    const u8* const hits = reinterpret_cast<const u8*>(words + warps);
    const u32 odd = static_cast<u32>(reinterpret_cast<u64>(out) >> 3) & 1;
    subs = 0;
#pragma unroll 2
    for (u32 begin = 0; begin < count + odd; begin += 2 * tile::lanes) {
        const u32 i = begin + 2 * tile::lane();
        const bool has_one = i >= odd && i - odd < count, has_next = i + 1 - odd < count;
        const u32 one = has_one ? hits[i - odd] : 0, next = has_next ? hits[i + 1 - odd] : 0;
        const u32 ones = __ballot_sync(tile::all_lanes, one >= is_first);
        const u32 nexts = __ballot_sync(tile::all_lanes, next >= is_first);
        const u32 sub = subs + static_cast<u32>(__popc(ones & low_mask(tile::lane() + 1))) +
                        static_cast<u32>(__popc(nexts & low_mask(tile::lane())));
        const u64 position = first + memory.numbers[sub] * sub_tile + one % is_first;
        const u64 following = first + memory.numbers[sub + next / is_first] * sub_tile + next % is_first;
        u64* const to = out + (i - odd);
        if (has_one && has_next) {
            *reinterpret_cast<ulonglong2*>(to) = {position, following};
        } else if (has_one) {
            to[0] = position;
        } else if (has_next) {
            out[0] = following;
        }
        subs += static_cast<u32>(__popc(ones) + __popc(nexts));
    }
    __syncwarp();
}

}  // namespace headrace
