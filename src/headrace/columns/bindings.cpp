#include "columns/bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "columns/faults/faults.hpp"
#include "columns/faults/locate.hpp"
#include "columns/faults/settle.hpp"
#include "columns/finish/join.hpp"
#include "columns/infer/infer.hpp"
#include "columns/load/before.hpp"
#include "columns/load/load.hpp"
#include "columns/load/pack_rules.hpp"
#include "columns/load/pass.hpp"
#include "columns/load/share.hpp"
#include "core/bindings.hpp"
#include "sources/bindings.hpp"
#include "structure/bindings.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

nb::object buffer_or_none(Region&& region) {
    if (region.data() == nullptr) return nb::none();
    return make_buffer(std::move(region));
}

// (type name, null count, values, validity or None, offsets or None)
nb::tuple column_tuple(LoadedColumn& column) {
    nb::object offsets = nb::none();
    if (is_string(column.type)) offsets = make_buffer(std::move(column.offsets));
    return nb::make_tuple(type_name(column.type), column.null_count, make_buffer(std::move(column.values)),
                          buffer_or_none(std::move(column.validity)), offsets);
}

nb::dict counts_dict(const LoadResult& result) {
    nb::dict counts;
    counts["records"] = result.counts.records;
    counts["rows"] = result.counts.rows;
    counts["rejected"] = result.rejected;
    counts["leading"] = result.counts.leading;
    counts["filled"] = result.counts.filled;
    counts["blank"] = result.counts.blank;
    counts["comment"] = result.counts.comment;
    counts["passes"] = result.passes;
    return counts;
}

// (record, byte, text, number of the file) or None
nb::object evidence_or_none(const std::optional<Evidence>& found) {
    if (!found) return nb::none();
    return nb::make_tuple(found->record, found->at, nb::bytes(found->text.data(), found->text.size()), found->file);
}

nb::dict result_dict(LoadResult& result, std::vector<NamedColumn>& rejects) {
    nb::list columns, evidence, faults, replaced;
    for (LoadedColumn& column : result.columns) {
        replaced.append(column.replaced);
        evidence.append(evidence_or_none(column.evidence));
        columns.append(column_tuple(column));
    }
    for (NamedColumn& column : rejects) faults.append(nb::make_tuple(column.name, column_tuple(column.column)));
    nb::dict made;
    made["columns"] = columns;
    made["row_index"] = result.row_index ? nb::object(column_tuple(*result.row_index)) : nb::none();
    made["evidence"] = evidence;
    made["replaced"] = replaced;
    made["counts"] = counts_dict(result);
    made["rejects"] = faults;
    made["fault_count"] = result.faults.size();
    made["raised"] = result.raised;
    made["reached"] = nb::make_tuple(result.end, result.state, result.is_cut);
    made["seconds"] = nb::make_tuple(result.seconds.find, result.seconds.convert, result.seconds.finish);
    return made;
}

// Whoever raises shows the first fault that raises.
void keep_first_raised(LoadResult& result) {
    const auto raises = [](const FaultRow& fault) { return fault.outcome == Outcome::raise; };
    const auto first = std::find_if(result.faults.begin(), result.faults.end(), raises);
    result.faults = {std::move(*first)};
}

nb::dict load_from(const PythonSource& source, const PythonDialect& dialect, nb::handle given) {
    const LoadPlan plan = plan_from(given);
    LoadResult result;
    std::vector<NamedColumn> rejects;
    {
        const nb::gil_scoped_release release;
        result = load(*source.source, dialect.dialect, plan);
        if (result.is_cut && plan.before.is_more) result.faults.clear();
        if (result.raised) keep_first_raised(result);
        rejects = rejects_table(plan, result, lines_of_faults(*source.source, plan, result));
    }
    return result_dict(result, rejects);
}

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
                                 const std::vector<FaultRow>& faults) {
    std::vector<u64> found;
    for (const FaultRow& fault : faults) {
        const auto is_before = [](const FieldFault& one, u64 record) { return one.record + 1 < record; };
        const auto one = std::lower_bound(listed.begin(), listed.end(), fault.record, is_before);
        found.push_back(lines[std::min<usize>(static_cast<usize>(one - listed.begin()), lines.size() - 1)]);
    }
    return found;
}

