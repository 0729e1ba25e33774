// Computes where the digits of each bucket begin, and assigns its sub-buckets. These are leaf buckets for one block
// each, with small neighbours merged, or buckets of the next pass with their blocks. (Stehle and Jacobsen 2017,
// sections 4.2 and 4.5, rules R1 to R4.) Each thread handles a digit. The includer defines `threads`; those after the
// last digit have no keys.
//
// The paper merges neighbours from left to right while they stay below a threshold. Here neighbours merge that begin
// between the same multiples of it, which needs no order among threads.
//
// Bytes moved: 8 a bucket and digit, and the records.
#pragma once
#include "arrange/sort/gpu/msd/buckets.hpp"
#include "gpu/block/block.cuh"

namespace headrace {

static_assert(threads >= digits);

// Shared memory of a block.
struct Assigning {
    u32 totals[warps];
    u32 heads[warps];   // bit mask of the digits that begin a group
    u32 filled[warps];  // bit mask of the digits that have keys
    u32 begin[threads + 1];
    u32 large[threads];        // digits whose sub-buckets the next pass splits
    u32 first_block[threads];  // index of the first block of each
    u32 larges;
    u32 bucket, block;  // index of the first bucket and block
};

// Returns the first marked digit after `digit`; `threads` if there is none.
HR_FN u32 next_marked(const u32 (&marks)[warps], u32 digit) {
    u32 word = (digit + 1) / 32;
    if (word >= warps) return threads;
    u32 left = marks[word] & ~0u << (digit + 1) % 32;
    while (left == 0 && ++word < warps) left = marks[word];
    return left == 0 ? threads : word * 32 + static_cast<u32>(trailing_zeros(left));
}

HR_FN bool has_several(const u32 (&filled)[warps], u32 begin, u32 end) {
    u32 found = 0;
    for (u32 at = (filled[begin / 32] >> begin % 32 & 1) != 0 ? begin : next_marked(filled, begin);
         at < end && found < 2; at = next_marked(filled, at)) {
        ++found;
    }
    return found > 1;
}

// Whether a group of sub-buckets begins with the thread's.
HR_FN bool begins_group(const Lists& lists, const Assigning& shared, u32 first) {
    const u32 d = threadIdx.x;
    const u32 merged = lists.merged_below;
    if (d == 0 || merged == 0) return true;
    const u32 before = shared.begin[d - 1], own = shared.begin[d], after = shared.begin[d + 1];
    if (after - own >= merged || own - before >= merged) return true;
    return (own - first) / merged != (before - first) / merged;
}

// Adds the leaf bucket of each lane, if it has keys, to the smallest size class that holds it. A warp reserves its
// records with one addition a class.
HR_FN void add_leaves(const Lists& lists, const Leaf& leaf) {
    u32 own = 0;
    while (own + 1 < lists.classes && leaf.count > lists.class_keys[own]) ++own;
    for (u32 size_class = 0; size_class < lists.classes; ++size_class) {
        const u32 alike = __ballot_sync(tile::all_lanes, leaf.count != 0 && own == size_class);
        if (alike == 0) continue;
        u32 first = 0;
        if (tile::lane() == 0) first = atomicAdd(&lists.counts->leaves[size_class], static_cast<u32>(__popc(alike)));
        first = tile::shuffle(first, 0) + static_cast<u32>(__popc(alike & ((1u << tile::lane()) - 1)));
        if ((alike >> tile::lane() & 1) != 0) *leaf_of(lists, size_class, first) = leaf;
    }
}

// Returns the range of a digit's codes in a bucket of pass `number`. The second pass by ranks needs none.
HR_FN KeyRange range_of(const Lists& lists, u32 number, const Bucket& parent, u32 digit) {
    const bool by_ranks = lists.plan->division == Division::ranks;
    if (number > (by_ranks ? 1 : 0)) return parent.range.part(digit, digits);
    if (by_ranks) return number == 0 ? KeyRange{} : lists.rank_map->range_of(parent.digit * digits + digit, digits);
    const u64 low = lists.splitters[digit], end = lists.splitters[digit + 1];
    const u64 most = digit + 1 == digits ? end : end - 1;
    return KeyRange::of(low, most - low, digits);
}

// Adds the buckets that the next pass splits; `shared.large` has their digits. Each thread reserves the records of
// one bucket; each warp writes the records of its blocks. All threads call it.
HR_FN void add_buckets(const Lists& lists, u32 number, const Bucket& parent, Assigning& shared) {
    const u32 i = threadIdx.x, larges = shared.larges;
    const u32 digit = i < larges ? shared.large[i] : 0;
    const u32 begin = i < larges ? shared.begin[digit] : 0;
    const u32 count = i < larges ? shared.begin[digit + 1] - begin : 0;
    const u32 blocks = count == 0 ? 0 : (count - 1) / lists.keys_of_block + 1;
    const u32 upto = tile::scan_warp<Sum<u32>>(blocks);
    const auto all = tile::scan_warps<Sum<u32>, threads>(tile::shuffle(upto, tile::lanes - 1), shared.totals);
    if (i == 0) {
        ListLengths& counts = lists.counts[number + 1];
        shared.bucket = atomicAdd(&counts.buckets, larges);
        shared.block = atomicAdd(&counts.blocks, all.total);
    }
    __syncthreads();
    if (i < larges) {
        shared.first_block[i] = shared.block + all.before + upto - blocks;
        KeyRange range = {};
        if (lists.plan->division != Division::digits) range = range_of(lists, number, parent, digit);
        buckets_of(lists, number + 1)[shared.bucket + i] = {begin, digit, range};
    }
    __syncthreads();
    if (lists.odd_cursors != nullptr) {
        u32* const cursors = cursors_of(lists, number + 1) + static_cast<u64>(shared.bucket) * digits;
        for (u32 at = i; at < larges * digits; at += threads) cursors[at] = 0;
    }
    KeyBlock* const records = blocks_of(lists, number + 1);
    for (u32 large = tile::warp(); large < larges; large += warps) {
        const u32 first = shared.first_block[large], its_begin = shared.begin[shared.large[large]];
        const u32 its_count = shared.begin[shared.large[large] + 1] - its_begin;
        for (u32 block = tile::lane(); block <= (its_count - 1) / lists.keys_of_block; block += tile::lanes) {
            const u32 past = block * lists.keys_of_block, left = its_count - past;
            const u32 here = left < lists.keys_of_block ? left : lists.keys_of_block;
            records[first + block] = {its_begin + past, here, shared.bucket + large, first};
        }
    }
}

// Assigns one bucket of pass `number`. `width`: bits of a key.
HR_FN void assign_bucket(const Lists& lists, u32 number, u32 bucket, u32 width, Assigning& shared) {
    const u32 d = threadIdx.x;
    const PassStep step = lists.plan->step[number];
    u32* const cursors = cursors_of(lists, number) + static_cast<u64>(bucket) * digits;
    const u32 count = d < digits ? cursors[d] : 0;
    const Bucket parent = buckets_of(lists, number)[bucket];
    const u32 first = parent.begin;
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
    const bool by_ranges = lists.plan->division != Division::digits;
    Leaf leaf = {begin, 0, Leaf::packed(width, 0, 0, 0), Leaf::packed(step.to, lists.plan->heavy != 0, by_ranges)};
    if ((heads >> tile::lane() & 1) != 0) {
        const u32 end = next_marked(shared.heads, d);
        const u32 size = shared.begin[end] - begin;
        if (size > lists.max_leaf_keys) {
            shared.large[atomicAdd(&shared.larges, 1u)] = d;
        } else if (by_ranges) {
            leaf.count = size;
        } else if (size != 0) {
            const u32 shift = step.digit * bits, left = width - shift;
            const u32 own = has_several(shared.filled, d, end) ? (left < bits ? left : bits) : 0;
            leaf.count = size;
            leaf.digits = Leaf::packed(shift + own, shift, d, end - 1 < digits ? end - 1 : digits - 1);
        }
    }
    add_leaves(lists, leaf);
    __syncthreads();
    add_buckets(lists, number, parent, shared);
    __syncthreads();
}

HR_FN void assign_buckets(const Lists& lists, u32 number, u32 width, Assigning& shared) {
    const u32 buckets = lists.counts[number].buckets;
    for (u32 bucket = blockIdx.x; bucket < buckets; bucket += gridDim.x)
        assign_bucket(lists, number, bucket, width, shared);
}

// Creates the first bucket, which has all keys. `totals`: counts for each digit and value, if they exist.
HR_FN void begin_lists(const Lists& lists, u32 count, const u64* totals) {
    if (lists.plan->heavy != 0) count = lists.plan->remainder;
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
    lists.buckets[0] = {};
    lists.counts[0].blocks = blocks;
    lists.counts[0].buckets = 1;
}

// Creates the first bucket and assigns it, in the same block.
HR_FN void begin_and_assign(const Lists& lists, u32 count, const u64* totals, u32 width, Assigning& shared) {
    begin_lists(lists, count, totals);
    if (blockIdx.x != 0) return;
    __syncthreads();
    assign_bucket(lists, 0, 0, width, shared);
}

}  // namespace headrace
