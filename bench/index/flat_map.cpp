// Calls boost::unordered_flat_map for bench/index/hash_map.py: keys and values of 8 bytes, one thread.
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>

using Map = boost::unordered_flat_map<std::int64_t, std::int64_t>;

extern "C" {

void* new_map() { return new Map(); }

void free_map(void* map) { delete static_cast<Map*>(map); }

std::uint64_t insert(void* map, const std::int64_t* keys, const std::int64_t* values, std::uint64_t count) {
    Map& held = *static_cast<Map*>(map);
    for (std::uint64_t i = 0; i < count; ++i) held.insert_or_assign(keys[i], values[i]);
    return held.size();
}

void find(const void* map, const std::int64_t* keys, std::uint64_t count, std::int64_t* values, bool* found) {
    const Map& held = *static_cast<const Map*>(map);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto at = held.find(keys[i]);
        found[i] = at != held.end();
        values[i] = found[i] ? at->second : 0;
    }
}
}
