// Makes the deterministic states of an automaton when a text first needs them, and keeps them in a bounded table. If it
// is full, it is cleared, so an expression may need any number of states (Aho, Sethi and Ullman 1986, section 3.7,
// "lazy transition evaluation"). One thread uses it at a time.
#pragma once

#include <array>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "query/lines/automaton/line_automaton.hpp"

namespace headrace {

enum class LineTask {
    select,  // reads whole lines, and a line is done at the end of its first match
    match    // reads a line from the start of a match
};

class LineStates {
public:
    // `max_items`: table entries before the table is cleared. At least that of a few states are kept.
    LineStates(const LineAutomaton& automaton, LineTask task, u64 max_items);

    // A state is the index of its row of next states, one a class of bytes. Rows below first_state() are no states.
    // They lead to themselves, so a reader may test after several bytes.
    const u32* next() const { return next_.data(); }
    const u8* class_of() const { return automaton_.class_of().data(); }
    u32 first_state() const { return 4 * stride_; }
    u32 unknown() const { return 0; }           // the state is not made yet
    u32 matched() const { return stride_; }     // a match has ended before the last byte, or with it
    u32 ended() const { return 2 * stride_; }   // a match has ended before a line feed
    u32 failed() const { return 3 * stride_; }  // no match is possible
    u32 at_line_start() const { return first_state(); }
    u32 in_line() const { return first_state() + stride_; }  // start of a match after other bytes of the line

    bool accepts(u32 state) const { return (next_[state + stride_ - 1] & ACCEPTS) != 0; }
    // Whether the state accepts if the line ends here.
    bool accepts_at_end(u32 state) const { return (next_[state + stride_ - 1] & ENDS) != 0; }

    // Makes the state that follows states[index] and a byte, and returns it. If the table is cleared, `states`, among
    // which rows that are no states may be, become those of the new table.
    u32 make(std::span<u32> states, u32 index, u8 byte);

    using Nodes = std::u32string;  // ascending

    // The nodes of a state that accept, read a byte, or have an edge for the end of the line.
    const Nodes& nodes_of(u32 state) const { return *sets_[state / stride_]; }
    const LineAutomaton& automaton() const { return automaton_; }

private:
    enum Flags : u32 { ACCEPTS = 1, ENDS = 2 };
    void clear(std::span<u32> states);
    u32 state_of(const Nodes& nodes, std::span<u32> states);
    u32 add(const Nodes* nodes, bool at_line_start);
    Nodes closure(const Nodes& nodes, bool at_line_start, bool at_line_end);

    const LineAutomaton& automaton_;
    LineTask task_;
    u32 stride_;  // classes, and an entry of flags
    u64 max_items_;
    std::vector<u32> next_;
    std::vector<const Nodes*> sets_;  // by state
    std::unordered_map<Nodes, u32> state_of_;
    std::array<Nodes, 2> starts_;
    u64 stored_ = 0;            // nodes in all sets
    std::vector<u32> visited_;  // by node: number of the closure that has it
    u32 closures_ = 0;
    Nodes frontier_, read_;
};

}  // namespace headrace
