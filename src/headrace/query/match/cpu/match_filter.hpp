// Finds the places where an automaton may have a match, by a part that each match has. It is a literal, or one of a few
// short windows of bytes. Searches for these read a text many times faster than an automaton.
#pragma once

#include <optional>
#include <vector>

#include "core/cpu/isa.hpp"
#include "query/find/cpu/find_kernels.hpp"
#include "query/find/pattern/pattern.hpp"
#include "query/match/cpu/window_kernels.hpp"

namespace headrace {

// Each match has the pattern or, if there is none, one of the windows. A window may have the line end before or after
// the match.
struct MatchFilter {
    std::optional<FindPattern> pattern;
    std::optional<LineWindows> windows;
};

// The search for a filter in one text.
class FilterSearch {
public:
    FilterSearch(const MatchFilter& filter, const u8* text, u64 size, Isa isa);

    // Bytes of the pattern or of a window.
    u64 width() const { return width_; }

    // Finds the places whose bytes are all in [begin, end), ascending. Returns false if the automaton should read all
    // bytes, since there are too many places, or no filter.
    bool find(u64 begin, u64 end, std::vector<u64>& places) const;

private:
    const u8* text_;
    std::optional<FindPlan> plan_;
    const LineWindows* windows_ = nullptr;
    u64 width_ = 0;
    const PatternKernels* pattern_kernels_;
    const WindowKernels* window_kernels_;
};

}  // namespace headrace
