// Relates the rows of a load to its records: a row's record is the row's number plus the number of rejected records
// before it. Costs 1 bit for each record of a tile that has a rejected one.
#pragma once

#include <bit>
#include <vector>

#include "columns/buffers/fault_block.hpp"

namespace headrace {

// Call visit(i) for each set bit, ascending.
template <class Visit>
void for_each_bit(const std::vector<u64>& bits, Visit visit) {
    for (usize word = 0; word < bits.size(); ++word) {
        for (u64 left = bits[word]; left != 0; left &= left - 1) {
            visit(64 * word + static_cast<usize>(std::countr_zero(left)));
        }
    }
}

inline u64 count_bits(const std::vector<u64>& bits) {
    u64 count = 0;
    for (const u64 word : bits) count += static_cast<u64>(std::popcount(word));
    return count;
}

inline u64 count_rejected(const std::vector<RejectedRecords>& tiles) {
    u64 count = 0;
    for (const RejectedRecords& tile : tiles) count += count_bits(tile.bits);
    return count;
}

// Return the number, from 0, of the record that is a row.
inline u64 record_of_row(const std::vector<RejectedRecords>& tiles, u64 row) {
    u64 record = row;
    for (const RejectedRecords& tile : tiles) {
        if (tile.first > record) break;
        for_each_bit(tile.bits, [&](usize i) { record += tile.first + i <= record ? 1 : 0; });
    }
    return record;
}

// Call visit(from, count) for each run of rows between removed ones, of `rows` in all.
template <class Visit>
void for_each_stored_run(const std::vector<u64>& removed, usize rows, Visit visit) {
    usize from = 0;
    const auto end_run = [&](usize end) {
        if (end > from) visit(from, end - from);
        from = end + 1;
    };
    for_each_bit(removed, end_run);
    end_run(rows);
}

// Remove from the first `count` of `bits` those that `removed` marks. The bits after the last one become 0.
inline void remove_bits(std::vector<u64>& bits, const std::vector<u64>& removed, usize count) {
    usize to = 0;
    for (usize word = 0; word * 64 < count; ++word) {
        u64 left = bits[word];
        usize size = count - 64 * word < 64 ? count - 64 * word : 64;
        for (u64 marked = removed[word]; marked != 0; --size) {
            // The highest removed bit first, so that the positions of the others remain valid.
            const int at = 63 - std::countl_zero(marked);
            marked &= ~(u64{1} << at);
            const u64 low = (u64{1} << at) - 1;
            left = (left & low) | (left >> 1 & ~low);
        }
        if (size < 64) left &= (u64{1} << size) - 1;
        bits[word] = 0;
        bits[to / 64] |= left << (to % 64);
        if (to % 64 != 0 && to / 64 < word) bits[to / 64 + 1] = left >> (64 - to % 64);
        to += size;
    }
}

}  // namespace headrace
