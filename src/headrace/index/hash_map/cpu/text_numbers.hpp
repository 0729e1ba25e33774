// Numbers the texts that are keys of a map, from 0 on in the order in which they are added. A map of texts is a map of
// these numbers.
//
// A table has the first number of each hash of 64 bits, whose text is compared with a searched one. Other texts of the
// hash are in a list. Hashes have a secret, so such texts are rare.
#pragma once
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "index/hash_map/cpu/flat_table.hpp"
#include "index/hash_map/cpu/hash_map_host.hpp"
#include "index/hash_map/cpu/row_groups.hpp"

namespace headrace {

// An array that doubles. If memory is refused, it is as before.
template <class Item>
class GrowingArray {
public:
    explicit GrowingArray(std::shared_ptr<Budget> budget) : budget_(std::move(budget)) {}

    const Item* items() const { return region_.template as<Item>(); }
    u64 size() const { return size_; }
    u64 bytes() const { return capacity_ * sizeof(Item); }

    // Makes sure that `more` items are appended without an error.
    void reserve(u64 more) {
        if (size_ + more <= capacity_) return;
        const u64 larger = std::max(size_ + more, 2 * capacity_);
        require_group_memory(larger * sizeof(Item));
        Region region(larger * sizeof(Item), budget_);
        region.ensure(larger * sizeof(Item));
        if (size_ > 0) std::memcpy(region.data(), region_.data(), size_ * sizeof(Item));
        region_ = std::move(region);
        capacity_ = larger;
    }
    void append(const Item* items, u64 count) {
        if (count > 0) std::memcpy(region_.template as<Item>() + size_, items, count * sizeof(Item));
        size_ += count;
    }

private:
    std::shared_ptr<Budget> budget_;
    Region region_;
    u64 size_ = 0, capacity_ = 0;
};

class TextNumbers {
public:
    explicit TextNumbers(const std::shared_ptr<Budget>& budget);

    // Returns an object with the same texts. Both have the same budget.
    std::unique_ptr<TextNumbers> copy() const;

    TableStatistics statistics() const;
    // The end of each text, and the bytes of all.
    const GrowingArray<u64>& ends() const { return ends_; }
    const GrowingArray<u8>& bytes() const { return bytes_; }

    // Writes the number of each text, -1 if it has none. `texts`: a column of texts without nulls, of any layout.
    void find(const RowSet& texts, i64* numbers, unsigned threads) const;
    // The same, after texts without a number got one. If memory is refused, some did.
    void add(const RowSet& texts, i64* numbers, unsigned threads);

private:
    using Table = FlatTable<u64, u32>;

    RowText text(u32 number) const {
        const u64 begin = number == 0 ? 0 : ends_.items()[number - 1];
        return {bytes_.items() + begin, ends_.items()[number] - begin};
    }
    bool is_equal(u32 number, RowText other) const {
        const RowText one = text(number);
        return one.size == other.size && are_bytes_equal(one.begin, other.begin, one.size);
    }
    // Returns the number of a text, -1 if it has none. `first`: the first number of its hash.
    i64 number_of(RowText text, u32 first) const;
    i64 number_or_add(RowText text, u64 hash);

    std::shared_ptr<Budget> budget_;
    std::vector<Table> tables_;
    std::unordered_map<u32, u32> next_;  // the next number of the same hash
    GrowingArray<u64> ends_;
    GrowingArray<u8> bytes_;
};

}  // namespace headrace
