// Keys of each block, and what goes with them, to the sub-buckets of their digits, in the order in which they come: a
// step of a stable sort by parts. A block is a tile, ranked and written as in digits/pass_tile.cuh; places in its
// bucket come by decoupled look-back, which ends at the bucket's first block, so one launch serves all buckets.
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v.
#pragma once
#include "arrange/sort/gpu/common/arrays.cuh"
#include "arrange/sort/gpu/common/digit.cuh"
#include "arrange/sort/gpu/msd/buckets.cuh"

namespace headrace {

struct Split {
    const Work& work;
    const u32* cursors;
    LookBack& look_back;  // a block of the list is a tile, and its bucket's first block the first one
    const Block* list;
    Block& block;  // in shared memory; the one whose number is in work.shared.tile
    u32 blocks;
    const KeyRule<Key>& rule;
    bool is_first, is_last;  // whether keys become codes, and codes keys
};

static __device__ __forceinline__ Tile tile_of(const Block& block) { return {block.begin, block.count}; }

// By one thread; no keys behind the last block.
static __device__ __forceinline__ Block block_at(const Split& split, u32 i) {
    return i < split.blocks ? split.list[i] : Block{0, 0, 0, 0};
}

// Block `i` of the list, which is loaded; both become the next one's, which is loaded while this one goes out.
template <bool whole>
static __device__ __forceinline__ void split_block(Loaded& loaded, const Split& split, Block& block, u32& i) {
    const Work& work = split.work;
    const Block own = block;
    const u32 number = i, d = threadIdx.x;
    const Tile tile = tile_of(own);
    u32 ticket = 0;
    Block next = {};
    if (d == 0) next = block_at(split, ticket = split.look_back.take_tile());
    make_codes(loaded.key, split.rule, split.is_first);
    const Found found = count_digits<whole>(loaded.key, work, tile);
    if (d < digits) split.look_back.post(number, d, found.count, own.first);
    if (d == 0) {
        work.shared.tile = ticket;
        split.block = next;
    }
    __syncthreads();
    u32 place[items / 2] = {};
    put_items<whole>(loaded, work, tile, place);
    i = work.shared.tile;
    block = split.block;
    if (whole && loads_ahead && block.count == tile_keys) load_moved<true>(loaded, work, tile_of(block), block.begin);
    Following following;
    if constexpr (follows_early) following.load<whole>(work, tile, own.begin);
    if (d < digits) {
        const u32 start = split.cursors[static_cast<u64>(own.bucket) * digits + d];
        const u64 at = static_cast<u64>(start) + split.look_back.before(number, d, found.count, own.first);
        work.shared.to[d] = target(at, found.start);
    }
    __syncthreads();
    write_moved<whole>(work, tile, split.rule, split.is_last);
    if constexpr (follows_early) {
        following.write_out<whole>(work, tile, place);
    } else if constexpr (!together) {
        move_all<whole>(work, tile, place, 0);
    }
}

template <bool whole>
static __device__ __forceinline__ void load_and_split(const Split& split, Block& block, u32& i) {
    Loaded loaded = {};
    load_moved<whole>(loaded, split.work, tile_of(block), block.begin);
    split_block<whole>(loaded, split, block, i);
}

// Whole tiles in a row follow each other's loads; a bucket's last block is loaded when it is its turn.
static __device__ __forceinline__ void split_blocks(const Split& split, Block block, u32 i) {
    while (i < split.blocks) {
        if (block.count != tile_keys) {
            load_and_split<false>(split, block, i);
        } else if constexpr (loads_ahead) {
            Loaded loaded = {};
            load_moved<true>(loaded, split.work, tile_of(block), block.begin);
            do {
                split_block<true>(loaded, split, block, i);
            } while (i < split.blocks && block.count == tile_keys);
        } else {
            load_and_split<true>(split, block, i);
        }
    }
}

struct Splitting {
    const Lists& lists;
    const KeyRule<Key>& rule;
    const Arrays& arrays;
    void* states;   // of look-back
    uint4* memory;  // shared: `place_bytes` for each of a tile's keys, and Shared
};

// Step `number` of the plan, which has blocks; in its first one keys become codes.
static __device__ __forceinline__ void split_stably(const Splitting& task, u32 number, bool is_first) {
    __shared__ Columns columns;
    __shared__ Block block;
    const Lists& lists = task.lists;
    const u32 blocks = lists.counts[number].blocks;
    const Step step = lists.plan->step[number];
    Key* const room = reinterpret_cast<Key*>(task.memory);
    Shared& shared = *reinterpret_cast<Shared*>(reinterpret_cast<u8*>(task.memory) + tile_keys * place_bytes);
    LookBack look_back(task.states, number + 1);
    if constexpr (only == 0) choose_columns(columns, task.arrays, step, 0);
    const Columns beside = column_beside(task.arrays, step, 0);
    clear_spare(shared);
    const Places places = {};
    const Digit digit = digit_by_number(task.rule, step.digit);
    const Key* const in = static_cast<const Key*>(task.arrays.keys.from(step.from));
    Key* const out = static_cast<Key*>(task.arrays.keys.to(step.to));
    const Work work{in, out, 0, digit, places, only != 0 ? beside : columns, shared, room};
    const bool is_last = number + 1 == lists.plan->steps;
    const u32* const cursors = cursors_of(lists, number);
    const Block* const list = blocks_of(lists, number);
    const Split split = {work, cursors, look_back, list, block, blocks, task.rule, is_first, is_last};
    if (threadIdx.x == 0) {
        shared.tile = look_back.take_tile();
        block = block_at(split, shared.tile);
    }
    __syncthreads();
    split_blocks(split, block, shared.tile);
    if (threadIdx.x == 0) look_back.end();
}

}  // namespace headrace
