// Lines that an automaton selects, and matches in them: every instruction set and part of a match against each line
// alone. An expression is some bytes, a literal, any bytes, and a last byte or the line end, such as `..ab.*c`.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz.hpp"
#include "query/lines/lines.hpp"

using namespace headrace;

namespace {

struct Expression {
    u32 before;  // any bytes before the literal
    std::string literal;
    u8 last;
    bool is_end;  // a match ends with the line, not with `last`

    LineAutomaton automaton() const {
        std::vector<LineEdge> edges;
        u32 node = 1;
        const auto any = [&](u32 target) {
            edges.push_back({node, 0, 9, target});
            edges.push_back({node, 11, 255, target});
        };
        for (u32 i = 0; i < before; ++i, ++node) any(node + 1);
        for (const char byte : literal) {
            edges.push_back({node, static_cast<u8>(byte), static_cast<u8>(byte), node + 1});
            ++node;
        }
        any(node);
        edges.push_back(is_end ? LineEdge{node, EDGE_AT_LINE_END, 0, 0} : LineEdge{node, last, last, 0});
        ++node;
        any(node);
        edges.push_back({node, EDGE_ALWAYS, 0, 1});
        return {std::move(edges), 1, node};
    }

    // Windows of the first bytes of the literal.
    LineWindows windows() const {
        LineWindows windows{};
        windows.width = static_cast<u32>(std::min<usize>(literal.size(), max_window));
        for (u32 i = 0; i < windows.width; ++i) {
            const u8 byte = static_cast<u8>(literal[i]);
            windows.sets[i][byte] = windows.low[i][byte & 15] = windows.high[i][byte >> 4] = windows.six[i][byte & 63] =
                1;
        }
        return windows;
    }

    // The match in a line, empty for none. The last byte that may end it does.
    std::string_view match(std::string_view line) const {
        const usize at = line.size() < before ? std::string_view::npos : line.find(literal, before);
        if (at == std::string_view::npos) return {};
        if (is_end) return line.substr(at - before);
        const usize end = line.rfind(static_cast<char>(last));
        if (end == std::string_view::npos || end < at + literal.size()) return {};
        return line.substr(at - before, end + 1 - (at - before));
    }
};

void check(const LineSelector& selector, std::string_view text, Isa isa, const std::string& lines, u64 count) {
    LineOptions options{};
    options.max_count = no_limit;
    LineSearch counting(selector, options, {isa, 1});
    REQUIRE(counting.count(text) == count);
    options.only_matching = true;
    LineSearch writing(selector, options, {isa, 1});
    REQUIRE(writing.write(text) == lines);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    Expression expression{static_cast<u32>(input.below(5)), "", static_cast<u8>('a' + input.below(3)), input.flag()};
    const usize values = std::array{2, 4, 20}[input.below(3)], repeat = 1 + input.below(40);
    for (usize left = 1 + input.below(7); left != 0; --left) {
        expression.literal += static_cast<char>('a' + input.below(values));
    }
    const u64 max_items = input.flag() ? u64{1} << 17 : 0;
    std::vector<char> text;  // ends where its memory ends, so that sanitizers see each read after it
    for (usize at = 0; at < input.size(); ++at) {
        const u8 byte = input.data()[at];
        if (byte == 255) {
            text.insert(text.end(), expression.literal.begin(), expression.literal.end());
        } else if (byte >= 240) {
            text.insert(text.end(), repeat, '-');
        } else {
            text.push_back(byte >= 220 ? '\n' : static_cast<char>('a' + byte % values));
        }
    }
    text.shrink_to_fit();
    const std::string_view all(text.data(), text.size());
    std::string lines;
    u64 count = 0;
    for (usize at = 0; at < all.size();) {
        const usize end = std::min(all.find('\n', at), all.size());
        const std::string_view match = expression.match(all.substr(at, end - at));
        if (!match.empty()) {
            ++count;
            (lines += match) += '\n';
        }
        at = end + 1;
    }
    const LineAutomaton automaton = expression.automaton();
    const FindPattern pattern(expression.literal, false);
    const LineWindows windows = expression.windows();
    for (const Isa isa : available_isas()) {
        check({&pattern, nullptr, &automaton, max_items, false, expression.before}, all, isa, lines, count);
        check({nullptr, &windows, &automaton, max_items, false, expression.before}, all, isa, lines, count);
        check({nullptr, &windows, &automaton, max_items, false, unlimited_reach}, all, isa, lines, count);
        check({nullptr, nullptr, &automaton, max_items, false, unlimited_reach}, all, isa, lines, count);
    }
    return 0;
}
