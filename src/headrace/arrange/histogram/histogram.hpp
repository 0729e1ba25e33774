// How many keys are in each bucket, in host memory: the twin of arrange/histogram/histogram.cu.
#pragma once
#include <string_view>

#include "arrange/bucket/cells.hpp"
#include "core/cpu/isa.hpp"

namespace headrace {

struct KeysToCount {
    std::string_view key;  // "u8", "u16", "u32", "u64", "float" or "double"
    const void* keys;
    u64 count;
};

// How keys fall into buckets. `description`: by even parts the bytes of an Even<Key>; where `edges` is not null, those
// of a Cells<Key>, and `edges` are `buckets` + 1 widened keys; where `computed`, those of an Expression of u32 keys,
// and a key whose value is `buckets` or more is in none. `result` has `buckets` counts. Bytes moved per key: its own.
struct BucketsGiven {
    u32 buckets;
    std::string_view description;
    const void* edges;
    bool computed;
    u64* result;
};
void histogram(const KeysToCount& input, const BucketsGiven& how, Isa isa, unsigned threads);

}  // namespace headrace
