// Calls boost::unordered_flat_map for bench/index/hash_map.py: keys and values of 4 or 8 bytes, one thread.
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>

namespace {

class Map {
public:
    virtual ~Map() = default;
    virtual std::uint64_t insert(const void* keys, const void* values, std::uint64_t count) = 0;
    virtual void add(const void* keys, const void* values, std::uint64_t count) = 0;
    virtual void erase(const void* keys, std::uint64_t count, bool* found) = 0;
    virtual void find(const void* keys, std::uint64_t count, void* values, bool* found) const = 0;
};

template <class Item>
class FlatMap final : public Map {
public:
    std::uint64_t insert(const void* keys, const void* values, std::uint64_t count) override {
        for (std::uint64_t i = 0; i < count; ++i) {
            map_.insert_or_assign(static_cast<const Item*>(keys)[i], static_cast<const Item*>(values)[i]);
        }
        return map_.size();
    }
    void add(const void* keys, const void* values, std::uint64_t count) override {
        for (std::uint64_t i = 0; i < count; ++i) {
            map_[static_cast<const Item*>(keys)[i]] += static_cast<const Item*>(values)[i];
        }
    }
    void erase(const void* keys, std::uint64_t count, bool* found) override {
        for (std::uint64_t i = 0; i < count; ++i) found[i] = map_.erase(static_cast<const Item*>(keys)[i]) != 0;
    }
    void find(const void* keys, std::uint64_t count, void* values, bool* found) const override {
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto at = map_.find(static_cast<const Item*>(keys)[i]);
            found[i] = at != map_.end();
            static_cast<Item*>(values)[i] = found[i] ? at->second : 0;
        }
    }

private:
    boost::unordered_flat_map<Item, Item> map_;
};

}  // namespace

extern "C" {

void* new_map(std::uint32_t width) {
    if (width == 4) return static_cast<Map*>(new FlatMap<std::int32_t>());
    return static_cast<Map*>(new FlatMap<std::int64_t>());
}

void free_map(void* map) { delete static_cast<Map*>(map); }

std::uint64_t insert(void* map, const void* keys, const void* values, std::uint64_t count) {
    return static_cast<Map*>(map)->insert(keys, values, count);
}

void add(void* map, const void* keys, const void* values, std::uint64_t count) {
    static_cast<Map*>(map)->add(keys, values, count);
}

void erase(void* map, const void* keys, std::uint64_t count, bool* found) {
    static_cast<Map*>(map)->erase(keys, count, found);
}

void find(const void* map, const void* keys, std::uint64_t count, void* values, bool* found) {
    static_cast<const Map*>(map)->find(keys, count, values, found);
}
}
