// Scatters the keys of each block, and their columns, to the sub-buckets of their digits in their order. A launch does
// one pass of the stable MSD sort, or all remaining passes (tail_passes.cuh). A block is a tile, ranked and written as
// in lsd/pass_tile.cuh. Its offset in its bucket comes from decoupled look-back, which ends at the bucket's first
// block, so one launch serves all buckets.
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v.
#define HR_DIGITS_OF_KEYS  // a digit is a whole byte of a key
#define HR_PLACES by_look_back
#define HR_RANK by_additions
#include "arrange/sort/gpu/common/arrays.cuh"
#include "arrange/sort/gpu/common/digit.cuh"
#include "arrange/sort/gpu/msd/buckets.hpp"
// After the tile whose `threads` it uses.
#include "arrange/sort/gpu/msd/tail_passes.cuh"
#include "gpu/block/dependent_launch.cuh"

namespace headrace {

struct ScatterState {
    const SplitWork& work;
    const u32* cursors;
    LookBack& look_back;  // a tile is a block of the list; the first tile of a bucket is its first block
    const KeyBlock* list;
    KeyBlock& block;  // in shared memory; its number is in work.shared.tile
    u32 blocks;
    const KeyRule<Key>& rule;
    bool is_first, is_last;  // whether keys become codes, and codes become keys
};

HR_FN SplitTile tile_of(const KeyBlock& block) { return {block.begin, block.count}; }

// Loads a block's record, by one thread; an empty one after the last block.
HR_FN KeyBlock block_at(const ScatterState& state, u32 i) {
    return i < state.blocks ? state.list[i] : KeyBlock{0, 0, 0, 0};
}

// Scatters the loaded block `i` of the list. `block` and `i` become the next one's, which is loaded while this one is
// written.
template <bool whole>
HR_FN void scatter_block_stably(Loaded& loaded, const ScatterState& state, KeyBlock& block, u32& i) {
    const SplitWork& work = state.work;
    const KeyBlock own = block;
    const u32 number = i, d = threadIdx.x;
    const SplitTile tile = tile_of(own);
    u32 ticket = 0;
    KeyBlock next = {};
    if (d == 0) next = block_at(state, ticket = state.look_back.take_tile());
    make_codes(loaded.key, state.rule, state.is_first);
    const DigitRun found = count_digits<whole>(loaded.key, work, tile);
    if (d < digits) state.look_back.post(number, d, found.count, own.first);
    if (d == 0) {
        work.shared.tile = ticket;
        state.block = next;
    }
    __syncthreads();
    u32 place[items / 2] = {};
    put_items<whole>(loaded, work, tile, place);
    i = work.shared.tile;
    block = state.block;
    if (whole && loads_ahead && block.count == tile_keys) load_moved<true>(loaded, work, tile_of(block), block.begin);
    Following following;
    if constexpr (follows_early) following.load<whole>(work, tile, own.begin);
    if (d < digits) {
        const u32 start = state.cursors[static_cast<u64>(own.bucket) * digits + d];
        const u64 at = static_cast<u64>(start) + state.look_back.before(number, d, found.count, own.first);
        work.shared.to[d] = target(at, found.start);
    }
    __syncthreads();
    write_moved<whole>(work, tile, state.rule, state.is_last);
    if constexpr (follows_early) {
        following.write_out<whole>(work, tile, place);
    } else if constexpr (!together) {
        move_all<whole>(work, tile, place, 0);
    }
}

template <bool whole>
HR_FN void load_and_scatter(const ScatterState& state, KeyBlock& block, u32& i) {
    Loaded loaded = {};
    load_moved<whole>(loaded, state.work, tile_of(block), block.begin);
    scatter_block_stably<whole>(loaded, state, block, i);
}

// Scatters blocks. Consecutive whole tiles overlap their loads; a bucket's last block is loaded at its turn.
HR_FN void scatter_blocks_stably(const ScatterState& state, KeyBlock block, u32 i) {
    while (i < state.blocks) {
        if (block.count != tile_keys) {
            load_and_scatter<false>(state, block, i);
        } else if constexpr (loads_ahead) {
            Loaded loaded = {};
            load_moved<true>(loaded, state.work, tile_of(block), block.begin);
            do {
                scatter_block_stably<true>(loaded, state, block, i);
            } while (i < state.blocks && block.count == tile_keys);
        } else {
            load_and_scatter<true>(state, block, i);
        }
    }
}

struct StableScatter {
    const Lists& lists;
    const KeyRule<Key>& rule;
    const SortArrays& arrays;
    void* states;   // of look-back
    uint4* memory;  // shared: `place_bytes` for each key of a tile, and Shared
};

// Returns the digit of a pass: whole bytes, or the highest bits.
HR_FN Digit digit_of_pass(const KeyRule<Key>& rule, const DevicePlan& plan, u32 number) {
    const bool is_top = bits != 8 && plan.division == Division::top_bits;
    return is_top ? digit_at_shift(rule, key_bits - bits, bits) : digit_by_number(rule, plan.step[number].digit);
}

// Runs pass `number` of the plan, which has blocks. In the first pass, keys become codes.
HR_FN void scatter_stably(const StableScatter& task, u32 number, bool is_first) {
    __shared__ Columns columns;
    __shared__ KeyBlock block;
    const Lists& lists = task.lists;
    const u32 blocks = lists.counts[number].blocks;
    const PassStep step = lists.plan->step[number];
    Key* const staging = reinterpret_cast<Key*>(task.memory);
    SplitShared& shared = *reinterpret_cast<SplitShared*>(reinterpret_cast<u8*>(task.memory) + tile_keys * place_bytes);
    LookBack look_back(task.states, number + 1);
    if constexpr (only == 0) choose_columns(columns, task.arrays, step, 0);
    const Columns beside = column_beside(task.arrays, step, 0);
    clear_spare(shared);
    const SplitPlaces places = {};
    const Digit digit = digit_of_pass(task.rule, *lists.plan, number);
    const Key* const in = static_cast<const Key*>(task.arrays.keys.from(step.from));
    Key* const out = static_cast<Key*>(task.arrays.keys.to(step.to));
    const SplitWork work{in, out, 0, digit, places, only != 0 ? beside : columns, shared, staging};
    const bool is_last = number + 1 == lists.plan->steps;
    const u32* const cursors = cursors_of(lists, number);
    const KeyBlock* const list = blocks_of(lists, number);
    const ScatterState state = {work, cursors, look_back, list, block, blocks, task.rule, is_first, is_last};
    if (threadIdx.x == 0) {
        shared.tile = look_back.take_tile();
        block = block_at(state, shared.tile);
    }
    __syncthreads();
    scatter_blocks_stably(state, block, shared.tile);
    if (threadIdx.x == 0) look_back.end();
}

}  // namespace headrace

