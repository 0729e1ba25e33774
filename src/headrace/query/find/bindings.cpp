#include "core/bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <cstring>
#include <span>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "core/layouts/layout.hpp"
#include "query/find/column/text_rows.hpp"
#include "query/find/cpu/apart.hpp"
#include "query/find/cpu/find.hpp"
#include "query/find/cpu/find_any.hpp"
#include "query/find/cpu/replace.hpp"
#include "query/find/gpu/find_task.hpp"
#include "query/find/paper/rabin_karp.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {
namespace {

// Address and number of bytes. Addresses and extents are checked by arrays/arrays.py.
using TextAt = std::tuple<std::uintptr_t, u64>;

FindText text_at(const TextAt& text) { return {reinterpret_cast<const u8*>(std::get<0>(text)), std::get<1>(text)}; }

// `allocate`: function that allocates memory for a number of positions and returns its address.
void pattern_positions_at(const FindPattern& pattern, const TextAt& text, bool overlapping,
                          const nb::callable& allocate, unsigned threads, std::string_view isa) {
    const FindResources resources{choose_isa(isa), threads};
    const LongCall call;
    const auto address = [&](u64 count) {
        return with_gil([&] { return reinterpret_cast<u64*>(nb::cast<std::uintptr_t>(allocate(count))); });
    };
    pattern_positions(pattern, text_at(text), overlapping, address, resources);
}

u64 pattern_count_at(const FindPattern& pattern, const TextAt& text, bool overlapping, unsigned threads,
                     std::string_view isa) {
    const FindResources resources{choose_isa(isa), threads};
    const LongCall call;
    return pattern_count(pattern, text_at(text), overlapping, resources);
}

std::optional<u64> first_pattern_at(const FindPattern& pattern, const TextAt& text, unsigned threads,
                                    std::string_view isa) {
    const FindResources resources{choose_isa(isa), threads};
    const LongCall call;
    return first_pattern(pattern, text_at(text), resources);
}

Fingerprint fingerprint_in(const nb::bytes& fields) {
    if (fields.size() != sizeof(Fingerprint)) throw std::invalid_argument("these are no fields of a Fingerprint");
    Fingerprint print;
    std::memcpy(&print, fields.c_str(), sizeof(print));
    return print;
}

nb::bytes fields_of(const Fingerprint& print) { return nb::bytes(&print, sizeof(print)); }

// Form, fields of the fingerprint, and whether one thread searches.
using RabinKarpGiven = std::tuple<u32, nb::bytes, bool>;

RabinKarpSearch search_of(const RabinKarpGiven& given) {
    const auto& [form, fields, is_serial] = given;
    return {static_cast<FingerprintForm>(form), fingerprint_in(fields), is_serial};
}

u64 rabin_karp_count_at(const FindPattern& pattern, const TextAt& text, const RabinKarpGiven& given, unsigned threads) {
    const RabinKarpSearch search = search_of(given);
    const LongCall call;
    return rabin_karp_count(pattern, text_at(text), search, threads);
}

// `allocate`: function that allocates memory for a number of positions and returns its address.
void rabin_karp_positions_at(const FindPattern& pattern, const TextAt& text, const RabinKarpGiven& given,
                             const nb::callable& allocate, unsigned threads) {
    const RabinKarpSearch search = search_of(given);
    const LongCall call;
    const auto address = [&](u64 count) {
        return with_gil([&] { return reinterpret_cast<u64*>(nb::cast<std::uintptr_t>(allocate(count))); });
    };
    rabin_karp_positions(pattern, text_at(text), search, address, threads);
}

// `allocate`: function that allocates memory for a number of bytes and returns its address.
void pattern_replace_at(const FindPattern& pattern, const TextAt& text, const nb::bytes& replacement,
                        const nb::callable& allocate, unsigned threads, std::string_view isa) {
    const FindResources resources{choose_isa(isa), threads};
    const std::string_view bytes(replacement.c_str(), replacement.size());
    const LongCall call;
    const auto address = [&](u64 size) {
        return with_gil([&] { return reinterpret_cast<u8*>(nb::cast<std::uintptr_t>(allocate(size))); });
    };
    pattern_replace(pattern, text_at(text), bytes, address, resources);
}

// `allocate`: function that allocates memory for a number of hits and returns the two addresses.
void patterns_positions_at(const FindPatterns& patterns, const TextAt& text, const nb::callable& allocate,
                           unsigned threads) {
    using Addresses = std::pair<std::uintptr_t, std::uintptr_t>;
    const LongCall call;
    const auto arrays = [&](u64 count) {
        return with_gil([&] {
            const auto [positions, found] = nb::cast<Addresses>(allocate(count));
            return HitArrays{reinterpret_cast<u64*>(positions), reinterpret_cast<u32*>(found)};
        });
    };
    patterns_positions(patterns, text_at(text), arrays, threads);
}

void patterns_counts_at(const FindPatterns& patterns, const TextAt& text, std::uintptr_t counts, unsigned threads) {
    const LongCall call;
    patterns_counts(patterns, text_at(text), reinterpret_cast<u64*>(counts), threads);
}

template <class T>
nb::bytes bytes_of(std::span<const T> items) {
    return nb::bytes(items.data(), items.size_bytes());
}

}  // namespace

