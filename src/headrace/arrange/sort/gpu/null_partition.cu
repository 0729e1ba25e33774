// Partitions rows of a column by class: null, or false and true for bools. Rows are counted by chunks, then each is
// written after the preceding rows of its class. So nulls are contiguous at their end, and valid rows are packed as a
// sort expects them, each in row order. Bools are sorted by that alone.
//
// Bytes moved per row: its bits to count them, and again to place it; 2 w for a key of w bytes, r for a row number of
// r bytes.
#include "arrange/sort/gpu/null_partition.hpp"
#include "gpu/block/block.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 word_rows = 32;
constexpr u32 tile_rows = threads * word_rows;
constexpr u32 classes = 3;

// Counts of a block's chunk. Rows of neither class are in the third.
struct ChunkCounts {
    u64 of[classes - 1];
    u64 disorder;  // not 0: a row is of an earlier class than the preceding row
};

// Bit masks of up to 32 rows by class; class 0 comes first.
struct Classes {
    u32 of[classes];
};

// Returns `count` bits, 1 to 32, from bit `place` on. It reads no byte without such a bit.
HR_FN u32 bits_from(const u8* bits, u64 place, u32 count) {
    const u8* const at = bits + place / 8;
    const u32 shift = static_cast<u32>(place % 8), bytes = (shift + count + 7) / 8;
    u64 found = 0;
#pragma unroll
    for (u32 k = 0; k < 5; ++k) {
        if (k < bytes) found |= static_cast<u64>(at[k]) << 8 * k;
    }
    return static_cast<u32>(found >> shift) & low_mask(count);
}

HR_FN Classes classes_from(const ClassedRows& rows, u64 row, u32 count) {
    if (count == 0) return {};
    const u32 all = low_mask(count);
    const u32 there = rows.validity == nullptr ? all : bits_from(rows.validity, rows.first + row, count);
    const u32 truths = rows.truths == nullptr ? 0 : bits_from(rows.truths, rows.first + row, count) & there;
    const u32 lower = rows.descending != 0 ? truths : there ^ truths, upper = there ^ lower, nulls = all ^ there;
    if (rows.nulls_first != 0) return {{nulls, lower, upper}};
    return {{lower, upper, nulls}};
}

// The rows of a block's chunk.
struct RowChunk {
    u64 begin;
    u64 end;

    explicit HR_MEMBER RowChunk(const ClassedRows& rows) : begin(blockIdx.x * rows.chunk), end(begin + rows.chunk) {
        if (end > rows.count) end = rows.count;
    }
    // Returns how many of the 32 rows from `row` on exist.
    HR_MEMBER u32 rows_from(u64 row) const {
        return row >= end ? 0 : end - row < word_rows ? static_cast<u32>(end - row) : word_rows;
    }
};

// Returns the rows that are of an earlier class than the preceding row.
HR_FN u32 falls_from(const ClassedRows& rows, const Classes& own, u64 row, u32 count) {
    Classes before = {{own.of[0] << 1, own.of[1] << 1, own.of[2] << 1}};
    if (row != 0) before = classes_from(rows, row - 1, count);
    return (own.of[0] & (before.of[1] | before.of[2])) | (own.of[1] & before.of[2]);
}

extern "C" __global__ void __launch_bounds__(threads) count_classes(ClassedRows rows, ChunkCounts* counts) {
    __shared__ u64 totals[warps];
    const RowChunk chunk(rows);
    u64 first = 0, second = 0, falls = 0;
    for (u64 row = chunk.begin + threadIdx.x * word_rows; row < chunk.end; row += tile_rows) {
        const Classes own = classes_from(rows, row, chunk.rows_from(row));
        first += static_cast<u32>(__popc(own.of[0]));
        second += static_cast<u32>(__popc(own.of[1]));
        falls += falls_from(rows, own, row, chunk.rows_from(row));
    }
    first = tile::reduce_block<Sum<u64>, threads>(first, totals);
    __syncthreads();
    second = tile::reduce_block<Sum<u64>, threads>(second, totals);
    const bool is_disordered = __syncthreads_or(falls != 0) != 0;
    if (threadIdx.x == 0) counts[blockIdx.x] = {{first, second}, is_disordered};
}

