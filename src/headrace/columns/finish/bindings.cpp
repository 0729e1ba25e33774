#include "columns/bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "columns/finish/concat.hpp"
#include "columns/finish/finish.hpp"
#include "columns/finish/gpu/concat_task.hpp"
#include "columns/finish/gpu/finish_task.hpp"
#include "columns/load/shared_load.hpp"
#include "core/layouts/layout.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

// `given` is a number of nulls, a Column, or (Column, row, times).
JoinPart join_part(nb::handle given) {
    JoinPart part;
    if (nb::isinstance<nb::int_>(given)) {
        part.length = nb::cast<u64>(given);
        return part;
    }
    const bool repeated = nb::isinstance<nb::tuple>(given);
    const nb::object column = repeated ? nb::object(given[0]) : nb::borrow(given);
    part.what = repeated ? JoinPart::What::repeated : JoinPart::What::rows;
    if (repeated) part.row = nb::cast<u64>(given[1]);
    part.length = repeated ? nb::cast<u64>(given[2]) : nb::cast<u64>(column.attr("length"));
    part.type = column_type(column.attr("type"));
    part.null_count = nb::cast<u64>(column.attr("null_count"));
    part.values = region_or_null(column.attr("values"));
    part.offsets = region_or_null(column.attr("offsets"));
    part.validity = region_or_null(column.attr("validity"));
    return part;
}

// (column, the row that decided its shrunk type or None)
nb::tuple join_columns(nb::list given, nb::handle type, const LoadShare& share, unsigned threads, bool shrink) {
    std::vector<JoinPart> parts;
    for (const nb::handle part : given) parts.push_back(join_part(part));
    JoinPlan plan;
    plan.type = column_type(type);
    plan.shrink = shrink;
    plan.threads = threads;
    plan.budget = share.budget;
    auto joined = released([&] { return join_parts(parts, plan); });
    const nb::object deciding_row = joined.deciding_row == NO_ROW ? nb::none() : nb::cast(joined.deciding_row);
    return nb::make_tuple(column_tuple(joined.column), deciding_row);
}

}  // namespace

void bind_finish(nb::module_& m) {
    register_layouts<JoinedPart, JoinedColumn, ShrunkColumn>();
    m.def("join_columns", &join_columns);
}

}  // namespace headrace
