#include "core/bindings.hpp"

#include <nanobind/stl/tuple.h>

#include <mutex>
#include <shared_mutex>
#include <tuple>
#include <utility>

#include "core/cpu/threads/fork_gate.hpp"
#include "gpu/containers/slab_table.hpp"
#include "index/hash_map/cpu/hash_map_host.hpp"
#include "index/hash_map/cpu/row_groups.hpp"
#include "index/hash_map/gpu/mixed_task.hpp"
#include "index/hash_map/texts/packed_rows.hpp"
#include "index/hash_map/texts/text_numbers.hpp"

namespace nb = nanobind;

namespace headrace {

template <>
struct Argument<RowSet> : TupleArgument<RowSet, std::vector<ComparedColumn>, const u64*, u64, bool> {};
template <>
struct Argument<PackedColumn> : TupleArgument<PackedColumn, ComparedColumn, u64, u64> {};

namespace {

// A map that several threads of Python may use. Calls that change it exclude others; searches run side by side. A fork
// waits for all of them, so that the child has whole maps and free locks.
template <class Map>
class SharedMap {
public:
    explicit SharedMap(std::unique_ptr<Map> map) : map_(std::move(map)) {}

    template <class Work>
    auto change(const Work& work) {
        const LongCall call(false);
        const ForkGate::Call inside;
        const std::unique_lock lock(mutex_);
        return work(*map_);
    }
    template <class Work>
    auto read(const Work& work) const {
        const LongCall call;
        const ForkGate::Call inside;
        const std::shared_lock lock(mutex_);
        return work(static_cast<const Map&>(*map_));
    }

private:
    std::unique_ptr<Map> map_;
    mutable std::shared_mutex mutex_;
};

// Returns a method for Python that converts its arguments and calls a function that changes a map.
template <class Map, class... Parameters>
auto changing(void (Map::*function)(Parameters...)) {
    return [function](SharedMap<Map>& map, HandleOf<Parameters>... given) {
        const std::tuple arguments{Argument<std::remove_cvref_t<Parameters>>::of(given)...};
        map.change(
            [&](Map& in) { std::apply([&](const auto&... argument) { (in.*function)(argument...); }, arguments); });
    };
}

// The same for a function that reads a map.
template <class Map, class... Parameters>
auto reading(void (Map::*function)(Parameters...) const) {
    return [function](const SharedMap<Map>& map, HandleOf<Parameters>... given) {
        const std::tuple arguments{Argument<std::remove_cvref_t<Parameters>>::of(given)...};
        map.read([&](const Map& in) {
            std::apply([&](const auto&... argument) { (in.*function)(argument...); }, arguments);
        });
    };
}

// Addresses of keys and values.
struct PairArrays {
    void* keys;
    void* values;
};

// The memory that a map may have, with the texts of its keys.
struct MapBudget {
    std::shared_ptr<Budget> budget;
};

// Binds a class with the functions that both kinds of map have. `create`: function that makes a map.
template <class Map, class Create>
nb::class_<SharedMap<Map>> bind_map(nb::module_& m, const char* name, const Create& create) {
    using Shared = SharedMap<Map>;
    return nb::class_<Shared>(m, name)
        .def("__init__",
             [create](Shared* self, u32 key_width, u32 value_width, const MapBudget& memory, u64 seed) {
                 new (self) Shared(create({key_width, value_width}, memory.budget, seed));
             })
        // `allocate`: function that allocates a number of keys and values and returns their addresses.
        .def("items",
             [](const Shared& map, nb::handle allocate, unsigned threads) {
                 const auto allocated = Argument<std::function<PairArrays(u64)>>::of(allocate);
                 map.read([&](const Map& in) {
                     const auto [keys, values] = allocated(in.statistics().size);
                     in.items(keys, values, threads);
                 });
             })
        .def(
            "copy", [](const Shared& map) { return new Shared(map.read([](const Map& in) { return in.copy(); })); },
            nb::rv_policy::take_ownership)
        .def("clear", changing(&Map::clear))
        .def("compact", changing(&Map::compact))
        .def_prop_ro("statistics", [](const Shared& map) {
            const TableStatistics found = map.read([](const Map& in) { return in.statistics(); });
            return std::tuple(found.size, found.capacity, found.bytes);
        });
}

}  // namespace

void bind_hash_map(nb::module_& m) {
    register_layouts<SlabTable, MixedTask>();
    m.def("find_first_rows", without_gil(find_first_rows));
    m.def("find_matching_rows", without_gil(find_matching_rows));
    m.def("pack_rows", without_gil(pack_rows));
    m.def("close_fork_gate", without_gil(ForkGate::close));
    m.def("open_fork_gate", ForkGate::open);
    m.def("renew_fork_gate", ForkGate::renew);
    nb::class_<MapBudget>(m, "MapBudget").def("__init__", [](MapBudget* self, u64 limit) {
        new (self) MapBudget{std::make_shared<Budget>(limit)};
    });
    using SharedTexts = SharedMap<TextNumbers>;
    nb::class_<SharedTexts>(m, "TextNumbers")
        .def("__init__",
             [](SharedTexts* self, const MapBudget& memory) {
                 new (self) SharedTexts(std::make_unique<TextNumbers>(memory.budget));
             })
        .def("find", reading(&TextNumbers::find))
        .def("add", changing(&TextNumbers::add))
        .def("remove_from", changing(&TextNumbers::remove_from))
        .def("keep", changing(&TextNumbers::keep))
        .def(
            "copy",
            [](const SharedTexts& texts) {
                return new SharedTexts(texts.read([](const TextNumbers& in) { return in.copy(); }));
            },
            nb::rv_policy::take_ownership)
        // Returns the end of each text as bytes of u64, and the bytes of all texts.
        .def("texts",
             [](const SharedTexts& texts) {
                 return texts.read([](const TextNumbers& in) {
                     return with_gil([&] {
                         return std::tuple(nb::bytes(in.ends().items(), in.ends().size() * sizeof(u64)),
                                           nb::bytes(in.bytes().items(), in.bytes().size()));
                     });
                 });
             })
        .def(
            "__len__",
            [](const SharedTexts& texts) { return texts.read([](const TextNumbers& in) { return in.ends().size(); }); })
        .def_prop_ro("nbytes", [](const SharedTexts& texts) {
            return texts.read([](const TextNumbers& in) { return in.statistics().bytes; });
        });
    bind_map<HostHashMap>(m, "HostHashMap", new_hash_map)
        // Returns the number of new keys.
        .def("upsert",
             [](SharedMap<HostHashMap>& map, nb::handle batch, nb::handle how, nb::handle resources) {
                 const auto pairs = Argument<PairBatch>::of(batch);
                 const auto upsert = Argument<Upsert>::of(how);
                 const auto used = Argument<BatchResources>::of(resources);
                 return map.change([&](HostHashMap& in) {
                     const u64 before = in.statistics().size;
                     in.upsert(pairs, upsert, used);
                     return in.statistics().size - before;
                 });
             })
        .def("replace", changing(&HostHashMap::replace))
        .def("erase", changing(&HostHashMap::erase))
        .def("apply", changing(&HostHashMap::apply))
        .def("find", reading(&HostHashMap::find));
    bind_map<HostMultiMap>(m, "HostMultiMap", new_multi_map)
        .def("insert", changing(&HostMultiMap::insert))
        .def("erase", changing(&HostMultiMap::erase))
        .def("erase_all", changing(&HostMultiMap::erase_all))
        .def("apply", changing(&HostMultiMap::apply))
        .def("count", reading(&HostMultiMap::count))
        // `allocate`: function that allocates a number of values and returns their address.
        .def("find_all",
             [](const SharedMap<HostMultiMap>& map, nb::handle batch, nb::bytes rule, nb::handle found,
                nb::handle allocate, unsigned threads) {
                 const auto keys = Argument<KeyBatch>::of(batch);
                 i64* const offsets = Argument<i64*>::of(found);
                 const auto allocated = Argument<std::function<void*(u64)>>::of(allocate);
                 map.read([&, order = rule.c_str()](const HostMultiMap& in) {
                     in.count(keys, offsets + 1, threads);
                     offsets[0] = 0;
                     for (u64 i = 0; i < keys.count; ++i) offsets[i + 1] += offsets[i];
                     in.find_all(keys, order, offsets, allocated(static_cast<u64>(offsets[keys.count])), threads);
                 });
             })
        .def_prop_ro("key_count", [](const SharedMap<HostMultiMap>& map) {
            return map.read([](const HostMultiMap& in) { return in.key_count(); });
        });
}

}  // namespace headrace
