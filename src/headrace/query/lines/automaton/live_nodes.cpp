#include "query/lines/automaton/live_nodes.hpp"

#include <algorithm>
#include <cmath>

namespace headrace {

LiveNodes::LiveNodes(const LineAutomaton& automaton, std::string_view line, u64 max_words)
    : line_(line), class_of_(automaton.class_of()), into_(automaton.nodes()), words_(automaton.nodes() / 64 + 1) {
    for (u32 node = 0; node < automaton.nodes(); ++node) {
        for (const LineEdge& edge : automaton.edges(node)) {
            if (edge.first < EDGE_ALWAYS) {
                readers_.push_back(edge);
            } else {
                into_[edge.target].push_back({node, edge.first});
            }
        }
    }
    const u64 root = static_cast<u64>(std::sqrt(static_cast<double>(line.size()))) + 1;
    block_ = std::max(root, max_words / words_);
    set_.resize(words_);
    before_.resize(words_);
}

// Keeps the set at the begin of each block but the first, whose set no other one needs.
void LiveNodes::save_begins() {
    saved_.resize(line_.size() / block_ * words_);
    close(line_.size());
    for (u64 at = line_.size();; --at) {
        if (at < line_.size()) step(at, nullptr);
        if (at != 0 && at % block_ == 0) {
            std::copy(set_.begin(), set_.end(), saved_.begin() + static_cast<i64>((at / block_ - 1) * words_));
        }
        if (at <= block_) break;
    }
}

// Finds the sets of the block that has byte `at`.
void LiveNodes::load(u64 at) {
    begin_ = at / block_ * block_;
    end_ = std::min<u64>(begin_ + block_, line_.size());
    sets_.assign((end_ - begin_) * words_, 0);
    std::fill(set_.begin(), set_.end(), 0);
    if (end_ == begin_ + block_) {
        const auto saved = saved_.begin() + static_cast<i64>(begin_ / block_ * words_);
        std::copy(saved, saved + static_cast<i64>(words_), set_.begin());
    } else {
        close(line_.size());
    }
    for (u64 i = end_; i-- > begin_;) step(i, &sets_[(i - begin_) * words_]);
}

// Replaces the set of the next byte by that of a byte. `readers`: receives the nodes that read the byte; may be null.
void LiveNodes::step(u64 at, u64* readers) {
    const u32 group = class_of_[static_cast<u8>(line_[at])];
    before_.swap(set_);
    std::fill(set_.begin(), set_.end(), 0);
    for (const LineEdge& edge : readers_) {
        if (edge.first <= group && group <= edge.last && has_bit(before_.data(), edge.target)) visit(edge.source);
    }
    if (readers != nullptr) std::copy(set_.begin(), set_.end(), readers);
    close(at);
    ++steps_;
}

// Adds node 0, if matches may end before byte `at`, and the nodes that lead to those of the set without reading.
void LiveNodes::close(u64 at) {
    if (ends_[at]) visit(0);
    while (!frontier_.empty()) {
        const u32 node = frontier_.back();
        frontier_.pop_back();
        for (const auto [source, kind] : into_[node]) {
            const bool is_open = kind == EDGE_ALWAYS || (kind == EDGE_AT_LINE_START && at == 0) ||
                                 (kind == EDGE_AT_LINE_END && at == line_.size());
            if (is_open) visit(source);
        }
    }
}

}  // namespace headrace
