// Finds the matches of an automaton that are pieces of runs of bytes of one class, without reading its tables.
#pragma once

#include <vector>

#include "core/cpu/isa.hpp"
#include "query/match/automaton/match_automaton.hpp"
#include "query/match/cpu/class_kernels.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const ClassKernels&(), class_kernels)

class RunSearch {
public:
    RunSearch(const MatchTables& tables, const MatchRuns& runs, Isa isa)
        : runs_(runs), kernels_(&class_kernels_for(isa)()) {
        for (u32 byte = 0; byte < 256; ++byte) {
            if (tables.class_of[byte] == runs.byte_class) bytes_.add(static_cast<u8>(byte));
        }
    }

    // Calls begins(position) for the first byte of each match, and ends(position) for the position after its last one.
    // The first and the last byte of [begin, end) are outside the class. `masks`: memory.
    template <class Begins, class Ends>
    void find(const u8* text, u64 begin, u64 end, std::vector<u64>& masks, const Begins& begins,
              const Ends& ends) const {
        masks.resize((end - begin + 63) / 64);
        kernels_->mark(bytes_, text + begin, end - begin, masks.data());
        u64 from = begin, last = 0;
        for (usize i = 0; i < masks.size(); ++i) {
            const u64 mask = masks[i];
            for (u64 edges = mask ^ (mask << 1 | last); edges != 0; edges &= edges - 1) {
                const u64 at = begin + 64 * i + static_cast<u64>(trailing_zeros(edges));
                if ((mask & edges & (0 - edges)) != 0) {
                    from = at;
                } else {
                    cut(from, at, begins, ends);
                }
            }
            last = mask >> 63;
        }
    }

private:
    template <class Begins, class Ends>
    void cut(u64 from, u64 upto, const Begins& begins, const Ends& ends) const {
        while (upto - from >= runs_.min) {
            const u64 to = upto - from > runs_.max ? from + runs_.max : upto;
            begins(from);
            ends(to);
            from = to;
        }
    }

    ByteClass bytes_;
    MatchRuns runs_;
    const ClassKernels* kernels_;
};

}  // namespace headrace
