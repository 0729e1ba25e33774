// Copies keys that are already in order, or reverses keys in descending order, with their columns. In place, a thread
// exchanges both ends. Then the sort has no passes; only the count that detected the order.
//
// Bytes moved per item of width w: 2 w; none if keys in order are sorted in place.
#include "arrange/sort/gpu/common/device_plan.cuh"
#include "gpu/block/dependent_launch.cuh"
#include "gpu/block/memory_access.cuh"

using namespace headrace;

template <class Item>
HR_FN Item item_at(const Item* from, u64 at) {
    if constexpr (sizeof(Item) == 4 || sizeof(Item) == 8) {
        if (from == nullptr) return static_cast<Item>(at);
    }
    return from[at];
}

template <class Item>
HR_FN void put(const MovedColumn& moved, u64 count, bool reversed) {
    const Item* const from = static_cast<const Item*>(moved.source);
    Item* const to = static_cast<Item*>(moved.target);
    if (to == nullptr || (!reversed && from == to)) return;
    const u64 half = reversed ? (count + 1) / 2 : count;
    const u64 threads = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u64 at = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; at < half; at += threads) {
        const Item one = item_at(from, at);
        if (!reversed) {
            to[at] = one;
        } else {
            const Item other = item_at(from, count - 1 - at);
            to[at] = other;
            to[count - 1 - at] = one;
        }
    }
}

HR_FN void put_array(const MovedColumn& moved, u64 count, bool reversed) {
    if (moved.width == 1) put<u8>(moved, count, reversed);
    if (moved.width == 2) put<u16>(moved, count, reversed);
    if (moved.width == 4) put<u32>(moved, count, reversed);
    if (moved.width == 8) put<u64>(moved, count, reversed);
    if (moved.width == 16) put<uint4>(moved, count, reversed);
}

extern "C" __global__ void __launch_bounds__(1024)
    copy_or_reverse(const DevicePlan* plan, SortArrays arrays, u64 count, u32 writes_keys) {
    tile::wait_for_launch_before();
    if (plan->method != SortMethod::copy && plan->method != SortMethod::reverse) return;
    const bool reversed = plan->method == SortMethod::reverse;
    if (writes_keys != 0) put_array(arrays.keys, count, reversed);
#pragma unroll 1
    for (u32 c = 0; c < arrays.columns; ++c) put_array(arrays.column[c], count, reversed);
}
