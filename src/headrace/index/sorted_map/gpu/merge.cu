// Merges up to 32 levels in one pass over memory, stably, newer items first. A tile of the result gets its exact begin
// in each level, so that all tiles have the same number of items. (Merge path of Green, McColl and Bader 2012, with
// rank selection for several arrays.)
//
// rank_samples searches samples of each level in all levels. The sum of its ranks is the place of a sample in the
// result.
//
// cut_levels finds the begins of the tiles. The places of samples bound the positions in each level. Between them the
// code of the cut is found by bisection, a warp for each cut and a lane for each level.
//
// merge_tiles merges the parts of the levels in a tile one after another in shared memory, each item as its code and
// its source. It copies values once. merge_visible leaves out tombstones and replaced items, for a cleanup.
//
// Bytes moved per item of width w: 2 w, and 8 * levels for each cut.
#include "gpu/block/block.cuh"
#include "gpu/block/dependent_launch.cuh"
#include "gpu/block/memory_access.cuh"
#include "index/sorted_map/gpu/samples.cuh"

using namespace headrace;

using Code = HR_CODE;
constexpr u32 threads = HR_THREADS;
constexpr u32 thread_items = HR_ITEMS;
constexpr u32 tile_items = threads * thread_items;
constexpr u32 offset_bits = 11;
static_assert(tile_items <= 1 << offset_bits);

// Writes the place of each sample in the result. A block has a warp for each level, and a lane for each of 32 samples.
extern "C" __global__ void __launch_bounds__(tile::lanes* tile::lanes)
    rank_samples(const __grid_constant__ MapLevels levels, const __grid_constant__ CutTask task, u64* places) {
    __shared__ u64 ranks[tile::lanes][tile::lanes];  // of a sample in a level
    tile::wait_for_launch_before();
    const u32 of = tile::warp(), lane = tile::lane();
    const u64 first = static_cast<u64>(blockIdx.x) * tile::lanes;
    const Sample sample = sample_of(levels, task.stride, first + lane);
    if (sample.own < levels.count) {
        ranks[of][lane] = rank_of_item<Code>(levels, sample.own, sample.number * task.stride, of);
    }
    __syncthreads();
    if (of != 0 || sample.own == levels.count) return;
    u64 place = 0;
    for (u32 i = 0; i < levels.count; ++i) place += ranks[i][lane];
    places[first + lane] = place;
}

template <class Op>
HR_FN typename Op::Item joined(typename Op::Item value) {
    return tile::shuffle(tile::reduce_warp<Op>(value), 0);
}

// Returns the bits of the code that a step finds: its candidates of all levels are searched by one lane each.
HR_FN i32 bits_of_step(u32 levels) { return levels <= 2 ? 4 : levels <= 4 ? 3 : levels <= 10 ? 2 : 1; }

