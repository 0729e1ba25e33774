// Finds the places of a block where an automaton may have a match, by a part that each match has.
#pragma once

#include <string_view>
#include <vector>

#include "core/cpu/isa.hpp"
#include "query/find/cpu/find_kernels.hpp"
#include "query/match/cpu/window_kernels.hpp"

namespace headrace {

constexpr u64 unlimited_reach = ~u64{0};

// A candidate is a place of the part: a pattern or, if there is none, one of several windows. There
// may be neither.
class LineCandidates {
public:
    // `plan`, `windows`: the part, or null. `reach`: maximum number of bytes of a match before its candidate.
    LineCandidates(std::string_view block, const FindPlan* plan, const LineWindows* windows, u64 reach, Isa isa);

    bool has_part() const { return plan_ != nullptr || windows_ != nullptr; }

    // Finds candidates in [begin, end), ascending; `end` is that of a line. `is_more` becomes whether there may be
    // others after the last one. Returns false if they are too many, so that an automaton should read all bytes.
    bool find(u64 begin, u64 end, std::vector<u64>& found, bool& is_more) const;

    // Returns the first candidate in [begin, end), `end` if there is none. There is a part, and `end` is that of a line
    // without its line feed.
    u64 next(u64 begin, u64 end) const;

    // Returns the first byte, `least` or later, where a match of a candidate may begin. It may be in an earlier line.
    u64 first_begin(u64 least, u64 candidate) const { return candidate - least > reach_ ? candidate - reach_ : least; }

private:
    void search(u64 begin, u64 end, FoundPositions& found) const;
    u64 last_place(u64 end) const;

    std::string_view block_;
    const FindPlan* plan_;
    const LineWindows* windows_;
    u64 reach_;
    Isa isa_;
    u64 width_ = 0, lead_ = 0;  // bytes of the part, and how many of them are in the line before
};

}  // namespace headrace
