// Finds the leftmost-longest matches of an automaton in host memory.
#pragma once

#include <functional>

#include "query/match/automaton/match_automaton.hpp"
#include "query/match/cpu/match_filter.hpp"

namespace headrace {

struct MatchText {
    const u8* bytes;
    u64 size;
};

// A match is text[begin, end).
struct MatchSpan {
    u64 begin;
    u64 end;
};

struct MatchResources {
    Isa isa;
    unsigned threads;
    u64 chunk;  // bytes that a thread takes at a time, 1 to 2^31
};

struct MatchArrays {
    u64* begins;  // position of the first byte of each match
    u64* ends;    // position after its last byte
};

// An automaton, and a filter for its matches, which may be empty.
struct MatchSearcher {
    MatchSearcher(const MatchParts& parts, u32 idles) : automaton(parts, idles) {}

    MatchAutomaton automaton;
    MatchFilter filter;
};

// Call `allocate` once with the number of matches, and write them in order to the arrays that it returns.
void find_matches(const MatchSearcher& searcher, const MatchText& text, const std::function<MatchArrays(u64)>& allocate,
                  const MatchResources& resources);

u64 count_matches(const MatchSearcher& searcher, const MatchText& text, const MatchResources& resources);

}  // namespace headrace
