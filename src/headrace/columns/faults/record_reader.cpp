#include "columns/faults/record_reader.hpp"

#include <algorithm>

namespace headrace {
namespace {

// Return a record of some fields that separates faulty records, or nothing if these may be adjacent.
//
// With lenient quotes it begins with an opening quote. A lenient quote opens a field only if the next decisive run of
// quotes may close it (structure/cpu/lenient.hpp). In the whole text such a run is in the same record. The opening
// quote is a decisive run, so a quote of the following record closes nothing. Example:
//   1,"a  2,b"        adjacent records: the quote before a would open a field that ends after b
//   1,"a  "x",  2,b"  separated ones: it is text
//
// A blank line may be a record, which LF ends. After a record that CR LF ends, whose text has only the CR, the LF would
// end no other record.
std::string record_between(const Dialect& dialect, usize fields) {
    const bool has_lenient_quotes = dialect.looks_ahead() && dialect.quote >= 0;
    if (!has_lenient_quotes && (!dialect.universal_line_end || !dialect.keeps_blank_lines())) return {};
    const auto is_ordinary = [&](u8 byte) { return dialect.automaton.class_of[byte] + 1u == dialect.automaton.groups; };
    u8 ordinary = 'a';
    while (!is_ordinary(ordinary)) ++ordinary;
    const char quote = static_cast<char>(dialect.quote);
    const auto* const line_end = reinterpret_cast<const char*>(dialect.line_end_text);
    const std::string end = dialect.universal_line_end ? "\n" : std::string(line_end, dialect.line_end_length);
    const auto* const separator = reinterpret_cast<const char*>(dialect.separator_text);
    std::string record(1, static_cast<char>(ordinary));
    if (has_lenient_quotes) record = quote + record + quote;
    for (usize field = 1; field < fields; ++field) record.append(separator, dialect.separator_length);
    return record + end;
}

}  // namespace

bool RecordView::is_rejected() const {
    return std::any_of(faults.begin(), faults.end(),
                       [](const TileFault& fault) { return fault.outcome != Outcome::keep; });
}

usize RecordView::fields() const {
    const usize before = number == 0 ? 0 : (tile.last[number - 1] & RECORD_INDEX) + 1;
    return (tile.last[number] & RECORD_INDEX) + 1 - before;
}

RecordReader::RecordReader(const Source& source, const Dialect& dialect, const LoadPlan& plan)
    : source_(source),
      dialect_(dialect),
      plan_(plan),
      between_(record_between(dialect, plan.rows.base_columns)),
      finder_(dialect, plan) {}

void RecordReader::read(const RecordTexts& texts, usize from, usize to, u64 begin) {
    records_apart_ = between_.empty() ? 1 : 2;
    std::span<const u8> all = texts.bytes.subspan(texts.begin(from), texts.ends[to - 1] - texts.begin(from));
    if (!between_.empty()) {
        text_.clear();
        for (usize record = from; record < to; ++record) {
            const std::span<const u8> text = texts.text(record);
            text_.insert(text_.end(), text.begin(), text.end());
            text_.insert(text_.end(), between_.begin(), between_.end());
        }
        all = text_;
    }
    bytes_.show(begin, all);
    read_tile(bytes_, begin, all.size());
}

// A tile owns the records that begin in it, so a tile of one byte has one record.
void RecordReader::read(u64 begin) {
    records_apart_ = 1;
    read_tile(source_, begin, 1);
}

void RecordReader::read_tile(const Source& source, u64 begin, usize bytes) {
    reader_.reset();
    scan_.emplace(source, dialect_, plan_.isa, begin, bytes);
    reader_.emplace(*scan_);
    tile_ = reader_->next();
    rows_ = &finder_.find(*tile_, tile_->has_strays ? reader_->strays() : std::vector<u32>{});
    next_row_ = next_fault_ = 0;
}

RecordView RecordReader::record(usize number, u64 begin) {
    number *= records_apart_;
    const std::vector<TileFault>& faults = finder_.faults();
    while (next_row_ < rows_->rows && finder_.record_of(next_row_) < number) ++next_row_;
    while (next_fault_ < faults.size() && faults[next_fault_].record < number) ++next_fault_;
    usize end = next_fault_;
    while (end < faults.size() && faults[end].record == number) ++end;
    return {*tile_, finder_, number, next_row_, std::span(faults).subspan(next_fault_, end - next_fault_), begin};
}

}  // namespace headrace
