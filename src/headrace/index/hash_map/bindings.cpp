#include "core/bindings.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "core/layouts/layout.hpp"
#include "gpu/containers/slab_table.hpp"
#include "index/hash_map/cpu/hash_map_host.hpp"
#include "index/hash_map/gpu/mixed_task.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {
namespace {

// Addresses and extents are checked by arrays/arrays.py.
using BatchAt = std::pair<std::uintptr_t, u64>;
using ListBatchAt = std::tuple<std::uintptr_t, std::uintptr_t, nb::bytes>;

KeyBatch keys_at(const BatchAt& keys) { return {reinterpret_cast<const void*>(keys.first), keys.second}; }

PairBatch pairs_at(const BatchAt& keys, std::uintptr_t values) {
    return {reinterpret_cast<const void*>(keys.first), reinterpret_cast<const void*>(values), keys.second};
}

u8* marks_at(std::uintptr_t marks) { return reinterpret_cast<u8*>(marks); }
i64* counts_at(std::uintptr_t counts) { return reinterpret_cast<i64*>(counts); }

Reduce reduce_of(std::string_view name) {
    constexpr std::string_view names[] = {"last", "first", "sum", "min", "max"};
    for (u32 i = 0; i < 5; ++i) {
        if (names[i] == name) return static_cast<Reduce>(i);
    }
    throw std::invalid_argument("no such reduction");
}

// A map that several threads of Python may use. Calls that change it exclude others; searches run side by side.
template <class Map>
class SharedMap {
public:
    explicit SharedMap(std::unique_ptr<Map> map) : map_(std::move(map)) {}

