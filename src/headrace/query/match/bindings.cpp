#include "core/bindings.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <tuple>

#include "core/layouts/layout.hpp"
#include "query/match/cpu/match.hpp"
#include "query/match/gpu/match_task.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {
namespace {

// Address and number of bytes. Addresses and extents are checked by arrays/arrays.py.
using TextAt = std::tuple<std::uintptr_t, u64>;

MatchText text_at(const TextAt& text) { return {reinterpret_cast<const u8*>(std::get<0>(text)), std::get<1>(text)}; }

// `allocate`: function that allocates two arrays for a number of matches and returns their addresses.
void find_matches_at(const MatchAutomaton& automaton, const TextAt& text, const nb::callable& allocate, u64 chunk,
                     unsigned threads) {
    using Addresses = std::pair<std::uintptr_t, std::uintptr_t>;
    const LongCall call;
    const auto arrays = [&](u64 count) {
        return with_gil([&] {
            const auto [begins, ends] = nb::cast<Addresses>(allocate(count));
            return MatchArrays{reinterpret_cast<u64*>(begins), reinterpret_cast<u64*>(ends)};
        });
    };
    find_matches(automaton, text_at(text), arrays, {threads, chunk});
}

u64 count_matches_at(const MatchAutomaton& automaton, const TextAt& text, u64 chunk, unsigned threads) {
    const LongCall call;
    return count_matches(automaton, text_at(text), {threads, chunk});
}

std::string_view view(const nb::bytes& table) { return {table.c_str(), table.size()}; }

}  // namespace

void bind_match(nb::module_& m) {
    nb::class_<MatchAutomaton>(m, "MatchAutomaton")
        .def(
            "__init__",
            [](MatchAutomaton* self, const std::array<nb::bytes, 5>& tables, u32 idles) {
                new (self) MatchAutomaton(
                    {view(tables[0]), view(tables[1]), view(tables[2]), view(tables[3]), view(tables[4])}, idles);
            },
            "tables"_a, "idles"_a)
        .def_prop_ro("steps", [](const MatchAutomaton& self) {
            const std::vector<u16>& steps = self.steps();
            return nb::bytes(reinterpret_cast<const char*>(steps.data()), steps.size() * sizeof(u16));
        });
    register_layouts<MatchTables, MatchTask, MatchReading, MatchMarks>();
    m.def("find_matches", &find_matches_at, "automaton"_a, "text"_a, "allocate"_a, "chunk"_a, "threads"_a);
    m.def("count_matches", &count_matches_at, "automaton"_a, "text"_a, "chunk"_a, "threads"_a);
}

}  // namespace headrace
