#include "columns/load/tile_faults.hpp"

#include <algorithm>

#include "columns/faults/order.hpp"
#include "columns/faults/rejected_records.hpp"

namespace headrace {
namespace {

bool has_bit(const std::vector<u64>& bits, usize i) { return bits[i / 64] >> (i % 64) & 1; }

// Return the first `count` faults with positions in the source.
FaultBlock block_of(const std::vector<TileFault>& faults, usize count, const Tile& tile, u64 record_base) {
    FaultBlock block;
    block.tile = tile.number;
    block.faults.reserve(count);
    usize bytes = 0;
    for (usize i = 0; i < count; ++i) {
        const bool is_new = i == 0 || faults[i].record != faults[i - 1].record;
        bytes += is_new ? faults[i].record_end - faults[i].record_begin : 0;
    }
    block.texts.reserve(bytes);
    for (usize i = 0; i < count; ++i) add_fault(block, tile, faults[i], record_base);
    return block;
}

}  // namespace

void TileFaults::begin() {
    faults_.clear();
    rejected_.clear();
    removed_.clear();
    removed_rows_ = 0;
    removed_short_rows_ = 0;
    has_late_ = false;
}

void TileFaults::add(usize row, usize column, Fault kind, u32 at) {
    // Built in place: a copy would wait for the stores of the single members.
    TileFault& fault = faults_.emplace_back();
    fault.record = finder_.record_of(row);
    const auto [record_begin, record_end] = finder_.record(row);
    fault.record_begin = record_begin;
    fault.record_end = record_end;
    fault.at = at;
    fault.column = static_cast<i64>(column);
    fault.kind = kind;
    fault.outcome = outcome_of_fields_;
    const auto [begin, end] = finder_.field(row, column);
    fault.field_begin = begin;
    fault.field_end = end;
}

void TileFaults::reject(u32 record) {
    if (rejected_.empty()) rejected_.assign((finder_.counts().records + 63) / 64, 0);
    rejected_[record / 64] |= u64{1} << (record % 64);
}

void TileFaults::find_rejected(const std::vector<u64>* known) {
    for (const TileFault& fault : finder_.faults()) {
        if (fault.outcome == Outcome::reject) reject(fault.record);
    }
    const bool rejects_fields = outcome_of_fields_ == Outcome::reject;
    for (const TileFault& fault : faults_) {
        if (rejects_fields) reject(fault.record);
    }
    if (known == nullptr) {
        has_late_ = !rejected_.empty();
    } else {
        if (rejected_.empty()) rejected_.assign(known->size(), 0);
        for (usize word = 0; word < rejected_.size(); ++word) {
            has_late_ |= (rejected_[word] & ~(*known)[word]) != 0;
            rejected_[word] |= (*known)[word];
        }
    }
    if (rejects_fields && !rejected_.empty()) find_removed();
}

void TileFaults::find_removed() {
    if (finder_.rows_are_records()) {
        removed_ = rejected_;
        removed_rows_ = count_bits(removed_);
        if (removed_rows_ == 0) removed_.clear();
        return;
    }
    const usize rows = finder_.counts().rows;
    removed_.assign((rows + 63) / 64, 0);
    for (usize row = 0; row < rows; ++row) {
        if (!has_bit(rejected_, finder_.record_of(row))) continue;
        removed_[row / 64] |= u64{1} << (row % 64);
        ++removed_rows_;
        removed_short_rows_ += finder_.is_short(row) ? 1 : 0;
    }
    if (removed_rows_ == 0) removed_.clear();
}

bool TileFaults::give_to(FaultCollector& collector, const Tile& tile, u64 record_base, bool with_records) {
    if (with_records) faults_.insert(faults_.end(), finder_.faults().begin(), finder_.faults().end());
    if (faults_.empty()) return false;
    order_faults(faults_);
    const auto raises = [](const TileFault& fault) { return fault.outcome == Outcome::raise; };
    const auto raised = std::find_if(faults_.begin(), faults_.end(), raises);
    const bool has_raised = raised != faults_.end();
    const u64 count = collector.count(tile.number, faults_.size());
    if (has_raised) {
        collector.add_raised(block_of({*raised}, 1, tile, record_base));
    } else if (count != 0) {
        collector.add(block_of(faults_, count, tile, record_base));
    }
    faults_.clear();
    return has_raised;
}

}  // namespace headrace
