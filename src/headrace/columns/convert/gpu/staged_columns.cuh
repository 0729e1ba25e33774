// Columns that the threads of a warp write, a column each. Stores of 16 bytes to 32 columns are as many requests to the
// memory system. So bytes and offsets of 32 rows are staged in shared memory, and the warp writes them column by
// column: 128 bytes of offsets at once, and 128 bytes of each of four columns.
#pragma once
#include "columns/convert/gpu/convert_task.hpp"
#include "gpu/block/memory_access.cuh"
#include "gpu/block/warp.cuh"

namespace headrace {

constexpr u32 staged_rows = 32, staged_vectors = 16;  // of each column

// What a warp has staged. The rows have a word or a vector more, so that the 32 columns of a row lie in different
// banks.
struct StagedColumns {
    u32 offsets[tile::lanes][staged_rows + 1];
    uint4 vectors[tile::lanes][staged_vectors + 1];
};

// Collects consecutive bytes of a column in vectors of 16. Whole vectors are staged, and stored at once if there are
// more. The first and the last one may have other threads' bytes too. Of them the own ones are stored.
struct ByteStream {
    u8* to;         // of the vector, aligned
    u64 low, high;  // its bytes
    u32 count;      // their number
    u32 others;     // how many of these precede the stream
    u32 staged;     // vectors that are staged; they end before `to`, unless more were stored
    u8* first;      // of the staged vectors

    HR_MEMBER static ByteStream at(u8* to) {
        const u32 others = static_cast<u32>(reinterpret_cast<u64>(to) % 16);
        return {to - others, 0, 0, others, others, 0, nullptr};
    }
    // Appends the lowest bytes of a word, 1 to 8. `staging`: the thread's vectors.
    HR_MEMBER void append(u64 bytes, u32 size, uint4* staging) {
        bytes &= ~u64{0} >> (64 - 8 * size);
        const u32 shift = 8 * count % 64;
        const u64 carried = shift == 0 ? 0 : bytes >> (64 - shift);
        low |= count < 8 ? bytes << shift : 0;
        high |= count < 8 ? carried : bytes << shift;
        count += size;
        if (count < 16) return;
        const u32 more = count - 16;
        if (others != 0) {
            count = 16;
            store_own();
        } else {
            const uint4 vector{static_cast<u32>(low), static_cast<u32>(low >> 32), static_cast<u32>(high),
                               static_cast<u32>(high >> 32)};
            if (staged == 0) first = to;
            if (staged < staged_vectors) {
                staging[staged++] = vector;
            } else {
                *tile::in_global(reinterpret_cast<uint4*>(to)) = vector;
            }
        }
        to += 16;
        low = more == 0 ? 0 : bytes >> (8 * (size - more));
        high = 0;
        count = more;
        others = 0;
    }
    // Stores the bytes of the vector that belong to the stream.
    HR_MEMBER void store_own() const {
#pragma unroll 1
        for (u32 at = others; at < count;) {
            const u64 rest = (at < 8 ? low : high) >> (8 * at % 64);
            if (at % 8 == 0 && at + 8 <= count) {
                at = store_part<u64>(at, rest);
            } else if (at % 4 == 0 && at + 4 <= count) {
                at = store_part<u32>(at, rest);
            } else {
                at = store_part<u8>(at, rest);
            }
        }
    }
    template <typename Part>
    HR_MEMBER u32 store_part(u32 at, u64 bytes) const {
        *tile::in_global(reinterpret_cast<Part*>(to + at)) = static_cast<Part>(bytes);
        return at + static_cast<u32>(sizeof(Part));
    }
};

// Stores what a warp has staged of its columns. `offsets`: where those of a thread's column go; null if none are
// staged. `rows`: their number.
HR_FN void store_staged(const StagedColumns& staged, u32* offsets, u32 rows, ByteStream& stream) {
    __syncwarp();
#pragma unroll 4
    for (u32 column = 0; column < tile::lanes; ++column) {
        u32* const to = reinterpret_cast<u32*>(tile::shuffle(reinterpret_cast<u64>(offsets), column));
        const u32 count = tile::shuffle(rows, column);
        if (to != nullptr && tile::lane() < count)
            *tile::in_global(to + tile::lane()) = staged.offsets[column][tile::lane()];
    }
    constexpr u32 together = 4, lanes_each = tile::lanes / together;
#pragma unroll 2
    for (u32 first = 0; first < tile::lanes; first += together) {
        const u32 column = first + tile::lane() / lanes_each;
        uint4* const to = reinterpret_cast<uint4*>(tile::shuffle(reinterpret_cast<u64>(stream.first), column));
        const u32 count = tile::shuffle(stream.staged, column);
        for (u32 i = tile::lane() % lanes_each; i < count; i += lanes_each) {
            *tile::in_global(to + i) = staged.vectors[column][i];
        }
    }
    stream.staged = 0;
    __syncwarp();
}

}  // namespace headrace
