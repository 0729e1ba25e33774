#include "columns/bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <span>

#include "columns/faults/faults.hpp"
#include "columns/faults/gpu/column_tasks.hpp"
#include "columns/faults/gpu/faulty_records.hpp"
#include "columns/faults/locate.hpp"
#include "columns/faults/resolve.hpp"
#include "columns/faults/sort_faults.hpp"
#include "columns/load/bindings.hpp"
#include "core/layouts/layout.hpp"
#include "sources/bindings.hpp"
#include "structure/bindings.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

// Return a view of an array of structs.
template <class T>
std::span<const T> items_of(const BorrowedBytes& given) {
    return {static_cast<const T*>(given.data()), given.size() / sizeof(T)};
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

// The faults that a GPU listed, sorted by record, and their records' texts. Borrows the memory of Python's objects.
class GivenFaults {
public:
    // `texts`: (bytes, ends) of RecordTexts, and the line of each record.
    GivenFaults(nb::handle faults, const nb::tuple& texts)
        : faults_(faults), bytes_(texts[0]), ends_(texts[1]), lines_(texts[2]) {}
    std::span<const FieldFault> faults() const { return items_of<FieldFault>(faults_); }
    std::span<const u64> lines() const { return items_of<u64>(lines_); }
    RecordTexts texts() const { return {items_of<u8>(bytes_), items_of<u64>(ends_)}; }

private:
    BorrowedBytes faults_, bytes_, ends_, lines_;
};

// (table of rejects, its rows, number of faults, ResolvedFaults::rejected_short) of the faults that a GPU listed. If a
// fault raises, the table has only the first that does. `types`: of the columns.
nb::tuple rejects_from(const PythonSource& source, const PythonDialect& dialect, nb::handle given, u64 begin,
                       nb::list types, nb::handle faults, nb::tuple texts) {
    const LoadPlan plan = plan_from(given);
    const GivenFaults items(faults, texts);
    const ListedFaults listed = {*source.source, dialect.dialect, plan,         begin,
                                 items.faults(), items.texts(),   items.lines()};
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
        table = rejects_table(plan, result, resolved.lines);
    }
    return nb::make_tuple(columns_list(table), rows, resolved.count, resolved.rejected_short);
}

// For each field that a GPU left to the host: (ResolvedField::Resolution, kind, byte, the two words of its value, text,
// whether the text was mended). `guesses`: a Kind or None for each column.
nb::list fields_from(const PythonSource& source, const PythonDialect& dialect, nb::handle given, u64 begin,
                     nb::list types, nb::list guesses, nb::handle fields, nb::tuple texts) {
    const LoadPlan plan = plan_from(given);
    const GivenFaults items(fields, texts);
    const ListedFaults listed = {*source.source, dialect.dialect, plan,         begin,
                                 items.faults(), items.texts(),   items.lines()};
    std::vector<AssumedType> columns;
    for (const ColumnType& type : types_of(plan, types)) {
        const nb::handle guess = guesses[columns.size()];
        columns.push_back({type, guess.is_none() ? std::nullopt : std::optional(nb::cast<u8>(guess))});
    }
    const auto resolved = released([&] { return resolve_fields(listed, columns); });
    nb::list rows;
    for (const ResolvedField& field : resolved) {
        rows.append(nb::make_tuple(static_cast<unsigned>(field.outcome), field.kind, field.at, field.value[0],
                                   field.value[1], nb::bytes(field.text.data(), field.text.size()), field.mended));
    }
    return rows;
}

// Write listed faults to `sorted` by record (sort_faults.hpp), and return the members of ListedKinds. `ranks`: of each
// kind; kinds without one come last.
nb::tuple sort_listed(nb::handle faults, nb::ndarray<u8, nb::ndim<1>, nb::c_contig> sorted,
                      const std::vector<u8>& ranks, u64 records, unsigned threads) {
    const BorrowedBytes bytes(faults);
    FaultRanks all;
    all.fill(255);
    std::copy(ranks.begin(), ranks.end(), all.begin());
    const std::span<const FieldFault> items = items_of<FieldFault>(bytes);
    const std::span<FieldFault> to(reinterpret_cast<FieldFault*>(sorted.data()), items.size());
    const auto kinds = released([&] { return sort_faults(items, to, all, records, threads); });
    return nb::make_tuple(kinds.of_records, kinds.of_fields, kinds.has_repeats);
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
    u64 line = begin;
    number_lines(*source.source, {&line, 1}, 1);
    std::vector<NamedColumn> table = rejects_table(plan, result, {&line, 1});
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
    register_layouts<FaultSummary, PatchTask, RemovalColumn, RemovalTask, StoredValue>();
    m.def("no_rejects", [] {
        LoadResult none;
        std::vector<NamedColumn> table = rejects_table(LoadPlan{}, none, {});
        return columns_list(table);
    });
    m.def("header_reject", &header_reject);
    m.def("rejects", &rejects_from);
    m.def("sort_faults", &sort_listed);
    m.def("resolve_fields", &fields_from);
    m.def("locate_rows", &locate_rows);
}

}  // namespace headrace
