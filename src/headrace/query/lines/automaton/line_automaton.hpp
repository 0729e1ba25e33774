// A nondeterministic automaton over the bytes of a line (Thompson 1968, "Regular expression search algorithm"). Its
// deterministic states are made when a text needs them (line_states.hpp).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/cpu/portable.hpp"

namespace headrace {

// Values of `first` of an edge that reads no byte.
enum EmptyEdge : u32 { EDGE_ALWAYS = 256, EDGE_AT_LINE_START, EDGE_AT_LINE_END };

struct LineEdge {
    u32 source;
    u32 first, last;  // bytes that the edge reads, or a value of EmptyEdge
    u32 target;
};

class LineAutomaton {
public:
    // `begin`: node at the start of a match. `line_begin`: node at the start of a line, from which any bytes are read
    // before a match. Node 0 accepts. Throws std::invalid_argument if a node or a byte does not exist.
    LineAutomaton(std::vector<LineEdge> edges, u32 begin, u32 line_begin);

    // The edges of a node. Bytes are classes: bytes of one class have the same edges.
    std::span<const LineEdge> edges(u32 node) const {
        return {edges_.data() + begins_[node], edges_.data() + begins_[node + 1]};
    }
    // Whether a node accepts, reads a byte, or has an edge for the end of a line. Others need not be in a state.
    bool is_state_node(u32 node) const { return is_state_node_[node]; }

    const std::array<u8, 256>& class_of() const { return class_of_; }
    // Whether an edge is for the end of a line.
    bool has_line_ends() const { return has_line_ends_; }
    u32 classes() const { return classes_; }
    u32 nodes() const { return static_cast<u32>(is_state_node_.size()); }
    u32 begin() const { return begin_; }
    u32 line_begin() const { return line_begin_; }

private:
    std::vector<LineEdge> edges_;  // by source
    std::vector<u32> begins_;      // index of the first edge of each node, and the number of edges
    std::vector<bool> is_state_node_;
    std::array<u8, 256> class_of_;
    u32 classes_;
    bool has_line_ends_ = false;
    u32 begin_, line_begin_;
};

}  // namespace headrace
