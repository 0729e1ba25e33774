// Finds the rows of a tile, all with the same number of fields, and the faults of records with other numbers.
#pragma once

#include <optional>
#include <vector>

#include "columns/buffers/load_result.hpp"
#include "columns/plan/load_plan.hpp"
#include "columns/records/row_spans.hpp"
#include "structure/cpu/record_filter.hpp"
#include "structure/cpu/scan.hpp"

namespace headrace {

// A fault in a tile. Positions count from the tile's first byte, records from its first data record.
struct TileFault {
    u32 record;
    u32 record_begin, record_end;
    u32 at;
    i64 column;
    Fault kind;
    Outcome outcome;
    u32 field_begin, field_end;
};

// Append a fault of a tile with positions in the source. `record_base`: number of records before the tile.
void add_fault(FaultBlock& block, const Tile& tile, const TileFault& fault, u64 record_base);

struct ByteRange {
    u32 begin, end;
};

class TileRowsFinder {
public:
    // `filter`: chooses the data records that become rows or faults; null for all.
    TileRowsFinder(const Dialect& dialect, const LoadPlan& plan, const RecordFilter* filter = nullptr)
        : dialect_(dialect),
          strict_(strict(dialect)),
          rules_(plan.rows),
          on_error_(plan.on_error),
          columns_(plan.columns.size()),
          data_begin_(plan.data_begin),
          filter_(filter) {}

    // Return the tile's rows, valid until the next call. `strays`: positions of the tile's malformed quotes.
    const TileRows& find(const Tile& tile, const std::vector<u32>& strays);
    // Return the tile's rows of chosen records only, without the faults of records. `chosen`: numbers of records,
    // ascending; `first`: number of the tile's first.
    const TileRows& choose(const std::vector<u64>& chosen, u64 first);

    const LoadCounts& counts() const { return counts_; }
    const std::vector<TileFault>& faults() const { return faults_; }
    // Return bits of the data records that the filter left out; empty if there are none.
    const std::vector<u64>& left_out() const { return left_out_; }
    // Return the index of a row's data record in the tile.
    u32 record_of(usize row) const { return has_records_ ? records_of_rows_[row] : static_cast<u32>(row); }
    // Return whether row i is data record i and no record lacks fields.
    bool rows_are_records() const { return !has_records_ && rows_.widths == nullptr; }
    // Return the bytes of a row's record, without the line end.
    ByteRange record(usize row) const;
    // Return whether the row's record lacks fields.
    bool is_short(usize row) const { return rows_.widths != nullptr && rows_.widths[row] < rules_.base_columns; }
    ByteRange field(usize row, usize column) const;

private:
    // The ends of one record's fields: `count` of them from `ends` on.
    struct Fields {
        const u32* ends;
        usize count;
        ByteRange record;
    };

    static Dialect strict(Dialect dialect) {
        dialect.expect_wellformed_quotes();
        return dialect;
    }
    Tile data_records(const Tile& tile);
    void choose_records(const Tile& tile);
    std::vector<u32> chosen_strays(const Tile& tile, const std::vector<u32>& strays) const;
    void number_records();
    usize leading_records(const Tile& tile) const;
    bool all_have(const Tile& tile, usize first, usize width) const;
    void take_all(const Tile& tile, usize first, usize width);
    void add_repaired(const Tile& tile, usize first, const std::vector<u32>& strays);
    TileFault fault_at(usize number, const ByteRange& record) const;
    void take_one_by_one(const Tile& tile, const std::vector<u32>& strays);
    usize whole_records(const Tile& tile, usize record, usize first_end, u32 stop) const;
    void add_rows(const Tile& tile, usize record, usize count, usize first_end);
    void take(const Fields& fields, bool unclosed, const u32* stray);
    std::optional<TileFault> fault_of(const Fields& fields, bool unclosed, const u32* stray) const;
    void make_room(usize fields);
    void add_row(const Fields& fields);
    void move_row(usize from, usize to);
    usize max_fields() const { return columns_ - (rules_.collect_long ? 1 : 0); }

    const Dialect& dialect_;
    const Dialect strict_;  // for tiles whose quotes are all well-formed
    const RowRules& rules_;
    const OnError on_error_;
    const usize columns_;
    const std::uint64_t data_begin_;
    const RecordFilter* const filter_;
    usize data_at_ = 0;  // in the tile
    TileRows rows_{};
    LoadCounts counts_;
    std::vector<TileFault> faults_;
    // The tile's index without marked records.
    std::vector<u32> data_starts_, data_last_, data_ends_;
    std::vector<u8> stays_;      // a flag for each record
    std::vector<u32> numbers_;   // of the data records that stay
    std::vector<u64> left_out_;  // bits
    // Rows that are indexed one by one or chosen: their records, and the fields of these. The first `rows_taken_` items
    // count.
    std::vector<u32> starts_, record_ends_, records_of_rows_, widths_;
    std::vector<u32> field_starts_, field_ends_;
    usize rows_taken_ = 0;
    bool has_records_ = false;  // `records_of_rows_` has the rows' records
};

}  // namespace headrace
