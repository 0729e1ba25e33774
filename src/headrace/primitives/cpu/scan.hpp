// Scans and reduces arrays in host memory: the CPU counterparts of primitives/scan.cu and primitives/reduce.cu.
#pragma once
#include <string_view>

#include "core/cpu/isa.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

// Operator and item type, such as "Sum" and "u32", as the GPU kernels name them.
struct OperatorName {
    std::string_view join;
    std::string_view item;
};

struct ArrayPair {
    const void* in;
    void* out;
    u64 count;
};

// Bytes moved per item of width w: 2 w. With several threads each piece is read twice, the second time from cache; `in`
// and `out` must not overlap.
void scan(const OperatorName& what, ArrayPair arrays, bool exclusive, Isa isa, unsigned threads);

// Writes one item to `out`. Bytes moved per item of width w: w.
void reduce(const OperatorName& what, ArrayPair arrays, Isa isa, unsigned threads);

// Writes the sum of items of type "u32" or "i32" to `out`, as one item of 64 bits. Bytes moved per item: 4.
void sum_widened(std::string_view item, ArrayPair arrays, Isa isa, unsigned threads);

// Writes the sum of items of type "float" or "double", in the order of primitives/float_sum.hpp; 0 for no items.
void float_sum(std::string_view item, const ArrayPair& arrays, unsigned threads);

// Positions of running sums in an output: result i is item i + `by`, 0 or 1, of `length` items.
struct Shifted {
    u64 by;
    u64 length;
};

// Writes the running sums of 1 or more items of type "float" or "double", in the order of primitives/float_scan.hpp.
// If they are shifted, the first item of the output is 0.
void float_scan(std::string_view item, const ArrayPair& arrays, const Shifted& shifted, unsigned threads);

}  // namespace headrace
