// Scan and reduction of arrays in host memory: the twins of primitives/scan.cu and primitives/reduce.cu.
#pragma once
#include <string_view>

#include "core/cpu/isa.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

// Names, such as "Sum" and "u32", as the kernels' variants have them.
struct Joined {
    std::string_view join;
    std::string_view item;
};

struct ArrayPair {
    const void* in;
    void* out;
    u64 count;
};

// Bytes moved per item of width w: 2 w. Several threads look at each piece twice, the second time in their cache;
// `in` and `out` may not overlap.
void scan(const Joined& what, ArrayPair arrays, bool exclusive, Isa isa, unsigned threads);

// `out` gets one item. Bytes moved per item of width w: w.
void reduce(const Joined& what, ArrayPair arrays, Isa isa, unsigned threads);

// `out` gets the sum of items that are "u32" or "i32" as one item of 64 bits. Bytes moved per item: 4.
void sum_widened(std::string_view item, ArrayPair arrays, Isa isa, unsigned threads);

// The sum of items that are "float" or "double", in the order of primitives/float_sum.hpp; 0 if there are none.
void float_sum(std::string_view item, const ArrayPair& arrays, unsigned threads);

}  // namespace headrace
