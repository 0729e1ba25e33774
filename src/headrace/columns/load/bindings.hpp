// Converts plans from Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "columns/bindings.hpp"
#include "columns/load/load.hpp"
#include "columns/load/shared_load.hpp"
#include "columns/plan/load_plan.hpp"

namespace headrace {

// A planned column is (name, DataType or None, wanted); None is inferred.
inline PlannedColumn planned_column(const nanobind::tuple& given) {
    PlannedColumn column;
    column.name = nanobind::cast<std::string>(given[0]);
    const nanobind::handle type = given[1];
    column.wanted = nanobind::cast<bool>(given[2]);
    column.inferred = type.is_none();
    if (!column.inferred) column.type = column_type(type);
    return column;
}

inline OnError policy(const std::string& name) {
    if (name == "null") return OnError::null;
    return name == "reject" ? OnError::reject : OnError::raise;
}

inline Outcome outcome(const std::string& name) {
    if (name == "keep") return Outcome::keep;
    return name == "reject" ? Outcome::reject : Outcome::raise;
}

inline std::string_view outcome_name(Outcome outcome) {
    switch (outcome) {
        case Outcome::keep:
            return "keep";
        case Outcome::reject:
            return "reject";
        case Outcome::raise:
            break;
    }
    return "raise";
}

template <>
struct Argument<OnError> {
    static OnError of(nanobind::handle given) { return policy(nanobind::cast<std::string>(given)); }
};
template <>
struct Argument<Outcome> {
    static Outcome of(nanobind::handle given) { return outcome(nanobind::cast<std::string>(given)); }
};
// `given` is (decimal, thousands or None), each a byte.
template <>
struct Argument<NumberMarks> {
    static NumberMarks of(nanobind::handle given) {
        const nanobind::object thousands = given[1];
        NumberMarks marks;
        marks.decimal = nanobind::cast<u8>(given[0]);
        if (!thousands.is_none()) marks.thousands = nanobind::cast<u8>(thousands);
        return marks;
    }
};

// Return the function that a load calls regularly. It runs Python's signal handlers (Ctrl-C) and `progress`; an
// exception of either ends the load. A pass that converts bytes again does not report them again. `progress` is
// borrowed: the caller's LoadRun outlives the load.
inline auto poll_of(nanobind::handle progress) {
    return [progress, reported = std::uint64_t{0}](std::uint64_t done, std::uint64_t total) mutable {
        check_signals();
        if (progress.is_none() || done <= reported) return;
        reported = done;
        with_gil([&] { progress(done, total); });
    };
}

// `given` is columns/date_format.py's DateForms.
inline DateFormatSet date_formats(nanobind::handle given) {
    DateFormatSet set;
    for (const nanobind::handle format : given.attr("formats")) {
        set.programs.push_back(Argument<std::string>::of(format.attr("steps")));
        set.may_be_number.push_back(nanobind::cast<bool>(format.attr("may_be_number")));
    }
    set.iso_first = nanobind::cast<bool>(given.attr("iso_first"));
    set.before_numbers = nanobind::cast<bool>(given.attr("before_numbers"));
    return set;
}

// `given` is columns/zone.py's LocalTimes.
inline const Zone* add_zone(LoadPlan& plan, nanobind::handle given) {
    ZoneTable& table = plan.zones.emplace_back();
    table.name = nanobind::cast<std::string>(given.attr("name"));
    table.begins = nanobind::cast<std::vector<i64>>(given.attr("begins"));
    table.ends = nanobind::cast<std::vector<i64>>(given.attr("ends"));
    table.offsets = nanobind::cast<std::vector<i64>>(given.attr("offsets"));
    table.zone = {table.name.c_str(), table.begins.data(), table.ends.data(), table.offsets.data(),
                  table.begins.size()};
    return &table.zone;
}

// Set the null texts, date formats and time zones of columns. `given` has `forms`, a PlannedForms of
// columns/plan/value_forms.py, and `zones`.
inline void plan_forms(nanobind::handle given, LoadPlan& result) {
    const nanobind::object forms = given.attr("forms");
    result.forms.clear();
    for (const nanobind::handle own : forms.attr("several")) {
        const auto texts = Argument<std::vector<std::string>>::of;
        result.forms.push_back({texts(own.attr("null_texts")), texts(own.attr("null_words")),
                                date_formats(own.attr("dates")), Argument<std::string>::of(own.attr("escape"))});
    }
    for (const auto [position, number] : nanobind::cast<nanobind::dict>(forms.attr("of_columns"))) {
        result.columns[nanobind::cast<usize>(position)].forms = nanobind::cast<usize>(number);
    }
    for (const nanobind::handle zone : given.attr("zones")) {
        const Zone* const table = add_zone(result, zone[0]);
        for (const nanobind::handle position : zone[1])
            result.columns[nanobind::cast<usize>(position)].type.zone = table;
    }
}

// `plan` has the attributes of columns/plan/load_plan.py's LoadPlan.
inline LoadPlan plan_from(nanobind::handle plan) {
    LoadPlan result;
    const nanobind::tuple columns = plan.attr("columns");
    result.columns.reserve(columns.size());
    for (const nanobind::handle column : columns) {
        result.columns.push_back(planned_column(nanobind::borrow<nanobind::tuple>(column)));
    }
    const auto read = reader_of(plan);
    read("begin", result.begin);
    read("end", result.end);
    read("data_begin", result.data_begin);
    read("row_index", result.row_index);
    read("threads", result.threads);
    read("tile_bytes", result.tile_bytes);
    read("memory_limit", result.memory_limit);
    read("exact_memory", result.exact_memory);
    read("file", result.file);
    read("isa", result.isa);
    result.rows = from_attributes<RowRules>(plan.attr("rows"));
    if (const nanobind::object part = plan.attr("part"); !part.is_none()) {  // a TextPart
        result.before = from_attributes<PartBefore>(part);
        reader_of(part)("stop", result.stop);
    }
    visit_values(result, reader_of(plan.attr("values")));
    plan_forms(plan, result);
    for (const nanobind::handle position : plan.attr("views")) {
        result.columns[nanobind::cast<usize>(position)].views = true;
    }
    for (const nanobind::handle position : plan.attr("dictionaries")) {
        result.columns[nanobind::cast<usize>(position)].codes = true;
    }
    usize column = 0;
    for (const nanobind::handle share_column : plan.attr("share_columns")) {
        result.columns[column++].share_column = nanobind::cast<usize>(share_column);
    }
    return result;
}

// `run` has the attributes of columns/plan/load_run.py's LoadRun.
inline LoadRun run_from(nanobind::handle run) {
    const nanobind::object share = run.attr("share"), chosen = run.attr("chosen");
    LoadRun result{share.is_none() ? nullptr : nanobind::cast<LoadShare*>(share), poll_of(run.attr("progress"))};
    result.wants_spans = nanobind::cast<bool>(run.attr("wants_spans"));
    const nanobind::object filter = run.attr("filter");
    result.filter = filter.is_none() ? nullptr : nanobind::cast<const RecordFilter*>(filter);
    const nanobind::object dropped = run.attr("dropped");
    result.dropped = dropped.is_none() ? nullptr : nanobind::cast<DroppedTiles*>(dropped);
    if (!chosen.is_none()) {
        const auto words = nanobind::cast<nanobind::bytes>(chosen);
        std::vector<u64> records(words.size() / sizeof(u64));
        if (!records.empty()) std::memcpy(records.data(), words.c_str(), records.size() * sizeof(u64));
        result.chosen = std::move(records);
    }
    return result;
}

}  // namespace headrace
