#include "columns/bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "columns/faults/faults.hpp"
#include "columns/faults/locate.hpp"
#include "columns/faults/order.hpp"
#include "columns/faults/resolve.hpp"
#include "columns/load/bindings.hpp"
#include "sources/bindings.hpp"
#include "structure/bindings.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

// An array of structs that Python has as bytes.
template <class T>
std::vector<T> items_of(const nb::bytes& given) {
    std::vector<T> items(given.size() / sizeof(T));
    std::memcpy(items.data(), given.c_str(), items.size() * sizeof(T));
    return items;
}

// Types that columns are taken for, which may have the zones of the plan's; None where a column is not wanted.
std::vector<ColumnType> types_of(const LoadPlan& plan, nb::handle given) {
    std::vector<ColumnType> types;
    for (const nb::handle type : given) {
        const Zone* const zone = plan.columns[types.size()].type.zone;
        types.push_back(type.is_none() ? ColumnType{} : column_type(type));
        types.back().zone = zone;
    }
    return types;
}

// Bytes that Python keeps.
std::span<const u8> view_of(const nb::bytes& given) {
    return {reinterpret_cast<const u8*>(given.c_str()), given.size()};
}

// The line of each fault: a listed record may have several, and `lines` has its line, or the only one that is asked
// for.
std::vector<u64> lines_by_record(const std::vector<FieldFault>& listed, const std::vector<u64>& lines,
                                 const std::deque<FaultRow>& faults) {
    std::vector<u64> found;
    for (const FaultRow& fault : faults) {
        const auto is_before = [](const FieldFault& one, u64 record) { return one.record + 1 < record; };
        const auto one = std::lower_bound(listed.begin(), listed.end(), fault.record, is_before);
        found.push_back(lines[std::min<usize>(static_cast<usize>(one - listed.begin()), lines.size() - 1)]);
    }
    return found;
}

// The table of faults that a GPU listed (columns/faults/resolve.hpp), or of the first that is to be raised; how many
// rows it has; and how many short records go for another reason. `types`: of the columns; `lines`: of each fault's
// record; `pieces`: so many bytes of each record.
nb::tuple rejects_from(const PythonSource& source, const PythonDialect& dialect, nb::handle given, u64 begin,
                       nb::list types, nb::bytes faults, nb::tuple pieces, nb::bytes lines, bool raises) {
    const LoadPlan plan = plan_from(given);
    const std::vector<FieldFault> items = items_of<FieldFault>(faults);
    const auto bytes = nb::cast<nb::bytes>(pieces[0]);
    const ListedFaults listed = {*source.source, dialect.dialect,           plan, begin, items,
                                 view_of(bytes), nb::cast<usize>(pieces[1])};
    const std::vector<u64> line_numbers = items_of<u64>(lines);
    LoadResult result;
    for (const ColumnType& type : types_of(plan, types)) result.columns.emplace_back().type = type;
    SettledFaults settled;
    std::vector<NamedColumn> table;
    {
        const GilRelease release;
        settled = settle_faults(listed);
        result.faults = std::move(settled.faults);
        result.fault_texts = std::move(settled.texts);
        reject_whole_records(result.faults);
        if (raises) keep_first_raised(result);
        table = rejects_table(plan, result, lines_by_record(items, line_numbers, result.faults));
    }
    return nb::make_tuple(columns_list(table), result.faults.size(), settled.short_gone);
}

// Fields that a GPU left: of each (SettledField::What, kind, byte, the value's words, text, whether it was mended).
// `guesses`: a Kind or None.
nb::list fields_from(const PythonSource& source, const PythonDialect& dialect, nb::handle given, u64 begin,
                     nb::list types, nb::list guesses, nb::bytes fields, nb::tuple pieces) {
    const LoadPlan plan = plan_from(given);
    const std::vector<FieldFault> items = items_of<FieldFault>(fields);
    const auto bytes = nb::cast<nb::bytes>(pieces[0]);
    const ListedFaults listed = {*source.source, dialect.dialect,           plan, begin, items,
                                 view_of(bytes), nb::cast<usize>(pieces[1])};
    std::vector<TakenFor> columns;
    for (const ColumnType& type : types_of(plan, types)) {
        const nb::handle guess = guesses[columns.size()];
        columns.push_back({type, guess.is_none() ? std::nullopt : std::optional(nb::cast<u8>(guess))});
    }
    std::vector<SettledField> settled;
    {
        const GilRelease release;
        settled = settle_fields(listed, columns);
    }
    nb::list made;
    for (const SettledField& field : settled) {
        made.append(nb::make_tuple(static_cast<unsigned>(field.what), field.kind, field.at, field.value[0],
                                   field.value[1], nb::bytes(field.text.data(), field.text.size()), field.mended));
    }
    return made;
}

// The table of rejects for a fault of the record that holds the names, which is used all the same.
nb::list header_reject(const PythonSource& source, u64 begin, u64 at, u8 kind, nb::bytes text) {
    LoadResult result;
    FaultRow& fault = result.faults.emplace_back();
    fault.record = 0;
    fault.record_begin = begin;
    fault.at = at;
    fault.column = NO_COLUMN;
    fault.kind = static_cast<Fault>(kind);
    fault.outcome = Outcome::keep;
    fault.record_text = text.c_str();
    fault.record_size = static_cast<u32>(text.size());
    if (fault.kind == Fault::unclosed_quote) set_unclosed_field(fault, 0);
    std::vector<NamedColumn> table = rejects_table({}, result, line_numbers(*source.source, {begin}, 1, 0));
    return columns_list(table);
}

// Evidence for a row of each column, or None; `rejected` has the numbers of the records that are no rows, ascending.
nb::list locate_rows(const PythonSource& source, const PythonDialect& dialect, nb::handle given, nb::list rows,
                     const std::vector<u64>& rejected) {
    const LoadPlan plan = plan_from(given);
    std::vector<u64> wanted;
    for (const nb::handle row : rows) wanted.push_back(row.is_none() ? NO_ROW : nb::cast<u64>(row));
    LoadResult result;
    result.columns.resize(plan.columns.size());
    for (const u64 record : rejected) {
        result.faults.emplace_back();
        result.faults.back().record = record;
        result.faults.back().outcome = Outcome::reject;
    }
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
    m.def("no_rejects", [] {
        std::vector<NamedColumn> table = rejects_table({}, {}, {});
        return columns_list(table);
    });
    m.def("header_reject", &header_reject);
    m.def("rejects", &rejects_from);
    m.def("settle_fields", &fields_from);
    m.def("locate_rows", &locate_rows);
}

}  // namespace headrace
