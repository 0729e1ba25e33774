#include "index/hash_map/cpu/text_numbers.hpp"

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
    for (u64 row = 0; row < texts.count; ++row) {
        if (numbers[row] < 0) numbers[row] = number_or_add(text_at(texts, row), texts.hashes[row]);
    }
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
