#include "query/lines/automaton/line_states.hpp"

#include <algorithm>

namespace headrace {
namespace {

constexpr u32 fixed_rows = 6;     // rows that are no states, and those of the two starts
constexpr u64 min_rows = 16;      // more than the fixed ones and those that a reader keeps
constexpr u64 nodes_an_item = 8;  // bounds the memory of sets

}  // namespace

LineStates::LineStates(const LineAutomaton& automaton, LineTask task, u64 max_items)
    : automaton_(automaton), task_(task), stride_(automaton.classes() + 1) {
    max_items_ = std::clamp<u64>(max_items, min_rows * stride_, u64{1} << 31);
    visited_.resize(automaton.nodes());
    const char32_t begin = task == LineTask::select ? automaton.line_begin() : automaton.begin();
    starts_ = {closure({begin}, true, false), closure({begin}, false, false)};
    clear({});
}

// Removes all states but the given ones.
void LineStates::clear(std::span<u32> states) {
    std::vector<Nodes> saved;
    const u32 first = fixed_rows * stride_;
    for (const u32 state : states) saved.push_back(state < first ? Nodes() : nodes_of(state));
    next_.clear();
    sets_.clear();
    state_of_.clear();
    stored_ = 0;
    for (u32 row = 0; row < first_state(); row += stride_) {
        next_.insert(next_.end(), stride_, row);
        sets_.push_back(nullptr);
    }
    add(&starts_[0], true);
    add(&starts_[1], false);
    for (usize i = 0; i < states.size(); ++i) {
        if (states[i] >= first) states[i] = state_of(saved[i], {});
    }
}

u32 LineStates::add(const Nodes* nodes, bool at_line_start) {
    const u32 state = static_cast<u32>(next_.size());
    u32 flags = nodes->starts_with(U'\0') ? ACCEPTS | ENDS : 0;
    if (flags == 0 && automaton_.has_line_ends() && closure(*nodes, at_line_start, true).starts_with(U'\0'))
        flags = ENDS;
    next_.resize(next_.size() + stride_, unknown());
    next_.back() = flags;
    sets_.push_back(nodes);
    stored_ += nodes->size();
    return state;
}

// Returns the state of a set. If it is new and the table is full, all others but `states` are removed first.
u32 LineStates::state_of(const Nodes& nodes, std::span<u32> states) {
    if (nodes == starts_[1]) return in_line();
    if (const auto found = state_of_.find(nodes); found != state_of_.end()) return found->second;
    const bool is_full = next_.size() + stride_ > max_items_ || stored_ + nodes.size() > nodes_an_item * max_items_;
    if (is_full && sets_.size() >= min_rows) clear(states);
    const auto added = state_of_.emplace(nodes, 0).first;
    return added->second = add(&added->first, false);
}

u32 LineStates::make(std::span<u32> states, u32 index, u8 byte) {
    const u32 group = automaton_.class_of()[byte], state = states[index];
    u32 after;
    if (task_ == LineTask::select && byte == '\n') {
        after = accepts_at_end(state) ? ended() : at_line_start();
    } else if (task_ == LineTask::select && accepts(state)) {
        after = matched();
    } else {
        read_.clear();
        for (const char32_t node : nodes_of(state)) {
            for (const LineEdge& edge : automaton_.edges(node)) {
                if (edge.first <= group && group <= edge.last) read_ += edge.target;
            }
        }
        const Nodes nodes = closure(read_, false, false);
        if (nodes.empty()) {
            after = failed();
        } else if (task_ == LineTask::select && nodes.starts_with(U'\0')) {
            after = matched();
        } else {
            after = state_of(nodes, states);
        }
    }
    next_[states[index] + group] = after;
    return after;
}

// Returns the nodes that are reached without reading, ascending. Those that read nothing are left out.
LineStates::Nodes LineStates::closure(const Nodes& nodes, bool at_line_start, bool at_line_end) {
    if (++closures_ == 0) {
        std::fill(visited_.begin(), visited_.end(), 0);
        closures_ = 1;
    }
    Nodes found;
    const auto visit = [&](char32_t node) {
        if (visited_[node] == closures_) return;
        visited_[node] = closures_;
        frontier_ += node;
    };
    for (const char32_t node : nodes) visit(node);
    while (!frontier_.empty()) {
        const char32_t node = frontier_.back();
        frontier_.pop_back();
        if (automaton_.is_state_node(node)) found += node;
        for (const LineEdge& edge : automaton_.edges(node)) {
            const bool is_open = edge.first == EDGE_ALWAYS || (at_line_start && edge.first == EDGE_AT_LINE_START) ||
                                 (at_line_end && edge.first == EDGE_AT_LINE_END);
            if (is_open) visit(edge.target);
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace headrace
