#include "columns/load/tile_worker.hpp"

#include <algorithm>

#include "columns/buffers/text_views.hpp"
#include "columns/faults/rejected_records.hpp"
#include "columns/load/shared_load.hpp"

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

TileWorker::TileWorker(LoadPass& pass)
    : pass_(pass),
      kernels_(convert_kernels(pass.plan_.isa)),
      reader_(*pass.scan_),
      finder_(pass.dialect_, pass.plan_, pass.run_.filter),
      rules_(pass.plan_),
      faults_(finder_, pass.plan_.on_error) {
    for (const usize column : pass.wanted_) parts_.push_back({column, {}, {}, {}, {}, 0, 0, nullptr, {}});
    const auto may_have_codes = [](const TextCodes& codes) { return codes.coding.load() != TextCoding::none; };
    if (std::any_of(pass.codes_.begin(), pass.codes_.end(), may_have_codes)) known_ = std::make_unique<FewTexts>();
}

void TileWorker::run(bool polls) {
    auto polled = Clock::now();
    StageSeconds seconds;
    while (true) {
        const auto start = Clock::now();
        tile_ = reader_.next();
        if (tile_ == nullptr || tile_->number >= pass_.tiles_) break;
        seconds.find += since(start);
        const auto found = Clock::now();
        work(*tile_);
        if (pass_.plan_.memory_limit == 0) poll_group_memory(pass_.plan_.tile_bytes);
        seconds.convert += since(found);
        if (polls && since(polled) > 0.1) {
            pass_.report_progress();
            polled = Clock::now();
        }
    }
    pass_.add_rejected(std::move(rejected_), std::move(left_out_));
    if (known_) report_coded();
    const std::lock_guard lock(pass_.results_mutex_);
    pass_.seconds_.find += seconds.find;
    pass_.seconds_.convert += seconds.convert;
}

void TileWorker::work(const Tile& tile) {
    if (tile.left_out != 0) return leave_out();
    // A tile inside a long record adds nothing to the result, so it does not wait for the tiles before it.
    if (tile.records == 0 && tile.blank_lines == 0) {
        if (expects_place() || chooses_rows()) pass_.bases_->skip(tile.number);
        pass_.places_->skip(tile.number);
        return;
    }
    const TileRows& rows = finder_.find(tile, tile.has_strays ? reader_.strays() : std::vector<u32>{});
    rows_ = &rows;
    if (chooses_rows()) choose_rows();
    faults_.begin();
    prepare(rows);
    convert_strings(rows);
    if (may_remove_rows()) convert_removable(rows);
    if (pass_.mode_ == LoadPass::Mode::convert) find_rejected();
    reserve_rows();
    if (pass_.mode_ != LoadPass::Mode::measure) {
        for (TileColumn& part : parts_) store(rows, part);
        if (pass_.run_.wants_spans) store_spans(rows);
    }
    report();
}

// Count the records of a tile whose records are all left out.
void TileWorker::leave_out() {
    if (expects_place() || chooses_rows()) pass_.bases_->skip(tile_->number);
    pass_.places_->enter(tile_->number);
    record_base_ = pass_.counts_.records;
    pass_.counts_.records += tile_->left_out;
    pass_.counts_.left_out += tile_->left_out;
    pass_.places_->leave();
    if (pass_.mode_ != LoadPass::Mode::convert) return;
    pass_.note_end(*tile_);
    if (!pass_.plan_.row_index) return;
    std::vector<u64> bits((tile_->left_out + 63) / 64, ~u64{0});
    if (tile_->left_out % 64 != 0) bits.back() = (u64{1} << (tile_->left_out % 64)) - 1;
    left_out_.push_back({tile_->number, record_base_, std::move(bits)});
}

// Leave only the rows of chosen records. Their numbers count from the load's first record, so tiles take turns.
void TileWorker::choose_rows() {
    pass_.bases_->enter(tile_->number);
    const u64 first = pass_.records_ahead_;
    pass_.records_ahead_ += finder_.counts().records;
    pass_.bases_->leave();
    finder_.choose(*pass_.run_.chosen, first);
}

// Return whether a row is removed if one of its fields does not convert.
bool TileWorker::may_remove_rows() const {
    return pass_.mode_ == LoadPass::Mode::convert && field_outcome(pass_.plan_.on_error) == Outcome::reject;
}

// Return whether values are converted to the place in the result that they have if no row is removed. With a memory
// limit they are not: only rows that stay are charged.
bool TileWorker::expects_place() const {
    return may_remove_rows() && !chooses_rows() && !pass_.result_.budget->is_limited();
}

TextCoding TileWorker::coding(const TileColumn& part) const {
    return pass_.mode_ == LoadPass::Mode::convert ? pass_.codes_[part.column].coding.load(std::memory_order_relaxed)
                                                  : TextCoding::none;
}

void TileWorker::decide_coding(TileColumn& part) {
    TextCodes& codes = pass_.codes_[part.column];
    const TextRun first = {0, rows_->rows, row_base_, part.nulls.data()};
    codes.coder = TextCoder::if_few(part.texts, first, pass_.max_rows_, pass_.plan_.threads);
    codes.coding.store(codes.coder ? TextCoding::chosen : TextCoding::none, std::memory_order_relaxed);
}

void TileWorker::find_rejected() {
    faults_.find_rejected(pass_.rejected_before(tile_->number));
    if (faults_.has_late()) pass_.rejects_late_.store(true, std::memory_order_relaxed);
}

