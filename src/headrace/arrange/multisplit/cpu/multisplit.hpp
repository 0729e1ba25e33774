// Keys, and values with them, in the order of their buckets, in host memory: the twin of
// arrange/multisplit/gpu/split.cu.
#pragma once
#include <string_view>
#include <vector>

#include "core/cpu/isa.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

// How keys fall into buckets. `rule`: "BitsOf", "AnyOf", "BetweenOf" or "Computed"; `description`: its bytes, of
// BetweenOf those of a Cells<Key>, whose widened `edges` are buckets + 1 (of Wide keys none), of Computed those of an
// Expression. Digits are the `mask` bits of a bucket from `shift` on.
struct SplitBy {
    std::string_view key;  // "u8", "u16", "u32", "u64", "float", "double" or "Wide"
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
    unsigned width;  // bytes of an item
};

// `columns`: the keys, and what goes with them. `starts`: where each digit begins in the result, and the end. Returns
// how many keys are in no bucket; if there are such, nothing is written but `starts`. Bytes moved per key of width w
// and values of width v: 3 w + 2 v, for keys are read twice.
u64 multisplit(const SplitBy& by, const void* keys, u64 count, const std::vector<SplitColumn>& columns, u64* starts,
               Isa isa, unsigned threads);

// Where each bucket begins in keys that are in the order of their buckets, and the end: buckets + 1 `starts`.
void find_buckets(const SplitBy& by, const void* keys, u64 count, u64* starts, Isa isa, unsigned threads);

}  // namespace headrace
