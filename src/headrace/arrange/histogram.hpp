// How many keys are in each bucket, in host memory: the twin of arrange/histogram.cu.
#pragma once
#include <string_view>

#include "core/cpu.hpp"
#include "core/portable.hpp"

namespace headrace {

struct KeysToCount {
    std::string_view key;  // "u32", "i32" or "float"
    const void* keys;
    u64 count;
};

// By even parts where `edges` is null, otherwise between `buckets` + 1 edges, and `even` (an Even<Key>) describes the
// cells. `result` has `buckets` counts. Bytes moved per key: 4.
struct BucketsGiven {
    u32 buckets;
    std::string_view even;
    const void* edges;
    u64* result;
};
void histogram(const KeysToCount& input, const BucketsGiven& how, Isa isa, unsigned threads);

}  // namespace headrace