void bind_find(nb::module_& m) {
    nb::class_<FindPattern>(m, "FindPattern")
        .def("__init__",
             [](FindPattern* self, const nb::bytes& pattern, bool ignore_case) {
                 new (self) FindPattern({pattern.c_str(), pattern.size()}, ignore_case);
             })
        .def_ro("period", &FindPattern::period)
        .def("borders",
             [](const FindPattern& pattern) {
                 return nb::bytes(pattern.borders.data(), pattern.borders.size() * sizeof(u32));
             })
        .def("varied_window", &FindPattern::varied_window, "width"_a, "begin"_a, "end"_a);
    register_layouts<FindTask, FindResult, FoundMarks, FindAutomaton, ReplaceTask, SetTask, TextRows, RowCodes>();
    nb::class_<FindPatterns>(m, "FindPatterns")
        .def(
            "__init__",
            [](FindPatterns* self, const nb::list& patterns, bool ignore_case) {
                std::vector<std::string_view> views;
                for (const nb::handle each : patterns) {
                    const auto bytes = nb::cast<nb::bytes>(each);
                    views.emplace_back(bytes.c_str(), bytes.size());
                }
                new (self) FindPatterns(views, ignore_case);
            },
            "patterns"_a, "ignore_case"_a)
        .def("table",
             [](const FindPatterns& set) {
                 const PatternTable table = set.table();
                 return nb::bytes(&table, sizeof(table));
             })
        .def("parts", [](const FindPatterns& set) {
            return nb::make_tuple(bytes_of(set.bits()), bytes_of(set.buckets()), bytes_of(set.entries()),
                                  bytes_of(set.patterns()), bytes_of(set.bytes()));
        });
    register_layouts<WindowEntry, PatternBytes, PatternTable>();
    register_layouts<Fingerprint>();
    m.def(
        "character_code",
        [](const FindPattern& pattern, const nb::bytes& sample) {
            return fields_of(code_for(pattern, {sample.c_str(), sample.size()}));
        },
        "pattern"_a, "sample"_a);
    m.def(
        "fingerprint",
        [](const FindPattern& pattern, u32 form, const nb::bytes& code) {
            return fields_of(fingerprint_of(pattern, static_cast<FingerprintForm>(form), fingerprint_in(code)));
        },
        "pattern"_a, "form"_a, "code"_a);
    m.def("rabin_karp_count", &rabin_karp_count_at, "pattern"_a, "text"_a, "search"_a, "threads"_a);
    m.def("rabin_karp_positions", &rabin_karp_positions_at, "pattern"_a, "text"_a, "search"_a, "allocate"_a,
          "threads"_a);
    m.def("patterns_positions", &patterns_positions_at, "patterns"_a, "text"_a, "allocate"_a, "threads"_a);
    m.def("patterns_counts", &patterns_counts_at, "patterns"_a, "text"_a, "counts"_a, "threads"_a);
    m.def("pattern_positions", &pattern_positions_at, "pattern"_a, "text"_a, "overlapping"_a, "allocate"_a, "threads"_a,
          "isa"_a = "");
    m.def("pattern_replace", &pattern_replace_at, "pattern"_a, "text"_a, "replacement"_a, "allocate"_a, "threads"_a,
          "isa"_a = "");
    m.def("pattern_count", &pattern_count_at, "pattern"_a, "text"_a, "overlapping"_a, "threads"_a, "isa"_a = "");
    m.def(
        "select_apart",
        [](std::uintptr_t positions, u64 count, u64 length) {
            const LongCall call;
            return select_apart(reinterpret_cast<u64*>(positions), count, length);
        },
        "positions"_a, "count"_a, "length"_a);
    m.def("first_pattern", &first_pattern_at, "pattern"_a, "text"_a, "threads"_a, "isa"_a = "");
}

}  // namespace headrace
