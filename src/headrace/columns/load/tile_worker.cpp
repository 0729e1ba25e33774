#include "columns/load/tile_worker.hpp"

#include <algorithm>
#include <cstring>

#include "columns/buffers/text_views.hpp"
#include "columns/faults/rejected_records.hpp"
#include "columns/load/shared_load.hpp"

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

// The buffer for strings grows by a quarter more than a tile needs, so that it seldom grows again. For one very long
// text the spare is limited.
constexpr usize MAX_SPARE_BYTES = usize{4} << 20;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A part of the memory for values begins at a multiple of these bytes.
constexpr usize ALIGNMENT = 64;

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

// Return whether a column is converted as strings. One of unknown type is: it may turn out to be all null.
bool TileWorker::is_string_job(const TileColumn& part) const { return is_string(pass_.guesses_[part.column].type); }

bool TileWorker::has_views(const TileColumn& part) const {
    return pass_.mode_ == LoadPass::Mode::convert && pass_.result_.columns[part.column].views;
}

// Return whether texts that need no change are copied from the tile's text to the result. Short ones are copied faster
// in two steps: each to memory in the cache, then all at once.
bool TileWorker::has_long_texts(const TileRows& rows) const {
    constexpr usize LONG_BYTES = 64 << 10;
    return text_capacity(rows) / LONG_BYTES >= rows.rows;
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

// Return an upper bound of the tile's string bytes.
usize TileWorker::text_capacity(const TileRows& rows) const {
    if (rows.rows == 0) return 0;
    const usize text = finder_.record(rows.rows - 1).end - finder_.record(0).begin;
    return pass_.plan_.replace_invalid && rows.has_high_bytes ? text * REPLACEMENT_GROWTH : text;
}

void TileWorker::prepare(const TileRows& rows) {
    usize strings = 0;
    for (const TileColumn& part : parts_) strings += is_string_job(part) ? 1 : 0;
    // All the tile's strings together are no longer than its records' text; each may overshoot by one block.
    const usize capacity = text_capacity(rows) + (strings + 1) * 64 + 64;
    if (strings != 0 && string_bytes_.size() < capacity) {
        string_bytes_.resize(capacity + std::min(capacity / 4, MAX_SPARE_BYTES));
    }
    const usize ends = strings * (rows.rows + 1) * sizeof(u32);
    if (string_ends_.size() < ends) string_ends_.resize(ends * 5 / 4);
}

// Make all rows null, for a column after the last field of every record of the tile.
ColumnCounts TileWorker::fill_with_nulls(const TileRows& rows, TileColumn& part, u32* string_ends) {
    part.nulls.assign((rows.rows + 63) / 64, ~u64{0});
    if (rows.rows % 64 != 0) part.nulls.back() = (u64{1} << (rows.rows % 64)) - 1;
    if (string_ends != nullptr) std::fill_n(string_ends, rows.rows, 0);
    return {rows.rows, 0, 0};
}

ColumnJob TileWorker::job_for(const TileRows& rows, TileColumn& part) {
    const Guess& guess = pass_.guesses_[part.column];
    const usize words = (rows.rows + 63) / 64;
    part.nulls.assign(words, 0);
    column_ = part.column;
    kinds_seen_ = 0;
    ColumnJob job{};
    job.column = part.column;
    job.type = guess.type;
    job.inferred = guess.inferred && !guess.is_text_column;
    job.guess = static_cast<u8>(guess.kind);
    job.raw = pass_.plan_.rows.collect_long && part.column + 1 == pass_.plan_.columns.size();
    const bool is_text = is_string(job.type) && (!job.inferred || has_type(guess.kind));
    job.rules = job.raw ? &rules_.of_raw() : &rules_.of_forms(pass_.plan_.columns[part.column].forms, is_text);
    job.row_base = row_base_;
    job.nulls = part.nulls.data();
    job.is_valid = is_valid_;
    const usize text = rows.rows == 0 ? 0 : finder_.record(rows.rows - 1).end - finder_.record(0).begin;
    if (rows.may_need_unquoting) {
        const usize capacity = text_capacity(rows) + 128;
        unquoted_.resize(capacity);
        job.scratch = unquoted_.as<u8>();
    }
    if (!job.rules->usual_forms) {
        number_.resize(text);
        job.number = number_.as<u8>();
    }
    job.misfits = {this, on_fault, on_kind};
    return job;
}

// Return whether no field of the tile has invalid UTF-8, as far as that is cheap to find. Fields of valid text are
// valid if they end at ASCII bytes. If some record is invalid, fields are validated one by one.
bool TileWorker::has_valid_text(const TileRows& rows) const {
    if (!rows.has_high_bytes || rows.rows == 0) return true;
    const Dialect& dialect = pass_.dialect_;
    if (std::any_of(dialect.special, dialect.special + dialect.special_count, [](u8 byte) { return byte >= 0x80; })) {
        return false;
    }
    const u32 begin = finder_.record(0).begin, end = finder_.record(rows.rows - 1).end;
    return kernels_.is_valid_utf8(rows.text + begin, end - begin);
}

void TileWorker::convert_strings(const TileRows& rows) {
    const bool any =
        std::any_of(parts_.begin(), parts_.end(), [&](const TileColumn& part) { return is_string_job(part); });
    is_valid_ = any && has_valid_text(rows);
    u8* bytes = string_bytes_.as<u8>();
    u32* ends = string_ends_.as<u32>();
    for (TileColumn& part : parts_) {
        if (!is_string_job(part)) continue;
        ColumnJob job = job_for(rows, part);
        const bool has_fields = part.column < rows.columns;
        const bool views = has_views(part), codes = coding(part) != TextCoding::none;
        const bool stays = has_fields && (views || codes || has_long_texts(rows));
        if (stays && kernels_.find_texts(rows, job, views, part.texts, part.counts)) {
            part.stored_string_bytes = part.counts.string_bytes;
            continue;
        }
        *ends++ = 0;
        job.string_bytes = bytes;
        job.string_ends = ends;
        part.counts = has_fields ? kernels_.convert(rows, job) : fill_with_nulls(rows, part, ends);
        part.texts = {bytes, ends - 1, ends, 1, 1, 0, 0};
        part.stored_string_bytes = views ? long_bytes(ends, rows.rows) : part.counts.string_bytes;
        bytes += part.counts.string_bytes;
        ends += rows.rows;
    }
}

// Call use(column, memory) for the columns of fixed width, each with its part of the worker's memory for values.
template <class Use>
void TileWorker::use_value_memory(const TileRows& rows, const Use& use) {
    const auto size_of = [&](const TileColumn& part) {
        const usize bits = is_string_job(part) ? 0 : value_bits(pass_.guesses_[part.column].type);
        return (rows.rows * bits / 8 + Region::SLACK + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    };
    usize size = 0;
    for (const TileColumn& part : parts_) size += size_of(part);
    if (values_.size() < size) values_.resize(size + size / 4);
    u8* to = values_.as<u8>();
    for (TileColumn& part : parts_) {
        if (!is_string_job(part)) use(part, to);
        to += size_of(part);
    }
}

// Convert values before it is known which of the rows stay. As long as no row was removed, they go to the result, and
// remain there if none of this tile and the earlier ones is. After the first removed row they go to the worker's
// memory.
void TileWorker::convert_removable(const TileRows& rows) {
    is_in_place_ = expects_place();
    if (is_in_place_) {
        pass_.bases_->enter(tile_->number);
        row_base_ = pass_.row_bound_;
        pass_.row_bound_ += rows.rows;
        pass_.ensure_rows(pass_.row_bound_, tile_->number);
        pass_.bases_->leave();
        is_in_place_ = !pass_.removes_rows_.load(std::memory_order_relaxed);
    }
    const auto convert_to = [&](TileColumn& part, u8* to) {
        part.values = convert_values(rows, part, reinterpret_cast<std::byte*>(to), 0) ? to : nullptr;
    };
    if (!is_in_place_) {
        use_value_memory(rows, convert_to);
        return;
    }
    for (TileColumn& part : parts_) {
        if (is_string_job(part)) continue;
        const usize width = value_bits(pass_.guesses_[part.column].type) / 8;
        convert_to(part, pass_.result_.columns[part.column].values.as<u8>() + row_base_ * width);
    }
}

// Move values that are in the result to the worker's memory. This has to be done at the tile's turn: earlier tiles have
// left the place alone, and later ones may then write there.
void TileWorker::move_to_memory() {
    is_in_place_ = false;
    use_value_memory(*rows_, [&](TileColumn& part, u8* memory) {
        if (part.values == nullptr) return;
        const usize width = value_bits(pass_.guesses_[part.column].type) / 8;
        std::memcpy(memory, part.values, rows_->rows * width);
        part.values = memory;
    });
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

// Convert a column of fixed width to values[row_base, ...). Return false if it is skipped: an earlier tile contained
// text, so the column will be converted again as string.
bool TileWorker::convert_values(const TileRows& rows, TileColumn& part, std::byte* values, usize row_base) {
    if (pass_.doomed_[part.column].load(std::memory_order_relaxed) < tile_->number) return false;
    ColumnJob job = job_for(rows, part);
    if (job.type.id == TypeId::boolean) {
        part.bits.assign(part.nulls.size(), 0);
        job.bits = part.bits.data();
    }
    job.values = values;
    job.row_base = row_base;
    if (part.column < rows.columns) {
        part.counts = kernels_.convert(rows, job);
    } else {
        // Null values are zero on every path, so that results are equal to the byte.
        const usize width = value_bits(job.type) / 8;
        part.counts = fill_with_nulls(rows, part, nullptr);
        std::fill_n(values + row_base * width, rows.rows * width, std::byte{0});
    }
    return true;
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

void TileWorker::on_fault(void* self, usize row, Fault kind, u32 at) {
    auto& worker = *static_cast<TileWorker*>(self);
    worker.faults_.add(row, worker.column_, kind, at);
}

// Record the first field of a kind. Its text is kept for the report, up to a readable length.
void TileWorker::on_kind(void* self, usize row, u8 kind, u32 at) {
    auto& worker = *static_cast<TileWorker*>(self);
    if (worker.kinds_seen_ >> kind & 1) return;
    worker.kinds_seen_ |= u64{1} << kind;
    constexpr u32 SHOWN = 100;
    const TileRows& rows = *worker.rows_;
    const u32 end = worker.finder_.field(row, worker.column_).end;
    const auto text = [&] {
        return std::string(reinterpret_cast<const char*>(rows.text) + at, std::min(end - at, SHOWN));
    };
    worker.kinds_.push_back({worker.column_, kind, worker.finder_.record_of(row), at, text()});
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
