// Finds the nodes of an automaton from which a match in a line can still end, by reading the line backwards.
#pragma once

#include <string_view>
#include <vector>

#include "query/lines/automaton/line_automaton.hpp"

namespace headrace {

// Sets of nodes at all bytes of a long line do not fit memory. Only those of a block of the line are in memory, and one
// set for each other block. The sets of a block are found again from that, so each byte is read at most twice.
class LiveNodes {
public:
    // `may_end(at)`: whether matches may end before byte `at`. `max_words`: words of sets in memory, about.
    template <class MayEnd>
    LiveNodes(const LineAutomaton& automaton, std::string_view line, u64 max_words, const MayEnd& may_end)
        : LiveNodes(automaton, line, max_words) {
        ends_.resize(line.size() + 1);
        for (u64 at = 0; at <= line.size(); ++at) ends_[at] = may_end(at);
        save_begins();
    }

    // Whether a match can end after byte `at` or later if the node reads that byte. Calls have ascending `at`.
    bool has(u64 at, u32 node) {
        if (at < begin_ || at >= end_) load(at);
        return has_bit(&sets_[(at - begin_) * words_], node);
    }

    u64 steps() const { return steps_; }

private:
    struct EmptyEdges {
        u32 source;
        u32 kind;  // EmptyEdge
    };

    LiveNodes(const LineAutomaton& automaton, std::string_view line, u64 max_words);
    void save_begins();
    void load(u64 at);
    void step(u64 at, u64* readers);
    void close(u64 at);

    static bool has_bit(const u64* set, u32 node) { return (set[node / 64] >> node % 64 & 1) != 0; }
    void visit(u32 node) {
        if (has_bit(set_.data(), node)) return;
        set_[node / 64] |= u64{1} << node % 64;
        frontier_.push_back(node);
    }

    std::string_view line_;
    std::array<u8, 256> class_of_;
    std::vector<LineEdge> readers_;              // edges that read a byte
    std::vector<std::vector<EmptyEdges>> into_;  // by node: edges into it that read nothing
    u64 words_, block_;                          // words of a set, bytes of a block
    std::vector<bool> ends_;                     // by byte: matches may end before it
    std::vector<u64> saved_;                     // the set at the begin of each block but the first
    std::vector<u64> sets_;                      // of bytes begin_ to end_: nodes that read the byte
    u64 begin_ = 0, end_ = 0;
    std::vector<u64> set_, before_;  // nodes from which a match ends at a byte or later, and those of the next byte
    std::vector<u32> frontier_;
    u64 steps_ = 0;
};

}  // namespace headrace
