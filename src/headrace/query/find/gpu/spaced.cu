// Selects hits that do not overlap: the first one, and then each first one past the end of the selected one before.
// Each hit has a link to the hit that would follow it. Pointer doubling finds all hits that are reached from the first
// one (Wyllie 1979, "The complexity of parallel computations", chapter 3). In a round, the reached hits also reach the
// ends of their links, and each link is replaced by the link of its end. So 2^k hits are reached after k rounds.
//
// Bytes moved per hit: 24 per round, and a search among the following hits for its first link.
#include "gpu/block/memory_access.cuh"
#include "gpu/block/partition_point.cuh"
#include "gpu/block/warp.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

HR_FN u64 hit_index() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }

// Writes the index of the first hit at or past the end of each hit; `count` if there is none.
extern "C" __global__ void __launch_bounds__(threads)
    link_hits(const u64* positions, u64 count, u64 length, u64* links, u32* reached) {
    const u64 own = hit_index();
    if (own >= count) return;
    const u64 wanted = positions[own] + length;
    const u64 next = own + 1;
    const u64 end = count - next < length ? count : next + length;  // at most `length` hits overlap this one
    links[own] = tile::partition_point(next, end, [&](u64 i) { return positions[i] < wanted; });
    reached[own] = own == 0 ? 1 : 0;
}

extern "C" __global__ void __launch_bounds__(threads)
    follow_links(const u64* links, u64 count, u64* doubled, u32* reached) {
    const u64 own = hit_index();
    if (own >= count) return;
    const u64 next = links[own];
    doubled[own] = next < count ? links[next] : count;
    if (next < count && tile::load_relaxed(&reached[own]) != 0) tile::store_relaxed(&reached[next], 1u);
}

// Clears the marks of hits that are not kept. `first`: position of the first mark, modulo 2^64.
extern "C" __global__ void __launch_bounds__(threads)
    drop_hits(const u64* positions, u64 count, const u32* is_kept, u64 first, u32* marks, u32* counts, u64 tile_marks,
              u64* selected) {
    const u64 own = hit_index();
    const bool drops = own < count && is_kept[own] == 0;
    if (drops) {
        const u64 mark = positions[own] - first;
        atomicAnd(&marks[mark / 32], ~(1u << (mark % 32)));
        atomicSub(&counts[mark / tile_marks], 1u);
    }
    const u32 keeps = __ballot_sync(tile::all_lanes, own < count && !drops);
    if (tile::lane() == 0 && keeps != 0) atomicAdd(selected, static_cast<u64>(__popc(keeps)));
}
