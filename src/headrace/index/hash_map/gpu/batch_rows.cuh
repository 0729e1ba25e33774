// Defines the types of a program's tables, and the rows of a batch, one per thread.
#pragma once
#include "gpu/containers/slab_list.cuh"
#include "index/hash_map/rules/seeded_hash.hpp"

namespace headrace::slab {

constexpr u32 threads = HR_THREADS;
using L = Layout<HR_KEY_WIDTH, HR_VALUE_WIDTH>;
using Key = L::Key;
using Value = L::Value;

HR_FN u64 thread_row() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }

// The form of a batch, a sum of these. `located`: the slots of present keys are known. `ordered`: the rows are in the
// order of the buckets, and have hashes in place of keys.
enum BatchForm : u32 { located = 1, ordered = 2 };

HR_FN Key key_of_row(const Key* keys, u64 row, u64 count) { return row < count ? keys[row] : Key{0}; }
HR_FN Key key_of_row(const Key* keys, u64 row, u64 count, u32 form, u64 seed) {
    const Key given = key_of_row(keys, row, count);
    return (form & ordered) != 0 ? hashed_key(given, seed) : given;
}

// Adds up a block's flags, and adds the sum to a counter. All threads of the block call it. An atomic operation of each
// warp on one counter took longer than the reads of a search.
HR_FN void count_flags(u64* counter, bool flag) {
    const int flags = __syncthreads_count(flag);
    if (threadIdx.x == 0 && flags != 0) atomicAdd(counter, static_cast<u64>(flags));
}

}  // namespace headrace::slab