// Returns the position in a lane's level of the first `rank` items of all levels, which is in [low, high]. Lanes
// without a level have no items.
HR_FN u64 position_of_rank(const MapLevels& levels, u64 low, u64 high, u64 rank) {
    const u32 lane = tile::lane(), count = levels.count;
    const bool has_level = lane < count;
    const Code* const codes = has_level ? codes_of<Code>(levels.level[lane]) : nullptr;
    const Code least = joined<Min<Code>>(low < high ? codes[low] : static_cast<Code>(~Code{0}));
    const Code largest = joined<Max<Code>>(low < high ? codes[high - 1] : Code{0});
    if (least > largest) return low;  // no items are left
    // The code of the item at `rank` is found from its highest unknown bits down. With 2 levels, lane 5 searches
    // candidate 2 in level 1.
    const u64 differing = least ^ largest;
    i32 bit = differing == 0 ? 0 : 64 - leading_zeros(differing);
    Code code = bit == 64 ? Code{0} : static_cast<Code>(least & ~((u64{1} << bit) - 1));
    const u32 candidate = lane / count, of = lane % count;
    const Code* const searched = codes_of<Code>(levels.level[of]);
    while (bit > 0) {
        const i32 digit = bit < bits_of_step(count) ? bit : bits_of_step(count);
        bit -= digit;
        const u32 candidates = (1u << digit) - 1;
        const u64 begin = tile::shuffle(low, of), end = tile::shuffle(high, of);
        u64 position = 0;
        if (candidate < candidates) {
            const Code middle = static_cast<Code>(code | static_cast<Code>(candidate + 1) << bit);
            position = begin + rank_of(searched + begin, end - begin, middle, 0);
        }
        u64 before = 0;  // the candidate of the lane's number, in all levels
        for (u32 i = 0; i < count; ++i) before += tile::shuffle(position, (lane * count + i) % tile::lanes);
        const u32 exact = __ballot_sync(tile::all_lanes, lane < candidates && before == rank);
        if (exact != 0) {
            const u32 first = static_cast<u32>(trailing_zeros(exact)) * count;
            return tile::shuffle(position, (first + lane) % tile::lanes);
        }
        const u32 found =
            static_cast<u32>(count_ones(__ballot_sync(tile::all_lanes, lane < candidates && before < rank)));
        const u64 lower = tile::shuffle(position, (found * count - count + lane) % tile::lanes);
        const u64 upper = tile::shuffle(position, (found * count + lane) % tile::lanes);
        if (has_level && found > 0) low = lower;
        if (has_level && found < candidates) high = upper;
        code = static_cast<Code>(code | static_cast<Code>(found) << bit);
    }
    // Of the items of that code, newer ones are first.
    const u64 equal = rank_of(codes + low, high - low, code, 1);
    const u64 left = rank - joined<Sum<u64>>(low);
    const u64 before = tile::scan_warp<Sum<u64>>(equal) - equal;
    return low + (left <= before ? 0 : left - before < equal ? left - before : equal);
}

// Writes the begin in each level of each cut, cuts[cut * levels + level], by a warp for each cut and a lane for each
// level.
extern "C" __global__ void __launch_bounds__(threads)
    cut_levels(const __grid_constant__ MapLevels levels, const __grid_constant__ CutTask task, const u64* places,
               u64* cuts) {
    tile::wait_for_launch_before();
    const u64 cut = static_cast<u64>(blockIdx.x) * (threads / tile::lanes) + tile::warp();
    if (cut >= task.cuts) return;
    const u64 rank = cut * tile_items < task.items ? cut * tile_items : task.items;
    const u32 of = tile::lane();
    const bool has_level = of < levels.count;
    u64 low = 0, high = 0;
    if (has_level) {
        u64 first = 0;
        for (u32 i = 0; i < of; ++i) first += samples_of(levels.level[i].count, task.stride);
        const u64 count = levels.level[of].count, samples = samples_of(count, task.stride);
        const u64 before = rank_by_quarters(places + first, samples, rank, 1);  // samples up to the cut
        low = before > 0 ? (before - 1) * task.stride : 0;
        high = before < samples ? before * task.stride : count;
    }
    const u64 position = position_of_rank(levels, low, high, rank);
    if (has_level) cuts[cut * levels.count + of] = position;
}

// Returns a level without its first items, for reads of single items.
HR_FN MapLevel level_from(const MapLevel& level, u64 begin, u32 value_width) {
    MapLevel result = level;
    result.codes = codes_of<Code>(level) + begin;
    if (level.values != nullptr) result.values = static_cast<const u8*>(level.values) + begin * value_width;
    if (level.tombstones != nullptr) result.tombstones = level.tombstones + begin;
    return result;
}

