// Writes the arrays that guide searches (level.hpp): fences and filter of one level, and the guide of all levels.
//
// write_guide ranks the samples of all levels. A block has a warp for each level, and a lane for each of 32 samples.
// The ranks of a sample give its place in the guide.
//
// Bytes moved per sample of width w: the reads of its searches, w, and 4 for each level. Bytes per fence: 2 w.
#include "gpu/block/turns.cuh"
#include "index/sorted_map/gpu/samples.cuh"

using namespace headrace;

using Code = HR_CODE;
constexpr u32 threads = HR_THREADS;
constexpr u32 turns = HR_TURNS;

extern "C" __global__ void __launch_bounds__(tile::lanes* tile::lanes)
    write_guide(const __grid_constant__ MapLevels levels, u64 stride, Code* codes, u32* positions) {
    __shared__ u64 places[tile::lanes][tile::lanes];  // samples of a level that are before a sample
    const u32 of = tile::warp(), lane = tile::lane();
    const Sample sample = sample_of(levels, stride, static_cast<u64>(blockIdx.x) * tile::lanes + lane);
    u64 rank = 0;
    if (sample.own < levels.count) {
        rank = rank_of_item<Code>(levels, sample.own, sample.number * stride, of);
        places[of][lane] = samples_of(rank, stride);
    }
    __syncthreads();
    if (sample.own == levels.count) return;
    u64 place = 0;
    for (u32 i = 0; i < levels.count; ++i) place += places[i][lane];
    positions[place * row_length(levels.count) + of] = static_cast<u32>(rank);
    if (of == sample.own) codes[place] = codes_of<Code>(levels.level[of])[sample.number * stride];
}

// Sets the bits of all codes of a level in its filter, which is zero before.
extern "C" __global__ void __launch_bounds__(threads) write_filter(const __grid_constant__ MapLevel level) {
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = tile::item_of_turn<threads, turns>(turn);
        if (i >= level.count) continue;
        const u64 hash = mix_bits(static_cast<u64>(codes_of<Code>(level)[i]));
        atomicOr(level.filter + word_of_filter(level.count, hash), bits_of_filter(hash));
    }
}

// Writes `count` fences of a level, rows and fillings (level.hpp).
extern "C" __global__ void __launch_bounds__(threads)
    write_fences(const __grid_constant__ MapLevel level, u64 count, Code* fences) {
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = tile::item_of_turn<threads, turns>(turn);
        if (i >= count) continue;
        u64 shift = level.fence_shift, in_row = i;
        while (in_row >= whole_nodes(fences_of_row(level.count, shift))) {
            in_row -= whole_nodes(fences_of_row(level.count, shift));
            shift -= fence_bits;
        }
        const u64 end = (in_row + 1) << shift;
        const bool is_filling = in_row >= fences_of_row(level.count, shift);
        const u64 last = (end < level.count ? end : level.count) - 1;
        fences[i] = is_filling ? static_cast<Code>(~Code{0}) : codes_of<Code>(level)[last];
    }
}
