// Matches of automata: any tables, chunk size and number of threads against two walks over the whole text.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fuzz.hpp"
#include "query/match/cpu/match.hpp"

using namespace headrace;

namespace {

using Spans = std::vector<std::pair<u64, u64>>;

// Tables of the automaton, from the input.
struct Tables {
    explicit Tables(fuzz::Input& input)
        : classes(1 + input.below(4)),
          states(3 + input.below(6)),
          rights(1 + input.below(6)),
          idles(1 + input.below(2)) {
        const auto fill = [&](std::string& table, usize size, usize bound) {
            for (usize i = 0; i < size; ++i) table.push_back(static_cast<char>(input.below(bound)));
        };
        for (usize byte = 0; byte < 256; ++byte) class_of.push_back(static_cast<char>(byte % classes));
        for (usize i = 0; i < classes * states; ++i) {
            forward.push_back(static_cast<char>(idles + input.below(states - idles)));
        }
        fill(verdicts, rights * states, 3);
        fill(backward, classes * rights, rights);
        fill(idle_after, classes, idles);
        // No match goes on past the end of the text.
        std::replace(verdicts.begin(), verdicts.begin() + static_cast<i64>(states), '\1', '\2');
    }

    usize classes, states, rights, idles;
    std::string class_of, forward, verdicts, backward, idle_after;
};

Spans expected(const Tables& tables, const u8* text, usize size) {
    std::vector<usize> rights(size + 1);
    const auto group = [&](usize at) { return static_cast<usize>(tables.class_of[text[at]]); };
    for (usize at = size; at-- > 0;) {
        rights[at] = static_cast<usize>(tables.backward[group(at) * tables.rights + rights[at + 1]]);
    }
    Spans found;
    usize state = tables.idles - 1;
    bool is_open = false;
    for (usize at = 0; at < size; ++at) {
        const usize target = static_cast<usize>(tables.forward[group(at) * tables.states + state]);
        const char verdict = tables.verdicts[rights[at + 1] * tables.states + target];
        const bool is_idle = state < tables.idles;
        if (is_idle && verdict != 0) {
            REQUIRE(!is_open);
            found.emplace_back(at, 0);
            is_open = true;
        }
        if (verdict == 2 || (verdict == 0 && !is_idle)) {
            REQUIRE(is_open);
            found.back().second = at + 1;
            is_open = false;
        }
        state = verdict == 1 ? target : static_cast<usize>(tables.idle_after[group(at)]);
    }
    REQUIRE(!is_open);
    return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const Tables tables(input);
    const u64 chunk = 1 + input.below(100);
    // Threads cost much more than the rest, so few inputs have them.
    const u8 choice = input.take();
    const unsigned threads = choice < 250 ? 1 : choice - 248u;
    const MatchParts parts{tables.class_of, tables.forward, tables.verdicts, tables.backward, tables.idle_after};
    const MatchSearcher searcher(parts, static_cast<u32>(tables.idles));
    const MatchText text{input.data(), input.size()};
    std::vector<u64> begins, ends;
    const auto allocate = [&](u64 count) {
        begins.assign(count, 0);
        ends.assign(count, 0);
        return MatchArrays{begins.data(), ends.data()};
    };
    for (const u64 bytes : {chunk, u64{300}}) {
        find_matches(searcher, text, allocate, {Isa::scalar, threads, bytes});
        REQUIRE(begins.size() == ends.size());
        const Spans wanted = expected(tables, input.data(), input.size());
        REQUIRE(wanted.size() == begins.size());
        REQUIRE(count_matches(searcher, text, {Isa::scalar, threads, bytes}) == ends.size());
        for (usize i = 0; i < wanted.size(); ++i) {
            REQUIRE(wanted[i] == std::pair(begins[i], ends[i]));
        }
    }
    return 0;
}
