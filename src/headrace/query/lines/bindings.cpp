#include "core/bindings.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "query/lines/lines.hpp"
#include "query/lines/small_files.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {
namespace {

using Texts = std::vector<std::string>;

LineOptions line_options(nb::handle name, nb::handle mark, nb::handle unmark) {
    LineOptions options{};
    options.max_count = no_limit;
    options.name = Argument<std::string>::of(name);
    options.mark = Argument<std::string>::of(mark);
    options.unmark = Argument<std::string>::of(unmark);
    return options;
}

// Returns a list of values of Python, None for those that are not there.
template <class Value, class Convert>
nb::list list_of(const std::vector<std::optional<Value>>& values, const Convert& convert) {
    nb::list result;
    for (const auto& value : values) result.append(value ? nb::object(convert(*value)) : nb::none());
    return result;
}

nb::list count_in_files(SmallFiles& files, nb::handle paths) {
    const auto given = Argument<Texts>::of(paths);
    const auto found = [&] {
        const LongCall call;
        return files.count(given);
    }();
    return list_of(found, [](u64 count) { return nb::int_(count); });
}

nb::list write_files(SmallFiles& files, nb::handle paths, nb::handle names) {
    const auto given = Argument<Texts>::of(paths), prefixes = Argument<Texts>::of(names);
    if (given.size() != prefixes.size()) throw std::invalid_argument("each path needs a name");
    const auto found = [&] {
        const LongCall call;
        return files.write(given, prefixes);
    }();
    return list_of(found, [](const std::string& lines) { return nb::bytes(lines.data(), lines.size()); });
}

// Calls use(search, block) without the GIL.
template <class Use>
auto with_block(const nb::handle& block, const Use& use) {
    const BorrowedBytes bytes(block);
    const LongCall call;
    return use(std::string_view(static_cast<const char*>(bytes.data()), bytes.size()));
}

// Returns the end of the block that begins at `begin`. It is that of the last line that ends in the first `wanted`
// bytes. If none does, the block is one line, whose end is looked for by several threads.
u64 block_end(nb::handle text, u64 begin, u64 wanted, unsigned threads) {
    const BorrowedBytes bytes(text);
    const u8* const data = static_cast<const u8*>(bytes.data());
    if (bytes.size() - begin <= wanted) return bytes.size();
    const LongCall call;
    const void* const last = memrchr(data + begin, '\n', wanted);
    if (last != nullptr) return static_cast<u64>(static_cast<const u8*>(last) - data) + 1;
    const u64 at = begin + wanted;
    const FindPattern feed("\n", false);
    const auto found = first_pattern(feed, {data + at, bytes.size() - at}, {choose_isa(""), threads});
    return found ? at + *found + 1 : bytes.size();
}

LineWindows line_windows(const Texts& sets, bool has_lead, bool has_tail) {
    LineWindows windows{};
    if (sets.empty() || sets.size() > max_window) throw std::invalid_argument("a window has 1 to 4 sets of bytes");
    windows.width = static_cast<u32>(sets.size());
    windows.lead = has_lead;
    windows.has_tail = has_tail;
    for (usize i = 0; i < sets.size(); ++i) {
        if (sets[i].size() != 256) throw std::invalid_argument("a set of bytes has an entry for each of 256 bytes");
        for (u32 byte = 0; byte < 256; ++byte) {
            const u8 buckets = static_cast<u8>(sets[i][byte]);
            windows.sets[i][byte] = buckets;
            windows.low[i][byte & 15] |= buckets;
            windows.high[i][byte >> 4] |= buckets;
            windows.six[i][byte & 63] |= buckets;
        }
    }
    return windows;
}

void bind_selectors(nb::module_& m) {
    nb::class_<LineAutomaton>(m, "LineAutomaton")
        .def(
            "__init__",
            [](LineAutomaton* self, const std::vector<std::array<u32, 4>>& edges, u32 begin, u32 line_begin) {
                std::vector<LineEdge> all;
                for (const auto& [source, first, last, target] : edges) all.push_back({source, first, last, target});
                new (self) LineAutomaton(std::move(all), begin, line_begin);
            },
            "edges"_a, "begin"_a, "line_begin"_a);
    nb::class_<LineWindows>(m, "LineWindows")
        .def(
            "__init__",
            [](LineWindows* self, nb::handle sets, bool has_lead, bool has_tail) {
                new (self) LineWindows(line_windows(Argument<Texts>::of(sets), has_lead, has_tail));
            },
            "sets"_a, "has_lead"_a, "has_tail"_a);
    nb::class_<LineSelector>(m, "LineSelector")
        .def(
            "__init__",
            [](LineSelector* self, const FindPattern* pattern, const LineWindows* windows,
               const LineAutomaton* automaton, u64 max_items, bool is_word, u64 reach) {
                if (automaton == nullptr && pattern == nullptr) throw std::invalid_argument("nothing selects lines");
                new (self) LineSelector{pattern, windows, automaton, max_items, is_word, reach};
            },
            nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), "pattern"_a.none(),
            "windows"_a.none() = nb::none(), "automaton"_a.none() = nb::none(), "max_items"_a = 0, "is_word"_a = false,
            "reach"_a = unlimited_reach);
    nb::class_<LineOptions>(m, "LineOptions")
        .def("__init__", [](LineOptions* self, nb::handle name, nb::handle mark,
                            nb::handle unmark) { new (self) LineOptions(line_options(name, mark, unmark)); })
        .def_rw("is_inverted", &LineOptions::is_inverted)
        .def_rw("only_matching", &LineOptions::only_matching)
        .def_rw("is_numbered", &LineOptions::is_numbered)
        .def_rw("before", &LineOptions::before)
        .def_rw("after", &LineOptions::after)
        .def_rw("is_grouped", &LineOptions::is_grouped)
        .def_rw("max_count", &LineOptions::max_count);
}

