// A sort by parts, from the highest digit down (Stehle and Jacobsen 2017, "A memory bandwidth-efficient hybrid radix
// sort on GPUs", section 4): work lists made on the device, so that a step is the same few launches however many
// buckets there are, and the host waits for nothing. Positions have 32 bits, so keys are fewer than 2^32.
//
// A bucket of more keys than a block sorts is split by its next digit; a sub-bucket that fits becomes a part, small
// neighbours of one bucket together, and is finished by one block whatever digits it has left.
#pragma once
#include "arrange/sort/gpu/common/device_plan.cuh"

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

// A part that a block sorts: its keys differ in their lowest `bits` at most, are at `from`, and go to `to`. For
// example, of digits 5 to 9 above the lowest 16 bits: bits 24, shift 16, first 5, last 9.
struct Leaf {
    u32 begin;
    u32 count;
    u32 digits;  // a byte each: bits, shift, first, last
    u32 places;

    static __device__ __forceinline__ u32 packed(u32 bits, u32 shift, u32 first, u32 last) {
        return bits | shift << 8 | first << 16 | last << 24;
    }
    // Light keys (heavy/heavy.cuh) end where they began, in `between`.
    static __device__ __forceinline__ u32 packed(BufferRole from, bool are_light) {
        return static_cast<u32>(from) | (are_light ? 1u << 8 : 0u);
    }
    __device__ __forceinline__ BufferRole from() const { return static_cast<BufferRole>(places & 0xFF); }
    __device__ __forceinline__ BufferRole to() const {
        return places >> 8 == 0 ? BufferRole::target : BufferRole::between;
    }
    __device__ __forceinline__ bool are_light() const { return places >> 8 != 0; }
    __device__ __forceinline__ u32 bits() const { return digits & 0xFF; }
    __device__ __forceinline__ u32 shift() const { return digits >> 8 & 0xFF; }  // bits below the digit
    __device__ __forceinline__ u32 first() const { return digits >> 16 & 0xFF; }
    __device__ __forceinline__ u32 span() const { return (digits >> 24) - first() + 1; }
};

// Parts number `first`, first + `stride`, and so on of a list, of which there are *number; or, without one, `only`.
struct List {
    const Leaf* leaves;
    const u32* number;
    i64 first;
    i64 stride;
    Leaf only;
};

constexpr u32 most_classes = 6;
constexpr u32 part_lists = 3;

// Of one step; parts, of all steps, are counted in the first.
struct Counts {
    u32 blocks;
    u32 buckets;
    u32 leaves[most_classes];
};

// Lists of even steps and of odd ones are apart, since one step makes those of the next.
struct Lists {
    const DevicePlan* plan;
    Counts* counts;  // of each step
    Block* blocks;   // of keys
    Block* odd_blocks;
    Bucket* buckets;
    Bucket* odd_buckets;
    u32* cursors;              // for each bucket and digit: how many keys; then where the next one goes
    u32* odd_cursors;          // null: both are the same, and cleared in between
    u32* block_counts;         // for each block and digit; null: not kept
    const u32* heads;          // for each two highest digits how many keys, where the plan has them
    Leaf* leaves[part_lists];  // two classes of size each: even ones from the front, odd ones from the back
    u32 most_parts[part_lists];
    u32 class_keys[most_classes];  // keys of a part of each class at most
    u32 classes;
    u32 keys_of_block;
    u32 max_leaf_keys;  // keys of a part
    u32 merged_below;   // neighbours are put together below this, and then have less than twice as many keys
    u32 reduces;        // whether equal digits of a thread are added at once
    u32 looks_ahead;    // whether a thread takes up to three places at once, where a block's keys are skewed
};

static __device__ __forceinline__ Block* blocks_of(const Lists& lists, u32 step) {
    return step % 2 == 0 ? lists.blocks : lists.odd_blocks;
}
static __device__ __forceinline__ Bucket* buckets_of(const Lists& lists, u32 step) {
    return step % 2 == 0 ? lists.buckets : lists.odd_buckets;
}

static __device__ __forceinline__ u32* cursors_of(const Lists& lists, u32 step) {
    return step % 2 == 0 || lists.odd_cursors == nullptr ? lists.cursors : lists.odd_cursors;
}

// Part `i` of a class.
static __device__ __forceinline__ Leaf* leaf_of(const Lists& lists, u32 size_class, u32 i) {
    const u32 list = size_class / 2;
    return lists.leaves[list] + (size_class % 2 == 0 ? i : lists.most_parts[list] - 1 - i);
}

}  // namespace headrace
