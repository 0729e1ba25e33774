#include "core/bindings.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "arrange/search/search_host.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {
namespace {

// Address and number of keys. Addresses and extents are checked by arrays/arrays.py.
using KeysAt = std::tuple<std::uintptr_t, u64>;

SortedKeys keys_at(const KeysAt& keys, const nb::bytes& rule) {
    return {reinterpret_cast<const void*>(std::get<0>(keys)), std::get<1>(keys), static_cast<unsigned>(rule.size() / 4),
            rule.c_str()};
}

void search_keys_at(const KeysAt& sorted, const KeysAt& keys, const nb::bytes& rule,
                    const std::tuple<bool, bool>& options, std::uintptr_t positions, unsigned threads) {
    const SortedKeys in = keys_at(sorted, rule), wanted = keys_at(keys, rule);
    const auto [after_equal, from_end] = options;
    const LongCall call;
    search_keys(in, wanted, {after_equal, from_end}, reinterpret_cast<i64*>(positions), threads);
}

void mark_runs_at(const KeysAt& keys, const nb::bytes& rule, std::uintptr_t marks, unsigned threads) {
    const SortedKeys in = keys_at(keys, rule);
    const LongCall call;
    mark_runs(in, reinterpret_cast<u8*>(marks), threads);
}

// Address, number and width of integers, and their limit.
using IntegersAt = std::tuple<std::uintptr_t, u64, unsigned, u64>;

SmallIntegers integers_at(const IntegersAt& integers) {
    const auto& [items, count, width, limit] = integers;
    return {reinterpret_cast<const void*>(items), count, width, limit};
}

void count_integers_at(const IntegersAt& integers, std::uintptr_t counts) {
    const GilRelease release;
    count_integers(integers_at(integers), reinterpret_cast<i64*>(counts));
}

void sum_weights_at(const IntegersAt& integers, std::uintptr_t weights, std::uintptr_t sums) {
    const GilRelease release;
    sum_weights(integers_at(integers), reinterpret_cast<const double*>(weights), reinterpret_cast<double*>(sums));
}

}  // namespace

void bind_search(nb::module_& m) {
    m.def("search_keys", &search_keys_at, "sorted_keys"_a, "keys"_a, "rule"_a, "options"_a, "positions"_a, "threads"_a);
    m.def("mark_runs", &mark_runs_at, "keys"_a, "rule"_a, "marks"_a, "threads"_a);
    m.def("count_integers", &count_integers_at, "integers"_a, "counts"_a);
    m.def("sum_weights", &sum_weights_at, "integers"_a, "weights"_a, "sums"_a);
}

}  // namespace headrace
