// Where the digits of each bucket begin, and what becomes of its sub-buckets: parts for single blocks, small neighbours
// put together; or buckets of the next step, with their blocks. (Stehle and Jacobsen 2017, sections 4.2 and 4.5, rules
// R1 to R4.) A thread a digit. The paper joins neighbours from left to right while they stay below a threshold; here
// neighbours join that begin between the same multiples of it, which needs no order.
//
// Bytes moved: 8 a bucket and digit, and the records.
#include "arrange/sort/parts.cuh"
#include "core/tile/block.cuh"

using namespace headrace;

constexpr u32 bits = HR_BITS;
constexpr u32 digits = 1u << bits;
constexpr u32 threads = digits < 32 ? 32 : digits;
constexpr u32 warps = threads / tile::lanes;

struct Shared {
    u32 totals[warps];
    u32 heads[warps];   // bits of digits that begin a group
    u32 filled[warps];  // of those that have keys
    u32 begin[threads + 1];
    u32 large[threads];
    u32 larges;
    u32 bucket, block;  // of a large one
};

// The first digit behind `digit` that is marked; `threads` if there is none.
static __device__ __forceinline__ u32 next_marked(const u32 (&marks)[warps], u32 digit) {
    u32 word = (digit + 1) / 32;
    if (word >= warps) return threads;
    u32 left = marks[word] & ~0u << (digit + 1) % 32;
    while (left == 0 && ++word < warps) left = marks[word];
    return left == 0 ? threads : word * 32 + static_cast<u32>(trailing_zeros(left));
}

static __device__ __forceinline__ bool has_several(const u32 (&filled)[warps], u32 begin, u32 end) {
    u32 found = 0;
    for (u32 at = (filled[begin / 32] >> begin % 32 & 1) != 0 ? begin : next_marked(filled, begin);
         at < end && found < 2; at = next_marked(filled, at)) {
        ++found;
    }
    return found > 1;
}

// Whether a group of sub-buckets begins with the thread's.
static __device__ __forceinline__ bool begins_group(const Lists& lists, const Shared& shared, u32 first) {
    const u32 d = threadIdx.x;
    const u32 merged = lists.merged_below;
    if (d == 0 || merged == 0) return true;
    const u32 before = shared.begin[d - 1], own = shared.begin[d], after = shared.begin[d + 1];
    if (after - own >= merged || own - before >= merged) return true;
    return (own - first) / merged != (before - first) / merged;
}

// The smallest class that it fits.
static __device__ __forceinline__ void add_part(const Lists& lists, const Part& part) {
    u32 size_class = 0;
    while (size_class + 1 < lists.classes && part.count > lists.part_keys[size_class]) ++size_class;
    *part_of(lists, size_class, atomicAdd(&lists.counts->parts[size_class], 1u)) = part;
}

// The buckets that are split next, one after the other; all threads write their blocks' records.
static __device__ __forceinline__ void add_buckets(const Lists& lists, u32 number, Shared& shared) {
    Counts& counts = lists.counts[number + 1];
    for (u32 i = 0; i < shared.larges; ++i) {
        const u32 begin = shared.begin[shared.large[i]];
        const u32 count = shared.begin[shared.large[i] + 1] - begin;
        const u32 blocks = (count - 1) / lists.keys_of_block + 1;
        if (threadIdx.x == 0) {
            shared.bucket = atomicAdd(&counts.buckets, 1u);
            shared.block = atomicAdd(&counts.blocks, blocks);
            bucket_begins_of(lists, number + 1)[shared.bucket] = begin;
        }
        __syncthreads();
        for (u32 block = threadIdx.x; block < blocks; block += threads) {
            const u32 past = block * lists.keys_of_block;
            const u32 here = count - past < lists.keys_of_block ? count - past : lists.keys_of_block;
            blocks_of(lists, number + 1)[shared.block + block] = {begin + past, here, shared.bucket, shared.block};
        }
        __syncthreads();
    }
}

static __device__ __forceinline__ void assign(const Lists& lists, u32 number, u32 bucket, u32 key_bits,
                                              Shared& shared) {
    const u32 d = threadIdx.x;
    const Step step = lists.plan->step[number];
    u32* const cursors = lists.cursors + static_cast<u64>(bucket) * digits;
    const u32 count = d < digits ? cursors[d] : 0;
    const u32 first = bucket_begins_of(lists, number)[bucket];
    const u32 upto = tile::scan_warp<Sum<u32>>(count);
    const u32 before = tile::scan_warps<Sum<u32>, threads>(tile::shuffle(upto, tile::lanes - 1), shared.totals).before;
    const u32 begin = first + before + upto - count;
    if (d < digits) cursors[d] = begin;
    if (number + 1 == lists.plan->steps) return __syncthreads();
    shared.begin[d] = begin;
    if (d == threads - 1) shared.begin[threads] = begin + count;
    if (d == 0) shared.larges = 0;
    __syncthreads();
    const u32 heads = __ballot_sync(tile::all_lanes, begins_group(lists, shared, first));
    const u32 filled = __ballot_sync(tile::all_lanes, count != 0);
    if (tile::lane() == 0) {
        shared.heads[tile::warp()] = heads;
        shared.filled[tile::warp()] = filled;
    }
    __syncthreads();
    if ((heads >> tile::lane() & 1) != 0) {
        const u32 end = next_marked(shared.heads, d);
        const u32 size = shared.begin[end] - begin;
        if (size > lists.most_in_one) {
            shared.large[atomicAdd(&shared.larges, 1u)] = d;
        } else if (size != 0) {
            const u32 shift = step.digit * bits, left = key_bits - shift;
            const u32 own = has_several(shared.filled, d, end) ? (left < bits ? left : bits) : 0;
            const u32 last = end - 1 < digits ? end - 1 : digits - 1;
            add_part(lists, {begin, size, Part::packed(shift + own, shift, d, last), step.to});
        }
    }
    __syncthreads();
    add_buckets(lists, number, shared);
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(threads) parts_assign(Lists lists, u32 number, u32 key_bits) {
    __shared__ Shared shared;
    const u32 buckets = lists.counts[number].buckets;
    for (u32 bucket = blockIdx.x; bucket < buckets; bucket += gridDim.x)
        assign(lists, number, bucket, key_bits, shared);
}

// The first bucket has all keys, if the plan is to go by parts. `totals`, where they are: counts of its digits, for
// each digit of a key.
extern "C" __global__ void __launch_bounds__(threads) parts_begin(Lists lists, u32 count, const u64* totals) {
    if (lists.plan->how != How::by_parts) return;
    const u32 blocks = (count - 1) / lists.keys_of_block + 1;
    for (u32 i = blockIdx.x * threads + threadIdx.x; i < blocks; i += gridDim.x * threads) {
        const u32 begin = i * lists.keys_of_block;
        lists.blocks[i] = {begin, count - begin < lists.keys_of_block ? count - begin : lists.keys_of_block, 0, 0};
    }
    if (blockIdx.x != 0) return;
    if (totals != nullptr && threadIdx.x < digits) {
        lists.cursors[threadIdx.x] = static_cast<u32>(totals[lists.plan->step[0].digit * digits + threadIdx.x]);
    }
    if (threadIdx.x != 0) return;
    lists.bucket_begin[0] = 0;
    lists.counts[0].blocks = blocks;
    lists.counts[0].buckets = 1;
}
