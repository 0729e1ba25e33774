#include "core/bindings.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
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
// Bytes of a chunk, threads and instruction set.
using ResourcesGiven = std::tuple<u64, unsigned, std::string_view>;

MatchResources resources_of(const ResourcesGiven& given) {
    const auto [chunk, threads, isa] = given;
    return {choose_isa(isa), threads, chunk};
}

void find_matches_at(const MatchSearcher& searcher, const TextAt& text, const nb::callable& allocate,
                     const ResourcesGiven& given) {
    using Addresses = std::pair<std::uintptr_t, std::uintptr_t>;
    const MatchResources resources = resources_of(given);
    const LongCall call;
    const auto arrays = [&](u64 count) {
        return with_gil([&] {
            const auto [begins, ends] = nb::cast<Addresses>(allocate(count));
            return MatchArrays{reinterpret_cast<u64*>(begins), reinterpret_cast<u64*>(ends)};
        });
    };
    find_matches(searcher, text_at(text), arrays, resources);
}

u64 count_matches_at(const MatchSearcher& searcher, const TextAt& text, const ResourcesGiven& given) {
    const MatchResources resources = resources_of(given);
    const LongCall call;
    return count_matches(searcher, text_at(text), resources);
}

std::string_view view(const nb::bytes& table) { return {table.c_str(), table.size()}; }

}  // namespace

void bind_match(nb::module_& m) {
    nb::class_<MatchSearcher>(m, "MatchSearcher")
        .def(
            "__init__",
            [](MatchSearcher* self, const std::array<nb::bytes, 5>& tables, u32 idles, const FindPattern* pattern,
               const LineWindows* windows) {
                const MatchParts parts{view(tables[0]), view(tables[1]), view(tables[2]), view(tables[3]),
                                       view(tables[4])};
                new (self) MatchSearcher{MatchAutomaton(parts, idles), {}};
                if (pattern != nullptr) self->filter.pattern = *pattern;
                if (windows != nullptr) self->filter.windows = *windows;
            },
            "tables"_a, "idles"_a, "part"_a.none(), "windows"_a.none())
        .def_prop_ro("steps", [](const MatchSearcher& self) {
            const std::vector<u16>& steps = self.automaton.steps();
            return nb::bytes(reinterpret_cast<const char*>(steps.data()), steps.size() * sizeof(u16));
        });
    register_layouts<MatchTables, MatchTask, MatchReading, MatchMarks>();
    m.def("find_matches", &find_matches_at, "searcher"_a, "text"_a, "allocate"_a, "given"_a);
    m.def("count_matches", &count_matches_at, "searcher"_a, "text"_a, "given"_a);
}

}  // namespace headrace
