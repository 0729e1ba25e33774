// Keys, and values with them, in the order of their digits: what a block does with a tile, again and again.
//
// A tile's keys are in registers, a warp's side by side. Each warp counts its digits in shared memory; a scan over the
// digits and the warps tells where in the tile each warp's keys of a digit begin; ballots tell the rest
// (split_rank.cuh). Keys go to their places in shared memory, so that those of a digit lie side by side, and from there
// to the result, while the next tile's keys are on their way. (Dissertation of Ashkiani 2017, section 3.5, block-level
// multisplit. What is counted before it is ranked: Adinets and Merrill 2022, "Onesweep", section 4.)
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v.
#include "arrange/multisplit/split_tile.cuh"

using namespace headrace;

// The tiles of a block, one after the other.
class Tiles {
public:
    __device__ __forceinline__ explicit Tiles(const Work& work) : work_(work), look_back_(work.places) {
        const u32 d = threadIdx.x;
        Shared& shared = work.shared;
        if constexpr (HR_PLACES == by_chunks) {
            at_ = blockIdx.x * work.places.chunk;
            end_ = at_ + work.places.chunk < work.count ? at_ + work.places.chunk : work.count;
            if (d < digits) shared.base[d] = base_of_chunk(work.places, d);
        } else {
            end_ = work.count;
            if (HR_PLACES == by_look_back && d < digits) shared.base[d] = work.places.starts[d];
            take();
            __syncthreads();
            step();
        }
    }

    __device__ __forceinline__ Tile current() const {
        const u64 left = at_ < end_ ? end_ - at_ : 0;
        return {at_, left < tile_keys ? static_cast<u32>(left) : tile_keys};
    }
    // Asks for the next one, which `step` goes to behind a barrier.
    __device__ __forceinline__ void take() {
        if (HR_PLACES != by_chunks && threadIdx.x == 0) work_.shared.tile = look_back_.take_tile();
    }
    __device__ __forceinline__ void step() {
        at_ = HR_PLACES == by_chunks ? at_ + tile_keys : static_cast<u64>(work_.shared.tile) * tile_keys;
    }
    __device__ __forceinline__ void end() {
        if (HR_PLACES != by_chunks && threadIdx.x == 0) look_back_.end();
    }

    // Tells others what the tile has of a digit, or takes room for it in the result.
    __device__ __forceinline__ u64 announce(const Tile& tile, const Found& found) {
        const u32 d = threadIdx.x;
        if (d >= digits) return 0;
        if constexpr (HR_PLACES == by_look_back) look_back_.post(number(tile), d, found.count);
        if constexpr (HR_PLACES == by_reserving) {
            if (found.count != 0) return atomicAdd(&work_.places.starts[d], static_cast<u64>(found.count));
        }
        return 0;
    }
    // Where the tile's keys of a digit go; `taken` is what announce gave.
    __device__ __forceinline__ void find(const Tile& tile, const Found& found, u64 taken) {
        const u32 d = threadIdx.x;
        if (d >= digits) return;
        if constexpr (HR_PLACES == by_chunks) {
            taken = work_.shared.base[d];
            work_.shared.base[d] = taken + found.count;
        } else if constexpr (HR_PLACES == by_look_back) {
            taken = work_.shared.base[d] + look_back_.before(number(tile), d, found.count);
        }
        work_.shared.to[d] = taken - found.start;
    }

private:
    static __device__ __forceinline__ u64 base_of_chunk(const Places& places, u32 d) {
        const u32 group = blockIdx.x / places.group;
        u64 base = places.starts[static_cast<u64>(group) * digits + d];
        for (u32 chunk = group * places.group; chunk < blockIdx.x; ++chunk) {
            base += places.counts[static_cast<u64>(chunk) * digits + d];
        }
        return base;
    }
    static __device__ __forceinline__ u32 number(const Tile& tile) { return static_cast<u32>(tile.begin / tile_keys); }

    const Work& work_;
    LookBack look_back_;
    u64 at_ = 0, end_ = 0;
};

// One tile. Where there are no values its keys are loaded, and the next one's follow while these go out.
template <bool whole>
static __device__ __forceinline__ void split_tile(Key (&key)[items], const Work& work, Tiles& tiles) {
    const Tile tile = tiles.current();
    u32 place[items / 2] = {};
    const Found found =
        HR_PLACES == by_reserving ? rank_anyhow<whole>(key, work, tile, place) : count_digits<whole>(key, work, tile);
    const u64 taken = tiles.announce(tile, found);
    tiles.take();
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) forget(key[j]);
    if constexpr (HR_PLACES == by_reserving) {
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (!whole && item_place(j) >= tile.count) continue;
            work.room[work.shared.next[0][work.digit.of(key[j])] + half_of(place, j)] = key[j];
        }
    } else {
        rank_items<items>(
            work.shared.next[tile::warp()], [&](u32 j) { return digit_at<whole>(key, j, work.digit, tile); },
            [&](u32 j, u32 at) {
                work.room[at] = key[j];
                if constexpr (with_values) place[j / 2] |= at << (j % 2 * 16);
            });
    }
    tiles.step();
    if constexpr (whole && !with_values) load_keys(key, work.in, tiles.current());
    tiles.find(tile, found, taken);
    __syncthreads();
    write_out<whole, true>(work, work.room, work.out, tile, 0, tile_keys);
    if constexpr (with_values) move_columns<whole>(work, tile, place);
    __syncthreads();
}

template <bool whole>
static __device__ __forceinline__ void load_and_split(const Work& work, Tiles& tiles) {
    Key key[items] = {};
    load_items<whole>(key, work.in, tiles.current());
    split_tile<whole>(key, work, tiles);
}

// Blocks of `threads`; dynamic shared memory: a tile's keys, `value_bytes` for each where there are values, and Shared.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    split(const Key* in, Key* out, u64 count, Digit digit, Places places, Columns columns) {
    HR_DYNAMIC_SHARED(uint4, memory);
    Key* const room = reinterpret_cast<Key*>(memory);
    constexpr u32 bytes = tile_keys * (sizeof(Key) + (with_values ? value_bytes : 0));
    Shared& shared = *reinterpret_cast<Shared*>(reinterpret_cast<u8*>(memory) + bytes);
    const Work work{in, out, count, digit, places, columns, shared, room};
    Tiles tiles(work);
    if constexpr (with_values) {
        while (tiles.current().count == tile_keys) load_and_split<true>(work, tiles);
    } else {
        Key key[items] = {};
        load_keys(key, in, tiles.current());
        while (tiles.current().count == tile_keys) split_tile<true>(key, work, tiles);
    }
    if (tiles.current().count != 0) load_and_split<false>(work, tiles);
    tiles.end();
}
