// The plan of a sort, made on the device from the counts of all digits, so that the host never waits. The host
// launches every kernel that the plan might need; a kernel that the plan does not need ends at once.
#pragma once
#include "gpu/block/memory_access.cuh"

namespace headrace {

constexpr u32 max_passes = 16;

enum class SortMethod : u32 { undecided, copy, reverse, lsd, msd };

struct Disorder {
    u32 falls;  // whether a key precedes a lower one
    u32 rises;  // whether a key precedes a higher one, or an equal one if their order matters
};

// The buffer that keys and columns are in.
enum class BufferRole : u32 { source, target, between };

struct PassStep {
    u32 digit;  // 0 is the lowest
    BufferRole from, to;
    u32 unused;
};

struct DevicePlan {
    SortMethod method;
    u32 steps;
    u32 counts_prefixes;  // whether 16-bit prefixes are counted first
    // whether the plan was made from prefix counts, which then give the size of each bucket of two digits
    u32 has_prefixes;
    PassStep step[max_passes];
    float crowding;  // of a sample; see plan_steps.cuh
    u32 heavy;       // number of heavy hitters whose keys are extracted (heavy_hitters.cuh)
    u32 remainder;   // number of other keys, which are sorted from `between` to `between`
    u32 repeats;     // whether the other keys repeat values so often that buckets would hold equal keys
};

// A load that the compiler does not move: it would sink a plain load below branches that do not need it.
template <class Word>
static __device__ __forceinline__ Word load_now(const Word& word) {
    static_assert(sizeof(Word) == 4);
    return static_cast<Word>(tile::load_relaxed(reinterpret_cast<const u32*>(&word)));
}

// Buffers of the keys, or of a column that moves with them. Without `source`, items are row numbers.
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

constexpr u32 max_moved_columns = 8;

// Keys, and the columns that move with them.
struct SortArrays {
    MovedColumn keys;
    MovedColumn column[max_moved_columns];
    u32 columns;
    u32 unused;
};

}  // namespace headrace
