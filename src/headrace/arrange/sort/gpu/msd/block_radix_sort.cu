// Parts of an array, each sorted by one block: what a sort by parts has split far enough, or all of a small
// array. (Stehle and Jacobsen 2017, section 4.4.)
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v, whatever digits are left.
#include "arrange/sort/gpu/msd/buckets.cuh"
#include "arrange/sort/gpu/single_launch/block_sort.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

// A step that has no digit: from where the part is to the target. Keys of the source are not codes yet.
static __device__ __forceinline__ void sort_part(const Part& part, const KeyRule<Key>& rule, const Arrays& arrays,
                                                 u32 writes_keys, const BlockRoom& room) {
    const Step step = {0, part.from(), part.to(), 0};
    const Digit digit = digit_by_number(rule, 0);
    const bool is_given = step.from == Place::source;
    const Key* const in = static_cast<const Key*>(arrays.keys.from(step.from)) + part.begin;
    const PartRows own = PartRows::of(part.count);
    Key key[items] = {};
    u32 row[items / 2] = {};
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        set_half(row, j, own.place(j));
        if (!own.has(j) || own.place(j) >= part.count) continue;
        key[j] = in[own.place(j)];
        if (is_given) key[j] = digit.rule.moved(key[j]);
    }
    sort_block(key, row, room, rule, part.count, part.bits());
    __syncthreads();  // in place, all are read
    if (writes_keys != 0 || part.are_light()) {
        Key* const out = static_cast<Key*>(arrays.keys.to(step.to)) + part.begin;
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (own.has(j) && own.place(j) < part.count) out[own.place(j)] = digit.rule.given(key[j]);
        }
    }
    if constexpr (with_values) {
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (own.has(j)) room.rows[own.place(j)] = static_cast<u16>(half_of(row, j));
        }
        __syncthreads();
        const Fetch fetch = {room.rows, room.keys, part.begin, part.count};
#pragma unroll 1
        for (u32 c = 0; c < arrays.columns; ++c) fetch_column(arrays.column[c], step, fetch);
    }
    __syncthreads();
}

// Dynamic shared memory: what BlockRoom takes.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    sort_local(List list, KeyRule<Key> rule, Arrays arrays, u32 writes_keys) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(uint4, memory);
    const BlockRoom room = BlockRoom::in(memory);
    if (list.parts == nullptr) return sort_part(list.only, rule, arrays, writes_keys, room);
    const u32 number = *list.number;
    for (u32 i = blockIdx.x; i < number; i += gridDim.x) {
        sort_part(list.parts[list.first + i * list.stride], rule, arrays, writes_keys, room);
    }
}