// The table of faults that a GPU listed (columns/faults/settle.hpp), or of the first that is to be raised; how many
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
        const nb::gil_scoped_release release;
        settled = settle_faults(listed);
        result.faults = std::move(settled.faults);
        if (raises) keep_first_raised(result);
        table = rejects_table(plan, result, lines_by_record(items, line_numbers, result.faults));
    }
    nb::list made;
    for (NamedColumn& column : table) made.append(nb::make_tuple(column.name, column_tuple(column.column)));
    return nb::make_tuple(made, result.faults.size(), settled.short_gone);
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
        const nb::gil_scoped_release release;
        settled = settle_fields(listed, columns);
    }
    nb::list made;
    for (const SettledField& field : settled) {
        made.append(nb::make_tuple(static_cast<unsigned>(field.what), field.kind, field.at, field.value[0],
                                   field.value[1], nb::bytes(field.text.data(), field.text.size()), field.mended));
    }
    return made;
}

nb::list peek_from(const PythonSource& source, const PythonDialect& dialect, std::string_view isa, std::uint64_t begin,
                   std::size_t count) {
    nb::list records;
    for (const PeekedRecord& record : peek_records(*source.source, dialect.dialect, choose_isa(isa), begin, count)) {
        nb::list fields;
        for (const std::string& field : record.fields) fields.append(nb::bytes(field.data(), field.size()));
        const nb::object malformed = record.malformed ? nb::cast(*record.malformed) : nb::none();
        records.append(
            nb::make_tuple(record.begin, fields, malformed, nb::bytes(record.text.data(), record.text.size())));
    }
    return records;
}

// (where the data begins, records before it, blank lines, comments)
nb::tuple find_data_in(const PythonSource& source, const PythonDialect& dialect, std::string_view isa, u64 begin,
                       u64 data_begin, u64 end) {
    const BeforeData found = find_data(*source.source, dialect.dialect, choose_isa(isa), begin, data_begin, end);
    return nb::make_tuple(found.data, found.leading, found.blank, found.comment);
}

nb::bytes rules_of(nb::handle plan, u64 address) {
    const std::string packed = pack_rules(plan_from(plan), address);
    return nb::bytes(packed.data(), packed.size());
}

std::vector<u64> lines_of(const PythonSource& source, const std::vector<u64>& positions, unsigned threads, u64 first) {
    const nb::gil_scoped_release release;
    return line_numbers(*source.source, positions, threads, first);
}

void sample_into(KindLedger& ledger, const PythonSource& source, const PythonDialect& dialect, nb::handle given,
                 usize bytes) {
    LoadPlan plan = plan_from(given);
    plan.tile_bytes = std::min(plan.tile_bytes, std::max<usize>(bytes, 1));
    const nb::gil_scoped_release release;
    sample_kinds(*source.source, dialect.dialect, plan, bytes, ledger);
}

// What a conversion on a GPU saw. `met`: for each of `columns`, of each kind (and UNFIT) where its first field begins,
// from `begin` on, ~0 for none; then the records of these, from 0.
void see_kinds(KindLedger& ledger, const PythonSource& source, const PythonDialect& dialect, u64 begin,
               const std::vector<usize>& columns, nb::bytes met) {
    constexpr usize kinds = KIND_COUNT + 1;
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
    if (kind > UNFIT) throw std::invalid_argument("no such kind");
    ledger.see(column, kind, record, at, [&] { return std::string(text.c_str(), text.size()); });
}

nb::bytes joined_kinds(const KindLedger& ledger, const std::vector<usize>& columns) {
    std::string kinds;
    for (const usize column : columns) kinds.push_back(static_cast<char>(ledger.joined(column)));
    return nb::bytes(kinds.data(), kinds.size());
}

// The type that each kind makes of a column.
nb::list kind_types() {
    nb::list types;
    for (usize kind = 0; kind < KIND_COUNT; ++kind) types.append(type_name(type_of_kind(static_cast<Kind>(kind))));
    return types;
}

// What a text looks like to a reader of such numbers and dates.
std::string_view kind_of(nb::bytes text, nb::handle marks, nb::handle date_forms) {
    const DateFormatSet set = date_formats(date_forms);
    std::vector<DateFormat> formats;
    for (const std::string& steps : set.programs) {
        formats.push_back({reinterpret_cast<const DateStep*>(steps.data()), steps.size() / sizeof(DateStep), true});
    }
    std::vector<u8> number(text.size());
    const DateFormats dates = {formats.data(), formats.size(), set.iso_first, set.before_numbers};
    const auto* bytes = reinterpret_cast<const u8*>(text.c_str());
    return kind_name(classify(bytes, text.size(), number_marks(marks), dates, number.data()));
}