// Merges the items [0, middle) and [middle, end) of a tile in place; of equal codes the former are first.
HR_FN void merge_parts(Code* codes, u16* sources, u32 middle, u32 end) {
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

// Copies the values of a tile, whose reads are all on their way before the first one is stored.
template <class Value>
HR_FN void copy_values(const MapLevel* parts, const u16* sources, u32 count, Value* to) {
    Value value[thread_items];
#pragma unroll
    for (u32 k = 0; k < thread_items; ++k) {
        const u32 i = k * threads + threadIdx.x;
        if (i >= count) continue;
        const Value* const values = static_cast<const Value*>(parts[sources[i] >> offset_bits].values);
        value[k] = values[sources[i] & low_mask(offset_bits)];
    }
#pragma unroll
    for (u32 k = 0; k < thread_items; ++k) {
        if (k * threads + threadIdx.x < count) to[k * threads + threadIdx.x] = value[k];
    }
}

// A tile of the result.
struct LevelTile {
    Code codes[tile_items];
    u16 sources[tile_items];
    MapLevel parts[tile::lanes];  // the levels, from the begin of the tile on
    u32 starts[tile::lanes + 1];  // of each part in the tile
    u64 place;                    // of the tile in all items
};

// Reads the items between two cuts and merges them. Returns their number.
HR_FN u32 merge_tile(const MapLevels& levels, const u64* cut, LevelTile& tile) {
    if (threadIdx.x < tile::lanes) {
        const u32 of = threadIdx.x;
        const u64 begin = of < levels.count ? cut[of] : 0;
        const u64 end = of < levels.count ? cut[levels.count + of] : 0;
        if (of < levels.count) tile.parts[of] = level_from(levels.level[of], begin, levels.value_width);
        if (of == 0) tile.starts[0] = 0;
        tile.starts[of + 1] = tile::scan_warp<Sum<u32>>(static_cast<u32>(end - begin));
        const u64 before = tile::reduce_warp<Sum<u64>>(begin);
        if (of == 0) tile.place = before;
    }
    __syncthreads();
    const u32 count = tile.starts[levels.count];
    Code code[thread_items];  // all reads are on their way before the first one is stored
    u32 of = 0;
#pragma unroll
    for (u32 k = 0; k < thread_items; ++k) {
        const u32 i = k * threads + threadIdx.x;
        if (i >= count) continue;
        while (i >= tile.starts[of + 1]) ++of;
        code[k] = codes_of<Code>(tile.parts[of])[i - tile.starts[of]];
        tile.sources[i] = static_cast<u16>(of << offset_bits | (i - tile.starts[of]));
    }
#pragma unroll
    for (u32 k = 0; k < thread_items; ++k) {
        if (k * threads + threadIdx.x < count) tile.codes[k * threads + threadIdx.x] = code[k];
    }
    __syncthreads();
    u32 merged = tile.starts[1];
    for (u32 part = 1; part < levels.count; ++part) {
        const u32 end = tile.starts[part + 1];
        if (merged > 0 && end > merged) merge_parts(tile.codes, tile.sources, merged, end);
        merged = end;
    }
    return count;
}

// Returns whether an item of a tile, the one of this source, is a tombstone.
HR_FN bool is_deleted(const LevelTile& tile, u32 source) {
    return is_tombstone(tile.parts[source >> offset_bits], source & low_mask(offset_bits));
}

// Writes codes and values of the first items of a tile from `place` on.
HR_FN void store_tile(const LevelTile& tile, u32 count, u32 value_width, u64 place, Code* codes, void* values) {
    for (u32 i = threadIdx.x; i < count; i += threads) codes[place + i] = tile.codes[i];
    if (value_width == 4) copy_values(tile.parts, tile.sources, count, static_cast<u32*>(values) + place);
    if (value_width == 8) copy_values(tile.parts, tile.sources, count, static_cast<u64*>(values) + place);
}

extern "C" __global__ void __launch_bounds__(threads)
    merge_tiles(const __grid_constant__ MapLevels levels, const u64* cuts, Code* codes, void* values, u8* tombstones) {
    __shared__ LevelTile tile;
    tile::wait_for_launch_before();
    const u32 count = merge_tile(levels, cuts + static_cast<u64>(blockIdx.x) * levels.count, tile);
    store_tile(tile, count, levels.value_width, tile.place, codes, values);
    if (tombstones == nullptr) return;
    for (u32 i = threadIdx.x; i < count; i += threads) {
        tombstones[tile.place + i] = is_deleted(tile, tile.sources[i]) ? 1 : 0;
    }
}

// Moves the visible pairs of a tile to its begin, and returns their number. `previous`: the last code before the tile.
HR_FN u32 keep_visible(LevelTile& tile, u32 count, Code previous, u32 (&totals)[threads / tile::lanes]) {
    const u32 first = threadIdx.x * thread_items;
    Code code[thread_items];
    u16 source[thread_items];
    u32 visible = 0;
#pragma unroll
    for (u32 i = 0; i < thread_items; ++i) {
        if (first + i >= count) break;
        code[i] = tile.codes[first + i];
        source[i] = tile.sources[first + i];
        const Code before = first + i == 0 ? previous : tile.codes[first + i - 1];
        const bool is_first = code[i] != before || (first + i == 0 && tile.place == 0);
        if (is_first && !is_deleted(tile, source[i])) visible |= 1u << i;
    }
    const u32 upto = tile::scan_warp<Sum<u32>>(static_cast<u32>(__popc(visible)));
    const auto warps = tile::scan_warps<Sum<u32>, threads>(tile::shuffle(upto, tile::lanes - 1), totals);
    u32 to = warps.before + upto - static_cast<u32>(__popc(visible));
#pragma unroll
    for (u32 i = 0; i < thread_items; ++i) {
        if ((visible >> i & 1) == 0) continue;
        tile.codes[to] = code[i];
        tile.sources[to] = source[i];
        ++to;
    }
    return warps.total;
}

// Marks of the state of a tile, which is one word with a number of pairs: 0 before the tile is merged.
constexpr u64 total_mark = 1;  // the number is that of the tile
constexpr u64 whole_mark = 2;  // the number is that of the tile and of all tiles before it
constexpr u32 mark_bits = 2;

// Returns the number of pairs of all tiles before one, by a look-back over their states. Posts the tile's own `pairs`
// first, then the sum. (Merrill and Garland 2016, "Single-pass parallel prefix scan with decoupled look-back".) All
// lanes of the first warp call it.
HR_FN u64 pairs_before(u64* states, u32 number, u32 pairs) {
    if (number != 0 && tile::lane() == 0) {
        tile::store_relaxed(states + number, static_cast<u64>(pairs) << mark_bits | total_mark);
    }
    u64 before = 0;
    for (u32 end = number; end > 0; end -= tile::lanes) {
        const u32 lane = tile::lane();
        u64 state = lane < end ? 0 : whole_mark;
        while (__any_sync(tile::all_lanes, state == 0)) {
            if (state == 0) state = tile::load_relaxed(states + end - 1 - lane);
        }
        const u32 wholes = __ballot_sync(tile::all_lanes, (state & whole_mark) != 0);
        const u32 last = wholes != 0 ? static_cast<u32>(trailing_zeros(wholes)) : tile::lanes;
        before += joined<Sum<u64>>(lane <= last ? state >> mark_bits : 0);
        if (wholes != 0) break;
    }
    if (tile::lane() == 0) tile::store_relaxed(states + number, (before + pairs) << mark_bits | whole_mark);
    return before;
}

// Blocks of a multiprocessor that run at once: the most whose registers hold all variables.
constexpr u32 cleanup_blocks = sizeof(Code) == 4 ? 8 : 6;

// Merges the levels as merge_tiles does, and writes the visible pairs alone, those of all tiles one after another, by a
// look-back. Blocks take their tiles in turn, so that all tiles before one are on their way. `states`: zero; the number
// of tiles that are taken, and the state of each tile. `found`: number of pairs.
extern "C" __global__ void __launch_bounds__(threads, cleanup_blocks)
    merge_visible(const __grid_constant__ MapLevels levels, const u64* cuts, u32 tiles, u64* states, Code* codes,
                  void* values, u64* found) {
    __shared__ LevelTile tile;
    __shared__ u32 totals[threads / tile::lanes];
    __shared__ u32 number;
    __shared__ Code previous;
    __shared__ u64 place;
    tile::wait_for_launch_before();
    if (threadIdx.x == 0) number = atomicAdd(reinterpret_cast<u32*>(states), 1u);
    __syncthreads();
    const u64* const cut = cuts + static_cast<u64>(number) * levels.count;
    if (tile::warp() == 0) {
        const u32 of = tile::lane();
        const bool has_items = of < levels.count && cut[of] > 0;
        const Code last = joined<Max<Code>>(has_items ? codes_of<Code>(levels.level[of])[cut[of] - 1] : Code{0});
        if (of == 0) previous = last;
    }
    const u32 count = merge_tile(levels, cut, tile);
    const u32 pairs = keep_visible(tile, count, previous, totals);
    if (tile::warp() == 0) {
        const u64 before = pairs_before(states + 1, number, pairs);
        if (tile::lane() == 0) {
            place = before;
            if (number == tiles - 1) *found = before + pairs;
        }
    }
    __syncthreads();
    store_tile(tile, pairs, levels.value_width, place, codes, values);
}
