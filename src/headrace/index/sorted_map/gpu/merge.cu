// Merges up to 32 levels in one pass over memory, stably, newer items first. Tiles of the result are cut at samples, the
// items at each multiple of `stride` of each level. Between two samples that follow each other in the merged order lie
// at most `levels * stride` items. So no tile has more than `span + levels * stride` items. (Partition by regular
// samples: Shi and Schaeffer 1992, "Parallel sorting by regular sampling".)
//
// rank_samples searches each sample in each level. The sum of its ranks is its place in the result.
//
// cut_levels searches the first sample at or after each multiple of `span` again, and writes its ranks.
//
// merge_tiles merges the parts of the levels in a tile one after another in shared memory, each item as its code and
// its source. It copies values once.
//
// Bytes moved per item of width w: 2 w, and 8 * (levels + 1) for each cut.
#include "gpu/block/warp.cuh"
#include "index/sorted_map/gpu/samples.cuh"

using namespace headrace;

using Code = HR_CODE;
constexpr u32 threads = HR_THREADS;
constexpr u32 thread_items = HR_ITEMS;
constexpr u32 tile_items = threads * thread_items;
constexpr u32 offset_bits = 11;
static_assert(tile_items <= 1 << offset_bits);

// A sample as one number, larger for fewer items between its cut and itself; 0 is no sample.
constexpr u32 level_bits = 6;
constexpr u32 number_bits = 46;
static __device__ __forceinline__ u64 low_bits(u32 count) { return (u64{1} << count) - 1; }
static __device__ __forceinline__ u64 sample_word(u64 after, u32 own, u64 number) {
    return (low_bits(64 - level_bits - number_bits) - after) << (level_bits + number_bits) |
           static_cast<u64>(own) << number_bits | number;
}

// Finds the first sample at or after each multiple of `span` in the merged order. A block has a warp for each level,
// and a lane for each of 32 samples. `firsts` is zero before.
extern "C" __global__ void __launch_bounds__(tile::lanes* tile::lanes)
    rank_samples(const __grid_constant__ MapLevels levels, const __grid_constant__ CutTask task, u64* firsts) {
    __shared__ u64 ranks[tile::lanes][tile::lanes];  // of a sample in a level
    const u32 of = tile::warp(), lane = tile::lane();
    const Sample sample = sample_of(levels, task.stride, static_cast<u64>(blockIdx.x) * tile::lanes + lane);
    if (sample.own < levels.count)
        ranks[of][lane] = rank_of_item<Code>(levels, sample.own, sample.number * task.stride, of);
    __syncthreads();
    if (of != 0 || sample.own == levels.count) return;
    u64 rank = 0;
    for (u32 i = 0; i < levels.count; ++i) rank += ranks[i][lane];
    const u64 cut = rank / task.span, after = rank - cut * task.span;
    if (after < levels.count * task.stride) atomicMax(&firsts[cut], sample_word(after, sample.own, sample.number));
}

// Writes the begin in each level of each cut, cuts[cut * levels + level], by a warp for each cut and a lane for each
// level. The last cut is the end of all levels.
extern "C" __global__ void __launch_bounds__(threads)
    cut_levels(const __grid_constant__ MapLevels levels, const __grid_constant__ CutTask task, const u64* firsts,
               u64* cuts) {
    const u64 cut = static_cast<u64>(blockIdx.x) * (threads / tile::lanes) + tile::warp();
    const u32 of = tile::lane();
    if (cut >= task.cuts || of >= levels.count) return;
    const u64 first = cut + 1 < task.cuts ? firsts[cut] : 0;
    u64 begin = levels.level[of].count;
    if (first != 0) {
        const u32 own = static_cast<u32>(first >> number_bits & low_bits(level_bits));
        begin = rank_of_item<Code>(levels, own, (first & low_bits(number_bits)) * task.stride, of);
    }
    cuts[cut * levels.count + of] = begin;
}

