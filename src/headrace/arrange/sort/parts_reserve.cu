// Keys of each block to the sub-buckets of their digits, in no order within one, where nothing goes with them: a
// block's keys are a tile of arrange/multisplit/reserve_tile.cuh, and the next one's are loaded while these go out.
// (Stehle and Jacobsen 2017, section 4.4, without its counts of blocks: the addition that counts also ranks.)
//
// Bytes moved per key of width w: 2 w.
#include "arrange/sort/digit.cuh"
#include "arrange/sort/parts.cuh"
// Behind the digit that it is made for.
#include "arrange/multisplit/reserve_tile.cuh"
#include "core/tile/bytes.cuh"

using namespace headrace;

static_assert(!with_equals);

// Of a key as it is moved. A byte of 4 is one instruction.
struct DigitOf {
    u32 shift, mask, byte;
    __device__ __forceinline__ u32 operator()(Key key) const {
        if constexpr (bits == 8 && sizeof(Key) == 4) return tile::permute(static_cast<u32>(key), 0, byte);
        return static_cast<u32>(key >> shift) & mask;
    }
};

struct Task {
    const Lists& lists;
    const KeyRule<Key>& rule;
    u32 number;
    DigitOf digit_of;
    const Key* in;
    Key* out;
    bool makes_codes, makes_keys;  // of keys, and keys of codes, where that changes them
};

static __device__ __forceinline__ void load_block(Key (&key)[items], const Task& task, const Block& block) {
    const Key* const in = task.in + block.begin;
    if (block.count == tile_keys) {
        load_keys<true>(key, in, tile_keys);
    } else {
        load_keys<false>(key, in, block.count);
    }
}

// One block, whose keys are loaded; then `next` is.
template <bool whole>
static __device__ __forceinline__ void scatter_block(Key (&key)[items], const Task& task, const Block& block,
                                                     const Block& next, Runs<u32, DigitOf>& runs, Key* room) {
    const u32 d = threadIdx.x;
    u32 place[items];
    rank_keys<whole>(key, block.count, task.digit_of, runs.taken, place);
    __syncthreads();
    const Found found = take_starts(runs);
    u32 taken = 0;
    if (d < digits && found.count != 0) {
        taken = atomicAdd(&task.lists.cursors[static_cast<u64>(block.bucket) * digits + d], found.count);
    }
    __syncthreads();
    put_keys<whole>(key, block.count, runs, place, room);
    load_block(key, task, next);
    if (d < digits) runs.to[d] = taken - found.start;
    __syncthreads();
    if (whole && !task.makes_keys) {
        write_keys<true>(room, block.count, task.digit_of, runs.to, task.out, [](Key code) { return code; });
    } else {
        const auto given = [&](Key code) { return task.makes_keys ? task.rule.key(code) : code; };
        write_keys<false>(room, block.count, task.digit_of, runs.to, task.out, given);
    }
}

// Step `number` of the plan; dynamic shared memory: the keys of a tile.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    parts_reserve(Lists lists, u32 number, KeyRule<Key> rule, Arrays arrays) {
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ Runs<u32, DigitOf> runs;
    const u32 blocks = lists.counts[number].blocks;
    if (blockIdx.x >= blocks) return;
    for (u32 d = threadIdx.x; d <= digits; d += threads) runs.taken[d] = 0;
    const Step step = lists.plan->step[number];
    const bool changes = (rule.fold | rule.toggle | rule.plus) != 0;
    const u32 shift = step.digit * bits, mask = digits - 1;
    const Task task{lists,
                    rule,
                    number,
                    {shift, mask, 0x4440 | step.digit},
                    static_cast<const Key*>(arrays.keys.from(step.from)),
                    static_cast<Key*>(arrays.keys.to(step.to)),
                    changes && number == 0,
                    changes && number + 1 == lists.plan->steps};
    if (threadIdx.x == 0) runs.digit_of = task.digit_of;
    const Block* const all = blocks_of(lists, number);
    Key* const room = reinterpret_cast<Key*>(memory);
    Key key[items] = {};
    Block block = all[blockIdx.x];
    load_block(key, task, block);
    __syncthreads();
    for (u32 i = blockIdx.x; i < blocks; i += gridDim.x) {
        const Block none = {};
        const Block next = i + gridDim.x < blocks ? all[i + gridDim.x] : none;
        if (task.makes_codes) {
#pragma unroll
            for (u32 j = 0; j < items; ++j) key[j] = rule.code(key[j]);
        }
        if (block.count == tile_keys) {
            scatter_block<true>(key, task, block, next, runs, room);
        } else {
            scatter_block<false>(key, task, block, next, runs, room);
        }
        block = next;
    }
}
