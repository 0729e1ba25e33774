#include "query/lines/line_automaton.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace headrace {
namespace {

constexpr u32 row_size = 256;

void require(bool holds) {
    if (!holds) throw std::invalid_argument("the tables of an automaton of lines do not fit each other");
}

u32 largest(std::string_view bytes) {
    u32 found = 0;
    for (const char byte : bytes) found = std::max<u32>(found, static_cast<u8>(byte));
    return found;
}

}  // namespace

LineAutomaton::LineAutomaton(const LineParts& parts, u32 start) : start_(start * row_size) {
    require(parts.class_of.size() == row_size);
    const u32 classes = largest(parts.class_of) + 1, states = static_cast<u32>(parts.transitions.size() / classes);
    require(states >= 1 && states <= 256 && parts.transitions.size() == usize{states} * classes && start < states);
    require(largest(parts.transitions) < states);
    require(largest(parts.accepting) < states && largest(parts.at_line_end) < states);
    std::vector<bool> accepts(states);
    ends_.resize(states);
    for (const char state : parts.accepting) accepts[static_cast<u8>(state)] = ends_[static_cast<u8>(state)] = true;
    for (const char state : parts.at_line_end) ends_[static_cast<u8>(state)] = true;
    matched_ = states * row_size;
    ended_ = matched_ + row_size;
    next_.resize(ended_ + row_size, ended_);
    std::fill(next_.begin() + matched_, next_.begin() + ended_, matched_);
    for (u32 state = 0; state < states; ++state) {
        u32* const row = next_.data() + state * row_size;
        for (u32 byte = 0; byte < row_size; ++byte) {
            const u32 group = static_cast<u8>(parts.class_of[byte]);
            const u32 target = static_cast<u8>(parts.transitions[group * states + state]);
            row[byte] = accepts[state] || accepts[target] ? matched_ : target * row_size;
        }
        row['\n'] = ends_[state] ? ended_ : start_;
    }
}

void LineAutomaton::select(std::string_view text, std::vector<u64>& found) const {
    const u8* const begin = reinterpret_cast<const u8*>(text.data());
    const u8* const end = begin + text.size();
    const u32* const next = next_.data();
    const u32 matched = matched_;
    u32 row = start_;
    for (const u8* at = begin; at < end;) {
        while (end - at >= 4) {  // the rows from `matched` on lead to themselves, so a test of the last one is enough
            const u32 after = next[next[next[next[row + at[0]] + at[1]] + at[2]] + at[3]];
            if (after >= matched) break;
            row = after;
            at += 4;
        }
        while (at < end && row < matched) row = next[row + *at++];
        if (row < matched) break;
        found.push_back(static_cast<u64>(at - 1 - begin));
        if (row == matched) {
            const void* const feed = std::memchr(at, '\n', static_cast<usize>(end - at));
            if (feed == nullptr) return;
            at = static_cast<const u8*>(feed) + 1;
        }
        row = start_;
    }
    const bool is_open = !text.empty() && text.back() != '\n';
    if (is_open && ends_[row / row_size]) found.push_back(text.size() - 1);
}

}  // namespace headrace
