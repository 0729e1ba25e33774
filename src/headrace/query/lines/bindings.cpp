#include "core/bindings.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <stdexcept>
#include <string_view>

#include "query/lines/lines.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {
namespace {

LineOptions line_options(const nb::bytes& name, const nb::bytes& mark, const nb::bytes& unmark) {
    const auto text = [](const nb::bytes& bytes) { return std::string(bytes.c_str(), bytes.size()); };
    LineOptions options{};
    options.name = text(name);
    options.mark = text(mark);
    options.unmark = text(unmark);
    return options;
}

// Calls use(search, block) without the GIL.
template <class Use>
auto with_block(LineSearch& search, const nb::handle& block, const Use& use) {
    const BorrowedBytes bytes(block);
    const LongCall call;
    return use(search, std::string_view(static_cast<const char*>(bytes.data()), bytes.size()));
}

std::string_view view(const nb::bytes& table) { return {table.c_str(), table.size()}; }

}  // namespace

void bind_lines(nb::module_& m) {
    nb::class_<LineAutomaton>(m, "LineAutomaton")
        .def(
            "__init__",
            [](LineAutomaton* self, const std::array<nb::bytes, 4>& tables, u32 start) {
                new (self) LineAutomaton({view(tables[0]), view(tables[1]), view(tables[2]), view(tables[3])}, start);
            },
            "tables"_a, "start"_a);
    nb::class_<LineSelector>(m, "LineSelector")
        .def(
            "__init__",
            [](LineSelector* self, const FindPattern* pattern, const LineAutomaton* automaton,
               const MatchAutomaton* expression) {
                if (automaton == nullptr && pattern == nullptr) throw std::invalid_argument("nothing selects lines");
                new (self) LineSelector{pattern, automaton, expression};
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), "pattern"_a.none(),
            "automaton"_a.none(), "expression"_a.none());
    nb::class_<LineOptions>(m, "LineOptions")
        .def("__init__", [](LineOptions* self, const nb::bytes& name, const nb::bytes& mark,
                            const nb::bytes& unmark) { new (self) LineOptions(line_options(name, mark, unmark)); })
        .def_rw("is_inverted", &LineOptions::is_inverted)
        .def_rw("only_matching", &LineOptions::only_matching)
        .def_rw("is_numbered", &LineOptions::is_numbered)
        .def_rw("before", &LineOptions::before)
        .def_rw("after", &LineOptions::after)
        .def_rw("has_written", &LineOptions::has_written);
    nb::class_<LineSearch>(m, "LineSearch")
        .def(
            "__init__",
            [](LineSearch* self, const LineSelector& selector, const LineOptions& options, unsigned threads,
               std::string_view isa) {
                const bool shows_matches = options.only_matching || !options.mark.empty();
                if (shows_matches && selector.automaton != nullptr && selector.expression == nullptr)
                    throw std::invalid_argument("an expression that writes or marks matches needs shows_matches=True");
                new (self) LineSearch(selector, options, {choose_isa(isa), threads});
            },
            nb::keep_alive<1, 2>(), "selector"_a, "options"_a, "threads"_a, "isa"_a = "")
        .def("count",
             [](LineSearch& self, const nb::handle& block) {
                 return with_block(self, block,
                                   [](LineSearch& search, std::string_view text) { return search.count(text); });
             })
        .def("write",
             [](LineSearch& self, const nb::handle& block) {
                 const std::string_view out = with_block(
                     self, block, [](LineSearch& search, std::string_view text) { return search.write(text); });
                 return nb::bytes(out.data(), out.size());
             })
        .def_prop_ro("has_selected", &LineSearch::has_selected)
        .def_prop_ro("has_written", &LineSearch::has_written);
}

}  // namespace headrace
