// Scan and reduction of arrays in host memory: the twins of core/scan.cu and core/reduce.cu. `join` and `item` are
// names, such as "Sum" and "u32", as the kernels' variants have them.
#pragma once
#include <string_view>

#include "core/operators.hpp"

namespace headrace {

struct ArrayPair {
    const void* in;
    void* out;
    u64 count;
};

// Bytes moved per item of width w: 2 w by one thread, 3 w by several, which first reduce their parts.
void scan(std::string_view join, std::string_view item, ArrayPair arrays, bool exclusive, unsigned threads);

// `out` gets one item. Bytes moved per item of width w: w.
void reduce(std::string_view join, std::string_view item, ArrayPair arrays, unsigned threads);

// The sum of items that are "float" or "double", in the order of core/float_sum.hpp; 0 if there are none.
void float_sum(std::string_view item, const ArrayPair& arrays, unsigned threads);

}  // namespace headrace
