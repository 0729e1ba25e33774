// Declares the memory of a slab hash, which kernels take by value. A slab is 128 bytes: slots for keys and values, a
// word for a mark, and the number of the next slab (slab_list.cuh).
//
// Slabs 0 to `buckets` are the first slabs of the buckets. The last of them belongs to the one key that marks empty
// slots. After them come `blocks` memory blocks of 1,024 slabs, which SlabAlloc hands out. The slots of an unused
// slab are empty, and all bits of its last two words are set.
//
// The first super block is an array of the first slabs and of some memory blocks. More super blocks of 2^super_log
// slabs are added when slabs run out, and no slab moves. The number of a slab gives its super block and its place
// there. For example, with 5,000 slabs in the first super block and super_log = 10, slab 7,500 is slab 452 of super
// block 2 after it.
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

constexpr u32 slab_bytes = 128;
constexpr u32 block_slabs = 1024;
constexpr u32 no_slab = ~0u;
constexpr u32 max_slabs = 1u << 26;  // a slot's number has 26 bits for the slab and 5 for the slot in it

struct SlabTable {
    u8* slabs;     // those of the first super block
    u32* bitmaps;  // of each of its memory blocks, a bit for each slab: whether it is in use
    u32* is_full;  // 1 after a warp found all memory blocks in use
    u32 buckets;
    u32 blocks;         // number of memory blocks in all super blocks
    u64 seed;           // of the keys' hash
    u8* const* supers;  // the other super blocks: their slabs, and then the bitmaps of their memory blocks
    u32 first_slabs;    // number of slabs in the first super block
    u32 super_log;
};

HR_END_NAMESPACE
