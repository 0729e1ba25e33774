// A sort by parts, from the highest digit down (Stehle and Jacobsen 2017, "A memory bandwidth-efficient hybrid radix
// sort on GPUs", section 4): work lists made on the device, so that a step is the same few launches however many
// buckets there are, and the host waits for nothing. Positions have 32 bits, so keys are fewer than 2^32.
//
// A bucket of more keys than a block sorts is split by its next digit; a sub-bucket that fits becomes a part, small
// neighbours of one bucket together, and is finished by one block whatever digits it has left.
#pragma once
#include "arrange/sort/plan.cuh"

namespace headrace {

// Keys of one block, of one bucket.
struct Block {
    u32 begin;
    u32 count;
    u32 bucket;
    u32 first;  // number of the bucket's first block
};

// Where a bucket begins, and the digit that its keys have in the step before.
struct Bucket {
    u32 begin;
    u32 digit;
};

// A part that a block sorts: its keys differ in their lowest `bits` at most, and are at `place`.
struct Part {
    u32 begin;
    u32 count;
    u32 bits;
    Place place;
};

// Parts number `first`, first + `stride`, and so on of a list, of which there are *number; or, without one, `only`.
struct List {
    const Part* parts;
    const u32* number;
    i64 first;
    i64 stride;
    Part only;
};

constexpr u32 size_classes = 3;

// Of one step.
struct Counts {
    u32 blocks;
    u32 buckets;
    u32 parts[size_classes];
    u32 unused[3];
};

// Lists of even steps and of odd ones are apart, since one step makes those of the next.
struct Lists {
    const Plan* plan;
    Counts* counts;  // of each step
    Block* blocks;   // of keys
    Block* odd_blocks;
    Bucket* buckets;
    Bucket* odd_buckets;
    u32* cursors;       // for each bucket and digit: how many keys; then where the next one goes
    u32* block_counts;  // for each block and digit; null: not kept
    Part* parts;        // those of class 0 from the front, of class 1 from the back
    Part* large_parts;  // of class 2
    const u32* heads;   // for each two highest digits how many keys, where the plan has them
    u32 most_parts;
    u32 keys_of_block;
    u32 most_in_one;   // keys of a part
    u32 merged_below;  // neighbours are put together below this, and then have less than twice as many keys
    u32 tiny_part;     // keys of a part of class 0 at most
    u32 little_part;   // of class 1
    u32 reduces;       // whether equal digits of a thread are added at once
    u32 looks_ahead;   // whether a thread takes up to three places at once, where a block's keys are skewed
};

static __device__ __forceinline__ Block* blocks_of(const Lists& lists, u32 step) {
    return step % 2 == 0 ? lists.blocks : lists.odd_blocks;
}
static __device__ __forceinline__ Bucket* buckets_of(const Lists& lists, u32 step) {
    return step % 2 == 0 ? lists.buckets : lists.odd_buckets;
}

// Part `i` of a class.
static __device__ __forceinline__ Part* part_of(const Lists& lists, u32 size_class, u32 i) {
    if (size_class == 2) return lists.large_parts + i;
    return lists.parts + (size_class == 0 ? i : lists.most_parts - 1 - i);
}

}  // namespace headrace
