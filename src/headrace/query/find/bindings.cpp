#include "core/bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "core/layouts/layout.hpp"
#include "query/find/cpu/find.hpp"
#include "query/find/gpu/find_task.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {
namespace {

// Address and number of bytes. Addresses and extents are checked by arrays/arrays.py.
using TextAt = std::tuple<std::uintptr_t, u64>;

FindText text_at(const TextAt& text) { return {reinterpret_cast<const u8*>(std::get<0>(text)), std::get<1>(text)}; }

// `allocate`: function that allocates memory for a number of positions and returns its address.
void pattern_positions_at(const FindPattern& pattern, const TextAt& text, bool overlapping,
                          const nb::callable& allocate, unsigned threads, std::string_view isa) {
    const FindResources resources{choose_isa(isa), threads};
    const LongCall call;
    const auto address = [&](u64 count) {
        return with_gil([&] { return reinterpret_cast<u64*>(nb::cast<std::uintptr_t>(allocate(count))); });
    };
    pattern_positions(pattern, text_at(text), overlapping, address, resources);
}

u64 pattern_count_at(const FindPattern& pattern, const TextAt& text, bool overlapping, unsigned threads,
                     std::string_view isa) {
    const FindResources resources{choose_isa(isa), threads};
    const LongCall call;
    return pattern_count(pattern, text_at(text), overlapping, resources);
}

std::optional<u64> first_pattern_at(const FindPattern& pattern, const TextAt& text, unsigned threads,
                                    std::string_view isa) {
    const FindResources resources{choose_isa(isa), threads};
    const LongCall call;
    return first_pattern(pattern, text_at(text), resources);
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
    register_layouts<FindTask, FindResult, FoundMarks, FindAutomaton>();
    m.def("pattern_positions", &pattern_positions_at, "pattern"_a, "text"_a, "overlapping"_a, "allocate"_a, "threads"_a,
          "isa"_a = "");
    m.def("pattern_count", &pattern_count_at, "pattern"_a, "text"_a, "overlapping"_a, "threads"_a, "isa"_a = "");
    m.def("first_pattern", &first_pattern_at, "pattern"_a, "text"_a, "threads"_a, "isa"_a = "");
}

}  // namespace headrace