// What the files so far showed, for the load of the next one: `places` are those of its columns among all.
void show_kinds(const LoadShare& share, KindLedger& ledger, const std::vector<usize>& places) {
    for (usize c = 0; c < places.size(); ++c) ledger.add(c, share.ledger, places[c], share.with_unfit);
}

// And what that load has seen in the end.
void take_kinds(LoadShare& share, const KindLedger& ledger, const std::vector<usize>& places) {
    for (usize c = 0; c < places.size(); ++c) share.ledger.add(places[c], ledger, c, true);
}

// The type that each inferred column has so far.
nb::list shared_types(const LoadShare& share) {
    nb::list types;
    for (usize c = 0; c < share.columns; ++c) {
        types.append(type_name(type_of_kind(share.ledger.joined(c, share.with_unfit))));
    }
    return types;
}

nb::list shared_evidence(const LoadShare& share) {
    nb::list evidence;
    for (usize c = 0; c < share.columns; ++c) evidence.append(evidence_or_none(share.ledger.evidence(c)));
    return evidence;
}

const Region* region_or_null(nb::handle buffer) {
    return buffer.is_none() ? nullptr : nb::cast<HostBuffer*>(buffer)->region.get();
}

// A part is a number of nulls, a Column, or (Column, row, times).
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

// (column, the row that settled its shrunk type or None)
nb::tuple join_columns(nb::list given, nb::handle type, const LoadShare& share, unsigned threads, bool shrink) {
    std::vector<JoinPart> parts;
    for (const nb::handle part : given) parts.push_back(join_part(part));
    JoinPlan plan;
    plan.type = column_type(type);
    plan.shrink = shrink;
    plan.threads = threads;
    plan.budget = share.budget;
    Joined joined;
    {
        const nb::gil_scoped_release release;
        joined = join_parts(parts, plan);
    }
    const nb::object settled = joined.settled == NO_ROW ? nb::none() : nb::cast(joined.settled);
    return nb::make_tuple(column_tuple(joined.column), settled);
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
        const nb::gil_scoped_release release;
        locate_evidence(PrefixSource(*source.source, plan.end), dialect.dialect, plan, wanted, result);
    }
    nb::list evidence;
    for (const LoadedColumn& column : result.columns) evidence.append(evidence_or_none(column.evidence));
    return evidence;
}

}  // namespace

void bind_columns(nb::module_& m) {
    nb::exception<std::length_error>(m, "RecordTooLong");
    nb::exception<MemoryLimitExceeded>(m, "MemoryLimitExceeded", PyExc_MemoryError);
    m.def("load", &load_from);
    m.def("peek", &peek_from);
    m.def("rejects", &rejects_from);
    m.def("settle_fields", &fields_from);
    m.def("line_numbers", &lines_of, nb::arg(), nb::arg(), nb::arg(), nb::arg("first") = 0);
    m.def("find_data", &find_data_in);
    m.def("pack_rules", &rules_of);
    m.def("kind_types", &kind_types);
    m.def("kind_of", &kind_of);
    nb::class_<KindLedger>(m, "KindLedger")
        .def(nb::init<usize, u32>(), nb::arg("columns"), nb::arg("file") = 0)
        .def("sample", &sample_into)
        .def("see", &see_kind)
        .def("see_all", &see_kinds)
        .def("kinds", &joined_kinds)
        .def("evidence", [](const KindLedger& l, usize column) { return evidence_or_none(l.evidence(column)); });
    nb::class_<LoadShare>(m, "LoadShare")
        .def(nb::init<usize, usize>())
        .def_rw("with_unfit", &LoadShare::with_unfit)
        .def("show", &show_kinds)
        .def("take", &take_kinds)
        .def("renew_budget", [](LoadShare& s, usize limit) { s.budget = std::make_shared<Budget>(limit); })
        .def("types", &shared_types)
        .def("evidence", &shared_evidence);
    m.def("join_columns", &join_columns);
    m.def("locate_rows", &locate_rows);
}

}  // namespace headrace
