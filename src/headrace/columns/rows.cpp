#include "columns/rows.hpp"

namespace headrace {

// Every record has as many fields as there are columns just when the last end of the k-th is the k * columns-th: no
// field needs to be looked at.
bool TileRowsFinder::all_alike(const Tile& tile, usize header_records) const {
    const usize first_end = header_records == 0 ? 0 : tile.last[0] + 1;
    bool alike = true;
    for (usize i = header_records; i < tile.records; ++i) {
        alike &= tile.last[i] == first_end + (i - header_records + 1) * columns_ - 1;
    }
    return alike;
}

const TileRows& TileRowsFinder::find(const Tile& tile, const std::vector<u32>& strays) {
    counts_ = LoadCounts{};
    counts_.blank = tile.blank_lines;
    faults_.clear();
    records_of_rows_.clear();
    rows_ = TileRows{};
    rows_.text = tile.text;
    rows_.columns = columns_;
    rows_.dialect = &dialect_;
    rows_.may_need_unquoting = tile.has_quotes || dialect_.escape >= 0 || dialect_.skip_initial_space;
    rows_.has_high_bytes = tile.has_high_bytes;

    const usize header_records = tile.records > 0 && header_ == tile.begin + tile.starts[0] ? 1 : 0;
    if (!tile.unclosed_quote && strays.empty() && all_alike(tile, header_records)) {
        rows_.starts = tile.starts + header_records;
        rows_.ends = tile.ends + (header_records == 0 ? 0 : tile.last[0] + 1);
        rows_.rows = tile.records - header_records;
        counts_.header = header_records;
        counts_.records = counts_.rows = rows_.rows;
    } else {
        take_one_by_one(tile, strays);
    }
    return rows_;
}

std::optional<TileFault> TileRowsFinder::fault_of(const Tile& tile, usize record, usize first_end,
                                                  const u32* stray) const {
    const usize last = tile.last[record] & RECORD_INDEX;
    const u32 end = tile.ends[last] - (dialect_.line_end_length - 1);
    TileFault fault{};
    fault.record = static_cast<u32>(counts_.records);
    fault.record_begin = tile.starts[record];
    fault.record_end = end;
    fault.column = NO_COLUMN;
    const usize fields = last - first_end + 1;
    if (tile.unclosed_quote && record + 1 == tile.records) {
        fault.kind = Fault::unclosed_quote;
        const u32 field = fields == 1 ? fault.record_begin : tile.ends[last - 1] + 1;
        fault.at = field;
    } else if (stray != nullptr) {
        fault.kind = Fault::quote;
        fault.at = *stray;
    } else if (fields < columns_) {
        fault.kind = Fault::too_few_fields;
        fault.at = end;
    } else if (fields > columns_) {
        fault.kind = Fault::too_many_fields;
        fault.at = tile.ends[first_end + columns_ - 1] + 1;
    } else {
        return std::nullopt;
    }
    return fault;
}

void TileRowsFinder::take_one_by_one(const Tile& tile, const std::vector<u32>& strays) {
    starts_.clear();
    ends_.clear();
    usize first_end = 0, next_stray = 0;
    for (usize record = 0; record < tile.records; ++record) {
        const u32 marks = tile.last[record] & ~RECORD_INDEX;
        const usize last = tile.last[record] & RECORD_INDEX;
        const u32* stray = nullptr;
        for (; next_stray < strays.size() && strays[next_stray] <= tile.ends[last]; ++next_stray) {
            if (stray == nullptr) stray = &strays[next_stray];
        }
        if (marks & BLANK_RECORD) {
            ++counts_.blank;
        } else if (marks & COMMENT_RECORD) {
            ++counts_.comment;
        } else if (header_ == tile.begin + tile.starts[record]) {
            ++counts_.header;
        } else {
            if (const auto fault = fault_of(tile, record, first_end, stray)) {
                faults_.push_back(*fault);
            } else {
                starts_.push_back(tile.starts[record]);
                ends_.insert(ends_.end(), tile.ends + first_end, tile.ends + last + 1);
                records_of_rows_.push_back(static_cast<u32>(counts_.records));
            }
            ++counts_.records;
        }
        first_end = last + 1;
    }
    rows_.starts = starts_.data();
    rows_.ends = ends_.data();
    rows_.rows = counts_.rows = starts_.size();
}

}  // namespace headrace
