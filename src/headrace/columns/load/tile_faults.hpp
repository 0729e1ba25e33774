// Collects the faults of a tile and finds the records that they reject.
#pragma once

#include <vector>

#include "columns/faults/fault_collector.hpp"
#include "columns/records/tile_rows.hpp"

namespace headrace {

class TileFaults {
public:
    TileFaults(const TileRowsFinder& finder, OnError on_error)
        : finder_(finder), outcome_of_fields_(field_outcome(on_error)) {}

    // Start the next tile, whose rows the finder has found.
    void begin();

    // Add the fault of a field. `at`: the offending byte of the tile.
    void add(usize row, usize column, Fault kind, u32 at);

    // Find the rejected records and, if fields reject any, their rows. `known`: bits of the records that earlier passes
    // rejected, or null.
    void find_rejected(const std::vector<u64>* known);

    // Pass the faults to the collector; afterwards there are none. `with_records`: with those of whole records.
    // Return whether a fault raises.
    bool give_to(FaultCollector& collector, const Tile& tile, u64 record_base, bool with_records);

    const std::vector<u64>& rejected() const { return rejected_; }  // bit i: data record i; empty if there is none
    const std::vector<u64>& removed() const { return removed_; }    // bit i: row i; empty if there is none
    usize removed_rows() const { return removed_rows_; }
    u64 removed_short_rows() const { return removed_short_rows_; }
    // Return whether a record was rejected that earlier passes did not reject.
    bool has_late() const { return has_late_; }

private:
    void reject(u32 record);
    void find_removed();

    const TileRowsFinder& finder_;
    const Outcome outcome_of_fields_;
    std::vector<TileFault> faults_;  // of fields
    std::vector<u64> rejected_, removed_;
    usize removed_rows_ = 0;
    u64 removed_short_rows_ = 0;
    bool has_late_ = false;
};

}  // namespace headrace
