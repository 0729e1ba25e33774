// Values that many keys have, so many that it pays to set their keys aside before the others are sorted: these are
// heavy, all others light. (Axtmann, Witt, Ferizovic and Sanders 2017, "In-place parallel super scalar samplesort",
// section 4.4, has equality buckets for them.) Class 0 is that of light keys, class c that of the c-th heavy value.
#pragma once
#include "core/cpu/portable.hpp"

namespace headrace {

// In device memory.
template <class Word, u32 class_bits>
struct Heavy {
    static constexpr u32 classes = 1u << class_bits;
    static constexpr u32 slot_bits = class_bits + 4;
    static constexpr u32 slots = 1u << slot_bits;

    u64 number;          // of heavy values
    u64 multiplier;      // of the hash by which each of them has a slot of its own
    u64 count[classes];  // of keys, from class 1 on
    Word code[classes];  // from class 1 on, rising

    // The highest bits of a product with an odd number: codes of one bit each have slots of their own by most of these.
    __device__ __forceinline__ static u32 slot_of(Word code, Word multiplier) {
        return static_cast<u32>(static_cast<Word>(code * multiplier) >> (8 * sizeof(Word) - slot_bits));
    }
};

// The same in shared memory, to be asked which class a code has.
template <class Word, u32 class_bits>
struct ClassTable {
    using All = Heavy<Word, class_bits>;
    Word code[All::slots];
    u8 number[All::slots];  // 0: nobody's
    Word multiplier;

    // By all threads; a barrier must follow.
    __device__ __forceinline__ void fill(const All& heavy) {
        for (u32 s = threadIdx.x; s < All::slots; s += blockDim.x) {
            code[s] = 0;
            number[s] = 0;
        }
        if (threadIdx.x == 0) multiplier = static_cast<Word>(heavy.multiplier);
        __syncthreads();
        for (u32 c = 1 + threadIdx.x; c <= heavy.number; c += blockDim.x) {
            const u32 slot = All::slot_of(heavy.code[c], static_cast<Word>(heavy.multiplier));
            code[slot] = heavy.code[c];
            number[slot] = static_cast<u8>(c);
        }
    }
    __device__ __forceinline__ u32 of(Word own) const {
        const u32 slot = All::slot_of(own, multiplier);
        return code[slot] == own ? number[slot] : 0;
    }
};

}  // namespace headrace
