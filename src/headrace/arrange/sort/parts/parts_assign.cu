// What becomes of a step's buckets (assign_buckets.cuh), and the first one.
#include "core/tile/block.cuh"

namespace headrace {

constexpr u32 bits = HR_BITS;
constexpr u32 digits = 1u << bits;
constexpr u32 threads = digits < 32 ? 32 : digits;
constexpr u32 warps = threads / tile::lanes;

}  // namespace headrace

// Behind the threads that it is made for.
#include "arrange/sort/parts/assign_buckets.cuh"
#include "core/tile/launch.cuh"

using namespace headrace;

extern "C" __global__ void __launch_bounds__(threads) parts_assign(Lists lists, u32 number, u32 key_bits) {
    tile::wait_for_launch_before();
    __shared__ Assigning shared;
    assign_buckets(lists, number, key_bits, shared);
}

// The first bucket, which has all keys. `totals`, where they are: counts of its digits, for each digit of a key.
static __device__ __forceinline__ void begin_lists(const Lists& lists, u32 count, const u64* totals) {
    if (lists.plan->heavy != 0) count = lists.plan->lights;
    const u32 blocks = (count - 1) / lists.keys_of_block + 1;
    for (u32 i = blockIdx.x * threads + threadIdx.x; i < blocks; i += gridDim.x * threads) {
        const u32 begin = i * lists.keys_of_block;
        lists.blocks[i] = {begin, count - begin < lists.keys_of_block ? count - begin : lists.keys_of_block, 0, 0};
    }
    if (blockIdx.x != 0) return;
    if (threadIdx.x < digits) {
        const u32 at = lists.plan->step[0].digit * digits + threadIdx.x;
        lists.cursors[threadIdx.x] = totals == nullptr ? 0 : static_cast<u32>(totals[at]);
    }
    if (threadIdx.x != 0) return;
    lists.buckets[0] = {0, 0};
    lists.counts[0].blocks = blocks;
    lists.counts[0].buckets = 1;
}

// If the plan is to go by parts.
extern "C" __global__ void __launch_bounds__(threads) parts_begin(Lists lists, u32 count) {
    tile::wait_for_launch_before();
    if (lists.plan->how == How::by_parts) begin_lists(lists, count, nullptr);
}

// The same, and what becomes of the first bucket, by the block that made it: where its digits are counted already.
extern "C" __global__ void __launch_bounds__(threads)
    parts_first(Lists lists, u32 count, const u64* totals, u32 key_bits) {
    tile::wait_for_launch_before();
    __shared__ Assigning shared;
    if (lists.plan->how != How::by_parts) return;
    begin_lists(lists, count, totals);
    if (blockIdx.x != 0) return;
    __syncthreads();
    assign_bucket(lists, 0, 0, key_bits, shared);
}

// Counts of a later step's buckets, of which there may be many fewer than there is room for; where steps share them.
extern "C" __global__ void __launch_bounds__(threads) parts_clear(Lists lists, u32 number) {
    tile::wait_for_launch_before();
    const u32 all = lists.counts[number].buckets * digits;
    for (u32 i = blockIdx.x * threads + threadIdx.x; i < all; i += gridDim.x * threads)
        cursors_of(lists, number)[i] = 0;
}
