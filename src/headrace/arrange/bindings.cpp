#include "core/bindings.hpp"

#include <nanobind/stl/string_view.h>

#include "arrange/histogram.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {
namespace {

// Addresses and their extents are what core/arrays.py vouches for.
void histogram_at(std::string_view key, std::uintptr_t keys, u64 count, u32 buckets, nb::bytes description,
                  std::uintptr_t edges, bool computed, std::uintptr_t result, unsigned threads, std::string_view isa) {
    const Isa chosen = choose_isa(isa);
    const BucketsGiven how{buckets,
                           {description.c_str(), description.size()},
                           reinterpret_cast<const void*>(edges),
                           computed,
                           reinterpret_cast<u64*>(result)};
    const nb::gil_scoped_release release;
    histogram({key, reinterpret_cast<const void*>(keys), count}, how, chosen, threads);
}

}  // namespace

void bind_arrange(nb::module_& m) {
    m.def("histogram", &histogram_at, "key"_a, "keys"_a, "count"_a, "buckets"_a, "description"_a, "edges"_a,
          "computed"_a, "result"_a, "threads"_a, "isa"_a = "");
}

}  // namespace headrace
