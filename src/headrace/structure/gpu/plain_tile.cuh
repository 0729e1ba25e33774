// Stages a tile of a plain dialect in shared memory as vectors of 16 bytes, and counts quotes over the lanes of a row.
#pragma once
#include "gpu/block/warp.cuh"
#include "structure/gpu/plain_masks.cuh"
#include "structure/gpu/tile_text.cuh"

namespace headrace {
namespace structure {

// A row is 32 adjacent vectors, one a lane. Each warp owns `rows` consecutive rows.
template <u32 threads, u32 rows>
struct PlainTile {
    static constexpr u32 vectors = threads * rows;
    static constexpr u32 bytes = vectors * 16;
    static constexpr u32 all_rows = vectors / tile::lanes;
    static constexpr u32 row_bytes = tile::lanes * 16;
    uint4 vector[vectors + 1];  // [0] precedes the tile; only its last byte is valid

    static __device__ __forceinline__ u32 vector_of(u32 row) {
        return (tile::warp() * rows + row) * tile::lanes + tile::lane();
    }
    __device__ __forceinline__ u8 byte(i32 at) const { return reinterpret_cast<const u8*>(vector + 1)[at]; }
    __device__ __forceinline__ TextVector place(u32 number) const {
        const uint4 words = vector[number + 1];
        return {{words.x, words.y, words.z, words.w}, byte(static_cast<i32>(number * 16) - 1)};
    }

    // All threads of the block: load the tile whose first byte is `first`. Padding before the text consists of line
    // ends, so that a record begins at the text's first byte; padding after it consists of ordinary bytes.
    __device__ __forceinline__ void stage(const u8* text, u64 size, i64 first, const PlainDialect& dialect) {
        if (is_inner(first, size)) {
#pragma unroll
            for (u32 row = 0; row < rows; ++row) {
                const u32 number = vector_of(row);
                tile::copy_async(&vector[number + 1], reinterpret_cast<const uint4*>(text + first) + number);
            }
        } else {
#pragma unroll 1
            for (u32 row = 0; row < rows; ++row) {
                const u32 number = vector_of(row);
                vector[number + 1] = edge_vector(text, size, first + number * 16, dialect.line_end, dialect.other);
            }
        }
        if (threadIdx.x == 0) {
            const u8 before = first > 0 ? text[first - 1] : dialect.line_end;
            vector[0] = {0, 0, 0, static_cast<u32>(before) << 24};
        }
        tile::wait_for_copies();
        __syncthreads();
    }
    static __device__ __forceinline__ bool is_inner(i64 first, u64 size) {
        return first >= 0 && static_cast<u64>(first) + bytes <= size;
    }
};

// Return which of the 16 bytes at `at` lie in the text, a bit each.
__device__ __forceinline__ u32 bytes_there(i64 at, u64 size) {
    const i64 left = static_cast<i64>(size) - at;
    const u32 there = left >= 16 ? 0xFFFF : left <= 0 ? 0 : (1u << left) - 1;
    return at >= 0 ? there : at <= -16 ? 0 : there & 0xFFFFu << -at & 0xFFFF;
}

// Parity of the quotes in a row: before this lane's vector, and in all vectors.
struct Parities {
    u32 odd;  // lanes whose vectors hold an odd number

    __device__ __forceinline__ explicit Parities(const tile::Bits& quotes) {
        const u32 folded = quotes.word[0] ^ quotes.word[1] ^ quotes.word[2] ^ quotes.word[3];
        odd = __ballot_sync(tile::all_lanes, (__popc(folded) & 1) != 0);
    }
    __device__ __forceinline__ bool before() const { return (__popc(odd & ((1u << tile::lane()) - 1)) & 1) != 0; }
    __device__ __forceinline__ bool all() const { return (__popc(odd) & 1) != 0; }
};

}  // namespace structure
}  // namespace headrace
