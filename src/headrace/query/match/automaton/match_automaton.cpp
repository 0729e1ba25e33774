#include "query/match/automaton/match_automaton.hpp"

#include <algorithm>
#include <stdexcept>

namespace headrace {
namespace {

constexpr usize max_states = 256;
constexpr usize max_steps = 1 << 19;

usize count_of(std::string_view table) {
    usize count = 0;
    for (const char value : table) count = std::max(count, usize{static_cast<u8>(value)} + 1);
    return count;
}

void require(bool holds) {
    if (!holds) throw std::invalid_argument("the tables of an automaton do not fit each other");
}

}  // namespace

MatchAutomaton::MatchAutomaton(const MatchParts& parts, u32 idles) {
    const usize classes = parts.idle_after.size();
    require(parts.class_of.size() == 256 && classes >= count_of(parts.class_of));
    const usize states = parts.forward.size() / classes, rights = parts.backward.size() / classes;
    require(states >= 1 && states <= max_states && rights >= 1 && rights <= max_states);
    require(parts.forward.size() == states * classes && parts.backward.size() == rights * classes);
    require(parts.verdicts.size() == rights * states && count_of(parts.verdicts) <= MATCH_ENDS + 1);
    require(count_of(parts.forward) <= states && count_of(parts.backward) <= rights);
    require(idles >= 1 && idles <= 2 && idles <= states && count_of(parts.idle_after) <= idles);
    // No byte leads to an idle state from inside a match.
    require(
        std::all_of(parts.forward.begin(), parts.forward.end(), [=](char to) { return static_cast<u8>(to) >= idles; }));
    // No match goes on past the end of the text.
    require(std::count(parts.verdicts.begin(), parts.verdicts.begin() + static_cast<i64>(states), MATCH_GOES_ON) == 0);
    for (const auto part : {parts.class_of, parts.forward, parts.verdicts, parts.backward, parts.idle_after}) {
        bytes_.insert(bytes_.end(), part.begin(), part.end());
    }
    const u8* at = bytes_.data();
    const auto next = [&](std::string_view part) {
        const u8* const begin = at;
        at += part.size();
        return begin;
    };
    tables_.class_of = next(parts.class_of);
    tables_.forward = next(parts.forward);
    tables_.verdicts = next(parts.verdicts);
    tables_.backward = next(parts.backward);
    tables_.idle_after = next(parts.idle_after);
    tables_.states = static_cast<u32>(states);
    tables_.rights = static_cast<u32>(rights);
    tables_.idles = idles;
    join_steps(static_cast<u32>(classes));
    for (u32 byte = 0; byte < 256; ++byte) breaks_[byte] = class_breaks(tables_.class_of[byte]);
    find_runs(static_cast<u32>(classes));
}

// Returns whether each state fails at a byte of the class, and the right state before it is always the same.
bool MatchAutomaton::class_breaks(u32 group) const {
    const u8 *const before = tables_.backward + group * tables_.rights, *const to =
                                                                            tables_.forward + group * tables_.states;
    for (u32 right = 0; right < tables_.rights; ++right) {
        if (before[right] != before[0]) return false;
        for (u32 state = 0; state < tables_.states; ++state) {
            if (tables_.verdicts[right * tables_.states + to[state]] != MATCH_FAILS) return false;
        }
    }
    return true;
}

// Walks over bytes of the only class that does not break. A match ends before a byte that breaks, if that does not
// depend on which one it is.
void MatchAutomaton::find_runs(u32 classes) {
    const u32 rights = tables_.rights, states = tables_.states;
    std::optional<u32> inside, right;
    for (u32 group = 0; group < classes; ++group) {
        const u32 before = tables_.backward[group * rights];
        if (class_breaks(group)) {
            if (right.value_or(before) != before) return;
            right = before;
        } else {
            if (inside) return;
            inside = group;
        }
    }
    if (!inside || !right || tables_.idles != 1) return;
    MatchRuns found{*inside, 0, 0};
    u32 state = 0;
    for (u64 length = 1; length <= 2 * u64{states}; ++length) {  // past all states, and once more around their cycle
        state = tables_.forward[*inside * states + state];
        if (tables_.verdicts[*right * states + state] != MATCH_ENDS) continue;
        if (found.min == 0) {
            found.min = length;
        } else if (found.max != length - 1) {
            return;
        }
        const bool is_endless = tables_.forward[*inside * states + state] == state;
        found.max = is_endless ? ~u64{0} : length;
        if (is_endless) break;
    }
    if (found.max != 0 && are_cut(found, *right)) runs_ = found;
}

// Returns whether each verdict inside a run is that of MatchRuns: a match goes on while it can become longer. A bound
// on `rest` is enough, since the right states repeat after all of them. `right`: the right state of the byte after a
// run.
bool MatchAutomaton::are_cut(const MatchRuns& runs, u32 right) const {
    const u32 states = tables_.states, rights = tables_.rights;
    u32 state = 0;
    for (u64 length = 1; length <= std::min<u64>(runs.max, 2 * u64{states}); ++length) {
        state = tables_.forward[runs.byte_class * states + state];
        u32 after = right;
        for (u64 rest = 0; rest <= runs.min + rights; ++rest) {  // bytes of the run after these
            const bool ends = rest == 0 || length == runs.max;
            const u8 wanted = length + rest < runs.min ? MATCH_FAILS : ends ? MATCH_ENDS : MATCH_GOES_ON;
            if (tables_.verdicts[after * states + state] != wanted) return false;
            after = tables_.backward[runs.byte_class * rights + after];
        }
    }
    return true;
}

void MatchAutomaton::join_steps(u32 classes) {
    if (usize{classes} * tables_.rights * tables_.states > max_steps) return;
    for (u32 group = 0; group < classes; ++group) {
        for (u32 right = 0; right < tables_.rights; ++right) {
            for (u32 state = 0; state < tables_.states; ++state) {
                steps_.push_back(static_cast<u16>(match_step(tables_, group, right, state)));
            }
        }
    }
}

}  // namespace headrace
