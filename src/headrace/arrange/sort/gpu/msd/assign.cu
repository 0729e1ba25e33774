// What becomes of a step's buckets (assign_buckets.cuh), and the first one.
#include "gpu/block/block.cuh"

namespace headrace {

constexpr u32 bits = HR_BITS;
constexpr u32 digits = 1u << bits;
constexpr u32 threads = digits < 32 ? 32 : digits;
constexpr u32 warps = threads / tile::lanes;

}  // namespace headrace

// Behind the threads that it is made for.
#include "arrange/sort/gpu/msd/assign_buckets.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

extern "C" __global__ void __launch_bounds__(threads) msd_assign(Lists lists, u32 number, u32 key_bits) {
    tile::wait_for_launch_before();
    __shared__ Assigning shared;
    assign_buckets(lists, number, key_bits, shared);
}

// If the plan is to go by parts.
extern "C" __global__ void __launch_bounds__(threads) msd_begin(Lists lists, u32 count) {
    tile::wait_for_launch_before();
    if (lists.plan->method == SortMethod::msd) begin_lists(lists, count, nullptr);
}

// The same, and what becomes of the first bucket, by the block that made it: where its digits are counted already.
extern "C" __global__ void __launch_bounds__(threads)
    msd_begin_and_assign(Lists lists, u32 count, const u64* totals, u32 key_bits) {
    tile::wait_for_launch_before();
    __shared__ Assigning shared;
    if (lists.plan->method != SortMethod::msd) return;
    begin_and_assign(lists, count, totals, key_bits, shared);
}

// Counts of a later step's buckets, of which there may be many fewer than there is room for; where steps share them.
extern "C" __global__ void __launch_bounds__(threads) msd_clear_cursors(Lists lists, u32 number) {
    tile::wait_for_launch_before();
    const u32 all = lists.counts[number].buckets * digits;
    for (u32 i = blockIdx.x * threads + threadIdx.x; i < all; i += gridDim.x * threads)
        cursors_of(lists, number)[i] = 0;
}
