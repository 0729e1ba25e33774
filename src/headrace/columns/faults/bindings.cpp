#include "columns/bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "columns/faults/faults.hpp"
#include "columns/faults/gpu/patch_task.hpp"
#include "columns/faults/gpu/remove_task.hpp"
#include "columns/faults/locate.hpp"
#include "columns/faults/resolve.hpp"
#include "columns/load/bindings.hpp"
#include "core/layouts/layout.hpp"
#include "sources/bindings.hpp"
#include "structure/bindings.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

// Return an array of structs from Python's bytes.
template <class T>
std::vector<T> items_of(const nb::bytes& given) {
    std::vector<T> items(given.size() / sizeof(T));
    std::memcpy(items.data(), given.c_str(), items.size() * sizeof(T));
    return items;
}

// Return the types that columns are converted as, with the zones of the plan. None: the column is not wanted.
std::vector<ColumnType> types_of(const LoadPlan& plan, nb::handle given) {
    std::vector<ColumnType> types;
    for (const nb::handle type : given) {
        const Zone* const zone = plan.columns[types.size()].type.zone;
        types.push_back(type.is_none() ? ColumnType{} : column_type(type));
        types.back().zone = zone;
    }
    return types;
}

// Return a view of bytes that Python owns.
std::span<const u8> view_of(const nb::bytes& given) {
    return {reinterpret_cast<const u8*>(given.c_str()), given.size()};
}

// Return the line of each fault. `lines` has the line of each listed fault's record, or only the first line.
std::vector<u64> lines_by_record(const std::vector<FieldFault>& listed, const std::vector<u64>& lines,
                                 const std::vector<FaultBlock>& faults) {
    std::vector<u64> found;
    auto one = listed.begin();
    for (const FaultBlock& block : faults) {
        for (const FaultRow& fault : block.faults) {
            while (one != listed.end() && one->record + 1 < fault.record) ++one;
            found.push_back(lines[std::min<usize>(static_cast<usize>(one - listed.begin()), lines.size() - 1)]);
        }
    }
    return found;
}

// (table of rejects, its rows, number of faults, ResolvedFaults::rejected_short) of the faults that a GPU listed. If a
// fault raises, the table has only the first that does. `types`: of the columns. `prefixes`: (bytes, bytes of each
// record). `lines`: of each fault's record.
nb::tuple rejects_from(const PythonSource& source, const PythonDialect& dialect, nb::handle given, u64 begin,
                       nb::list types, nb::bytes faults, nb::tuple prefixes, nb::bytes lines) {
    const LoadPlan plan = plan_from(given);
    const std::vector<FieldFault> items = items_of<FieldFault>(faults);
    const auto bytes = nb::cast<nb::bytes>(prefixes[0]);
    const ListedFaults listed = {
        *source.source, dialect.dialect, plan, begin, items, view_of(bytes), nb::cast<usize>(prefixes[1])};
    const std::vector<u64> line_numbers = items_of<u64>(lines);
    LoadResult result;
    for (const ColumnType& type : types_of(plan, types)) result.columns.emplace_back().type = type;
    ResolvedFaults resolved;
    std::vector<NamedColumn> table;
    usize rows = 0;
    {
        const GilRelease release;
        resolved = resolve_faults(listed);
        result.faults = std::move(resolved.faults);
        rows = rows_of(result.faults);
        table = rejects_table(plan, result, lines_by_record(items, line_numbers, result.faults));
    }
    return nb::make_tuple(columns_list(table), rows, resolved.count, resolved.rejected_short);
}

// For each field that a GPU left to the host: (ResolvedField::Resolution, kind, byte, the two words of its value, text,
// whether the text was mended). `guesses`: a Kind or None for each column.
nb::list fields_from(const PythonSource& source, const PythonDialect& dialect, nb::handle given, u64 begin,
                     nb::list types, nb::list guesses, nb::bytes fields, nb::tuple prefixes) {
    const LoadPlan plan = plan_from(given);
    const std::vector<FieldFault> items = items_of<FieldFault>(fields);
    const auto bytes = nb::cast<nb::bytes>(prefixes[0]);
    const ListedFaults listed = {
        *source.source, dialect.dialect, plan, begin, items, view_of(bytes), nb::cast<usize>(prefixes[1])};
    std::vector<AssumedType> columns;
    for (const ColumnType& type : types_of(plan, types)) {
        const nb::handle guess = guesses[columns.size()];
        columns.push_back({type, guess.is_none() ? std::nullopt : std::optional(nb::cast<u8>(guess))});
    }
    std::vector<ResolvedField> resolved;
    {
        const GilRelease release;
        resolved = resolve_fields(listed, columns);
    }
    nb::list rows;
    for (const ResolvedField& field : resolved) {
        rows.append(nb::make_tuple(static_cast<unsigned>(field.outcome), field.kind, field.at, field.value[0],
                                   field.value[1], nb::bytes(field.text.data(), field.text.size()), field.mended));
    }
    return rows;
}

// Return the table of rejects for a fault of the header. The header is used nevertheless.
nb::list header_reject(const PythonSource& source, u64 begin, u64 at, u8 kind, nb::bytes text) {
    LoadResult result;
    FaultRow& fault = result.faults.emplace_back().add(0, {text.c_str(), text.size()});
    fault.record_begin = begin;
    fault.at = at;
    fault.column = NO_COLUMN;
    fault.kind = static_cast<Fault>(kind);
    fault.outcome = Outcome::keep;
    if (fault.kind == Fault::unclosed_quote) set_unclosed_field(fault, 0);
    const LoadPlan plan;
    std::vector<NamedColumn> table = rejects_table(plan, result, line_numbers(*source.source, {begin}, 1, 0));
    return columns_list(table);
}

// Return evidence for a row of each column, or None. `rejected`: numbers of the rejected records, ascending.
nb::list locate_rows(const PythonSource& source, const PythonDialect& dialect, nb::handle given, nb::list rows,
                     const std::vector<u64>& rejected) {
    const LoadPlan plan = plan_from(given);
    std::vector<u64> wanted;
    for (const nb::handle row : rows) wanted.push_back(row.is_none() ? NO_ROW : nb::cast<u64>(row));
    LoadResult result;
    result.columns.resize(plan.columns.size());
    RejectedRecords& records = result.rejected_records.emplace_back();
    records.bits.resize(rejected.empty() ? 0 : rejected.back() / 64 + 1);
    for (const u64 record : rejected) records.bits[(record - 1) / 64] |= u64{1} << ((record - 1) % 64);
    {
        const GilRelease release;
        locate_evidence(PrefixSource(*source.source, plan.end), dialect.dialect, plan, wanted, result);
    }
    nb::list evidence;
    for (const LoadedColumn& column : result.columns) evidence.append(evidence_or_none(column.evidence));
    return evidence;
}

}  // namespace

void bind_faults(nb::module_& m) {
    register_layouts<PatchTask, RemovalColumn, RemovalTask, StoredValue>();
    m.def("no_rejects", [] {
        LoadResult none;
        std::vector<NamedColumn> table = rejects_table(LoadPlan{}, none, {});
        return columns_list(table);
    });
    m.def("header_reject", &header_reject);
    m.def("rejects", &rejects_from);
    m.def("resolve_fields", &fields_from);
    m.def("locate_rows", &locate_rows);
}

}  // namespace headrace