// Rows of the first two classes, in all chunks and in the preceding ones.
struct ClassSums {
    u64 all[classes - 1];
    u64 before[classes - 1];

    HR_MEMBER static ClassSums identity() { return {}; }
    HR_MEMBER static ClassSums join(const ClassSums& a, const ClassSums& b) {
        return {{a.all[0] + b.all[0], a.all[1] + b.all[1]}, {a.before[0] + b.before[0], a.before[1] + b.before[1]}};
    }
};

// Returns the sums to all threads.
HR_FN ClassSums sums_of(const ChunkCounts* counts, u32 chunks) {
    __shared__ ClassSums parts[warps];
    __shared__ ClassSums sums;
    ClassSums own = {};
    for (u32 chunk = threadIdx.x; chunk < chunks; chunk += threads) {
        const ChunkCounts& some = counts[chunk];
        const u64 is_before = chunk < blockIdx.x;
        own = ClassSums::join(own, {{some.of[0], some.of[1]}, {some.of[0] * is_before, some.of[1] * is_before}});
    }
    own = tile::reduce_block<ClassSums, threads>(own, parts);
    if (threadIdx.x == 0) sums = own;
    __syncthreads();
    return sums;
}

// 32 rows, and the number of preceding rows of their tile in the first class (lower half) and the second.
struct ClassWord {
    Classes own;
    u32 before;
};

// Positions of the next row of each class.
struct ClassPositions {
    u64 of[classes];
};

template <class T>
HR_FN T of_class(u32 k, T first, T second, T third) {
    return k == 0 ? first : k == 1 ? second : third;
}

// Returns the position of row k. `rows_before`: preceding rows of the tile.
HR_FN u64 place_of(const ClassWord& word, u32 k, u32 rows_before, const ClassPositions& ends) {
    const u32 first = word.before & 0xFFFF, second = word.before >> 16;
    const u32 preceding = of_class(k, first, second, rows_before - first - second);
    const u32 same = of_class(k, word.own.of[0], word.own.of[1], word.own.of[2]) & ((1u << tile::lane()) - 1);
    return of_class(k, ends.of[0], ends.of[1], ends.of[2]) + preceding + static_cast<u32>(__popc(same));
}

// `nulls`: the class that is null. Packed keys begin at the first row that is valid.
struct Goal {
    ClassSplit split;
    u64 front;
    u32 nulls;

    template <class Key>
    HR_MEMBER void put(u32 k, u64 place, u64 row, Key key) const {
        if (split.keys != nullptr && k != nulls) static_cast<Key*>(split.packed)[place - front] = key;
        if (split.places == nullptr || place >= split.limit) return;
        if (split.place_width == 4) static_cast<u32*>(split.places)[place] = static_cast<u32>(row);
        if (split.place_width == 8) static_cast<u64*>(split.places)[place] = row;
    }
};

constexpr u32 turns = 8;

// Writes a tile of the chunk. Lane i of a warp loads the i-th word of its 1,024 rows; then, word by word, each lane
// handles a row.
template <class Key>
HR_FN void place_tile(const Goal& goal, const ClassWord& known, u64 tile, const RowChunk& chunk,
                      const ClassPositions& ends) {
    const u32 warp_rows = tile::warp() * tile::lanes * word_rows;
    for (u32 some = 0; some < word_rows; some += turns) {
        Key key[turns] = {};
#pragma unroll
        for (u32 turn = 0; turn < turns; ++turn) {
            const u64 row = tile + warp_rows + (some + turn) * word_rows + tile::lane();
            if (row < chunk.end && goal.split.keys != nullptr)
                key[turn] = static_cast<const Key*>(goal.split.keys)[row];
        }
#pragma unroll
        for (u32 turn = 0; turn < turns; ++turn) {
            const u32 rows_before = warp_rows + (some + turn) * word_rows;
            const u64 row = tile + rows_before + tile::lane();
            const ClassWord word = tile::shuffle(known, some + turn);
            const u32 k = (word.own.of[0] >> tile::lane() & 1) != 0   ? 0
                          : (word.own.of[1] >> tile::lane() & 1) != 0 ? 1
                                                                      : 2;
            if (row < chunk.end) goal.put(k, place_of(word, k, rows_before, ends), row, key[turn]);
        }
    }
}

