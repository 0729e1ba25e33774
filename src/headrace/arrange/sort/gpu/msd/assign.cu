// Assigns the sub-buckets of a pass (assign_buckets.cuh), and begins the lists.
#include "gpu/block/block.cuh"

namespace headrace {

constexpr u32 bits = HR_BITS;
constexpr u32 digits = 1u << bits;
constexpr u32 threads = digits < 32 ? 32 : digits;
constexpr u32 warps = threads / tile::lanes;

}  // namespace headrace

// After the `threads` that it uses.
#include "arrange/sort/gpu/msd/assign_buckets.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

extern "C" __global__ void __launch_bounds__(threads) msd_assign(Lists lists, u32 number, u32 key_bits) {
    tile::wait_for_launch_before();
    __shared__ Assigning shared;
    assign_buckets(lists, number, key_bits, shared);
}

// Begins the lists, if the plan chose MSD.
extern "C" __global__ void __launch_bounds__(threads) msd_begin(Lists lists, u32 count) {
    tile::wait_for_launch_before();
    if (lists.plan->method == SortMethod::msd) begin_lists(lists, count, nullptr);
}

// Begins the lists and assigns the first bucket, whose digits are already counted. One block does both.
extern "C" __global__ void __launch_bounds__(threads)
    msd_begin_and_assign(Lists lists, u32 count, const u64* totals, u32 key_bits) {
    tile::wait_for_launch_before();
    __shared__ Assigning shared;
    if (lists.plan->method != SortMethod::msd) return;
    begin_and_assign(lists, count, totals, key_bits, shared);
}

// Clears the counts of a later pass's buckets, if all passes share one table. There may be far fewer buckets than the
// table holds.
extern "C" __global__ void __launch_bounds__(threads) msd_clear_cursors(Lists lists, u32 number) {
    tile::wait_for_launch_before();
    const u32 all = lists.counts[number].buckets * digits;
    for (u32 i = blockIdx.x * threads + threadIdx.x; i < all; i += gridDim.x * threads)
        cursors_of(lists, number)[i] = 0;
}
