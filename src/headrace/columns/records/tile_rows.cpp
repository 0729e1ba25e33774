#include "columns/records/tile_rows.hpp"

#include <algorithm>

namespace headrace {

void add_fault(FaultBlock& block, const Tile& tile, const TileFault& fault, u64 record_base) {
    const char* const begin = reinterpret_cast<const char*>(tile.text) + fault.record_begin;
    FaultRow& row = block.add(record_base + fault.record + 1, {begin, fault.record_end - fault.record_begin});
    row.record_begin = tile.origin(fault.record_begin);
    row.at = tile.origin(fault.at);
    row.column = static_cast<i32>(fault.column);
    row.kind = fault.kind;
    row.outcome = fault.outcome;
    if (fault.column != NO_COLUMN) {
        row.field_begin = fault.field_begin - fault.record_begin;
        row.field_size = fault.field_end - fault.field_begin;
    }
    if (fault.kind == Fault::unclosed_quote) set_unclosed_field(row, fault.at - fault.record_begin);
}

// Return the number of records before the data, such as a header.
usize TileRowsFinder::leading_records(const Tile& tile) const {
    usize count = 0;
    while (count < tile.records && tile.starts[count] < data_at_) ++count;
    return count;
}

// Return whether every record from `first` on has `width` fields: the last end of the k-th record is then end k * width
// - 1, so single fields need not be checked.
bool TileRowsFinder::all_have(const Tile& tile, usize first, usize width) const {
    const usize first_end = first == 0 ? 0 : tile.last[first - 1] + 1;
    bool alike = true;
    for (usize i = first; i < tile.records; ++i) {
        alike &= tile.last[i] == first_end + (i - first + 1) * width - 1;
    }
    return alike;
}

// Take all records as rows, by the index as it is. Columns from `width` on have no field in the tile: see
// rows_.columns.
void TileRowsFinder::take_all(const Tile& tile, usize first, usize width) {
    rows_.columns = width;
    rows_.starts = tile.starts + first;
    rows_.ends = tile.ends + (first == 0 ? 0 : tile.last[first - 1] + 1);
    rows_.rows = tile.records - first;
    counts_.leading = first;
    counts_.records = counts_.rows = rows_.rows;
}

// Add the first malformed quote of each record from `first` on, all of which are rows.
void TileRowsFinder::add_repaired(const Tile& tile, usize first, const std::vector<u32>& strays) {
    usize next = 0;
    for (usize record = 0; record < tile.records && next < strays.size(); ++record) {
        const u32 last = tile.ends[tile.last[record]];
        if (strays[next] > last) continue;
        if (record >= first) {
            TileFault repaired = fault_at(record - first, {tile.starts[record], last - (dialect_.line_end_length - 1)});
            repaired.kind = Fault::quote;
            repaired.outcome = Outcome::keep;
            repaired.at = strays[next];
            faults_.push_back(repaired);
        }
        while (next < strays.size() && strays[next] <= last) ++next;
    }
}

// Return a fault of a whole record. `number`: index among the tile's data records.
TileFault TileRowsFinder::fault_at(usize number, const ByteRange& record) const {
    TileFault fault{};
    fault.record = static_cast<u32>(number);
    fault.record_begin = record.begin;
    fault.record_end = record.end;
    fault.column = NO_COLUMN;
    return fault;
}

// Flag the records that the filter chooses, and those before the data.
void TileRowsFinder::choose_records(const Tile& tile) {
    left_out_.clear();
    numbers_.clear();
    stays_.assign(tile.records, 0);
    filter_->choose({tile.text, tile.starts, tile.last, tile.ends, tile.records, dialect_.line_end_length}, stays_);
    std::fill_n(stays_.begin(), leading_records(tile), u8{1});
}

// Return the tile without its comment and blank records, which are counted, and without records that the filter leaves
// out. Example, three ends a data record:
// | last   2, 3 | COMMENT_RECORD, 6        ends   a b c # d e f
// | copy   2, 5                            copy   a b c d e f
// Runs of data records are copied whole, so that rows of equal width stay a regular index. A marked record has no
// malformed quote.
Tile TileRowsFinder::data_records(const Tile& tile) {
    const auto is_marked = [](u32 last) { return last > RECORD_INDEX; };
    const bool has_marks = !dialect_.plain && std::any_of(tile.last, tile.last + tile.records, is_marked);
    if (filter_ != nullptr) choose_records(tile);
    if (tile.records == 0 || (!has_marks && filter_ == nullptr)) return tile;
    data_starts_.resize(std::max(data_starts_.size(), tile.records));
    data_last_.resize(std::max(data_last_.size(), tile.records));
    data_ends_.resize(std::max(data_ends_.size(), usize{tile.last[tile.records - 1] & RECORD_INDEX} + 1));
    usize count = 0, ends = 0, from = 0;  // `from`: the first end of the run that is not yet copied
    const auto copy_run = [&](usize to) {
        std::copy(tile.ends + from, tile.ends + to, data_ends_.data() + ends);
        ends += to - from;
    };
    usize record_end = 0;  // ends of the records before
    u32 number = 0;        // data records before
    left_out_.assign(filter_ != nullptr ? (tile.records + 63) / 64 : 0, 0);
    for (usize record = 0; record < tile.records; ++record) {
        const u32 last = tile.last[record];
        if (is_marked(last)) {
            ++(last & BLANK_RECORD ? counts_.blank : counts_.comment);
            copy_run(record_end);
            from = (last & RECORD_INDEX) + 1;
        } else if (filter_ != nullptr && stays_[record] == 0) {
            left_out_[number / 64] |= u64{1} << (number % 64);
            ++number;
            ++counts_.left_out;
            copy_run(record_end);
            from = last + 1;
        } else {
            if (tile.starts[record] >= data_at_) numbers_.push_back(number++);
            data_starts_[count] = tile.starts[record];
            data_last_[count++] = last - static_cast<u32>(from - ends);
        }
        record_end = (last & RECORD_INDEX) + 1;
    }
    copy_run(record_end);
    Tile data = tile;
    data.records = count;
    data.unclosed_quote &= filter_ == nullptr || stays_.back() != 0;
    data.starts = data_starts_.data();
    data.last = data_last_.data();
    data.ends = data_ends_.data();
    return data;
}

// Return the malformed quotes of a tile's records, if some of the records were left out.
std::vector<u32> TileRowsFinder::chosen_strays(const Tile& tile, const std::vector<u32>& strays) const {
    std::vector<u32> chosen;
    auto next = strays.begin();
    for (usize record = 0; record < tile.records && next != strays.end(); ++record) {
        next = std::lower_bound(next, strays.end(), tile.starts[record]);
        for (; next != strays.end() && *next <= tile.ends[tile.last[record]]; ++next) chosen.push_back(*next);
    }
    return chosen;
}

// Give rows, faults and counts the numbers that records have with those that were left out.
void TileRowsFinder::number_records() {
    for (TileFault& fault : faults_) fault.record = numbers_[fault.record];
    if (!has_records_) {
        records_of_rows_.assign(numbers_.begin(), numbers_.end());
    } else {
        for (usize row = 0; row < rows_.rows; ++row) records_of_rows_[row] = numbers_[records_of_rows_[row]];
    }
    has_records_ = true;
    counts_.records += counts_.left_out;
}

const TileRows& TileRowsFinder::find(const Tile& whole, const std::vector<u32>& all_strays) {
    counts_ = LoadCounts{};
    counts_.blank = whole.blank_lines;
    data_at_ = whole.window->place_of(data_begin_);
    const Tile tile = data_records(whole);
    const std::vector<u32> chosen = counts_.left_out == 0 ? std::vector<u32>{} : chosen_strays(tile, all_strays);
    const std::vector<u32>& strays = counts_.left_out == 0 ? all_strays : chosen;
    faults_.clear();
    has_records_ = false;
    rows_ = TileRows{};
    rows_.text = tile.text;
    rows_.dialect = strays.empty() ? &strict_ : &dialect_;
    rows_.may_need_unquoting = tile.has_quotes || tile.has_escapes || dialect_.trims_fields();
    rows_.has_high_bytes = tile.has_high_bytes;

    const usize first = leading_records(tile);
    // Records with lenient quotes stay as they are.
    const bool sound = !tile.unclosed_quote && (strays.empty() || dialect_.keeps_strays());
    if (sound && all_have(tile, first, rules_.base_columns)) {
        take_all(tile, first, rules_.base_columns);
        add_repaired(tile, first, strays);
    } else if (sound && max_fields() != rules_.base_columns && all_have(tile, first, max_fields())) {
        take_all(tile, first, max_fields());
        add_repaired(tile, first, strays);
    } else {
        take_one_by_one(tile, strays);
    }
    if (counts_.left_out != 0) number_records();
    return rows_;
}

std::optional<TileFault> TileRowsFinder::fault_of(const Fields& fields, bool unclosed, const u32* stray) const {
    TileFault fault = fault_at(counts_.records, fields.record);
    if (unclosed) {
        fault.kind = Fault::unclosed_quote;
        fault.at = fields.count == 1 ? fault.record_begin : fields.ends[fields.count - 2] + 1;
        while (rows_.text[fault.at] != dialect_.quote) ++fault.at;  // after skipped spaces
    } else if (stray != nullptr) {
        fault.kind = Fault::quote;
        fault.at = *stray;
    } else if (fields.count < rules_.base_columns && !rules_.fill_short) {
        fault.kind = Fault::too_few_fields;
        fault.at = fault.record_end;
    } else if (fields.count > max_fields() && !rules_.collect_long) {
        fault.kind = Fault::too_many_fields;
        fault.at = fields.ends[max_fields() - 1] + 1;
    } else {
        return std::nullopt;
    }
    fault.outcome = outcome_of(fault.kind, rules_, on_error_, dialect_.keeps_strays());
    return fault;
}

void TileRowsFinder::take(const Fields& fields, bool unclosed, const u32* stray) {
    const bool fits = fields.count >= rules_.base_columns && fields.count <= max_fields();
    if (fits && !unclosed && stray == nullptr) [[likely]] {
        add_row(fields);
        ++counts_.records;
        return;
    }
    if (stray != nullptr && dialect_.keeps_strays()) {
        TileFault repaired = *fault_of(fields, unclosed, stray);
        repaired.outcome = Outcome::keep;
        faults_.push_back(repaired);
        stray = nullptr;
    }
    const std::optional<TileFault> fault = fault_of(fields, unclosed, stray);
    if (fault) faults_.push_back(*fault);
    if (!fault || fault->outcome == Outcome::keep) {
        if (fields.count < rules_.base_columns) ++counts_.filled;
        add_row(fields);
    }
    ++counts_.records;
}

// Return the number of data records from `record` on that have one field for each column, and end before `stop`.
usize TileRowsFinder::whole_records(const Tile& tile, usize record, usize first_end, u32 stop) const {
    if (rules_.collect_long || tile.starts[record] < data_at_) return 0;
    const usize end = tile.records - (tile.unclosed_quote ? 1 : 0);
    usize count = 0, last = first_end + columns_ - 1;
    while (record + count < end && tile.last[record + count] == last && tile.ends[last] < stop) {
        ++count;
        last += columns_;
    }
    return count;
}

// Add the rows of whole records. Their ends follow each other, as those of the rows do.
void TileRowsFinder::add_rows(const Tile& tile, usize record, usize count, usize first_end) {
    const usize columns = columns_, base = rows_taken_ * columns;
    make_room(base + count * columns);
    u32* const starts = field_starts_.data() + base;
    u32* const ends = field_ends_.data() + base;
    const u32* const own = tile.ends + first_end;
    const u32 separator_back = dialect_.separator_length - 1, line_end_back = dialect_.line_end_length - 1;
    for (usize i = 0; i < count * columns; ++i) ends[i] = own[i] - separator_back;
    for (usize i = 1; i < count * columns; ++i) starts[i] = own[i - 1] + 1;
    for (usize i = 0; i < count; ++i) {
        const usize first = i * columns, last = first + columns - 1, row = rows_taken_ + i;
        starts[first] = starts_[row] = tile.starts[record + i];
        ends[last] = record_ends_[row] = own[last] - line_end_back;
        widths_[row] = static_cast<u32>(columns);
        records_of_rows_[row] = static_cast<u32>(counts_.records + i);
    }
    rows_taken_ += count;
    counts_.records += count;
}

void TileRowsFinder::take_one_by_one(const Tile& tile, const std::vector<u32>& strays) {
    rows_taken_ = 0;
    for (std::vector<u32>* one : {&starts_, &record_ends_, &records_of_rows_, &widths_}) {
        if (one->size() < tile.records) one->resize(tile.records);
    }
    has_records_ = true;
    usize first_end = 0, next_stray = 0;
    for (usize record = 0; record < tile.records; ++record) {
        const usize whole =
            whole_records(tile, record, first_end, next_stray < strays.size() ? strays[next_stray] : ~0U);
        if (whole != 0) {
            add_rows(tile, record, whole, first_end);
            record += whole;
            first_end += whole * columns_;
            if (record == tile.records) break;
        }
        const usize last = tile.last[record];
        const u32* stray = nullptr;
        for (; next_stray < strays.size() && strays[next_stray] <= tile.ends[last]; ++next_stray) {
            if (stray == nullptr) stray = &strays[next_stray];
        }
        if (tile.starts[record] < data_at_) {
            ++counts_.leading;
        } else {
            const u32 end = tile.ends[last] - (dialect_.line_end_length - 1);
            const Fields fields = {tile.ends + first_end, last - first_end + 1, {tile.starts[record], end}};
            take(fields, tile.unclosed_quote && record + 1 == tile.records, stray);
        }
        first_end = last + 1;
    }
    const auto is_whole = [&](u32 width) { return width == columns_; };
    const bool all_whole = std::all_of(widths_.data(), widths_.data() + rows_taken_, is_whole);
    rows_.columns = columns_;
    rows_.starts = starts_.data();
    rows_.ends = field_ends_.data();
    rows_.field_starts = field_starts_.data();
    rows_.widths = all_whole ? nullptr : widths_.data();
    rows_.rows = counts_.rows = rows_taken_;
}

void TileRowsFinder::make_room(usize fields) {
    if (field_ends_.size() >= fields) return;
    field_starts_.resize(fields * 2);
    field_ends_.resize(fields * 2);
}

// Add a row to the index: the record's fields, at most one for each column, then empty ones at the record's end. The
// last column may collect the bytes after the other fields.
void TileRowsFinder::add_row(const Fields& fields) {
    const usize base = rows_taken_ * columns_;
    make_room(base + columns_);
    u32* const starts = field_starts_.data() + base;
    u32* const ends = field_ends_.data() + base;
    const usize own = std::min(fields.count, max_fields());
    const u32 separator_back = dialect_.separator_length - 1;
    starts[0] = fields.record.begin;
    ends[0] = fields.ends[0] - separator_back;
    for (usize i = 1; i < own; ++i) {
        starts[i] = fields.ends[i - 1] + 1;
        ends[i] = fields.ends[i] - separator_back;
    }
    if (own == fields.count) ends[own - 1] = fields.record.end;
    std::fill(starts + own, starts + columns_, fields.record.end);
    std::fill(ends + own, ends + columns_, fields.record.end);
    const bool more = rules_.collect_long && fields.count > own;
    if (more) starts[own] = fields.ends[own - 1] + 1;
    widths_[rows_taken_] = static_cast<u32>(more ? columns_ : own);
    starts_[rows_taken_] = fields.record.begin;
    record_ends_[rows_taken_] = fields.record.end;
    records_of_rows_[rows_taken_] = static_cast<u32>(counts_.records);
    ++rows_taken_;
}

// Copy a row of the index to place `to`, which is not after it. Rows of the tile's own index are copied out of it.
void TileRowsFinder::move_row(usize from, usize to) {
    const usize columns = rows_.columns;
    const auto move = [&](const u32* source, std::vector<u32>& target) {
        std::copy(source + from * columns, source + (from + 1) * columns, target.begin() + to * columns);
    };
    starts_[to] = rows_.starts[from];
    move(rows_.ends, field_ends_);
    if (rows_.field_starts == nullptr) return;
    move(rows_.field_starts, field_starts_);
    record_ends_[to] = record_ends_[from];
    widths_[to] = widths_[from];
}

const TileRows& TileRowsFinder::choose(const std::vector<u64>& chosen, u64 first) {
    faults_.clear();
    if (starts_.size() < rows_.rows) starts_.resize(rows_.rows);
    if (records_of_rows_.size() < rows_.rows) records_of_rows_.resize(rows_.rows);
    make_room(rows_.rows * rows_.columns);
    auto next = std::lower_bound(chosen.begin(), chosen.end(), first);
    usize count = 0;
    counts_.filled = 0;
    for (usize row = 0; row < rows_.rows && next != chosen.end(); ++row) {
        const u32 record = record_of(row);
        while (next != chosen.end() && *next < first + record) ++next;
        if (next == chosen.end() || *next != first + record) continue;
        counts_.filled += is_short(row) ? 1 : 0;
        move_row(row, count);
        records_of_rows_[count++] = record;
    }
    has_records_ = true;
    rows_.starts = starts_.data();
    rows_.ends = field_ends_.data();
    rows_.rows = counts_.rows = count;
    return rows_;
}

ByteRange TileRowsFinder::record(usize row) const {
    if (rows_.field_starts != nullptr) return {starts_[row], record_ends_[row]};
    return {rows_.starts[row], field(row, rows_.columns - 1).end};
}

ByteRange TileRowsFinder::field(usize row, usize column) const {
    const usize at = row * rows_.columns + column;
    if (rows_.field_starts != nullptr) return {rows_.field_starts[at], rows_.ends[at]};
    const bool last = column + 1 == rows_.columns;
    const u32 back = (last ? dialect_.line_end_length : dialect_.separator_length) - 1;
    return {column == 0 ? rows_.starts[row] : rows_.ends[at - 1] + 1, rows_.ends[at] - back};
}

}  // namespace headrace
