// From a tile's records to rows that all have the same number of fields, and the faults of those that have not.
#pragma once

#include <optional>
#include <vector>

#include "columns/buffers/load_result.hpp"
#include "columns/plan/load_plan.hpp"
#include "columns/records/row_spans.hpp"
#include "structure/cpu/scan.hpp"

namespace headrace {

// A fault inside one tile: positions count from the tile's first byte, records from the tile's first data record.
struct TileFault {
    u32 record;
    u32 record_begin, record_end;
    u32 at;
    i64 column;
    Fault kind;
    Outcome outcome;
    u32 row;            // of a row that stands so far
    bool in_short_row;  // as in FaultRow
    u32 field_begin, field_end;
};

// The same in the source; `record_base` records come before the tile. Its text is kept in `texts`.
FaultRow fault_row(const Tile& tile, const TileFault& fault, u64 record_base, FaultTexts& texts);

struct ByteRange {
    u32 begin, end;
};

class TileRowsFinder {
public:
    TileRowsFinder(const Dialect& dialect, const LoadPlan& plan)
        : dialect_(dialect),
          strict_(strict(dialect)),
          rules_(plan.rows),
          on_error_(plan.on_error),
          columns_(plan.columns.size()),
          data_begin_(plan.data_begin) {}

    // The tile's rows; valid until the next call. `strays` are the tile's malformed quotes.
    const TileRows& find(const Tile& tile, const std::vector<u32>& strays);

    const LoadCounts& counts() const { return counts_; }
    const std::vector<TileFault>& faults() const { return faults_; }
    // The data record that a row is.
    u32 record_of(usize row) const { return records_of_rows_.empty() ? static_cast<u32>(row) : records_of_rows_[row]; }
    // Its bytes, without the line end.
    ByteRange record(usize row) const;
    // Whether the row's record lacks fields of a whole one.
    bool is_short(usize row) const { return rows_.widths != nullptr && rows_.widths[row] < rules_.base_columns; }
    // The bytes of a row's field.
    ByteRange field(usize row, usize column) const;

private:
    // The ends of one record's fields: `count` of them from `ends` on.
    struct Fields {
        const u32* ends;
        usize count;
        ByteRange record;
    };

    static Dialect strict(Dialect dialect) {
        dialect.lenient = false;
        return dialect;
    }
    usize leading_records(const Tile& tile) const;
    bool all_have(const Tile& tile, usize first, usize width) const;
    void take_all(const Tile& tile, usize first, usize width);
    void take_one_by_one(const Tile& tile, const std::vector<u32>& strays);
    void take(const Fields& fields, bool unclosed, const u32* stray);
    std::optional<TileFault> fault_of(const Fields& fields, bool unclosed, const u32* stray) const;
    void add_row(const Fields& fields);
    usize most_fields() const { return columns_ - (rules_.collect_long ? 1 : 0); }

    const Dialect& dialect_;
    const Dialect strict_;  // of fields in tiles whose quotes are all well-formed
    const RowRules& rules_;
    const OnError on_error_;
    const usize columns_;
    const std::uint64_t data_begin_;
    usize data_at_ = 0;  // in the tile
    TileRows rows_{};
    LoadCounts counts_;
    std::vector<TileFault> faults_;
    // Of rows taken one by one: each record, and each of its fields.
    std::vector<u32> starts_, record_ends_, records_of_rows_, widths_;
    std::vector<u32> field_starts_, field_ends_;
    usize rows_taken_ = 0;
};

}  // namespace headrace
