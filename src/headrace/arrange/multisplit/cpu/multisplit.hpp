// Sorts keys, and values with them, by bucket in host memory: the CPU counterpart of arrange/multisplit/gpu/split.cu.
#pragma once
#include <string_view>
#include <vector>

#include "core/cpu/isa.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

// Bucket function and digit of a pass. `rule`: "BitsOf", "AnyOf", "BetweenOf" or "Computed". `description`: bytes of
// the rule's struct; for BetweenOf of a Cells<Key> (empty for WideKey), for Computed of an Expression. `edges`: for
// BetweenOf, buckets + 1 widened keys. The digit is (bucket >> shift) & mask.
struct SplitBy {
    std::string_view key;  // "u8", "u16", "u32", "u64", "float", "double" or "WideKey"
    std::string_view rule;
    std::string_view description;
    const void* edges;
    u32 buckets;
    u32 shift;
    u32 mask;
};

struct SplitColumn {
    const void* from;
    void* to;
    unsigned width;  // bytes per item
};

// Sorts `columns`, the keys followed by values, by digit. `starts`: start of each digit in the result, and the end.
// Returns the number of keys in no bucket; if it is not 0, only `starts` is written. Bytes moved per key of width w
// with values of width v: 3 w + 2 v, since keys are read twice.
u64 multisplit(const SplitBy& by, const void* keys, u64 count, const std::vector<SplitColumn>& columns, u64* starts,
               Isa isa, unsigned threads);

// Finds the start of each bucket, and the end, in keys sorted by bucket: buckets + 1 `starts`.
void find_buckets(const SplitBy& by, const void* keys, u64 count, u64* starts, Isa isa, unsigned threads);

}  // namespace headrace
