#include "columns/bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "columns/infer/infer.hpp"
#include "columns/load/bindings.hpp"
#include "columns/records/data_start.hpp"
#include "sources/bindings.hpp"
#include "structure/bindings.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

// A plan that is converted from Python once, for texts that differ in their place alone.
struct NativePlan {
    explicit NativePlan(nb::handle given) : plan(plan_from(given)) {}

    LoadPlan plan;
};

// `place`: begin, end and data_begin of the text, and bytes of a tile.
void sample_into(KindLedger& ledger, const PythonSource& source, const PythonDialect& dialect,
                 const NativePlan& native_plan, std::tuple<u64, u64, u64, usize> place, usize bytes, bool only_empty) {
    LoadPlan plan = native_plan.plan;
    std::tie(plan.begin, plan.end, plan.data_begin, plan.tile_bytes) = place;
    plan.tile_bytes = std::min(plan.tile_bytes, std::max<usize>(bytes, 1));
    const GilRelease release;
    sample_kinds(*source.source, dialect.dialect, plan, {bytes, only_empty}, ledger);
}

// Records the kinds that a conversion on a GPU saw. `met`: for each of `columns`, the position of the first field of
// each kind (then UNFIT, ROUNDED), relative to `begin`, ~0 for none. The indices of their records, from 0, follow.
void see_kinds(KindLedger& ledger, const PythonSource& source, const PythonDialect& dialect, u64 begin,
               const std::vector<usize>& columns, nb::bytes met) {
    constexpr usize kinds = SIGHTINGS;
    if (met.size() != columns.size() * 2 * kinds * sizeof(u64))
        throw std::invalid_argument("sightings of other columns");
    const char* next = met.c_str();
    for (const usize column : columns) {
        u64 seen[2][kinds];
        std::memcpy(seen, next, sizeof seen);
        next += sizeof seen;
        for (usize kind = 0; kind < kinds; ++kind) {
            if (seen[0][kind] == ~u64{0}) continue;
            const u64 at = begin + seen[0][kind];
            ledger.see(column, static_cast<u8>(kind), seen[1][kind] + 1, at,
                       [&] { return shown_field(*source.source, dialect.dialect, at); });
        }
    }
}

void see_kind(KindLedger& ledger, usize column, u8 kind, u64 record, u64 at, nb::bytes text) {
    if (kind >= SIGHTINGS) throw std::invalid_argument("no such kind");
    ledger.see(column, kind, record, at, [&] { return std::string(text.c_str(), text.size()); });
}

// Returns the kind of each column, or the one to convert it as at first. `columns`: indices of 32 bits.
nb::bytes kinds_of(const KindLedger& ledger, nb::bytes columns, bool first_guess) {
    std::vector<u32> indices(columns.size() / sizeof(u32));
    std::memcpy(indices.data(), columns.c_str(), indices.size() * sizeof(u32));
    std::string kinds;
    for (const u32 column : indices) {
        kinds.push_back(static_cast<char>(first_guess ? ledger.first_guess(column) : ledger.joined(column)));
    }
    return nb::bytes(kinds.data(), kinds.size());
}

nb::list kind_types() {
    nb::list types;
    for (usize kind = 0; kind < KIND_COUNT; ++kind) types.append(type_name(type_of_kind(static_cast<Kind>(kind))));
    return types;
}

// Returns the column type that each text implies, with these number marks and date formats.
nb::list implied_types(const std::vector<nb::bytes>& texts, nb::handle marks, nb::handle date_forms) {
    const DateFormatSet set = date_formats(date_forms);
    std::vector<DateFormat> formats;
    for (const std::string& steps : set.programs) {
        formats.push_back({reinterpret_cast<const DateStep*>(steps.data()), steps.size() / sizeof(DateStep), true});
    }
    const DateFormats dates = {formats.data(), formats.size(), set.iso_first, set.before_numbers};
    const NumberMarks number_form = Argument<NumberMarks>::of(marks);
    std::vector<u8> number;
    nb::list types;
    for (const nb::bytes& text : texts) {
        number.resize(std::max(number.size(), text.size()));
        const auto* bytes = reinterpret_cast<const u8*>(text.c_str());
        types.append(type_name(type_of_kind(classify(bytes, text.size(), number_form, dates, number.data()))));
    }
    return types;
}

}  // namespace

void bind_infer(nb::module_& m) {
    m.def("kind_types", &kind_types);
    m.def("implied_types", &implied_types);
    nb::class_<NativePlan>(m, "NativePlan").def(nb::init<nb::handle>());
    nb::class_<KindLedger>(m, "KindLedger")
        .def(nb::init<usize, u32>(), nb::arg("columns"), nb::arg("file") = 0)
        .def("sample", &sample_into, nb::arg("source"), nb::arg("dialect"), nb::arg("plan"), nb::arg("place"),
             nb::arg("bytes"), nb::kw_only(), nb::arg("only_empty") = false)
        .def("see", &see_kind)
        .def("see_all", &see_kinds)
        .def("kinds", &kinds_of, nb::arg("columns"), nb::kw_only(), nb::arg("first_guess") = false)
        .def("evidence",
             [](const KindLedger& l, usize column) { return evidence_or_none(l.evidence(column), l.rounded(column)); });
}

}  // namespace headrace
