// Finds a pattern in a text in one reading. A block takes a tile, and a warp a contiguous part of it (rows.cuh). A
// filter (filter.cuh) finds the positions that are verified (verify.cuh).
//
// Bytes moved per byte of text: 1. `mark_hits` writes at most 1/8 in addition for tiles with hits, from which
// positions.cu makes the positions.
#include "gpu/block/block.cuh"
#include "query/find/gpu/cycle.cuh"
#include "query/find/gpu/filter.cuh"
#include "query/find/gpu/hit_list.cuh"
#include "query/find/gpu/rows.cuh"
#include "query/find/gpu/verify.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 warps = threads / tile::lanes;
// Of a multiprocessor. Their loads suffice for its share of the bandwidth; with more blocks, registers are spilled.
constexpr u32 min_blocks = 3;
constexpr u32 part_vectors = WarpRows<rows>::vectors;
constexpr u32 tile_vectors = threads * rows / 8;  // vectors of 16 bytes of the marks of a tile
constexpr u32 tile_positions = tile_vectors * 128;
static_assert(warps * 4 + max_listed(tile_positions) + 16 <= tile_vectors * 16);

using Memory = VerifierMemory<rows>;

// Position of a vector's first bit.
HR_FN i64 first_position(const FindTask& task, u64 vector) {
    return static_cast<i64>(vector * 16) - shift_of(task.text) - static_cast<i64>(task.lead);
}

// Keeps the bits of positions 0 to `last`, where bit 0 is position `begin`.
HR_FN u32 inside(u32 hits, i64 begin, i64 last) {
    if (begin < 0) hits &= begin <= -16 ? 0 : ~0u << static_cast<u32>(-begin);
    const i64 count = last - begin + 1;
    return count >= 16 ? hits : count <= 0 ? 0 : hits & low_mask(static_cast<u32>(count));
}

// Finds the hits of the warp's part. Bit 0 of lane 0 in row 0 is the position that is returned. `all`: whether all hits
// are wanted. The rows are filtered from the last one on, which takes the fewest registers.
template <bool all>
HR_FN i64 search(const FindTask& task, FindResult* result, Memory& memory, u32 (&masks)[rows]) {
    const u64 first = first_vector<rows, threads>();
    WarpRows<rows> text;
    load_text<words_ahead, false>(text, task.text, task.size, first);
    const i64 begin = first_position(task, first);
    const i64 last = static_cast<i64>(task.size - task.length);
    masks[rows - 1] = possible_hits(task, words_of<words_ahead>(text, rows - 1));
    if (all && !is_exact && has_rows<rows>(task.text, task.size, first) && may_be_cyclic(task, masks[rows - 1]) &&
        decide_by_cycle(task, text, begin, masks))
        return begin;
#pragma unroll
    for (u32 row = rows - 1; row-- > 0;) masks[row] = possible_hits(task, words_of<words_ahead>(text, row));
    if (begin < 0 || begin + part_vectors * 16 - 1 > last) {
#pragma unroll
        for (u32 row = 0; row < rows; ++row)
            masks[row] = inside(masks[row], begin + (row * tile::lanes + tile::lane()) * 16, last);
    }
    if (!is_exact) verify(task, begin, &result->spent, memory, masks);
    return begin;
}

// Returns the number of hits of the warps before and of the block in all threads.
HR_FN tile::WarpPrefix<u32> block_count(const u32 (&masks)[rows], u32 (&totals)[warps]) {
    u32 own = 0;
#pragma unroll
    for (u32 row = 0; row < rows; ++row) own += static_cast<u32>(__popc(masks[row]));
    return tile::scan_warps<Sum<u32>, threads>(__reduce_add_sync(tile::all_lanes, own), totals);
}

extern "C" __global__ void __launch_bounds__(threads, min_blocks) count_hits(FindTask task, FindResult* result) {
    __shared__ Memory memory[warps];
    __shared__ u32 totals[warps];
    u32 masks[rows];
    search<true>(task, result, memory[tile::warp()], masks);
    const u32 total = block_count(masks, totals).total;
    if (threadIdx.x == 0 && total != 0) atomicAdd(&result->count, u64{total});
}

// Writes the hits of each tile that has some as marks, or as a list if `may_list` and they are few (hit_list.cuh).
// `counts`: hits of each tile.
extern "C" __global__ void __launch_bounds__(threads, min_blocks)
    mark_hits(FindTask task, FindResult* result, u16* marks, u32* counts, u32 may_list) {
    __shared__ Memory memory[warps];
    __shared__ u32 totals[warps];
    __shared__ uint4 list[(warps * 4 + max_listed(tile_positions)) / 16 + 1];
    u32 masks[rows];
    search<true>(task, result, memory[tile::warp()], masks);
    const auto [before, total] = block_count(masks, totals);
    const bool is_list = may_list != 0 && total <= max_listed(tile_positions);
    if (threadIdx.x == 0) {
        counts[blockIdx.x] = is_list ? total | is_listed : total;
        if (total != 0) atomicAdd(&result->count, u64{total});
    }
    if (total == 0) return;
    if (is_list) {
        const u32 size = warps * 4 + total;
        list_hits<rows, warps>(masks, before, memory[tile::warp()].held, reinterpret_cast<u32*>(list));
        if (threadIdx.x < (0 - size) % 16) reinterpret_cast<u8*>(list)[size + threadIdx.x] = 0;
        __syncthreads();
        uint4* const to = reinterpret_cast<uint4*>(marks) + static_cast<u64>(blockIdx.x) * tile_vectors;
        for (u32 i = threadIdx.x; i * 16 < size; i += threads) to[i] = list[i];
        return;
    }
    u16* const own = marks + first_vector<rows, threads>() + tile::lane();
#pragma unroll
    for (u32 row = 0; row < rows; ++row) own[row * tile::lanes] = static_cast<u16>(masks[row]);
}

// Blocks start about in the order of their tiles, so those after the first hit end at once.
extern "C" __global__ void __launch_bounds__(threads, min_blocks) first_hit(FindTask task, FindResult* result) {
    __shared__ Memory memory[warps];
    u64 known = 0;
    if (tile::lane() == 0) known = tile::load_relaxed(&result->first);
    const i64 least = first_position(task, first_vector<rows, threads>());
    if (least > 0 && static_cast<u64>(least) > tile::shuffle(known, 0)) return;
    u32 masks[rows];
    const i64 begin = search<false>(task, result, memory[tile::warp()], masks);
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        const u32 found = __ballot_sync(tile::all_lanes, masks[row] != 0);
        if (found == 0) continue;
        const u32 lane = static_cast<u32>(trailing_zeros(found));
        if (tile::lane() == lane) {
            const i64 at = begin + (row * tile::lanes + lane) * 16 + trailing_zeros(masks[row]);
            atomicMin(&result->first, static_cast<u64>(at));
        }
        return;
    }
}
