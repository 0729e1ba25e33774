// What a sort does, decided on the device from the counts of all digits, so that the host waits for nothing: it
// launches all that may be done, and a launch that the plan has no use for ends at once.
#pragma once
#include "gpu/block/memory_access.cuh"

namespace headrace {

constexpr u32 max_passes = 16;

enum class SortMethod : u32 { undecided, copy, reverse, lsd, msd };

struct Disorder {
    u32 falls;  // whether a key comes before a lower one
    u32 rises;  // whether one comes before a higher one, or before its equal where that counts
};

// Where keys are, and what goes with them.
enum class BufferRole : u32 { source, target, between };

struct PassStep {
    u32 digit;  // 0 is the lowest
    BufferRole from, to;
    u32 unused;
};

struct DevicePlan {
    SortMethod method;
    u32 steps;
    u32 counts_prefixes;  // whether to count heads of keys first
    u32 has_prefixes;  // whether the plan is made of them: then they tell how many keys each bucket of two digits has
    PassStep step[max_passes];
    float crowding;  // as plan_steps.cuh has it, of a sample
    u32 heavy;       // values whose keys are set aside (heavy/heavy.cuh)
    u32 remainder;   // the other keys, if there are any: these are sorted, from `between` to `between`
    u32 repeats;     // whether keys that are not of heavy values have others' values so often that parts would be alike
};

// A load that stays where it is written: a plain one goes behind the branches that do not need it.
template <class Word>
static __device__ __forceinline__ Word load_now(const Word& word) {
    static_assert(sizeof(Word) == 4);
    return static_cast<Word>(tile::load_relaxed(reinterpret_cast<const u32*>(&word)));
}

// One array that is sorted or goes with what is: in, out, and as large as these. Without `source`: numbers of rows.
struct MovedColumn {
    const void* source;
    void* target;
    void* between;
    u32 width;
    u32 unused;

    __device__ __forceinline__ const void* from(BufferRole role) const {
        return role == BufferRole::source ? source : to(role);
    }
    __device__ __forceinline__ void* to(BufferRole role) const { return role == BufferRole::target ? target : between; }
};

constexpr u32 max_columns = 8;

// Keys, and what goes with them.
struct Arrays {
    MovedColumn keys;
    MovedColumn column[max_columns];
    u32 columns;
    u32 unused;
};

}  // namespace headrace
