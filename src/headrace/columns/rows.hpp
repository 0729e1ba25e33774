// From a tile's records to rows that all have the same number of fields, and the faults of those that have not.
#pragma once

#include <optional>
#include <vector>

#include "columns/load.hpp"
#include "structure/scan.hpp"

namespace headrace {

// A fault inside one tile: positions count from the tile's first byte, records from the tile's first data record.
struct TileFault {
    u32 record;
    u32 record_begin, record_end;
    u32 at;
    i64 column;
    Fault kind;
    u32 row;  // of a row that stands so far
    u32 field_begin, field_end;
};

class TileRowsFinder {
public:
    TileRowsFinder(const Dialect& dialect, usize columns, std::optional<std::uint64_t> header)
        : dialect_(dialect), columns_(columns), header_(header) {}

    // The tile's rows; valid until the next call. `strays` are the tile's malformed quotes.
    const TileRows& find(const Tile& tile, const std::vector<u32>& strays);

    const LoadCounts& counts() const { return counts_; }
    const std::vector<TileFault>& faults() const { return faults_; }
    // The data record that a row is.
    u32 record_of(usize row) const { return records_of_rows_.empty() ? static_cast<u32>(row) : records_of_rows_[row]; }
    u32 record_begin(usize row) const { return rows_.starts[row]; }
    // Behind the record's last field; its line end is not included.
    u32 record_end(usize row) const {
        return rows_.ends[row * columns_ + columns_ - 1] - (dialect_.line_end_length - 1);
    }

private:
    bool all_alike(const Tile& tile, usize header_records) const;
    void take_one_by_one(const Tile& tile, const std::vector<u32>& strays);
    std::optional<TileFault> fault_of(const Tile& tile, usize record, usize first_end, const u32* stray) const;

    const Dialect& dialect_;
    const usize columns_;
    const std::optional<std::uint64_t> header_;
    TileRows rows_{};
    LoadCounts counts_;
    std::vector<TileFault> faults_;
    std::vector<u32> starts_, ends_, records_of_rows_;
};

}  // namespace headrace
