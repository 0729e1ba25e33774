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
    Item* items() { return region_.template as<Item>(); }
    u64 size() const { return size_; }
    u64 bytes() const { return capacity_ * sizeof(Item); }

    // Makes sure that `more` items are appended without an error.
    void reserve(u64 more) {
        if (size_ + more > capacity_) move_to(std::max(size_ + more, 2 * capacity_));
    }
    void append(const Item* items, u64 count) {
        if (count > 0) std::memcpy(region_.template as<Item>() + size_, items, count * sizeof(Item));
        size_ += count;
    }
    // Removes the last items. `is_fitted`: also their memory, if there is memory for a copy of the others.
    void shrink(u64 size, bool is_fitted) {
        size_ = size;
        if (!is_fitted || size == capacity_) return;
        try {
            move_to(size);
        } catch (const std::bad_alloc&) {  // the array stays where it is
        }
    }

private:
    void move_to(u64 capacity) {
        require_group_memory(capacity * sizeof(Item));
        Region region(capacity * sizeof(Item), budget_);
        region.ensure(capacity * sizeof(Item));
        if (size_ > 0) std::memcpy(region.data(), region_.data(), size_ * sizeof(Item));
        region_ = std::move(region);
        capacity_ = capacity;
    }

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
    // The same, after texts without a number got one. If memory is refused, none did.
    void add(const RowSet& texts, i64* numbers, unsigned threads);
    // Removes the texts from this number on. Their numbers are given again.
    void remove_from(u64 number);
    // Removes all texts but those of these numbers, and frees their memory. Numbers after the greatest are given again.
    void keep(const i64* numbers, u64 count);

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
    template <class IsKept>
    void remove_unless(const IsKept& is_kept);
    // Returns the first number of a hash that stays, -1 for none, and leaves only such numbers after it.
    template <class IsKept>
    i64 first_kept(u32 first, const IsKept& is_kept);

    std::shared_ptr<Budget> budget_;
    std::vector<Table> tables_;
    std::unordered_map<u32, u32> next_;  // the next number of the same hash
    GrowingArray<u64> ends_;
    GrowingArray<u8> bytes_;
};

}  // namespace headrace
