// Counts the keys of each bucket in host memory: the CPU counterpart of arrange/histogram/histogram.cu.
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

// Counts keys by one of three rules, whose bytes are `description`. If `edges` is not null, it is a Cells<Key>, and
// `edges` are `buckets` + 1 widened keys. If `computed`, it is an Expression of u32 keys, and keys whose value is
// `buckets` or more are not counted. Otherwise it is an Even<Key>. `result`: `buckets` counts. Bytes moved per key: its
// width.
struct BucketsGiven {
    u32 buckets;
    std::string_view description;
    const void* edges;
    bool computed;
    u64* result;
};
void histogram(const KeysToCount& input, const BucketsGiven& how, Isa isa, unsigned threads);

}  // namespace headrace
