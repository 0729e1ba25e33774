// A table has the first row of each hash. Each other row is compared with the first one of its hash. If they differ,
// the row follows in a list of rows of the hash. With hashes of 64 bits by a secret, this nearly never happens.
//
// Each thread fills a table from rows that lie together, and the tables are merged. So texts are read in their order.
// Time per row: two searches in a table of the distinct rows (one on one thread), and a comparison.
#include "index/hash_map/cpu/row_groups.hpp"

#include <mutex>
#include <unordered_map>

#include "index/hash_map/cpu/flat_table.hpp"
#include "index/hash_map/cpu/sharded_rows.hpp"

namespace headrace {
namespace {

constexpr i64 no_row = -1;
constexpr u64 rows_at_once = 1 << 14;  // after which the need for prefetches is reconsidered

bool are_rows_equal(const RowSet& rows, u64 row, const RowSet& other, u64 other_row, bool are_nulls_equal) {
    for (u64 i = 0; i < rows.columns.size(); ++i) {
        const RowVerdict verdict = compare_row(rows.columns[i], row, other.columns[i], other_row, are_nulls_equal);
        if (verdict != RowVerdict::equal) return false;
    }
    return true;
}

// From hashes to rows.
class HashTables {
public:
    explicit HashTables(const std::shared_ptr<Budget>& budget) {
        for (u32 shard = 0; shard < shard_count; ++shard) tables_.emplace_back(budget, 0, shard);
    }

    // Calls visit(table, key, row) for rows from `begin` on, in order.
    template <class Visit>
    [[gnu::always_inline]] void each_row(const RowSet& rows, u64 begin, u64 count, const Visit& visit) {
        for (u64 at = begin; at < begin + count; at += rows_at_once) {
            u64 bytes = 0;
            for (const Table& table : tables_) bytes += table.bytes();
            Table* const tables = tables_.data();
            visit_rows(
                KeyRows<u64>{rows.hashes, at, std::min(rows_at_once, begin + count - at), 0},
                prefetch_for(bytes, Prefetch::search), [=](u64 hash) -> auto& { return tables[shard_of(hash)]; },
                [&](u64 hash, u64 row) { visit(tables[shard_of(hash)], HashedKey<u64>{rows.hashes[row], hash}, row); });
        }
    }

    // Adds the hashes of a shard of other tables, whose rows follow those of this one.
    void add_shard(const HashTables& other, u64 shard) {
        Table& to = tables_[shard];
        other.tables_[shard].each([&](const auto& slot) {
            const auto [place, is_new] = to.insert(slot.key, to.hash_of(slot.key));
            if (is_new) place->value = slot.value;
        });
    }

private:
    using Table = FlatTable<u64, u32>;

    std::vector<Table> tables_;
};

// The distinct rows of a table.
class RowTable {
public:
    // Adds all rows, and writes for each the first one that is equal to it.
    RowTable(const RowSet& rows, i64* firsts, u64 limit, unsigned threads)
        : rows_(rows), firsts_(firsts), threads_(threads), budget_(std::make_shared<Budget>(limit)) {
        const u64 chunks = std::clamp<u64>(rows.count / parallel_from, 1, threads);
        const u64 length = (rows.count + chunks - 1) / chunks;
        std::vector<HashTables> others;
        while (others.size() + 1 < chunks) others.emplace_back(budget_);
        run_parallel(static_cast<unsigned>(chunks), [&](unsigned chunk) {
            const u64 begin = std::min(chunk * length, rows.count), end = std::min(begin + length, rows.count);
            fill(chunk == 0 ? first_of_hash_ : others[chunk - 1], begin, end - begin);
        });
        for_each_piece(chunks == 1 ? 0 : shard_count, threads, [&](u64 shard) {
            for (const HashTables& other : others) first_of_hash_.add_shard(other, shard);
        });
        compare_rows(length);
    }

    // Writes the numbers of the rows that are equal to rows of another table.
    void match(const RowSet& rows, i64* found) {
        const Pieces pieces(rows.count, 64);
        for_each_piece(pieces.number(), threads_for(rows.count, threads_), [&](u64 piece) {
            first_of_hash_.each_row(rows, pieces.begin(piece), pieces.size(piece),
                                    [&](const auto& table, HashedKey<u64> key, u64 row) {
                                        const auto* const slot = table.find(key.key, key.hash);
                                        found[row] = slot == nullptr ? no_row : equal_row(slot->value, rows, row);
                                    });
        });
    }

private:
    void fill(HashTables& tables, u64 begin, u64 count) const {
        tables.each_row(rows_, begin, count, [to = firsts_](auto& table, HashedKey<u64> key, u64 row) {
            const auto [slot, is_new] = table.insert(key.key, key.hash);
            if (is_new) slot->value = static_cast<u32>(row);
            to[row] = slot->value;
        });
    }

    // Compares rows with the first ones of their hashes. Those of the first `known` rows are written already.
    void compare_rows(u64 known) {
        std::vector<u64> others;  // rows that differ from the first one of their hash
        std::mutex mutex;
        const Pieces pieces(rows_.count, 64);
        for_each_piece(pieces.number(), threads_for(rows_.count, threads_), [&](u64 piece) {
            const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece), next = std::max(begin, known);
            first_of_hash_.each_row(rows_, next, std::max(next, end) - next,
                                    [to = firsts_](const auto& table, HashedKey<u64> key, u64 row) {
                                        to[row] = table.find(key.key, key.hash)->value;
                                    });
            for (u64 row = begin; row < end && !rows_.are_exact; ++row) {
                const u64 first = static_cast<u64>(firsts_[row]);
                if (first == row || are_rows_equal(rows_, row, rows_, first, true)) continue;
                const std::lock_guard lock(mutex);
                others.push_back(row);
            }
        });
        std::sort(others.begin(), others.end());
        for (const u64 row : others)
            firsts_[row] = found_or_added(static_cast<u32>(firsts_[row]), static_cast<u32>(row));
    }

    // Returns the row that is equal to `row` after `first` in the list of their hash, to which it is added if none is.
    u32 found_or_added(u32 first, u32 row) {
        for (auto at = next_.find(first); at != next_.end(); at = next_.find(first)) {
            first = at->second;
            if (are_rows_equal(rows_, row, rows_, first, true)) return first;
        }
        return next_[first] = row;
    }

    // Returns the row of this table, from `first` on in the list of a hash, that is equal to one of another table.
    i64 equal_row(u32 first, const RowSet& other, u64 row) const {
        if (rows_.are_exact && other.are_exact) return first;
        while (!are_rows_equal(other, row, rows_, first, false)) {
            const auto at = next_.find(first);
            if (at == next_.end()) return no_row;
            first = at->second;
        }
        return first;
    }

    const RowSet& rows_;
    i64* firsts_;
    unsigned threads_;
    std::shared_ptr<Budget> budget_;
    HashTables first_of_hash_{budget_};
    std::unordered_map<u32, u32> next_;  // the next row in the list of a hash
};

}  // namespace

void find_first_rows(const RowSet& rows, i64* firsts, u64 limit, unsigned threads) {
    RowTable(rows, firsts, limit, threads);
}

void find_matching_rows(const RowSet& rows, const RowSet& other, i64* found, u64 limit, unsigned threads) {
    const usize bytes = other.count * sizeof(i64);
    Region firsts(bytes, nullptr);
    firsts.ensure(bytes);
    RowTable(other, firsts.as<i64>(), limit, threads).match(rows, found);
}

}  // namespace headrace
