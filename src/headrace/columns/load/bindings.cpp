#include "columns/load/bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "columns/faults/faults.hpp"
#include "columns/faults/rejected_records.hpp"
#include "columns/load/peek.hpp"
#include "columns/plan/pack_rules.hpp"
#include "columns/records/data_start.hpp"
#include "columns/records/estimate.hpp"
#include "sources/bindings.hpp"
#include "structure/bindings.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

nb::dict counts_dict(const LoadResult& result) {
    nb::dict counts;
    counts["records"] = result.counts.records;
    counts["left_out"] = result.counts.left_out;
    counts["rows"] = result.counts.rows;
    counts["rejected"] = result.rejected;
    counts["leading"] = result.counts.leading;
    counts["filled"] = result.counts.filled;
    counts["blank"] = result.counts.blank;
    counts["comment"] = result.counts.comment;
    counts["faults"] = result.fault_count;
    counts["passes"] = result.passes;
    return counts;
}

// The numbers of the rejected records, from 1, as bytes.
nb::bytes rejected_records(const LoadResult& result) {
    std::vector<u64> records;
    for (const RejectedRecords& tile : result.rejected_records) {
        for_each_bit(tile.bits, [&](usize i) { records.push_back(tile.first + i + 1); });
    }
    return nb::bytes(records.data(), records.size() * sizeof(u64));
}

// `rows`: of the table of rejects.
nb::dict result_dict(LoadResult& result, std::vector<NamedColumn>& rejects, usize rows, const LoadRun& run) {
    nb::list columns, evidence, replaced;
    for (LoadedColumn& column : result.columns) {
        replaced.append(column.replaced);
        evidence.append(evidence_or_none(column.evidence, column.rounded));
        columns.append(column_tuple(column));
    }
    nb::dict result_dict;
    result_dict["columns"] = columns;
    result_dict["row_index"] = result.row_index ? nb::object(column_tuple(*result.row_index)) : nb::none();
    result_dict["evidence"] = evidence;
    result_dict["replaced"] = replaced;
    result_dict["counts"] = counts_dict(result);
    result_dict["rejects"] = columns_list(rejects);
    result_dict["rejects_rows"] = rows;
    result_dict["rejected_records"] = run.share ? rejected_records(result) : nb::bytes("", 0);
    result_dict["spans"] = nb::none();
    if (run.wants_spans) {
        result_dict["spans"] =
            nb::make_tuple(make_buffer(std::move(result.record_begins)), make_buffer(std::move(result.record_ends)));
    }
    result_dict["raised"] = result.raised;
    result_dict["reached"] = nb::make_tuple(result.end, result.state, result.records_are_lines, result.is_cut);
    result_dict["seconds"] = nb::make_tuple(result.seconds.find, result.seconds.convert, result.seconds.finish);
    return result_dict;
}

nb::dict load_from(const PythonSource& source, const PythonDialect& dialect, nb::handle given, nb::handle handles) {
    const LoadPlan plan = plan_from(given);
    const LoadRun run = run_from(handles);
    LoadResult result;
    std::vector<NamedColumn> rejects;
    usize rows = 0;
    {
        const GilRelease release;
        result = load(*source.source, dialect.dialect, plan, run);
        rows = rows_of(result.faults);
        if (rows != 0) rejects = rejects_table(plan, result, lines_of_faults(*source.source, plan, result));
    }
    return result_dict(result, rejects, rows, run);
}

nb::list peek_from(const PythonSource& source, const PythonDialect& dialect, std::string_view isa, std::uint64_t begin,
                   std::size_t count, std::uint64_t end) {
    nb::list records;
    const PrefixSource text(*source.source, end);
    for (const PeekedRecord& record : peek_records(text, dialect.dialect, choose_isa(isa), begin, count)) {
        nb::list fields;
        for (const std::string& field : record.fields) fields.append(nb::bytes(field.data(), field.size()));
        const nb::object malformed = record.malformed ? nb::cast(*record.malformed) : nb::none();
        const nb::object undecodable = record.undecodable ? nb::cast(*record.undecodable) : nb::none();
        const nb::bytes raw(record.text.data(), record.text.size());
        records.append(nb::make_tuple(record.begin, fields, malformed, raw, undecodable));
    }
    return records;
}

// (first byte of the data; records, blank lines and comments before it)
nb::tuple find_data_in(const PythonSource& source, const PythonDialect& dialect, std::string_view isa, u64 begin,
                       u64 data_begin, u64 end) {
    const BeforeData found = find_data(*source.source, dialect.dialect, choose_isa(isa), begin, data_begin, end);
    return nb::make_tuple(found.data, found.leading, found.blank, found.comment);
}

