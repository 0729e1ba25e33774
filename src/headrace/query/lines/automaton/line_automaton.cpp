#include "query/lines/automaton/line_automaton.hpp"

#include <algorithm>
#include <stdexcept>

namespace headrace {

LineAutomaton::LineAutomaton(std::vector<LineEdge> edges, u32 begin, u32 line_begin)
    : edges_(std::move(edges)), begin_(begin), line_begin_(line_begin) {
    constexpr u32 max_nodes = 1 << 24;
    std::array<bool, 257> starts_class{};
    starts_class['\n'] = starts_class['\n' + 1] = true;
    u32 last_node = std::max(begin, line_begin);
    for (const LineEdge& edge : edges_) {
        last_node = std::max({last_node, edge.source, edge.target});
        const bool reads = edge.first < EDGE_ALWAYS;
        if (edge.first > EDGE_AT_LINE_END || (reads && (edge.last < edge.first || edge.last > 255)))
            throw std::invalid_argument("an edge of an automaton of lines has bytes that do not exist");
        if (reads) starts_class[edge.first] = starts_class[edge.last + 1] = true;
    }
    if (last_node >= max_nodes) throw std::invalid_argument("an automaton of lines has a node that does not exist");
    for (u32 byte = 0, group = 0; byte < 256; ++byte) {
        group += byte != 0 && starts_class[byte];
        class_of_[byte] = static_cast<u8>(group);
    }
    classes_ = class_of_[255] + 1u;
    is_state_node_.resize(last_node + 1);
    is_state_node_[0] = true;
    begins_.resize(last_node + 2);
    for (LineEdge& edge : edges_) {
        ++begins_[edge.source + 1];
        has_line_ends_ |= edge.first == EDGE_AT_LINE_END;
        if (edge.first == EDGE_AT_LINE_END || edge.first < EDGE_ALWAYS) is_state_node_[edge.source] = true;
        if (edge.first >= EDGE_ALWAYS) continue;
        edge.first = class_of_[edge.first];
        edge.last = class_of_[edge.last];
    }
    for (u32 node = 0; node <= last_node; ++node) begins_[node + 1] += begins_[node];
    std::stable_sort(edges_.begin(), edges_.end(),
                     [](const LineEdge& a, const LineEdge& b) { return a.source < b.source; });
}

}  // namespace headrace
