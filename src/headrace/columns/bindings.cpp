#include "core/bindings.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "columns/faults.hpp"
#include "columns/infer.hpp"
#include "columns/load.hpp"
#include "columns/pass.hpp"
#include "sources/bindings.hpp"
#include "structure/bindings.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

TypeId type_id(std::string_view name) {
#define HR_TYPE(id, text, bits) \
    if (name == text) return TypeId::id;
#include "core/types.def"
#undef HR_TYPE
    throw std::invalid_argument("no such column type: " + std::string(name));
}

i64 units_per_second(nb::handle unit) {
    if (unit.is_none()) return 0;
    const auto name = nb::cast<std::string>(unit);
    return name == "s" ? 1 : name == "ms" ? 1'000 : name == "us" ? 1'000'000 : 1'000'000'000;
}

// A planned column is (name, DataType or None, wanted); None is inferred.
PlannedColumn planned_column(nb::handle given) {
    PlannedColumn column;
    column.name = nb::cast<std::string>(given[0]);
    const nb::object type = given[1];
    column.wanted = nb::cast<bool>(given[2]);
    column.inferred = type.is_none();
    if (column.inferred) return column;
    column.type.id = type_id(nb::cast<std::string>(type.attr("name")));
    column.type.units_per_second = units_per_second(type.attr("unit"));
    column.type.utc = !type.attr("tz").is_none();
    return column;
}

OnError policy(const std::string& name) {
    if (name == "null") return OnError::null;
    return name == "reject" ? OnError::reject : OnError::raise;
}

Outcome outcome(const std::string& name) {
    if (name == "keep") return Outcome::keep;
    return name == "reject" ? Outcome::reject : Outcome::raise;
}

// `given` has the attributes of columns/load.py's RowRules.
RowRules row_rules(nb::handle given) {
    RowRules rules;
    rules.base_columns = nb::cast<std::size_t>(given.attr("base_columns"));
    rules.fill_short = nb::cast<bool>(given.attr("fill_short"));
    rules.collect_long = nb::cast<bool>(given.attr("collect_long"));
    rules.on_short = outcome(nb::cast<std::string>(given.attr("on_short")));
    rules.on_long = outcome(nb::cast<std::string>(given.attr("on_long")));
    rules.on_malformed = outcome(nb::cast<std::string>(given.attr("on_malformed")));
    return rules;
}

std::vector<std::string> texts(nb::handle list) {
    std::vector<std::string> made;
    for (const nb::handle text : list) {
        const auto bytes = nb::cast<nb::bytes>(text);
        made.emplace_back(bytes.c_str(), bytes.size());
    }
    return made;
}

// Ctrl-C: Python's handlers run here, and what they raise ends the load.
void check_signals() {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// `plan` has the attributes of columns/load.py's LoadPlan.
LoadPlan plan_from(nb::handle plan) {
    LoadPlan made;
    for (const nb::handle column : plan.attr("columns")) made.columns.push_back(planned_column(column));
    made.begin = nb::cast<std::uint64_t>(plan.attr("begin"));
    made.end = nb::cast<std::uint64_t>(plan.attr("end"));
    made.data_begin = nb::cast<std::uint64_t>(plan.attr("data_begin"));
    made.rows = row_rules(plan.attr("rows"));
    const nb::object values = plan.attr("values");
    made.on_error = policy(nb::cast<std::string>(values.attr("on_error")));
    made.null_texts = texts(values.attr("null_texts"));
    made.true_words = texts(values.attr("true_words"));
    made.false_words = texts(values.attr("false_words"));
    made.quoted_null = nb::cast<bool>(values.attr("quoted_null"));
    const nb::object row_index = plan.attr("row_index");
    if (!row_index.is_none()) made.row_index = nb::cast<i64>(row_index);
    made.replace_invalid = nb::cast<bool>(values.attr("replace_invalid"));
    made.shrink = nb::cast<bool>(values.attr("shrink"));
    made.threads = nb::cast<unsigned>(plan.attr("threads"));
    made.tile_bytes = nb::cast<std::size_t>(plan.attr("tile_bytes"));
    made.memory_limit = nb::cast<std::size_t>(plan.attr("memory_limit"));
    made.exact_memory = nb::cast<bool>(plan.attr("exact_memory"));
    made.isa = choose_isa(nb::cast<std::string>(plan.attr("isa")));
    made.poll = check_signals;
    return made;
}

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

nb::dict result_dict(LoadResult& result, std::vector<NamedColumn>& rejects) {
    nb::list columns, evidence, faults, replaced;
    for (LoadedColumn& column : result.columns) {
        replaced.append(column.replaced);
        if (column.evidence) {
            const Evidence& e = *column.evidence;
            evidence.append(nb::make_tuple(e.record, e.at, nb::bytes(e.text.data(), e.text.size())));
        } else {
            evidence.append(nb::none());
        }
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
    made["seconds"] = nb::make_tuple(result.seconds.find, result.seconds.convert, result.seconds.finish);
    return made;
}

nb::dict load_from(const PythonSource& source, const PythonDialect& dialect, nb::handle given) {
    const LoadPlan plan = plan_from(given);
    LoadResult result;
    std::vector<NamedColumn> rejects;
    {
        const nb::gil_scoped_release release;
        result = load(*source.source, dialect.dialect, plan);
        // Whoever raises shows the first fault that raises.
        if (result.raised) {
            const auto raises = [](const FaultRow& fault) { return fault.outcome == Outcome::raise; };
            const auto first = std::find_if(result.faults.begin(), result.faults.end(), raises);
            result.faults = {std::move(*first)};
        }
        rejects = rejects_table(*source.source, plan, result);
    }
    return result_dict(result, rejects);
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

std::vector<u64> lines_of(const PythonSource& source, const std::vector<u64>& positions, unsigned threads) {
    const nb::gil_scoped_release release;
    return line_numbers(*source.source, positions, threads);
}

std::string_view kind_name(Kind kind) {
    switch (kind) {
        case Kind::empty:
            return "empty";
        case Kind::boolean:
            return "bool";
        case Kind::natural:
        case Kind::negative:
            return "int64";
        case Kind::uint64:
            return "uint64";
        case Kind::big_int:
            return "big_int";
        case Kind::float64:
            return "float64";
        case Kind::date:
            return "date32";
        case Kind::timestamp_us:
        case Kind::timestamp_ns:
            return "timestamp";
        case Kind::timestamp_us_utc:
        case Kind::timestamp_ns_utc:
            return "timestamp with offset";
        case Kind::text:
            break;
    }
    return "text";
}

std::string_view kind_of(nb::bytes text) {
    return kind_name(classify(reinterpret_cast<const u8*>(text.c_str()), text.size()));
}

}  // namespace

void bind_columns(nb::module_& m) {
    nb::exception<std::length_error>(m, "RecordTooLong");
    nb::exception<MemoryLimitExceeded>(m, "MemoryLimitExceeded", PyExc_MemoryError);
    m.def("load", &load_from);
    m.def("peek", &peek_from);
    m.def("line_numbers", &lines_of);
    m.def("kind_of", &kind_of);
}

}  // namespace headrace
