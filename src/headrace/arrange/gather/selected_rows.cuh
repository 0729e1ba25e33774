// Marks rows by a condition, and counts the marked rows of each block. Blocks of 8 turns of HR_THREADS rows; a warp
// writes a word of 32 bits each turn.
#pragma once
#include "gpu/block/block.cuh"

namespace headrace::selected {

constexpr u32 threads = HR_THREADS;
constexpr u32 turns = 8;
constexpr u32 block_rows = threads * turns;

HR_FN u64 row_of_turn(u32 turn) { return static_cast<u64>(blockIdx.x) * block_rows + turn * threads + threadIdx.x; }

// Writes a bit per row, and counts[block]: the rows of a block for which is_selected(row) is true.
template <class IsSelected>
HR_FN void mark(u64 rows, u32* bits, u64* counts, const IsSelected& is_selected) {
    __shared__ u64 parts[threads / tile::lanes];
    u64 selected = 0;
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 row = row_of_turn(turn);
        const bool is_true = row < rows && is_selected(row);
        const u32 word = __ballot_sync(tile::all_lanes, is_true);
        if (row < rows && tile::lane() == 0) bits[row / tile::lanes] = word;
        selected += is_true ? 1 : 0;
    }
    selected = tile::reduce_block<Sum<u64>, threads>(selected, parts);
    if (threadIdx.x == 0) counts[blockIdx.x] = selected;
}

}  // namespace headrace::selected
