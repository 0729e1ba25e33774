#include "core/bindings.hpp"

#include <nanobind/stl/tuple.h>

#include <cstring>
#include <tuple>

#include "core/layouts/layout.hpp"
#include "index/sorted_map/cpu/sorted_map.hpp"
#include "index/sorted_map/gpu/cut_task.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace headrace {
namespace {

// Address, number and rule of keys, whose bytes are four times the width of a key. Addresses and extents are checked by
// arrays/arrays.py.
using KeysGiven = std::tuple<std::uintptr_t, u64, nb::bytes>;

// Addresses of codes, values and tombstones; 0 for none.
using LevelGiven = std::tuple<std::uintptr_t, std::uintptr_t, std::uintptr_t>;

MapKeys keys_at(const KeysGiven& keys) {
    const auto& [address, count, rule] = keys;
    return {reinterpret_cast<const void*>(address), count, static_cast<unsigned>(rule.size() / 4), rule.c_str()};
}

NewLevel level_at(const LevelGiven& level) {
    const auto& [codes, values, tombstones] = level;
    return {reinterpret_cast<void*>(codes), reinterpret_cast<void*>(values), reinterpret_cast<u8*>(tombstones)};
}

// Addresses of values and deletes, 0 for none; bytes of a value, and number of the batch in statuses.
using BatchGiven = std::tuple<std::uintptr_t, std::uintptr_t, unsigned, unsigned>;

MapLevels levels_at(const nb::bytes& packed) {
    MapLevels levels;
    if (packed.size() != sizeof levels) throw std::invalid_argument("the bytes are no levels");
    std::memcpy(&levels, packed.c_str(), sizeof levels);
    return levels;
}

void reverse_batch_at(const KeysGiven& keys, const BatchGiven& given, const LevelGiven& to, unsigned threads) {
    const auto [values, deletes, value_width, mixed] = given;
    const MapBatch batch{keys_at(keys), reinterpret_cast<const void*>(values), reinterpret_cast<const u8*>(deletes),
                         value_width, mixed};
    const LongCall call;
    reverse_batch(batch, level_at(to), threads);
}

void mark_deleted_at(std::uintptr_t codes, u64 count, unsigned width, std::uintptr_t deleted, std::uintptr_t tombstones,
                     unsigned threads) {
    const MapLevel level{reinterpret_cast<const void*>(codes),
                         nullptr,
                         reinterpret_cast<const u8*>(deleted),
                         nullptr,
                         count,
                         0,
                         nullptr};
    const LongCall call;
    mark_deleted(level, width, reinterpret_cast<u8*>(tombstones), threads);
}

void merge_levels_at(const nb::bytes& packed, unsigned code_width, const LevelGiven& to, unsigned threads) {
    const MapLevels levels = levels_at(packed);
    const LongCall call;
    merge_levels(levels, code_width, level_at(to), threads);
}

// `allocate`: function that allocates a level for a number of pairs and returns its addresses.
void compact_level_at(const nb::bytes& packed, unsigned code_width, const nb::callable& allocate, unsigned threads) {
    const MapLevels levels = levels_at(packed);
    const LongCall call;
    const auto allocated = [&](u64 count) {
        return with_gil([&] { return level_at(nb::cast<LevelGiven>(allocate(count))); });
    };
    compact_level(levels.level[0], code_width, levels.value_width, allocated, threads);
}

void find_in_levels_at(const nb::bytes& packed, const KeysGiven& keys, std::uintptr_t values, std::uintptr_t is_present,
                       unsigned threads) {
    const MapLevels levels = levels_at(packed);
    const MapKeys wanted = keys_at(keys);
    const LongCall call;
    find_in_levels(levels, wanted, reinterpret_cast<void*>(values), reinterpret_cast<u8*>(is_present), threads);
}

bool count_ranges_at(const nb::bytes& packed, const KeysGiven& lows, std::uintptr_t highs, std::uintptr_t counts,
                     std::uint64_t limit, unsigned threads) {
    const MapLevels levels = levels_at(packed);
    const MapRanges ranges{keys_at(lows), reinterpret_cast<const void*>(highs)};
    const LongCall call;
    return count_ranges(levels, ranges, reinterpret_cast<i64*>(counts), limit, threads);
}

void copy_ranges_at(const nb::bytes& packed, const KeysGiven& lows, std::uintptr_t highs, std::uintptr_t offsets,
                    const LevelGiven& to, unsigned threads) {
    const MapLevels levels = levels_at(packed);
    const MapRanges ranges{keys_at(lows), reinterpret_cast<const void*>(highs)};
    const LongCall call;
    copy_ranges(levels, ranges, reinterpret_cast<const i64*>(offsets), level_at(to), threads);
}

// `to`: addresses of keys, values and presence.
void find_neighbours_at(const nb::bytes& packed, const KeysGiven& keys, const std::tuple<bool, bool>& options,
                        const LevelGiven& to, unsigned threads) {
    const MapLevels levels = levels_at(packed);
    const MapKeys wanted = keys_at(keys);
    const NewLevel found = level_at(to);
    const auto [is_successor, is_inclusive] = options;
    const LongCall call;
    find_neighbours(levels, wanted, {is_successor, is_inclusive}, found, found.tombstones, threads);
}

void keys_of_codes_at(const KeysGiven& codes, std::uintptr_t keys, unsigned threads) {
    const MapKeys from = keys_at(codes);
    const LongCall call;
    keys_of_codes(from, reinterpret_cast<void*>(keys), threads);
}

std::tuple<u64, u64> fence_rows_of(u64 count) {
    const FenceRows rows = fence_rows(count);
    return {rows.shift, rows.fences};
}

}  // namespace

void bind_sorted_map(nb::module_& m) {
    register_layouts<MapLevel, MapLevels, NeighbourOptions, CutTask>();
    m.def("reverse_batch", &reverse_batch_at, "keys"_a, "given"_a, "to"_a, "threads"_a);
    m.def("mark_deleted", &mark_deleted_at, "codes"_a, "count"_a, "width"_a, "deleted"_a, "tombstones"_a, "threads"_a);
    m.def("merge_levels", &merge_levels_at, "levels"_a, "code_width"_a, "to"_a, "threads"_a);
    m.def("compact_level", &compact_level_at, "levels"_a, "code_width"_a, "allocate"_a, "threads"_a);
    m.def("find_in_levels", &find_in_levels_at, "levels"_a, "keys"_a, "values"_a, "is_present"_a, "threads"_a);
    m.def("count_ranges", &count_ranges_at, "levels"_a, "lows"_a, "highs"_a, "counts"_a, "limit"_a, "threads"_a);
    m.def("copy_ranges", &copy_ranges_at, "levels"_a, "lows"_a, "highs"_a, "offsets"_a, "to"_a, "threads"_a);
    m.def("find_neighbours", &find_neighbours_at, "levels"_a, "keys"_a, "options"_a, "to"_a, "threads"_a);
    m.def("keys_of_codes", &keys_of_codes_at, "codes"_a, "keys"_a, "threads"_a);
    m.attr("MAP_MAX_MIXED") = max_mixed;
    m.def("map_fence_rows", &fence_rows_of, "count"_a);
    m.def("map_filter_words", &filter_words, "count"_a);
    m.def("map_guide_row", &row_length, "levels"_a);
}

}  // namespace headrace
