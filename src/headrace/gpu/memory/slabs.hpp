// Lays out small buffers in slabs, each allocated, filled and released by one call (slabs.py).
#pragma once

#include <vector>

#include "core/cpu/portable.hpp"

namespace headrace {

struct SlabRule {
    usize alignment, large, slab;  // bytes; buffers over `large` are alone; `slab` is a slab's limit
};

// A slab ends before buffer `end`. Of its `bytes`, the first `ones` have all bits set and the next `zeros` are cleared.
struct Slab {
    usize end, bytes, ones, zeros;
};

struct Slabs {
    std::vector<Slab> slabs;
    std::vector<usize> begins;  // offset of each buffer in its slab
};

// The first `ones` buffers have all bits set; the following ones, up to index `filled`, are cleared. Buffers that fit
// `large` bytes together form one slab.
inline Slabs lay_out(const std::vector<usize>& sizes, usize ones, usize filled, const SlabRule& rule) {
    Slabs found;
    const auto aligned = [&](usize n) { return (n + rule.alignment - 1) / rule.alignment * rule.alignment; };
    usize all = 0;
    for (const usize n : sizes) all += n + rule.alignment;
    const bool is_one = all <= rule.large;
    Slab slab{};
    const auto close = [&](usize last) {
        if (last == (found.slabs.empty() ? 0 : found.slabs.back().end)) return;
        slab.end = last;
        found.slabs.push_back(slab);
        slab = {};
    };
    for (usize i = 0; i < sizes.size(); ++i) {
        const usize n = aligned(sizes[i]);
        const bool is_alone = !is_one && sizes[i] > rule.large;
        if (is_alone || (!is_one && slab.bytes + sizes[i] > rule.slab)) close(i);
        found.begins.push_back(slab.bytes);
        slab.bytes += n;
        if (i < ones)
            slab.ones += n;
        else if (i < filled)
            slab.zeros += n;
        if (is_alone) close(i + 1);
    }
    close(sizes.size());
    return found;
}

}  // namespace headrace