// (bytes, the offsets of pointers in them)
nb::tuple rules_of(nb::handle plan) {
    const PackedRules packed = pack_rules(plan_from(plan));
    return nb::make_tuple(nb::bytes(packed.bytes.data(), packed.bytes.size()), packed.pointers);
}

// (short records, long records, malformed records): the outcome of each. A policy is a text, or None for `on_error`'s.
nb::tuple record_outcomes(const std::optional<std::string>& short_records,
                          const std::optional<std::string>& long_records, const std::string& on_error) {
    const auto name = [&](const std::optional<std::string>& given) {
        return outcome_name(record_outcome(given.value_or(""), policy(on_error)));
    };
    return nb::make_tuple(name(short_records), name(long_records), name(std::nullopt));
}

// The outcome of each kind of fault, in the order of Fault.
nb::list fault_outcomes(nb::handle rules, const std::string& on_error, bool lenient) {
    const auto rows = from_attributes<RowRules>(rules);
    nb::list outcomes;
    for (usize kind = 0; kind <= static_cast<usize>(Fault::too_many_fields); ++kind) {
        outcomes.append(outcome_name(outcome_of(static_cast<Fault>(kind), rows, policy(on_error), lenient)));
    }
    return outcomes;
}

std::vector<u64> lines_of(const PythonSource& source, std::vector<u64> positions, unsigned threads, u64 first) {
    const GilRelease release;
    number_lines(*source.source, positions, threads, first);
    return positions;
}

// Copies the kinds seen in all earlier files to the ledger of the next load. `places`: index of each of its columns
// among those of all files.
void show_kinds(const LoadShare& share, KindLedger& ledger, const std::vector<usize>& places) {
    for (usize c = 0; c < places.size(); ++c) ledger.add(c, share.ledger, places[c], share.with_unfit);
}

// Adds the kinds seen in a load to those of all files.
void take_kinds(LoadShare& share, const KindLedger& ledger, const std::vector<usize>& places) {
    for (usize c = 0; c < places.size(); ++c) share.ledger.add(places[c], ledger, c, true);
}

// Returns the type that the kinds of all files up to here imply for each column.
nb::list shared_types(const LoadShare& share) {
    nb::list types;
    for (usize c = 0; c < share.columns; ++c) {
        types.append(type_name(type_of_kind(share.ledger.joined(c, share.with_unfit))));
    }
    return types;
}

nb::list shared_evidence(const LoadShare& share) {
    nb::list evidence;
    for (usize c = 0; c < share.columns; ++c) {
        evidence.append(evidence_or_none(share.ledger.evidence(c), share.ledger.rounded(c)));
    }
    return evidence;
}

// (rows, bytes of each column of strings), or None
nb::object estimate_from(const PythonDialect& dialect, nb::bytes prefix, u64 size, const std::vector<usize>& strings,
                         std::tuple<double, double, double, u64, u64, usize, usize, u64> given) {
    const auto [least, most, deviations, rows, string_bytes, sample, growth, records] = given;
    if (sample == 0 || growth < 2) throw std::invalid_argument("the sample is empty or does not grow");
    const std::optional<SizeEstimate> found =
        estimate_sizes(dialect.dialect, {prefix.c_str(), prefix.size()}, size, strings,
                       {least, most, deviations, rows, string_bytes, sample, growth, records});
    return found ? nb::object(nb::make_tuple(found->rows, found->strings)) : nb::none();
}

}  // namespace

void bind_load(nb::module_& m) {
    m.def("load", &load_from);
    m.def("peek", &peek_from, nb::arg("source"), nb::arg("dialect"), nb::arg("isa"), nb::arg("begin"), nb::arg("count"),
          nb::arg("end") = ~std::uint64_t{0});
    m.def("line_numbers", &lines_of, nb::arg(), nb::arg(), nb::arg(), nb::arg("first") = 0);
    m.def("find_data", &find_data_in);
    m.def("record_outcomes", &record_outcomes, nb::arg().none(), nb::arg().none(), nb::arg());
    m.def("fault_outcomes", &fault_outcomes);
    m.def("estimate_sizes", &estimate_from);
    m.def("scale_sizes", &scale_sizes);
    m.def("pack_rules", &rules_of);
    nb::class_<LoadShare>(m, "LoadShare")
        .def(nb::init<usize, usize>())
        .def_rw("with_unfit", &LoadShare::with_unfit)
        .def("show", &show_kinds)
        .def("take", &take_kinds)
        .def("renew_budget", [](LoadShare& s, usize limit) { s.budget = std::make_shared<Budget>(limit); })
        .def("types", &shared_types)
        .def("evidence", &shared_evidence);
}

}  // namespace headrace
