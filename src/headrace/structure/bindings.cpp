#include "structure/bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <stdexcept>
#include <string_view>

#include "core/bindings.hpp"
#include "core/layouts/layout.hpp"
#include "sources/bindings.hpp"
#include "structure/cpu/prefix.hpp"
#include "structure/cpu/scan.hpp"
#include "structure/cpu/summarize.hpp"
#include "structure/cpu/survey.hpp"
#include "structure/gpu/dfa_tables.hpp"
#include "structure/gpu/tile_summary.hpp"

namespace nb = nanobind;

namespace headrace {
namespace {

constexpr auto bytes_of = Argument<std::string_view>::of;

i32 byte_or_none(nb::handle object) { return object.is_none() ? -1 : static_cast<u8>(bytes_of(object).at(0)); }

u64 state_set(nb::handle states) {
    u64 set = 0;
    for (const nb::handle state : states) set |= u64{1} << nb::cast<unsigned>(state);
    return set;
}

void copy_table(nb::handle rows, u8 (&table)[MAX_GROUPS][MAX_STATES], u32 states) {
    usize group = 0;
    for (const nb::handle row : rows) {
        const std::string_view bytes = bytes_of(row);
        if (group == MAX_GROUPS || bytes.size() != states) throw std::invalid_argument("malformed automaton table");
        std::memcpy(table[group++], bytes.data(), states);
    }
}

Automaton automaton_from(nb::handle given) {
    Automaton a{};
    a.states = static_cast<u32>(nb::len(nb::object(given.attr("states"))));
    a.groups = static_cast<u32>(nb::len(nb::object(given.attr("groups"))));
    const auto classes = nb::cast<nb::bytes>(given.attr("class_of"));
    if (a.states > MAX_STATES || a.groups > MAX_GROUPS || classes.size() != 256) {
        throw std::invalid_argument("an automaton has at most 64 states, 32 groups, and 256 bytes of class_of");
    }
    std::memcpy(a.class_of, classes.c_str(), 256);
    copy_table(given.attr("next"), a.next, a.states);
    copy_table(given.attr("emit"), a.emit, a.states);
    a.idle = state_set(given.attr("idle"));
    a.quoted = state_set(given.attr("quoted"));
    a.comment = state_set(given.attr("comment"));
    a.unfinished = state_set(given.attr("unfinished"));
    return a;
}

PythonDialect dialect_from(nb::handle given, bool allow_masks) {
    PythonDialect result{};
    Dialect& d = result.dialect;
    const nb::object sep = given.attr("sep"), line_end = given.attr("lineterminator");
    const nb::object automaton = call_python([&] { return nb::object(given.attr("automaton")); });  // computes it
    d.automaton = automaton_from(automaton);
    d.separator_length = static_cast<u32>(bytes_of(sep).size());
    d.universal_line_end = line_end.is_none();
    d.line_end_length = d.universal_line_end ? 1 : static_cast<u32>(bytes_of(line_end).size());
    d.quote = byte_or_none(given.attr("quote_char"));
    d.escape = byte_or_none(given.attr("escape_char"));
    static_cast<DialectFlags&>(d) = from_attributes<DialectFlags>(given);
    if (d.looks_ahead()) d.unreal_group = nb::cast<u32>(automaton.attr("unreal_group"));
    d.separator = static_cast<u8>(bytes_of(sep)[0]);
    std::memcpy(d.separator_text, bytes_of(sep).data(), d.separator_length);
    d.line_end = d.universal_line_end ? u8{'\n'} : static_cast<u8>(bytes_of(line_end)[0]);
    if (!d.universal_line_end) std::memcpy(d.line_end_text, bytes_of(line_end).data(), d.line_end_length);
    d.comment = byte_or_none(given.attr("comment"));
    d.allows_masks = allow_masks && d.line_end_length == 1;
    d.plain = d.allows_masks && d.separator_length == 1 && !(d.escape >= 0 && d.looks_ahead()) && !d.trims_fields() &&
              d.comment < 0;
    for (u32 byte = 0; byte < 256; ++byte) {
        if (d.automaton.class_of[byte] + 1u == d.automaton.groups) continue;
        if (d.special_count == MAX_GROUPS)
            throw std::invalid_argument("an automaton tells at most 32 bytes from the others");
        d.special[d.special_count++] = static_cast<u8>(byte);
    }
    return result;
}

nb::object array_of(const std::vector<std::uint64_t>& values) {
    Region region(values.size() * 8, nullptr);
    region.ensure(values.size() * 8);
    if (!values.empty()) std::memcpy(region.data(), values.data(), values.size() * 8);
    return make_buffer(std::move(region));
}

nb::dict structure_of(const PythonSource& source, const PythonDialect& dialect, std::string_view isa, unsigned threads,
                      std::size_t tile_bytes) {
    const Isa chosen = choose_isa(isa);
    const auto found =
        released([&] { return find_structure(*source.source, dialect.dialect, chosen, threads, tile_bytes); });
    nb::dict result;
    result["record_starts"] = array_of(found.record_starts);
    result["field_counts"] = array_of(found.field_counts);
    result["field_ends"] = array_of(found.field_ends);
    result["strays"] = array_of(found.strays);
    nb::list comments;
    for (const bool comment : found.comments) comments.append(comment);
    result["comments"] = comments;
    result["blank_lines"] = found.blank_lines;
    result["unclosed_quote"] = found.unclosed_quote;
    return result;
}

// `given`: `_Plan` of structure/survey.py.
nb::dict survey_of(const PythonSource& source, const PythonDialect& dialect, nb::handle given) {
    const auto plan = from_attributes<SurveyPlan>(given);
    const auto found = released([&] { return survey(*source.source, dialect.dialect, plan); });
    nb::dict result;
    result["records"] = found.records;
    result["comments"] = found.comments;
    result["blank_lines"] = found.blank_lines;
    result["max_fields"] = found.max_fields;
    result["last"] = found.last;
    return result;
}

std::uint64_t record_begin_in(const PythonSource& source, const PythonDialect& dialect, nb::handle given,
                              std::uint64_t index) {
    const auto plan = from_attributes<SurveyPlan>(given);
    const GilRelease release;
    return record_begin(*source.source, dialect.dialect, plan, index);
}

// Return (position after the lines, number of lines found).
nb::tuple skip_lines_in(const PythonSource& source, const PythonDialect& dialect, std::uint64_t begin,
                        std::uint64_t lines) {
    u64 found = lines;
    const u64 position = released([&] { return skip_lines(*source.source, dialect.dialect, begin, found); });
    return nb::make_tuple(position, found);
}

// Return (records, bytes, sizes of records, sizes of each position's fields), reading `step` bytes at a time. Sizes are
// (sum, sum of squares).
nb::tuple beginning_of(const PythonDialect& dialect, nb::bytes text, std::size_t width, std::size_t step) {
    if (step == 0) throw std::invalid_argument("a step has one byte at least");
    PrefixReader reader(dialect.dialect, bytes_of(text), width);
    for (usize known = step; known < text.size(); known += step) reader.read(known);
    const PrefixSample& found = reader.read(text.size());
    nb::list fields;
    for (const Sizes& sizes : found.fields) fields.append(nb::make_tuple(sizes.sum, sizes.squares));
    return nb::make_tuple(found.records, found.bytes, nb::make_tuple(found.lengths.sum, found.lengths.squares), fields);
}

// Return (state after, records ended, lines); the first two by the state before.
nb::tuple summarize_range(const PythonSource& source, const PythonDialect& dialect, nb::handle given) {
    const auto plan = from_attributes<SurveyPlan>(given);
    const auto found = released([&] { return summarize(*source.source, dialect.dialect, plan); });
    const u32 states = dialect.dialect.automaton.states;
    nb::list records;
    for (u32 s = 0; s < states; ++s) records.append(found.records[s]);
    return nb::make_tuple(nb::bytes(reinterpret_cast<const char*>(found.state), states), nb::tuple(records),
                          found.lines);
}

usize first_width_of(const PythonDialect& dialect, nb::bytes text) {
    return first_width(dialect.dialect, bytes_of(text));
}

nb::bytes state_map(const PythonDialect& dialect, nb::bytes text, std::string_view isa) {
    if (dialect.dialect.looks_ahead())
        throw std::invalid_argument("a lenient dialect has no state map of a text alone");
    std::string padded(text.c_str(), text.size());
    padded.resize(text.size() + 64);
    u8 map[MAX_STATES];
    const auto* const data = reinterpret_cast<const u8*>(padded.data());
    const FindKernels& kernels = find_kernels(choose_isa(isa));
    const Summary found = kernels.summarize(dialect.dialect, data, text.size(), {}, map);
    for (u8 s = 0; s < dialect.dialect.automaton.states; ++s) {
        if (found.unresolved >> s & 1) map[s] = kernels.run(dialect.dialect, data, text.size(), {}, s);
    }
    return nb::bytes(reinterpret_cast<const char*>(map), dialect.dialect.automaton.states);
}

}  // namespace

void bind_structure(nb::module_& m) {
    nb::class_<RecordFilter>(m, "RecordFilter");
    nb::class_<DroppedTiles>(m, "DroppedTiles")
        .def(nb::init<>())
        .def("add", [](DroppedTiles& self, u32 file, u64 begin, u64 bytes, u64 records, u64 end, u8 exit) {
            self.add(file, begin, {bytes, records, end, exit});
        });
    register_layouts<DialectFlags, TileStart, FindTotals, TileSummary, PlainDialect, LenientDialect, DfaRoles>();
    register_layout<DfaTables<8>>("DfaTables<8>");
    register_layout<DfaTables<16>>("DfaTables<16>");
    register_layout<DfaTables<64>>("DfaTables<64>");
    nb::class_<PythonDialect>(m, "Dialect")
        .def_static("make", &dialect_from, nb::arg("dialect"), nb::arg("allow_masks") = true)
        .def_prop_ro("plain", [](const PythonDialect& d) { return d.dialect.plain; })
        .def_prop_ro("has_line_records", [](const PythonDialect& d) { return has_line_records(d.dialect); });
    m.def("find_structure", &structure_of);
    m.def("survey", &survey_of);
    m.def("summarize", &summarize_range);
    m.def("record_begin", &record_begin_in);
    m.def("skip_lines", &skip_lines_in);
    m.def("sample_prefix", &beginning_of);
    m.def("first_width", &first_width_of);
    m.def("state_map", &state_map);
}

}  // namespace headrace
