// Keys of each block, and what goes with them, to the sub-buckets of their digits, in the order in which they come: a
// step of a stable sort by parts. A block is a tile, ranked and written as in sort_pass.cu; places in its bucket come
// by decoupled look-back, which ends at the bucket's first block, so one launch serves all buckets.
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v.
#include "arrange/sort/digit.cuh"
#define HR_PLACES by_look_back
#include "arrange/sort/move_arrays.cuh"
#include "arrange/sort/parts.cuh"

using namespace headrace;

// As LookBack of split_place.cuh, of blocks of several buckets.
class Chain {
public:
    static constexpr u32 whole = 1u << 31;
    static constexpr u32 window = 8;

    // `memory`: tile::Counters, and a state for each block and digit, in which `epoch` was never.
    __device__ __forceinline__ Chain(void* memory, u32 epoch)
        : counters_(static_cast<tile::Counters*>(memory)),
          states_(reinterpret_cast<u64*>(counters_ + 1)),
          epoch_(epoch) {}

    __device__ __forceinline__ u32 take_block() { return atomicAdd(&counters_->ticket, 1u); }
    __device__ __forceinline__ void end() {
        if (atomicInc(&counters_->ended, gridDim.x - 1) == gridDim.x - 1) tile::store_relaxed(&counters_->ticket, 0u);
    }
    __device__ __forceinline__ void post(u32 block, u32 first, u32 digit, u32 count) {
        store(block, digit, block == first ? count | whole : count);
    }
    // Keys of the digit in the bucket's blocks before this one, whose own count is `count`.
    __device__ __forceinline__ u32 before(u32 block, u32 first, u32 digit, u32 count) {
        if (block == first) return 0;
        u32 sum = 0;
        for (u32 end = block; end != first;) {
            u64 seen[window];
#pragma unroll
            for (u32 k = 0; k < window; ++k) {
                const bool is_there = k < end - first;
                seen[k] = is_there ? tile::load_relaxed(&states_[static_cast<u64>(end - 1 - k) * digits + digit]) : 0;
            }
#pragma unroll
            for (u32 k = 0; k < window; ++k) {
                if (end == first || static_cast<u32>(seen[k] >> 32) != epoch_) break;
                const u32 found = static_cast<u32>(seen[k]);
                sum += found & ~whole;
                end = (found & whole) != 0 ? first : end - 1;
            }
        }
        store(block, digit, (sum + count) | whole);
        return sum;
    }

private:
    __device__ __forceinline__ void store(u32 block, u32 digit, u32 count) {
        tile::store_relaxed(&states_[static_cast<u64>(block) * digits + digit], static_cast<u64>(epoch_) << 32 | count);
    }

    tile::Counters* counters_;
    u64* states_;
    u32 epoch_;
};

struct Split {
    const Work& work;
    const Lists& lists;
    Chain& chain;
    const KeyRule<Key>&in_rule, &out_rule;  // in shared memory; which change keys in the first step, and in the last
};

// Block `i` of the list; returns the next one's number.
template <bool whole>
static __device__ __forceinline__ u32 split_block(const Split& split, const Block& block, u32 i) {
    const Work& work = split.work;
    const Tile tile = {block.begin, block.count};
    const u32 d = threadIdx.x;
    Key key[items] = {};
    load_items<whole>(key, work.in, tile);
#pragma unroll
    for (u32 j = 0; j < items && !with_equals; ++j) key[j] = split.in_rule.code(key[j]);
    const Found found = count_digits<whole>(key, work, tile);
    if (d < digits) split.chain.post(i, block.first, d, found.count);
    if (d == 0) work.shared.tile = split.chain.take_block();
    __syncthreads();
    u32 place[items / 2] = {};
#pragma unroll
    for (u32 j = 0; j < items; ++j) forget(key[j]);
    rank_items<items>(
        work.shared.next[tile::warp()], [&](u32 j) { return digit_at<whole>(key, j, work.digit, tile); },
        [&](u32 j, u32 at) {
            work.room[at] = key[j];
            place[j / 2] |= at << (j % 2 * 16);
        });
    const u32 next = work.shared.tile;
    if (d < digits) {
        const u32 start = split.lists.cursors[static_cast<u64>(block.bucket) * digits + d];
        work.shared.to[d] = static_cast<u64>(start) + split.chain.before(i, block.first, d, found.count) - found.start;
    }
    __syncthreads();
    write_keys<whole>(work, tile, split.out_rule);
    move_all<whole>(work, tile, place, 0);
    __syncthreads();
    return next;
}

// Step `number` of the plan. Dynamic shared memory: a tile's keys, `digit_bytes` for each, and Shared.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    parts_stable(Lists lists, u32 number, KeyRule<Key> rule, Arrays arrays, void* states, u32 epoch) {
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ Columns columns;
    __shared__ KeyRule<Key> rules[2];
    const u32 blocks = lists.counts[number].blocks;
    if (blocks == 0) return;
    const Step step = lists.plan->step[number];
    Key* const room = reinterpret_cast<Key*>(memory);
    Shared& shared =
        *reinterpret_cast<Shared*>(reinterpret_cast<u8*>(memory) + tile_keys * (sizeof(Key) + digit_bytes));
    Chain chain(states, epoch);
    choose_columns(columns, arrays, step, 0);
    if (threadIdx.x == 0) {
        shared.tile = chain.take_block();
        rules[0] = rule_or_none(rule, number == 0);
        rules[1] = rule_or_none(rule, number + 1 == lists.plan->steps);
    }
    __syncthreads();
    const Places places = {};
    const Digit digit = digit_by_number(rule, step.digit);
    const Key* const in = static_cast<const Key*>(arrays.keys.from(step.from));
    const Work work{in, static_cast<Key*>(arrays.keys.to(step.to)), 0, digit, places, columns, shared, room};
    const Split split = {work, lists, chain, rules[0], rules[1]};
    for (u32 i = shared.tile; i < blocks;) {
        const Block block = blocks_of(lists, number)[i];
        i = block.count == tile_keys ? split_block<true>(split, block, i) : split_block<false>(split, block, i);
    }
    if (threadIdx.x == 0) chain.end();
}
