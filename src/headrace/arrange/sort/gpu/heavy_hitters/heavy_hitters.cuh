// Heavy hitters: values so frequent that it pays to extract their keys before the sort. Axtmann, Witt, Ferizovic and
// Sanders 2017, "In-place parallel super scalar samplesort", section 4.4, have equality buckets for them. Class 0 holds
// the remaining keys, class c those of the c-th heavy hitter.
#pragma once
#include "core/cpu/portable.hpp"

namespace headrace {

// The heavy hitters in device memory.
template <class Word, u32 class_bits>
struct Heavy {
    static constexpr u32 classes = 1u << class_bits;
    static constexpr u32 slot_bits = class_bits + 4;
    static constexpr u32 slots = 1u << slot_bits;

    u64 number;          // of heavy hitters
    u64 multiplier;      // of the hash that gives each of them its own slot
    u64 count[classes];  // of keys, from class 1 on
    Word code[classes];  // from class 1 on, ascending

    // Returns the highest bits of a product with an odd number. Most multipliers give codes of one bit separate
    // slots.
    HR_MEMBER static u32 slot_of(Word code, Word multiplier) {
        return static_cast<u32>(static_cast<Word>(code * multiplier) >> (8 * sizeof(Word) - slot_bits));
    }
};

// The same in shared memory, to look up the class of a code.
template <class Word, u32 class_bits>
struct ClassTable {
    using All = Heavy<Word, class_bits>;
    Word code[All::slots];
    u8 number[All::slots];  // 0: empty
    Word multiplier;

    // Fills the table. All threads call it; a barrier must follow.
    HR_MEMBER void fill(const All& heavy) {
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
    HR_MEMBER u32 of(Word own) const {
        const u32 slot = All::slot_of(own, multiplier);
        return code[slot] == own ? number[slot] : 0;
    }
};

}  // namespace headrace