// Returns a level without its first items, for reads of single items.
static __device__ __forceinline__ MapLevel level_from(const MapLevel& level, u64 begin, u32 value_width) {
    MapLevel result = level;
    result.codes = codes_of<Code>(level) + begin;
    if (level.values != nullptr) result.values = static_cast<const u8*>(level.values) + begin * value_width;
    if (level.tombstones != nullptr) result.tombstones = level.tombstones + begin;
    return result;
}

// Merges the items [0, middle) and [middle, end) of a tile in place; of equal codes the former are first.
static __device__ __forceinline__ void merge_parts(Code* codes, u16* sources, u32 middle, u32 end) {
    const u32 first = threadIdx.x * thread_items;
    Code code[thread_items];
    u16 source[thread_items];
    if (first < end) {
        u32 a = first > end - middle ? first - (end - middle) : 0, high = first < middle ? first : middle;
        while (a < high) {
            const u32 half = (a + high) / 2;
            if (codes[half] <= codes[middle + first - 1 - half]) {
                a = half + 1;
            } else {
                high = half;
            }
        }
        u32 b = middle + first - a;
#pragma unroll
        for (u32 i = 0; i < thread_items; ++i) {
            if (first + i >= end) break;
            const bool is_older = b < end && (a >= middle || codes[b] < codes[a]);
            const u32 from = is_older ? b : a;
            code[i] = codes[from];
            source[i] = sources[from];
            a += is_older ? 0 : 1;
            b += is_older ? 1 : 0;
        }
    }
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < thread_items; ++i) {
        if (first + i < end) {
            codes[first + i] = code[i];
            sources[first + i] = source[i];
        }
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(threads)
    merge_tiles(const __grid_constant__ MapLevels levels, const u64* cuts, Code* codes, void* values, u8* tombstones) {
    __shared__ Code tile_codes[tile_items];
    __shared__ u16 sources[tile_items];
    __shared__ MapLevel parts[tile::lanes];  // the levels, from the begin of the tile on
    __shared__ u32 starts[tile::lanes + 1];  // of each part in the tile
    __shared__ u64 place;                    // of the tile in the result
    if (threadIdx.x < tile::lanes) {
        const u32 of = threadIdx.x;
        const u64* const cut = cuts + static_cast<u64>(blockIdx.x) * levels.count;
        const u64 begin = of < levels.count ? cut[of] : 0;
        const u64 end = of < levels.count ? cut[levels.count + of] : 0;
        if (of < levels.count) parts[of] = level_from(levels.level[of], begin, levels.value_width);
        if (of == 0) starts[0] = 0;
        starts[of + 1] = tile::scan_warp<Sum<u32>>(static_cast<u32>(end - begin));
        const u64 before = tile::reduce_warp<Sum<u64>>(begin);
        if (of == 0) place = before;
    }
    __syncthreads();
    const u32 count = starts[levels.count];
    u32 of = 0;
    for (u32 i = threadIdx.x; i < count; i += threads) {
        while (i >= starts[of + 1]) ++of;
        const u32 offset = i - starts[of];
        tile_codes[i] = codes_of<Code>(parts[of])[offset];
        sources[i] = static_cast<u16>(of << offset_bits | offset);
    }
    __syncthreads();
    u32 merged = starts[1];
    for (u32 part = 1; part < levels.count; ++part) {
        const u32 end = starts[part + 1];
        if (merged > 0 && end > merged) merge_parts(tile_codes, sources, merged, end);
        merged = end;
    }
    for (u32 i = threadIdx.x; i < count; i += threads) {
        const MapLevel& part = parts[sources[i] >> offset_bits];
        const u32 at = sources[i] & low_mask(offset_bits);
        codes[place + i] = tile_codes[i];
        copy_value(part.values, at, values, place + i, levels.value_width);
        if (tombstones != nullptr) tombstones[place + i] = is_tombstone(part, at) ? 1 : 0;
    }
}
