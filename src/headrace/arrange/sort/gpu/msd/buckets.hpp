// Work lists of the MSD sort (Stehle and Jacobsen 2017, "A memory bandwidth-efficient hybrid radix sort on GPUs",
// section 4). They are made on the device, so a pass takes the same few launches for any number of buckets, and the
// host never waits. Positions have 32 bits, so there are fewer than 2^32 keys.
//
// A bucket with more keys than a block sorts is split by its next digit. A sub-bucket that fits becomes a leaf
// bucket, merged with small neighbours of the same bucket. One block finishes it, whatever digits are left.
#pragma once

#include "arrange/sort/gpu/common/key_range.hpp"
#include "arrange/sort/gpu/common/rank_map.hpp"
#include "arrange/sort/gpu/common/sort_task.hpp"

HR_BEGIN_NAMESPACE

// Keys of one block, all in one bucket.
struct KeyBlock {
    u32 begin;
    u32 count;
    u32 bucket;
    u32 first;  // index of the bucket's first block
};

// A bucket: its first position, the digit of its keys in the preceding pass, and their range if passes go by ranges.
struct Bucket {
    u32 begin;
    u32 digit;
    KeyRange range;
};

// A leaf bucket: its keys differ at most in their lowest `bits`, lie in buffer `from`, and go to `to`. For example,
// digits 5 to 9 above the lowest 16 bits: bits 24, shift 16, first 5, last 9. If passes go by ranges of codes, the
// range of the bucket is not recorded.
struct Leaf {
    u32 begin;
    u32 count;
    u32 digits;  // a byte each: bits, shift, first, last
    u32 places;

    HR_MEMBER static u32 packed(u32 bits, u32 shift, u32 first, u32 last) {
        return bits | shift << 8 | first << 16 | last << 24;
    }
    // Packs the buffer. Keys that remain after heavy hitters were extracted end where they began, in `between`.
    HR_MEMBER static u32 packed(BufferRole from, bool are_light, bool is_range) {
        return static_cast<u32>(from) | (are_light ? 1u << 8 : 0u) | (is_range ? 1u << 9 : 0u);
    }
    HR_MEMBER BufferRole from() const { return static_cast<BufferRole>(places & 0xFF); }
    HR_MEMBER BufferRole to() const { return are_light() ? BufferRole::between : BufferRole::target; }
    HR_MEMBER bool are_light() const { return (places >> 8 & 1) != 0; }
    HR_MEMBER bool is_range() const { return (places >> 9 & 1) != 0; }
    HR_MEMBER u32 bits() const { return digits & 0xFF; }
    HR_MEMBER u32 shift() const { return digits >> 8 & 0xFF; }  // bits below the digit
    HR_MEMBER u32 first() const { return digits >> 16 & 0xFF; }
    HR_MEMBER u32 span() const { return (digits >> 24) - first() + 1; }
};

// Leaf buckets at `first`, first + `stride`, ... of a list with *number of them. Without a list, `only` is the one.
struct List {
    const Leaf* leaves;
    const u32* number;
    i64 first;
    i64 stride;
    Leaf only;
};

constexpr u32 max_classes = 6;
constexpr u32 part_lists = 3;

// List lengths of one pass. Leaf buckets of all passes are counted in the first.
struct ListLengths {
    u32 blocks;
    u32 buckets;
    u32 leaves[max_classes];
};

// All lists. Even and odd passes have separate ones, since a pass makes those of the next.
struct Lists {
    const DevicePlan* plan;
    ListLengths* counts;  // of each pass
    KeyBlock* blocks;     // of keys
    KeyBlock* odd_blocks;
    Bucket* buckets;
    Bucket* odd_buckets;
    u32* cursors;              // for each bucket and digit: first the number of keys, then the position of the next one
    u32* odd_cursors;          // null: passes share one table, which is cleared in between
    u32* block_counts;         // for each block and digit; null: not kept
    const u32* heads;          // prefix histogram, if the plan has one
    const u64* splitters;      // lowest code of each digit of the first pass, and the highest of all; null: never
    const RankMap* rank_map;   // null: never
    Leaf* leaves[part_lists];  // two size classes each: even ones from the front, odd ones from the back
    u32 max_parts[part_lists];
    u32 class_keys[max_classes];  // maximum size of a leaf bucket of each class
    u32 classes;
    u32 keys_of_block;
    u32 max_leaf_keys;  // maximum size of a leaf bucket
    u32 merged_below;   // neighbours merge below this size; the result has less than twice as many keys
    u32 reduces;        // whether a thread adds equal digits at once
    u32 looks_ahead;    // whether a thread reserves up to three places at once if a block's keys are skewed
};

HR_FN KeyBlock* blocks_of(const Lists& lists, u32 step) { return step % 2 == 0 ? lists.blocks : lists.odd_blocks; }
HR_FN Bucket* buckets_of(const Lists& lists, u32 step) { return step % 2 == 0 ? lists.buckets : lists.odd_buckets; }

HR_FN u32* cursors_of(const Lists& lists, u32 step) {
    return step % 2 == 0 || lists.odd_cursors == nullptr ? lists.cursors : lists.odd_cursors;
}

HR_FN Leaf* leaf_of(const Lists& lists, u32 size_class, u32 i) {
    const u32 list = size_class / 2;
    return lists.leaves[list] + (size_class % 2 == 0 ? i : lists.max_parts[list] - 1 - i);
}

HR_END_NAMESPACE
