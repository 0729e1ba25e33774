// Numbers the lines of positions in a text, for reports of faults. A line ends with LF, CR LF or CR, quoted or not, so
// the structure of records does not matter. First the line ends of each part are counted and scanned
// (string_offsets.cu). Then only the parts that contain a position are read again.
//
// Bytes moved: the text once, the parts with faults once more, 16 bytes a part.
#include "gpu/block/block.cuh"
#include "gpu/block/partition_point.cuh"
#include "structure/gpu/tile_text.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 vectors = 4;  // 16-byte vectors of each thread
constexpr u32 part_bytes = threads * vectors * 16;

// Parts begin at the 16-byte boundary at or before the text, as tiles do.
HR_FN i64 part_begin(const u8* text) {
    return static_cast<i64>(u64{blockIdx.x} * part_bytes) - static_cast<i64>(reinterpret_cast<u64>(text) & 15);
}

// Returns a bit for each line end in the 16 bytes from `at`: LF, and CR without a following LF.
HR_FN u32 line_ends(const u8* text, u64 size, i64 at) {
    const bool whole = at >= 0 && static_cast<u64>(at) + 16 <= size;
    const uint4 bytes =
        whole ? *reinterpret_cast<const uint4*>(text + at) : structure::edge_vector(text, size, at, 0, 0);
    const u32 words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
    tile::Bits feeds, returns;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        feeds.word[k] = tile::equals(words[k], tile::repeated('\n'));
        returns.word[k] = tile::equals(words[k], tile::repeated('\r'));
    }
    const u32 found = tile::gathered(feeds);
    if (tile::any(returns) == 0) return found;
    const i64 next = at + 16;
    const u32 following = next >= 0 && static_cast<u64>(next) < size && text[next] == '\n' ? 1u << 15 : 0;
    return found | (tile::gathered(returns) & ~(found >> 1 | following));
}

// Writes the number of line ends of each part to sums[part].
extern "C" __global__ void __launch_bounds__(threads) count_lines(const u8* text, u64 size, u64* sums) {
    __shared__ u32 totals[threads / tile::lanes];
    const i64 begin = part_begin(text);
    u32 count = 0;
#pragma unroll
    for (u32 row = 0; row < vectors; ++row) {
        const i64 at = begin + (row * threads + threadIdx.x) * 16;
        count += static_cast<u32>(__popc(line_ends(text, size, at)));
    }
    count = tile::reduce_block<Sum<u32>, threads>(count, totals);
    if (threadIdx.x == 0) sums[blockIdx.x] = count;
}

// Ascending positions. They count from byte `origin` of the text.
struct Positions {
    const u64* of;
    u64 count, origin;

    HR_MEMBER u64 operator[](u64 i) const { return of[i] + origin; }
};

// Returns the index of the first position that is not below `limit`.
HR_FN u64 first_from(const Positions& positions, i64 limit) {
    return tile::partition_point(0, positions.count, [&](u64 i) { return static_cast<i64>(positions[i]) < limit; });
}

// Writes the line of each position, from 1, to lines[i]. `sums`: number of line ends before each part.
extern "C" __global__ void __launch_bounds__(threads)
    number_lines(const u8* text, u64 size, const u64* sums, const u64* positions_of, u64 count, u64 origin,
                 u64* lines) {
    const Positions positions = {positions_of, count, origin};
    __shared__ u64 range[2];
    __shared__ u16 ends[threads * vectors];
    __shared__ u32 before[threads], totals[threads / tile::lanes];
    const i64 begin = part_begin(text);
    if (threadIdx.x < 2) range[threadIdx.x] = first_from(positions, begin + i64{threadIdx.x} * part_bytes);
    __syncthreads();
    const u64 first = range[0], last = range[1];
    if (first == last) return;
#pragma unroll
    for (u32 row = 0; row < vectors; ++row) {
        const u32 vector = row * threads + threadIdx.x;
        ends[vector] = static_cast<u16>(line_ends(text, size, begin + vector * 16));
    }
    __syncthreads();
    u32 own = 0;
#pragma unroll
    for (u32 k = 0; k < vectors; ++k) own += static_cast<u32>(__popc(u32{ends[threadIdx.x * vectors + k]}));
    const u32 upto = tile::scan_warp<Sum<u32>>(own);
    before[threadIdx.x] =
        tile::scan_warps<Sum<u32>, threads>(tile::shuffle(upto, tile::lanes - 1), totals).before + upto - own;
    __syncthreads();
    for (u64 i = first + threadIdx.x; i < last; i += threads) {
        const u32 at = static_cast<u32>(static_cast<i64>(positions[i]) - begin), vector = at / 16;
        u32 found = before[vector / vectors];
        for (u32 k = vector / vectors * vectors; k < vector; ++k) found += static_cast<u32>(__popc(u32{ends[k]}));
        found += static_cast<u32>(__popc(ends[vector] & ((1u << at % 16) - 1)));
        lines[i] = sums[blockIdx.x] + found + 1;
    }
}
