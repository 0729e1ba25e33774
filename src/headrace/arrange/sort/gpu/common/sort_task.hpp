// Declares the arguments of the sort kernels that the host packs, and the plan that kernels share.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

constexpr u32 max_passes = 18;

// What passes of MSD go by. After splitters of a sample (splitters.cu) or estimated ranks (rank_map.hpp), passes divide
// the range of each bucket equally. The highest bits, one more than a digit has, serve one pass.
enum class Division : u32 { digits, splitters, ranks, top_bits };

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
    u32 repeats;     // whether the other keys repeat values so often that no MSD sort is cheaper
    Division division;
    u32 sample_falls, sample_rises;  // whether a key of the sample precedes a lower one, and a higher one
    u32 is_skewed;  // whether prefixes of a sample or of all keys show that MSD by digits is not cheaper
};

// Buffers of the keys, or of a column that moves with them. Without `source`, items are row numbers.
struct MovedColumn {
    const void* source;
    void* target;
    void* between;
    u32 width;
    u32 unused;

    HR_MEMBER const void* from(BufferRole role) const { return role == BufferRole::source ? source : to(role); }
    HR_MEMBER void* to(BufferRole role) const { return role == BufferRole::target ? target : between; }
};

constexpr u32 max_moved_columns = 8;

// Keys, and the columns that move with them.
struct SortArrays {
    MovedColumn keys;
    MovedColumn column[max_moved_columns];
    u32 columns;
    u32 unused;
};

// When the plan chooses MSD. `if_one_pass`: if it is cheaper, and one pass leaves no bucket larger than a leaf bucket.
enum class MsdUse : u32 { never, if_cheaper, always, if_one_pass };

// Facts about a sort that its plan depends on, besides the counts of digits.
struct PlanInputs {
    u64 count;
    u32 in_place;  // then the number of passes must be even
    MsdUse msd_use;
    u32 max_leaf_keys;  // maximum number of keys that one block sorts
    u32 value_bytes;    // bytes of values that move with each key
};

// Keys of one launch: a portion of all, since look-back counts below 2^31.
struct Portion {
    u64 begin;
    u64 count;
    u64* starts;       // first positions of this portion's keys, for each digit and value
    u64* next_starts;  // those of the next portion; null in the last one
    void* memory;      // tile::Counters, and a state for each tile and digit value; no state has had this `epoch`
    u32 epoch;
    u32 writes_keys;  // also in the last pass
};

// Input of the first pass of MSD in a launch of several passes; that pass counts nothing.
struct FirstPass {
    const u64* totals;  // counts of its digits
    u64 count;          // number of all keys
    u64 states_bytes;   // size of the look-back states, a multiple of 16
};

// Memory of a sort by one launch of blocks that wait for each other.
struct CooperativeMemory {
    void* meeting;  // tile::Counters
    u32* counts;    // of each block, two digits a word; two sets, since a block may be one digit ahead
    void* keys;     // two sets, as of rows: no block writes where another still reads
    u32* rows;
};

// The state of the search for the k-th key.
struct TopKState {
    u32 ended;  // blocks that have counted the present digit
    u32 unused;
    u64 wanted;       // number of keys to take among those that share the digits found
    u64 bits;         // the digits found, in place
    u64 counts[256];  // of the present digit
};

struct TopKChunks {
    u64* keys_before;  // for each block: lower, equal
    u64 chunk;         // keys of a block, a multiple of a tile
};

HR_END_NAMESPACE
