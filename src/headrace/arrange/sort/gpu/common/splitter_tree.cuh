// Finds the digit of a code by splitters: the number of splitters that are not above it. Splitters are the nodes of a
// search tree in breadth-first order: children of node i are nodes 2 i and 2 i + 1. So the nodes of a level are
// neighbours in shared memory, and lanes of a warp rarely read different words of one bank. (Eytzinger's order:
// Khuong and Morin 2017, "Array layouts for comparison-based searching", section 2.2.)
#pragma once
#include "arrange/sort/gpu/common/digit.cuh"

namespace headrace {

struct SplitterTree {
    Key node[digits];  // node 0 is unused

    // Loads splitters 1 to digits - 1 of a table. A barrier must follow.
    HR_MEMBER void load(const u64* splitters) {
        for (u32 i = 1 + threadIdx.x; i < digits; i += blockDim.x) {
            const u32 level = 31 - static_cast<u32>(__clz(static_cast<int>(i)));
            node[i] = static_cast<Key>(splitters[(2 * (i - (1u << level)) + 1) << (bits - level - 1)]);
        }
    }
    HR_MEMBER u32 digit_of(Key code) const {
        u32 i = 1;
#pragma unroll
        for (u32 level = 0; level < bits; ++level) i = 2 * i + (node[i] <= code ? 1 : 0);
        return i - digits;
    }
};

}  // namespace headrace
