#include "index/hash_map/texts/text_numbers.hpp"

#include <stdexcept>

#include "index/hash_map/cpu/sharded_rows.hpp"

namespace headrace {
namespace {

constexpr u64 max_texts = ~u32{0};

RowText text_at(const RowSet& texts, u64 row) {
    return text_of_row(texts.columns[0], texts.columns[0].column.first + row);
}

}  // namespace

TextNumbers::TextNumbers(const std::shared_ptr<Budget>& budget) : budget_(budget), ends_(budget), bytes_(budget) {
    for (u32 shard = 0; shard < shard_count; ++shard) tables_.emplace_back(budget, 0, shard);
}

std::unique_ptr<TextNumbers> TextNumbers::copy() const {
    auto result = std::make_unique<TextNumbers>(budget_);
    for (u32 shard = 0; shard < shard_count; ++shard) result->tables_[shard] = tables_[shard].copy();
    result->next_ = next_;
    result->ends_.reserve(ends_.size());
    result->ends_.append(ends_.items(), ends_.size());
    result->bytes_.reserve(bytes_.size());
    result->bytes_.append(bytes_.items(), bytes_.size());
    return result;
}

TableStatistics TextNumbers::statistics() const {
    TableStatistics sums{ends_.size(), 0, ends_.bytes() + bytes_.bytes()};
    for (const Table& table : tables_) {
        sums.capacity += table.capacity();
        sums.bytes += table.bytes();
    }
    return sums;
}

void TextNumbers::find(const RowSet& texts, i64* numbers, unsigned threads) const {
    const Pieces pieces(texts.count, 64);
    const u64 table_bytes = statistics().bytes;
    for_each_piece(pieces.number(), threads_for(texts.count, threads), [&](u64 piece) {
        const KeyRows<u64> rows{texts.hashes, pieces.begin(piece), pieces.size(piece), 0};
        visit_rows(
            rows, prefetch_for(table_bytes, Prefetch::search),
            [&](u64 hash) -> const Table& { return tables_[shard_of(hash)]; },
            [&](u64 hash, u64 row) {
                const auto* const slot = tables_[shard_of(hash)].find(texts.hashes[row], hash);
                numbers[row] = slot == nullptr ? -1 : number_of(text_at(texts, row), slot->value);
            });
    });
}

void TextNumbers::add(const RowSet& texts, i64* numbers, unsigned threads) {
    find(texts, numbers, threads);
    const u64 before = ends_.size();
    try {
        for (u64 row = 0; row < texts.count; ++row) {
            if (numbers[row] < 0) numbers[row] = number_or_add(text_at(texts, row), texts.hashes[row]);
        }
    } catch (...) {
        remove_from(before);
        throw;
    }
}

void TextNumbers::remove_from(u64 number) {
    if (number >= ends_.size()) return;
    remove_unless([=](u64 other) { return other < number; });
    bytes_.shrink(number == 0 ? 0 : ends_.items()[number - 1], false);
    ends_.shrink(number, false);
}

void TextNumbers::keep(const i64* numbers, u64 count) {
    std::vector<bool> is_kept(ends_.size());
    for (u64 i = 0; i < count; ++i) is_kept[static_cast<u64>(numbers[i])] = true;
    remove_unless([&](u64 number) { return is_kept[number]; });
    u64 begin = 0, size = 0, kept_numbers = 0;
    for (u64 number = 0; number < is_kept.size(); ++number) {
        const u64 end = ends_.items()[number];
        if (is_kept[number]) {
            std::memmove(bytes_.items() + size, bytes_.items() + begin, end - begin);
            size += end - begin;
            kept_numbers = number + 1;
        }
        ends_.items()[number] = size;
        begin = end;
    }
    ends_.shrink(kept_numbers, true);
    bytes_.shrink(size, true);
    for (Table& table : tables_) {
        try {
            table.compact();
        } catch (const std::bad_alloc&) {  // the table stays as it is
        }
    }
}

template <class IsKept>
void TextNumbers::remove_unless(const IsKept& is_kept) {
    for (Table& table : tables_) {
        table.each([&](const Table::FlatSlot& slot) {
            const u64 placing = placing_hash(slot.key, 0);
            const i64 first = first_kept(slot.value, is_kept);
            if (first < 0) {
                table.erase_slot(&slot, placing);
            } else {
                table.find(slot.key, placing)->value = static_cast<u32>(first);
            }
        });
    }
}

template <class IsKept>
i64 TextNumbers::first_kept(u32 first, const IsKept& is_kept) {
    i64 result = -1;
    u32 last = 0;
    for (u32 number = first;;) {
        const auto at = next_.find(number);
        const bool is_last = at == next_.end();
        const u32 following = is_last ? 0 : at->second;
        if (!is_kept(number)) {
            if (!is_last) next_.erase(at);
        } else {
            if (result < 0) {
                result = number;
            } else {
                next_.find(last)->second = number;
            }
            last = number;
        }
        if (is_last) break;
        number = following;
    }
    if (result >= 0) next_.erase(last);
    return result;
}

i64 TextNumbers::number_of(RowText text, u32 first) const {
    while (!is_equal(first, text)) {
        const auto at = next_.find(first);
        if (at == next_.end()) return -1;
        first = at->second;
    }
    return first;
}

i64 TextNumbers::number_or_add(RowText text, u64 hash) {
    const u64 placing = placing_hash(hash, 0), count = ends_.size();
    Table& table = tables_[shard_of(placing)];
    const auto* const slot = table.find(hash, placing);
    const i64 number = slot == nullptr ? -1 : number_of(text, slot->value);
    if (number >= 0) return number;
    if (count == max_texts) throw std::length_error("a map of texts has had 2^32 - 1 keys");
    ends_.reserve(1);
    bytes_.reserve(text.size);
    const u32 added = static_cast<u32>(count);
    if (slot == nullptr) {
        table.insert_absent(hash, placing)->value = added;
    } else {
        u32 last = slot->value;
        for (auto at = next_.find(last); at != next_.end(); at = next_.find(last)) last = at->second;
        next_[last] = added;
    }
    const u64 end = bytes_.size() + text.size;
    ends_.append(&end, 1);
    bytes_.append(text.begin, text.size);
    return added;
}

}  // namespace headrace
