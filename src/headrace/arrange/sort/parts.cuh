// Work lists of a sort by parts, made on the device: buckets that are still to be split, the blocks of their keys, and
// parts that one block sorts. (Stehle and Jacobsen 2017, section 4.2; positions are 32 bits wide, so keys are fewer
// than 2^32.)
#pragma once
#include "arrange/sort/plan.cuh"

namespace headrace {

// Keys of one block, of one bucket.
struct Block {
    u32 begin;
    u32 count;
    u32 bucket;
    u32 unused;
};

// A part that a block sorts: its keys differ in their lowest `bits` at most, and are at `place`.
struct Part {
    u32 begin;
    u32 count;
    u32 bits;
    Place place;
};

constexpr u32 size_classes = 3;

// Of one step.
struct Counts {
    u32 blocks;
    u32 buckets;
    u32 parts[size_classes];
    u32 unused[3];
};

}  // namespace headrace
