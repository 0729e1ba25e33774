// Sorts keys, and values with them, by digit: each block processes its tiles one after another.
//
// The keys of a tile are in registers, those of a warp side by side. Each warp counts its digits in shared memory. A
// scan over digits and warps gives the first position in the tile for each warp's keys of a digit. Ballots rank the
// keys inside a digit (split_rank.cuh). Keys are sorted in shared memory, so that the keys of a digit are adjacent.
// They are then written to the result while the keys of the next tile are loaded. (Dissertation of Ashkiani 2017,
// section 3.5, block-level multisplit. Counting before ranking: Adinets and Merrill 2022, "Onesweep", section 4.)
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v.
#include "arrange/multisplit/gpu/split_pairs.cuh"
#include "arrange/multisplit/gpu/split_write.cuh"

using namespace headrace;

// The tiles of a block, in order. With chunks, each block takes one chunk. Blocks start in the order of their numbers,
// so concurrent blocks write near each other, and partly written sectors are completed soon. (Persistent blocks that
// take every n-th chunk drift apart and lose a quarter of the rate.)
class Tiles {
public:
    HR_MEMBER explicit Tiles(const SplitWork& work) : work_(work), look_back_(work.places.memory, work.places.epoch) {
        const u32 d = threadIdx.x;
        SplitShared& shared = work.shared;
        if constexpr (HR_PLACES == by_chunks) {
            at_ = blockIdx.x * work.places.chunk;
            end_ = at_ + work.places.chunk < work.count ? at_ + work.places.chunk : work.count;
            base_ = base_of_chunk();
        } else {
            end_ = work.count;
            if (d < digits) shared.base[d] = work.places.starts[d];
            ask();
            take();
            __syncthreads();
            step();
        }
    }

    HR_MEMBER SplitTile current() const {
        const u64 left = at_ < end_ ? end_ - at_ : 0;
        return {at_, left < tile_keys ? static_cast<u32>(left) : tile_keys};
    }
    // The next tile in three steps: request a ticket, publish it to the block, and after a barrier move to its tile.
    HR_MEMBER void ask() {
        if (HR_PLACES != by_chunks && threadIdx.x == 0) ticket_ = look_back_.take_tile();
    }
    HR_MEMBER void take() {
        if (HR_PLACES != by_chunks && threadIdx.x == 0) work_.shared.tile = ticket_;
    }
    HR_MEMBER void step() {
        at_ = HR_PLACES == by_chunks ? at_ + tile_keys : static_cast<u64>(work_.shared.tile) * tile_keys;
    }
    HR_MEMBER void end() {
        if (HR_PLACES != by_chunks && threadIdx.x == 0) look_back_.end();
    }

    // Publishes the tile's count of the thread's digit to other blocks.
    HR_MEMBER void announce(const SplitTile& tile, const DigitRun& run) {
        if (HR_PLACES == by_look_back && threadIdx.x < digits) look_back_.post(number(tile), threadIdx.x, run.count);
    }
    // Computes the output position of the tile's keys of the thread's digit.
    HR_MEMBER void find(const SplitTile& tile, const DigitRun& run) {
        const u32 d = threadIdx.x;
        if (d >= digits) return;
        u64 position = base_;
        if constexpr (HR_PLACES == by_chunks) {
            base_ = static_cast<To>(position + run.count);
        } else {
            position = work_.shared.base[d] + look_back_.before(number(tile), d, run.count);
        }
        work_.shared.to[d] = target(position, run.start);
    }

private:
    // Output position of the chunk's first key of the thread's digit. `counts`: keys in earlier chunks of the group.
    HR_MEMBER To base_of_chunk() const {
        const u32 d = threadIdx.x;
        if (d >= digits) return 0;
        const SplitPlaces& places = work_.places;
        const u64 chunk = blockIdx.x, group = blockIdx.x / places.group;
        return static_cast<To>(places.starts[group * digits + d] + places.counts[chunk * digits + d]);
    }
    HR_MEMBER static u32 number(const SplitTile& tile) { return static_cast<u32>(tile.begin / tile_keys); }

    const SplitWork& work_;
    LookBack look_back_;
    u64 at_ = 0, end_ = 0;
    u32 ticket_ = 0;
    To base_ = 0;  // output position of the chunk's next key of the thread's digit
};

// Splits a tile whose keys are loaded. The next tile may be loaded while this one is written.
template <bool whole>
HR_FN void split_tile(Loaded& loaded, const SplitWork& work, Tiles& tiles) {
    const SplitTile tile = tiles.current();
#pragma unroll
    for (u32 j = 0; j < items; ++j) loaded.key[j] = work.digit.moved_key(loaded.key[j]);
    tiles.ask();
    u32 place[items / 2] = {};
    const DigitRun run = count_digits<whole>(loaded.key, work, tile);
    tiles.announce(tile, run);
    tiles.take();
    __syncthreads();
    put_items<whole>(loaded, work, tile, place);
    tiles.step();
    if (whole && loads_ahead && tiles.current().count == tile_keys) {
        load_tile<true>(loaded, work, tiles.current());
    }
    tiles.find(tile, run);
    [[maybe_unused]] PrefetchedValues prefetched;
    if constexpr (alike) prefetched.load<whole>(work, tile, 0);
    __syncthreads();
    if constexpr (together) {
        write_pairs<whole>(work, tile, [](Key key) { return key; });
    } else {
        write_keys<whole>(work, tile);
        if constexpr (alike) move_alike<whole>(work, tile, place, prefetched);
        if constexpr (with_values && !alike) move_columns<whole>(work, tile, place);
    }
}

template <bool whole>
HR_FN void load_and_split(const SplitWork& work, Tiles& tiles) {
    Loaded loaded = {};
    load_tile<whole>(loaded, work, tiles.current());
    split_tile<whole>(loaded, work, tiles);
}

// Launch: blocks of `threads`; dynamic shared memory: `item_bytes` for each key of a tile, and SplitShared.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    split(const Key* in, Key* out, u64 count, Digit digit, SplitPlaces places, Columns columns) {
    HR_DYNAMIC_SHARED(uint4, memory);
    Key* const staging = reinterpret_cast<Key*>(memory);
    SplitShared& shared = *reinterpret_cast<SplitShared*>(reinterpret_cast<u8*>(memory) + tile_keys * item_bytes);
    const SplitWork work{in, out, count, digit, places, columns, shared, staging};
    clear_spare(shared);
    Tiles tiles(work);
    if constexpr (loads_ahead) {
        Loaded loaded = {};
        if (tiles.current().count == tile_keys) load_tile<true>(loaded, work, tiles.current());
        while (tiles.current().count == tile_keys) split_tile<true>(loaded, work, tiles);
    } else {
        while (tiles.current().count == tile_keys) load_and_split<true>(work, tiles);
    }
    if (tiles.current().count != 0) load_and_split<false>(work, tiles);
    tiles.end();
}
