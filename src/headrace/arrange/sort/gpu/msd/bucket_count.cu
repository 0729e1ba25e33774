// Counts digits of the keys of each block and bucket (count_blocks.cuh). For the second pass it takes the counts from
// the prefix histogram, if the plan has one, and reads no keys.
#include "arrange/sort/gpu/common/digit.cuh"
#include "gpu/block/dependent_launch.cuh"

namespace headrace {

constexpr u32 threads = HR_THREADS;
constexpr u32 count_items = HR_ITEMS;

}  // namespace headrace

// After the `threads` that it uses.
#include "arrange/sort/gpu/msd/count_blocks.cuh"

using namespace headrace;

// Copies the counts of the second pass's buckets from the prefix histogram.
HR_FN void take_from_heads(const Lists& lists, u32 buckets) {
    for (u32 i = blockIdx.x * threads + threadIdx.x; i < buckets * digits; i += gridDim.x * threads) {
        cursors_of(lists, 1)[i] = lists.heads[buckets_of(lists, 1)[i / digits].digit * digits + i % digits];
    }
}

// Counts pass `number` of the plan.
extern "C" __global__ void __launch_bounds__(threads)
    bucket_count(Lists lists, u32 number, KeyRule<Key> rule, SortArrays arrays) {
    tile::wait_for_launch_before();
    __shared__ u32 counters[digits];
    const ListLengths& counts = lists.counts[number];
    if (counts.blocks == 0) return;
    if (number == 1 && lists.plan->has_prefixes != 0) return take_from_heads(lists, counts.buckets);
    count_blocks({lists, rule, arrays, number == 0, lists.reduces != 0}, number, counters);
}