using namespace headrace;

// Runs pass `number` of the plan. Dynamic shared memory: that of StableScatter.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    scatter_stable(Lists lists, u32 number, KeyRule<Key> rule, SortArrays arrays, void* states) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(uint4, memory);
    if (lists.counts[number].blocks == 0) return;
    scatter_stably({lists, rule, arrays, states, memory}, number, number == 0);
}

static_assert(sizeof(Assigning) <= tile_keys * place_bytes && digits <= tile_keys);

// Clears look-back states. The host does not clear them beforehand: a sort that does not choose MSD has no use for
// them.
HR_FN void clear_states(void* states, u64 bytes) {
    uint4* const all = static_cast<uint4*>(states);
    const u64 step = static_cast<u64>(gridDim.x) * threads;
    for (u64 i = static_cast<u64>(blockIdx.x) * threads + threadIdx.x; i < bytes / 16; i += step) all[i] = {0, 0, 0, 0};
}

// Runs all passes from `number` on; from the first one, if the plan chose MSD. Dynamic shared memory: that of
// StableScatter. `meeting` is zero before and after the launch.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    tail_passes(Lists lists, u32 number, KeyRule<Key> rule, SortArrays arrays, tile::Counters* meeting, void* states,
                FirstPass first) {
    HR_DYNAMIC_SHARED(uint4, memory);
    if (number == 0 ? lists.plan->method != SortMethod::msd : lists.counts[number].blocks == 0) return;
    const StableScatter task = {lists, rule, arrays, states, memory};
    const CountTask counting = {lists, rule, arrays, false, false};
    if (number == 0) clear_states(states, first.states_bytes);
    GridBarrier barrier(meeting);
    run_tail<true>(number, {counting, first, barrier, memory},
                   [&](u32 step) { scatter_stably(task, step, step == 0); });
}