    template <class Work>
    auto change(const Work& work) {
        const LongCall call(false);
        const std::unique_lock lock(mutex_);
        return work(*map_);
    }
    template <class Work>
    auto read(const Work& work) const {
        const LongCall call;
        const std::shared_lock lock(mutex_);
        return work(static_cast<const Map&>(*map_));
    }

private:
    std::unique_ptr<Map> map_;
    mutable std::shared_mutex mutex_;
};

using SharedHashMap = SharedMap<HostHashMap>;
using SharedMultiMap = SharedMap<HostMultiMap>;

std::shared_ptr<Budget> budget_of(u64 limit) { return std::make_shared<Budget>(limit); }

std::tuple<u64, u64, u64> statistics_tuple(const TableStatistics& found) {
    return {found.size, found.capacity, found.bytes};
}

// The functions that both kinds of map have.
template <class Class>
void bind_common(Class& bound) {
    using Shared = typename Class::Type;
    bound
        // `allocate`: function that allocates a number of keys and values and returns their addresses.
        .def("items",
             [](const Shared& map, const nb::callable& allocate) {
                 map.read([&](const auto& in) {
                     const u64 size = in.statistics().size;
                     const auto [keys, values] =
                         with_gil([&] { return nb::cast<std::pair<std::uintptr_t, std::uintptr_t>>(allocate(size)); });
                     in.items(reinterpret_cast<void*>(keys), reinterpret_cast<void*>(values));
                 });
             })
        .def(
            "copy", [](const Shared& map) { return new Shared(map.read([](const auto& in) { return in.copy(); })); },
            nb::rv_policy::take_ownership)
        .def("clear", [](Shared& map) { map.change([](auto& in) { in.clear(); }); })
        .def("compact", [](Shared& map, unsigned threads) { map.change([&](auto& in) { in.compact(threads); }); })
        .def_prop_ro("statistics", [](const Shared& map) {
            return statistics_tuple(map.read([](const auto& in) { return in.statistics(); }));
        });
}

void bind_hash_map_class(nb::module_& m) {
    nb::class_<SharedHashMap> bound(m, "HostHashMap");
    bound
        .def("__init__",
             [](SharedHashMap* self, u32 key_width, u32 value_width, u64 limit, u64 seed) {
                 new (self) SharedHashMap(new_hash_map({key_width, value_width}, budget_of(limit), seed));
             })
        .def("upsert",
             [](SharedHashMap& map, const BatchAt& keys, std::uintptr_t values,
                const std::pair<std::string_view, char>& how, unsigned threads) {
                 const Upsert upsert{reduce_of(how.first), static_cast<NumberKind>(how.second)};
                 return map.change([&](HostHashMap& in) {
                     const u64 before = in.statistics().size;
                     in.upsert(pairs_at(keys, values), upsert, threads);
                     return in.statistics().size - before;
                 });
             })
        .def(
            "replace",
            [](SharedHashMap& map, const BatchAt& keys, std::uintptr_t values, std::uintptr_t found, unsigned threads) {
                map.change([&](HostHashMap& in) { in.replace(pairs_at(keys, values), marks_at(found), threads); });
            })
        .def("erase",
             [](SharedHashMap& map, const BatchAt& keys, std::uintptr_t found, unsigned threads) {
                 map.change([&](HostHashMap& in) { in.erase(keys_at(keys), marks_at(found), threads); });
             })
        // `batch`: addresses of operations and values. `results`: addresses of values and flags.
        .def("apply",
             [](SharedHashMap& map, const BatchAt& keys, const std::pair<std::uintptr_t, std::uintptr_t>& batch,
                const std::pair<std::uintptr_t, std::uintptr_t>& results, char kind, unsigned threads) {
                 const OperationBatch operations{marks_at(batch.first), pairs_at(keys, batch.second),
                                                 static_cast<NumberKind>(kind)};
                 const OperationResults found{reinterpret_cast<void*>(results.first), marks_at(results.second)};
                 map.change([&](HostHashMap& in) { in.apply(operations, found, threads); });
             })
        .def("find", [](const SharedHashMap& map, const BatchAt& keys, std::uintptr_t values, std::uintptr_t found,
                        unsigned threads) {
            map.read([&](const HostHashMap& in) {
                in.find(keys_at(keys), reinterpret_cast<void*>(values), marks_at(found), threads);
            });
        });
    bind_common(bound);
}

void bind_multi_map_class(nb::module_& m) {
    nb::class_<SharedMultiMap> bound(m, "HostMultiMap");
    bound
        .def("__init__",
             [](SharedMultiMap* self, u32 key_width, u32 value_width, u64 limit, u64 seed) {
                 new (self) SharedMultiMap(new_multi_map({key_width, value_width}, budget_of(limit), seed));
             })
        .def("insert",
             [](SharedMultiMap& map, const BatchAt& keys, std::uintptr_t values, unsigned threads) {
                 map.change([&](HostMultiMap& in) { in.insert(pairs_at(keys, values), threads); });
             })
        .def("erase",
             [](SharedMultiMap& map, const BatchAt& keys, const nb::bytes& rule, std::uintptr_t found,
                unsigned threads) {
                 const char* const order = rule.c_str();
                 map.change([&](HostMultiMap& in) { in.erase(keys_at(keys), order, marks_at(found), threads); });
             })
        .def("erase_all",
             [](SharedMultiMap& map, const BatchAt& keys, std::uintptr_t counts, unsigned threads) {
                 map.change([&](HostMultiMap& in) { in.erase_all(keys_at(keys), counts_at(counts), threads); });
             })
        // `batch`: addresses of operations and values, and the order of values. `results`: addresses of values and
        // counts.
        .def("apply",
             [](SharedMultiMap& map, const BatchAt& keys, const ListBatchAt& batch,
                const std::pair<std::uintptr_t, std::uintptr_t>& results, unsigned threads) {
                 const auto& [operations, values, rule] = batch;
                 const OperationBatch given{marks_at(operations), pairs_at(keys, values), NumberKind::unsigned_integer};
                 const ListResults found{reinterpret_cast<void*>(results.first), counts_at(results.second)};
                 const char* const order = rule.c_str();
                 map.change([&](HostMultiMap& in) { in.apply(given, order, found, threads); });
             })
        .def("count",
             [](const SharedMultiMap& map, const BatchAt& keys, std::uintptr_t counts, unsigned threads) {
                 map.read([&](const HostMultiMap& in) { in.count(keys_at(keys), counts_at(counts), threads); });
             })
        // `found`: address of the offsets, and a function that allocates a number of values.
        .def("find_all",
             [](const SharedMultiMap& map, const BatchAt& keys, const nb::bytes& rule,
                const std::pair<std::uintptr_t, nb::callable>& found, unsigned threads) {
                 const char* const order = rule.c_str();
                 i64* const offsets = counts_at(found.first);
                 map.read([&](const HostMultiMap& in) {
                     in.count(keys_at(keys), offsets + 1, threads);
                     offsets[0] = 0;
                     for (u64 i = 0; i < keys.second; ++i) offsets[i + 1] += offsets[i];
                     const auto values =
                         with_gil([&] { return nb::cast<std::uintptr_t>(found.second(offsets[keys.second])); });
                     in.find_all(keys_at(keys), order, offsets, reinterpret_cast<void*>(values), threads);
                 });
             })
        .def_prop_ro("key_count", [](const SharedMultiMap& map) {
            return map.read([](const HostMultiMap& in) { return in.key_count(); });
        });
    bind_common(bound);
}

}  // namespace

void bind_hash_map(nb::module_& m) {
    register_layouts<SlabTable, MixedTask>();
    bind_hash_map_class(m);
    bind_multi_map_class(m);
}

}  // namespace headrace
