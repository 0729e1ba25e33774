// Small buffers side by side in slabs, of which each is taken, filled and given back by one call (slabs.py).
#pragma once

#include <vector>

#include "core/cpu/portable.hpp"

namespace headrace {

struct SlabRule {
    usize alignment, large, slab;  // a larger buffer lies alone; a slab has no more
};

// The buffers up to number `behind` lie in one: so many bytes, with all bits set the first `ones` of them, zero those
// behind.
struct Slab {
    usize behind, bytes, ones, zeros;
};

struct Slabs {
    std::vector<Slab> slabs;
    std::vector<usize> begins;  // of each buffer, in its slab
};

// Of the buffers the first `ones` have all bits set, and those behind, up to number `filled`, are zero. What fits one
// large buffer is one slab, whatever it is.
inline Slabs lay_out(const std::vector<usize>& sizes, usize ones, usize filled, const SlabRule& rule) {
    Slabs found;
    const auto aligned = [&](usize n) { return (n + rule.alignment - 1) / rule.alignment * rule.alignment; };
    usize all = 0;
    for (const usize n : sizes) all += n + rule.alignment;
    const bool is_one = all <= rule.large;
    Slab slab{};
    const auto end = [&](usize behind) {
        if (behind == (found.slabs.empty() ? 0 : found.slabs.back().behind)) return;
        slab.behind = behind;
        found.slabs.push_back(slab);
        slab = {};
    };
    for (usize i = 0; i < sizes.size(); ++i) {
        const usize n = aligned(sizes[i]);
        const bool is_alone = !is_one && sizes[i] > rule.large;
        if (is_alone || (!is_one && slab.bytes + sizes[i] > rule.slab)) end(i);
        found.begins.push_back(slab.bytes);
        slab.bytes += n;
        if (i < ones)
            slab.ones += n;
        else if (i < filled)
            slab.zeros += n;
        if (is_alone) end(i + 1);
    }
    end(sizes.size());
    return found;
}

}  // namespace headrace
