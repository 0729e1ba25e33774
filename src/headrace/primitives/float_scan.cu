// Computes running sums of floats in the order of primitives/float_scan.hpp: a thread has a group. The host launches
// `sum_groups` for each level above 4,096 items, `scan_few` for the highest level, and `scan_groups` for the others.
// Groups pass through shared memory, so that lanes of a warp load and store adjacent items. A row of a group has one
// place more than items, so that lanes use different banks.
//
// Bytes moved per item of width w: 3 w, and 4 w per group.
#include "primitives/float_scan.hpp"

using namespace headrace;

using Item = HR_ITEM;
constexpr u32 threads = HR_THREADS;
constexpr u32 row_items = static_cast<u32>(scan_group);
constexpr u32 block_items = threads * row_items;
static_assert(threads == scan_group);

// The groups of a block, a row each.
struct Groups {
    Item place[threads][row_items + 1];

    HR_MEMBER Item& at(u32 i) { return place[i / row_items][i % row_items]; }
    HR_MEMBER Item* own() { return place[threadIdx.x]; }
};

HR_FN u64 group_of_thread() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }
HR_FN u64 block_begin() { return static_cast<u64>(blockIdx.x) * block_items; }

HR_FN void load_groups(Groups& groups, const Item* in, u64 count) {
    const u64 begin = block_begin();
#pragma unroll 16
    for (u32 i = threadIdx.x; i < block_items; i += threads) {
        if (begin + i < count) groups.at(i) = in[begin + i];
    }
    __syncthreads();
}

// Writes result i to out[i + `shift`] if that is below `length`; a shift of 1 writes 0 to out[0].
HR_FN void store_groups(Groups& groups, u64 count, Item* out, u64 shift, u64 length) {
    const u64 begin = block_begin();
    __syncthreads();
    if (begin + threadIdx.x == 0 && shift == 1) out[0] = 0;
#pragma unroll 16
    for (u32 i = threadIdx.x; i < block_items; i += threads) {
        if (begin + i < count && begin + i + shift < length) out[begin + i + shift] = groups.at(i);
    }
}

extern "C" __global__ void __launch_bounds__(threads) sum_groups(const Item* in, u64 count, Item* sums) {
    __shared__ Groups groups;
    load_groups(groups, in, count);
    const u64 group = group_of_thread();
    if (group < group_count(count)) sums[group] = sum_group(groups.own(), group_size(count, group));
}

// `before`: running sums of the groups' sums. `in` may be `out`.
extern "C" __global__ void __launch_bounds__(threads)
    scan_groups(const Item* in, u64 count, const Item* before, Item* out, u64 shift, u64 length) {
    __shared__ Groups groups;
    load_groups(groups, in, count);
    const u64 group = group_of_thread();
    if (group < group_count(count)) {
        const u64 size = group_size(count, group);
        scan_items(groups.own(), size, group == 0 ? nullptr : before + group - 1, groups.own(), size);
    }
    store_groups(groups, count, out, shift, length);
}

// Scans up to 64 groups, by one block. `in` may be `out`.
extern "C" __global__ void __launch_bounds__(threads)
    scan_few(const Item* in, u64 count, Item* out, u64 shift, u64 length) {
    __shared__ Groups groups;
    __shared__ Item sums[threads];
    load_groups(groups, in, count);
    const Item* const none = nullptr;
    const u64 all = group_count(count), size = threadIdx.x < all ? group_size(count, threadIdx.x) : 0;
    if (size != 0) sums[threadIdx.x] = sum_group(groups.own(), size);
    __syncthreads();
    if (threadIdx.x == 0) scan_items(sums, all, none, sums, all);
    __syncthreads();
    const Item* const before = threadIdx.x == 0 ? none : sums + (threadIdx.x - 1);
    if (size != 0) scan_items(groups.own(), size, before, groups.own(), size);
    store_groups(groups, count, out, shift, length);
}
