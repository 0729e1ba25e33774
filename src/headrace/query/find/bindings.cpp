#include "core/bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <span>

#include "query/find/column/text_rows.hpp"
#include "query/find/cpu/apart.hpp"
#include "query/find/cpu/find.hpp"
#include "query/find/cpu/find_any.hpp"
#include "query/find/cpu/record_search.hpp"
#include "query/find/cpu/replace.hpp"
#include "query/find/gpu/find_task.hpp"
#include "query/find/paper/rabin_karp.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {
namespace {

nb::bytes fields_of(const Fingerprint& print) { return nb::bytes(&print, sizeof(print)); }

template <class T>
nb::bytes bytes_of(std::span<const T> items) {
    return nb::bytes(items.data(), items.size_bytes());
}

}  // namespace

void bind_find(nb::module_& m) {
    nb::class_<FindPattern>(m, "FindPattern")
        .def("__init__",
             [](FindPattern* self, const nb::bytes& pattern, bool ignore_case) {
                 new (self) FindPattern({pattern.c_str(), pattern.size()}, ignore_case);
             })
        .def_ro("period", &FindPattern::period)
        .def("borders",
             [](const FindPattern& pattern) {
                 return nb::bytes(pattern.borders.data(), pattern.borders.size() * sizeof(u32));
             })
        .def("varied_window", &FindPattern::varied_window, "width"_a, "begin"_a, "end"_a);
    register_layouts<FindTask, FindResult, FoundMarks, FindAutomaton, ReplaceTask, SetTask, TextRows, RowCodes>();
    nb::class_<FindPatterns>(m, "FindPatterns")
        .def(
            "__init__",
            [](FindPatterns* self, const nb::list& patterns, bool ignore_case) {
                new (self) FindPatterns(Argument<std::vector<std::string_view>>::of(patterns), ignore_case);
            },
            "patterns"_a, "ignore_case"_a)
        .def("table",
             [](const FindPatterns& set) {
                 const PatternTable table = set.table();
                 return nb::bytes(&table, sizeof(table));
             })
        .def(
            "parts",
            [](const FindPatterns& set, u32 slot_bits) {
                const std::vector<u32> slots = set.slots(slot_bits);
                return nb::make_tuple(bytes_of(std::span<const u32>(slots)), bytes_of(set.buckets()),
                                      bytes_of(set.entries()), bytes_of(set.patterns()), bytes_of(set.bytes()));
            },
            "slot_bits"_a);
    register_layouts<WindowEntry, PatternBytes, PatternTable>();
    register_layouts<Fingerprint>();
    nb::class_<RecordsWithPattern, RecordFilter>(m, "RecordsWithPattern")
        .def(
            "__init__",
            [](RecordsWithPattern* self, const std::vector<FindPattern>& patterns, bool is_inverted,
               std::string_view isa) { new (self) RecordsWithPattern(patterns, is_inverted, choose_isa(isa)); },
            "patterns"_a, "is_inverted"_a, "isa"_a);
    nb::class_<RecordsWithAnyPattern, RecordFilter>(m, "RecordsWithAnyPattern")
        .def(nb::init<const FindPatterns&, bool>(), "patterns"_a, "is_inverted"_a, nb::keep_alive<1, 2>());
    m.def("character_code", [](const FindPattern& pattern, const nb::bytes& sample) {
        return fields_of(code_for(pattern, {sample.c_str(), sample.size()}));
    });
    m.def("fingerprint", [](const FindPattern& pattern, u32 form, const nb::bytes& code) {
        return fields_of(fingerprint_of(pattern, static_cast<FingerprintForm>(form), Argument<Fingerprint>::of(code)));
    });
    m.def("rabin_karp_count", without_gil(rabin_karp_count));
    m.def("rabin_karp_positions", without_gil(rabin_karp_positions));
    m.def("patterns_positions", without_gil(patterns_positions));
    m.def("patterns_counts", without_gil(patterns_counts));
    m.def("pattern_positions", without_gil(pattern_positions));
    m.def("pattern_replace", without_gil(pattern_replace));
    m.def("pattern_count", without_gil(pattern_count));
    m.def("select_apart", without_gil(select_apart));
    m.def("first_pattern", without_gil(first_pattern));
}

}  // namespace headrace