void bind_searches(nb::module_& m) {
    nb::class_<LineSearch>(m, "LineSearch")
        .def(
            "__init__",
            [](LineSearch* self, const LineSelector& selector, const LineOptions& options, unsigned threads,
               std::string_view isa) { new (self) LineSearch(selector, options, {choose_isa(isa), threads}); },
            nb::keep_alive<1, 2>(), "selector"_a, "options"_a, "threads"_a, "isa"_a = "")
        .def(
            "begin_file", [](LineSearch& self, const nb::bytes& name) { self.begin_file({name.c_str(), name.size()}); },
            "name"_a)
        .def(
            "count",
            [](LineSearch& self, const nb::handle& block, bool is_line) {
                return with_block(block, [&](std::string_view text) { return self.count(text, is_line); });
            },
            "block"_a, "is_line"_a = false)
        .def(
            "write",
            [](LineSearch& self, const nb::handle& block, bool is_line) {
                const std::string_view out =
                    with_block(block, [&](std::string_view text) { return self.write(text, is_line); });
                // A copy would take new pages for each block.
                return nb::steal(PyMemoryView_FromMemory(const_cast<char*>(out.data()),
                                                         static_cast<Py_ssize_t>(out.size()), PyBUF_READ));
            },
            nb::keep_alive<0, 1>(), "block"_a, "is_line"_a = false)
        .def_prop_ro("is_done", &LineSearch::is_done)
        .def_prop_ro("has_selected", &LineSearch::has_selected)
        .def_prop_ro("match_steps", &LineSearch::match_steps);
    nb::class_<SmallFiles>(m, "SmallFiles")
        .def(
            "__init__",
            [](SmallFiles* self, const LineSelector& selector, const LineOptions& options, nb::handle marks,
               bool are_listed, unsigned threads, std::string_view isa) {
                const FindResources resources{choose_isa(isa), threads};
                new (self) SmallFiles(selector, options, resources, Argument<Texts>::of(marks), are_listed);
            },
            nb::keep_alive<1, 2>(), "selector"_a, "options"_a, "marks"_a, "are_listed"_a, "threads"_a, "isa"_a = "")
        .def("count", count_in_files, "paths"_a)
        .def("write", write_files, "paths"_a, "names"_a);
}

}  // namespace

void bind_lines(nb::module_& m) {
    m.attr("UNLIMITED_REACH") = unlimited_reach;
    m.def("block_end", block_end, "text"_a, "begin"_a, "wanted"_a, "threads"_a);
    bind_selectors(m);
    bind_searches(m);
}

}  // namespace headrace
