#include "core/bindings.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>

#include <array>

#include "query/match/cpu/match.hpp"
#include "query/match/gpu/match_task.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {

void bind_match(nb::module_& m) {
    nb::class_<MatchSearcher>(m, "MatchSearcher")
        .def(
            "__init__",
            [](MatchSearcher* self, const std::array<nb::bytes, 5>& tables, u32 idles, const FindPattern* pattern,
               const LineWindows* windows) {
                const auto view = Argument<std::string_view>::of;
                const MatchParts parts{view(tables[0]), view(tables[1]), view(tables[2]), view(tables[3]),
                                       view(tables[4])};
                new (self) MatchSearcher(parts, idles);
                if (pattern != nullptr) self->filter.pattern = *pattern;
                if (windows != nullptr) self->filter.windows = *windows;
            },
            "tables"_a, "idles"_a, "part"_a.none(), "windows"_a.none())
        .def_prop_ro("run_class",
                     [](const MatchSearcher& self) -> std::optional<u32> {
                         const std::optional<MatchRuns>& runs = self.automaton.runs();
                         const bool is_whole = runs && runs->min == 1 && runs->max == ~u64{0};
                         return is_whole ? std::optional(runs->byte_class) : std::nullopt;
                     })
        .def_prop_ro("steps", [](const MatchSearcher& self) {
            const std::vector<u16>& steps = self.automaton.steps();
            return nb::bytes(reinterpret_cast<const char*>(steps.data()), steps.size() * sizeof(u16));
        });
    register_layouts<MatchTables, MatchTask, MatchReading, MatchMarks>();
    m.def("find_matches", without_gil(find_matches));
    m.def("count_matches", without_gil(count_matches));
}

}  // namespace headrace
