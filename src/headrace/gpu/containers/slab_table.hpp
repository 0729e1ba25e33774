// Declares the memory of a slab hash, which kernels take by value. A slab is 128 bytes: slots for keys and values, a
// word for a mark, and the number of the next slab (slab_list.cuh).
//
// Slabs 0 to `buckets` are the first slabs of the buckets. The last of them belongs to the one key that marks empty
// slots. After them come `blocks` memory blocks of 1,024 slabs, which SlabAlloc hands out. The slots of an unused
// slab are empty, and all bits of its last two words are set.
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

constexpr u32 slab_bytes = 128;
constexpr u32 block_slabs = 1024;
constexpr u32 no_slab = ~0u;
constexpr u32 max_slabs = 1u << 26;  // a slot's number has 26 bits for the slab and 5 for the slot in it

struct SlabTable {
    u8* slabs;
    u32* bitmaps;  // of each memory block, a bit for each slab: whether it is in use
    u32* is_full;  // 1 after a warp found all memory blocks in use
    u32 buckets;
    u32 blocks;
    u64 seed;  // of the keys' hash
};

HR_END_NAMESPACE
