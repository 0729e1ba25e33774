// SlabAlloc: hands out slabs to warps without a lock (Ashkiani, Farach-Colton and Owens 2018, section V). The number of
// a slab gives its super block, memory block and unit. A table with one super block is the paper's light variant.
//
// A warp has a resident memory block of 1,024 slabs, and each of its lanes holds 32 bits of the block's bitmap in a
// register. In the best case one atomic operation allocates the slabs of all lanes that want one. It is atomicOr, which
// returns the word as other warps have changed it. So a lost race also refreshes the register. A hash of the warp's
// number selects the first block, and a full block is replaced by the next one. After all blocks the allocation fails,
// and `is_full` ends further searches at once. Allocations may also fail while another warp gives back a slab.
#pragma once
#include "core/hash.hpp"
#include "gpu/containers/slab_list.cuh"

namespace headrace::slab {

// Returns the word of the bitmap that has the bit of a unit. Units are the slabs of memory blocks, in the order of
// their numbers.
HR_FN u32* bitmap_word(const SlabTable& table, u32 unit) {
    const u32 first_units = table.first_slabs - table.buckets - 1;
    if (!has_super_blocks || unit < first_units) return table.bitmaps + unit / tile::lanes;
    const u32 after = unit - first_units;
    u8* const super = table.supers[after >> table.super_log];
    u32* const bitmaps = reinterpret_cast<u32*>(super + (u64{slab_bytes} << table.super_log));
    return bitmaps + (after & low_mask(table.super_log)) / tile::lanes;
}

class Allocator {
public:
    __device__ explicit Allocator(const SlabTable& table) : table_(table) {
        const u64 thread = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
        first_ = table.blocks == 0 ? 0 : mix_bits(static_cast<u32>(thread / tile::lanes)) % table.blocks;
    }

    // Returns an unused slab to each lane that wants one, or `no_slab`. All lanes of the warp take part.
    __device__ u32 allocate(bool is_wanted) {
        u32 slab = no_slab;
        for (u32 queue = __ballot_sync(tile::all_lanes, is_wanted); queue != 0;) {
            const u32 free_words = __ballot_sync(tile::all_lanes, bits_ != ~0u);
            if (free_words == 0) {
                if (!choose_block()) break;
                continue;
            }
            const u32 word = __ffs(free_words) - 1;
            u32 gained = 0;
            if (tile::lane() == word) gained = take(word, __popc(queue));
            gained = tile::shuffle(gained, word);
            const u32 turn = __popc(queue & low_mask(tile::lane()));
            if (is_wanted && turn < static_cast<u32>(__popc(gained))) {
                for (u32 i = 0; i < turn; ++i) gained &= gained - 1;
                slab = table_.buckets + 1 + block_ * block_slabs + word * tile::lanes + __ffs(gained) - 1;
                is_wanted = false;
            }
            queue = __ballot_sync(tile::all_lanes, is_wanted);
        }
        return slab;
    }

    // Allocates the slab that a thread's number stands for, or returns `no_slab` if there is none, or a warp has it.
    // Numbers that follow each other are of different memory blocks, so that these fill up evenly.
    __device__ static u32 claim(const SlabTable& table, u64 number) {
        if (number >= static_cast<u64>(table.blocks) * block_slabs) return no_slab;
        const u32 unit = static_cast<u32>(number % table.blocks * block_slabs + number / table.blocks);
        const u32 bit = 1u << unit % tile::lanes;
        const u32 before = atomicOr(bitmap_word(table, unit), bit);
        return (before & bit) == 0 ? table.buckets + 1 + unit : no_slab;
    }

    // Gives back a slab that no list has, emptied. One lane calls it.
    __device__ static void release(const SlabTable& table, u32 slab) {
        const u32 unit = slab - (table.buckets + 1);
        atomicAnd(bitmap_word(table, unit), ~(1u << unit % tile::lanes));
    }

private:
    // Takes up to `count` slabs of this lane's word of the bitmap. Returns their bits.
    __device__ u32 take(u32 word, u32 count) {
        u32 bits = 0;
        for (u32 free = ~bits_; count != 0 && free != 0; --count, free &= free - 1) bits |= free & (~free + 1);
        const u32 before = atomicOr(bitmap_word(table_, block_ * block_slabs) + word, bits);
        bits_ = before | bits;
        return bits & ~before;
    }
    __device__ bool choose_block() {
        const u32 is_full = tile::shuffle(tile::load_relaxed(table_.is_full), 0);
        if (is_full != 0) return false;
        if (tried_ == table_.blocks) {
            if (tile::lane() == 0) atomicOr(table_.is_full, 1u);
            return false;
        }
        block_ = (first_ + tried_++) % table_.blocks;
        bits_ = tile::load_relaxed(bitmap_word(table_, block_ * block_slabs) + tile::lane());
        return true;
    }

    const SlabTable& table_;
    u32 first_;
    u32 tried_ = 0;
    u32 block_ = 0;
    u32 bits_ = ~0u;
};

}  // namespace headrace::slab
