#include "core/bindings.hpp"

#include <nanobind/stl/string_view.h>

#include "primitives/cpu/scan.hpp"
#include "primitives/cpu/select.hpp"
#include "primitives/float_scan.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {
namespace {

// Addresses and sizes are checked by arrays/arrays.py.
void scan_at(std::string_view join, std::string_view item, std::uintptr_t in, std::uintptr_t out, u64 count,
             bool exclusive, unsigned threads, std::string_view isa) {
    const Isa chosen = choose_isa(isa);
    const GilRelease release;
    const ArrayPair arrays{reinterpret_cast<const void*>(in), reinterpret_cast<void*>(out), count};
    scan({join, item}, arrays, exclusive, chosen, threads);
}

void reduce_at(std::string_view join, std::string_view item, std::uintptr_t in, std::uintptr_t out, u64 count,
               unsigned threads, std::string_view isa) {
    const Isa chosen = choose_isa(isa);
    const GilRelease release;
    const ArrayPair arrays{reinterpret_cast<const void*>(in), reinterpret_cast<void*>(out), count};
    reduce({join, item}, arrays, chosen, threads);
}

void sum_widened_at(std::string_view item, std::uintptr_t in, std::uintptr_t out, u64 count, unsigned threads,
                    std::string_view isa) {
    const Isa chosen = choose_isa(isa);
    const GilRelease release;
    sum_widened(item, {reinterpret_cast<const void*>(in), reinterpret_cast<void*>(out), count}, chosen, threads);
}

void float_sum_at(std::string_view item, std::uintptr_t in, std::uintptr_t out, u64 count, unsigned threads) {
    const GilRelease release;
    float_sum(item, {reinterpret_cast<const void*>(in), reinterpret_cast<void*>(out), count}, threads);
}

void float_scan_at(std::string_view item, std::uintptr_t in, std::uintptr_t out, u64 count, u64 shift, u64 length,
                   unsigned threads) {
    const LongCall call;
    const ArrayPair arrays{reinterpret_cast<const void*>(in), reinterpret_cast<void*>(out), count};
    float_scan(item, arrays, {shift, length}, threads);
}

// `allocate`: function that allocates memory for a number of items and returns its address.
void select_at(std::uintptr_t items, std::uintptr_t flags, u64 count, unsigned width, const nb::callable& allocate,
               unsigned threads, std::string_view isa) {
    const Isa chosen = choose_isa(isa);
    const Flagged input{reinterpret_cast<const void*>(items), reinterpret_cast<const u8*>(flags), count, width};
    const GilRelease release;
    const auto address = [&](u64 selected) {
        return with_gil([&] { return reinterpret_cast<void*>(nb::cast<std::uintptr_t>(allocate(selected))); });
    };
    select(input, address, chosen, threads);
}

}  // namespace

void bind_primitives(nb::module_& m) {
    m.attr("FLOAT_SCAN_GROUP") = scan_group;
    m.def("scan", &scan_at, "join"_a, "item"_a, "source"_a, "target"_a, "count"_a, "exclusive"_a, "threads"_a,
          "isa"_a = "");
    m.def("sum_widened", &sum_widened_at, "item"_a, "source"_a, "target"_a, "count"_a, "threads"_a, "isa"_a = "");
    m.def("reduce", &reduce_at, "join"_a, "item"_a, "source"_a, "target"_a, "count"_a, "threads"_a, "isa"_a = "");
    m.def("float_sum", &float_sum_at);
    m.def("float_scan", &float_scan_at, "item"_a, "source"_a, "target"_a, "count"_a, "shift"_a, "length"_a,
          "threads"_a);
    m.def("select", &select_at, "items"_a, "flags"_a, "count"_a, "width"_a, "allocate"_a, "threads"_a, "isa"_a = "");
}

}  // namespace headrace