// Reserve the tile's place in the result, in the order of tiles: after the rows and string bytes of all preceding
// tiles.
void TileWorker::reserve_rows() {
    const LoadCounts& found = finder_.counts();
    for (TileColumn& part : parts_) {
        if (is_string_job(part)) part.stored_string_bytes -= removed_string_bytes(part);
    }
    pass_.places_->enter(tile_->number);
    LoadCounts& counts = pass_.counts_;
    const u64 expected_base = row_base_;
    row_base_ = counts.rows;
    record_base_ = counts.records;
    counts.rows += found.rows - faults_.removed_rows();
    counts.records += found.records;
    counts.left_out += found.left_out;
    counts.leading += found.leading;
    counts.filled += found.filled - faults_.removed_short_rows();
    counts.blank += found.blank;
    counts.comment += found.comment;
    if (faults_.removed_rows() != 0) pass_.removes_rows_.store(true, std::memory_order_relaxed);
    if (is_in_place_ && (row_base_ != expected_base || faults_.removed_rows() != 0)) move_to_memory();
    if (pass_.mode_ == LoadPass::Mode::convert && !expects_place()) pass_.ensure_rows(counts.rows, tile_->number);
    for (TileColumn& part : parts_) {
        if (is_string_job(part)) reserve_strings(part);
    }
    pass_.places_->leave();
}

usize TileWorker::removed_string_bytes(const TileColumn& part) const {
    const bool views = has_views(part);
    usize bytes = 0;
    for_each_bit(faults_.removed(), [&](usize row) {
        const usize size = part.texts.size(row);
        bytes += views ? size & long_mask(size) : size;
    });
    return bytes;
}

void TileWorker::reserve_strings(TileColumn& part) {
    u64& string_bytes = pass_.string_bytes_[part.column];
    part.string_base = string_bytes;
    string_bytes += part.stored_string_bytes;
    if (pass_.mode_ != LoadPass::Mode::convert) return;
    if (coding(part) == TextCoding::undecided && rows_->rows > faults_.removed_rows()) decide_coding(part);
    pass_.check_text(part.column);
    pass_.result_.columns[part.column].values.ensure(string_bytes);
}

// Store a column of the tile at its place in the result.
void TileWorker::store(const TileRows& rows, TileColumn& part) {
    if (pass_.mode_ == LoadPass::Mode::classify) return;  // columns without a type are strings, which are converted
    LoadedColumn& column = pass_.result_.columns[part.column];
    const StoredRows stored = stored_rows();
    if (is_string_job(part)) {
        store_texts(part, column);
    } else if (may_remove_rows()) {
        if (part.values == nullptr) return;
        if (!is_in_place_) store_values(part, stored, column);
    } else if (!convert_values(rows, part, column.values.data(), row_base_)) {
        return;
    }
    store_bits(part, stored, column, pass_.null_bits_[part.column]);
}

// Store strings, or their codes while the column has few texts.
void TileWorker::store_texts(TileColumn& part, LoadedColumn& column) {
    TextCodes& codes = pass_.codes_[part.column];
    if (coding(part) != TextCoding::chosen || !store_codes(part, stored_rows(), *known_, codes)) {
        if (coding(part) == TextCoding::chosen) codes.coding.store(TextCoding::left, std::memory_order_relaxed);
        store_strings(part, stored_rows(), kernels_, column);
    }
    if (part.counts.replaced != 0) __atomic_fetch_add(&column.replaced, part.counts.replaced, __ATOMIC_RELAXED);
}

// Store the bytes of the records of rows that stay.
void TileWorker::store_spans(const TileRows& rows) {
    if (pass_.mode_ != LoadPass::Mode::convert) return;
    u64* begin = pass_.result_.record_begins.as<u64>() + row_base_;
    u64* end = pass_.result_.record_ends.as<u64>() + row_base_;
    for_each_stored_run(faults_.removed(), rows.rows, [&](usize from, usize count) {
        for (usize row = from; row < from + count; ++row) {
            const ByteRange record = finder_.record(row);
            *begin++ = tile_->origin(record.begin);
            *end++ = tile_->origin(record.end);
        }
    });
}

void TileWorker::report() {
    for (KindSeen& seen : kinds_) {
        const PartBefore& before = pass_.plan_.before;
        pass_.ledger_.see(seen.column, seen.kind, before.records + record_base_ + seen.record + 1,
                          before.bytes + tile_->origin(seen.at), [&] { return std::move(seen.text); });
        if (seen.kind != static_cast<u8>(Kind::text)) continue;
        std::atomic<u64>& doomed = pass_.doomed_[seen.column];
        u64 known = doomed.load(std::memory_order_relaxed);
        while (tile_->number < known && !doomed.compare_exchange_weak(known, tile_->number)) {
        }
    }
    kinds_.clear();
    if (pass_.mode_ != LoadPass::Mode::convert) return;
    pass_.note_end(*tile_);
    if (pass_.plan_.row_index && finder_.counts().left_out != 0) {
        left_out_.push_back({tile_->number, record_base_, finder_.left_out()});
    }
    report_faults();
}

void TileWorker::report_coded() {
    const std::lock_guard lock(pass_.results_mutex_);
    for (const TileColumn& part : parts_) {
        std::vector<CodedTile>& tiles = pass_.codes_[part.column].tiles;
        tiles.insert(tiles.end(), part.tiles.begin(), part.tiles.end());
    }
}

void TileWorker::report_faults() {
    if (!faults_.rejected().empty()) rejected_.push_back({tile_->number, record_base_, faults_.rejected()});
    if (!pass_.lists_faults_ || !faults_.give_to(pass_.faults_, *tile_, record_base_, pass_.first_pass())) return;
    // Every earlier tile has its place, so closing the gates stops only later ones.
    std::uint64_t known = pass_.stopped_at_.load();
    while (tile_->number < known && !pass_.stopped_at_.compare_exchange_weak(known, tile_->number)) {
    }
    pass_.scan_->gate.close();
    pass_.bases_->close();
    pass_.places_->close();
}

}  // namespace headrace