template <class Key>
HR_FN void split_chunk(const ClassedRows& rows, const Goal& goal, ClassPositions ends) {
    __shared__ u32 parts[warps];
    const RowChunk chunk(rows);
    for (u64 tile = chunk.begin; tile < chunk.end; tile += tile_rows) {
        const u64 row = tile + threadIdx.x * word_rows;
        const Classes own = classes_from(rows, row, chunk.rows_from(row));
        // Both counts in one word: a tile has at most 32,768 rows.
        const u32 both = static_cast<u32>(__popc(own.of[0])) | static_cast<u32>(__popc(own.of[1])) << 16;
        const u32 upto = tile::scan_warp<Sum<u32>>(both);
        const auto sums = tile::scan_warps<Sum<u32>, threads>(tile::shuffle(upto, tile::lanes - 1), parts);
        place_tile<Key>(goal, {own, sums.before + upto - both}, tile, chunk, ends);
        ends.of[0] += sums.total & 0xFFFF;
        ends.of[1] += sums.total >> 16;
        ends.of[2] += tile_rows - (sums.total & 0xFFFF) - (sums.total >> 16);
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(threads)
    split_classes(ClassedRows rows, const ChunkCounts* counts, u32 chunks, ClassSplit split) {
    const ClassSums sums = sums_of(counts, chunks);
    const u64 first = sums.all[0], both = first + sums.all[1];
    const u64 third = blockIdx.x * rows.chunk - sums.before[0] - sums.before[1];
    const ClassPositions ends = {{sums.before[0], first + sums.before[1], both + third}};
    const Goal goal = {split, rows.nulls_first != 0 ? first : 0, rows.nulls_first != 0 ? 0u : 2u};
    if (split.width == 1) return split_chunk<u8>(rows, goal, ends);
    if (split.width == 2) return split_chunk<u16>(rows, goal, ends);
    if (split.width == 4) return split_chunk<u32>(rows, goal, ends);
    split_chunk<u64>(rows, goal, ends);
}

// Writes bits of the first `count` rows in their order: whether they are true, or whether they are valid.
extern "C" __global__ void __launch_bounds__(threads)
    put_classes(ClassedRows rows, const ChunkCounts* counts, u32 chunks, u32* words, u64 count, u32 of_truths) {
    const ClassSums sums = sums_of(counts, chunks);
    const u64 begins[] = {0, sums.all[0], sums.all[0] + sums.all[1], rows.count};
    const u32 lower = rows.nulls_first != 0 ? 1 : 0, first = of_truths != 0 && rows.descending == 0 ? lower + 1 : lower;
    const u32 last = of_truths != 0 ? first + 1 : lower + 2;
    const u64 begin = begins[first], end = begins[last] < count ? begins[last] : count;
    for (u64 at = u64{blockIdx.x} * threads + threadIdx.x; at * word_rows < count; at += u64{gridDim.x} * threads) {
        const u64 row = at * word_rows;
        const u32 upto_end = end <= row ? 0 : end - row < word_rows ? static_cast<u32>(end - row) : word_rows;
        const u32 upto_begin = begin <= row ? 0 : begin - row < word_rows ? static_cast<u32>(begin - row) : word_rows;
        words[at] = low_mask(upto_end) & ~low_mask(upto_begin);
    }
}
