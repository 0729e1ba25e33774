#include "columns/load/load_pass.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "columns/load/tile_worker.hpp"

namespace headrace {

LoadPass::LoadPass(const LoadInput& input, const std::vector<Guess>& guesses, const PassResults& results)
    : source_(input.source),
      dialect_(input.dialect),
      plan_(input.plan),
      run_(input.run),
      guesses_(guesses),
      ledger_(results.ledger),
      faults_(results.faults),
      result_(results.result),
      string_bytes_(guesses.size(), 0),
      doomed_(guesses.size()),
      codes_(guesses.size()) {
    for (auto& tile : doomed_) tile.store(~u64{0}, std::memory_order_relaxed);
    for (usize c = 0; c < guesses.size(); ++c) {
        if (guesses[c].wanted) wanted_.push_back(c);
    }
}

void LoadPass::classify_only(usize bytes) {
    const std::uint64_t part = std::min<std::uint64_t>(span(), bytes);
    run_tiles(Mode::classify, 1, (part + plan_.tile_bytes - 1) / plan_.tile_bytes);
}

void LoadPass::run(std::uint64_t last) {
    const std::uint64_t all = (span() + plan_.tile_bytes - 1) / plan_.tile_bytes;
    const std::uint64_t tiles = last < all ? last + 1 : all;
    const unsigned threads =
        static_cast<unsigned>(std::min<std::uint64_t>(plan_.threads, std::max<std::uint64_t>(tiles, 1)));
    const bool exact = wants_exact();
    if (exact) {
        run_tiles(Mode::measure, threads, tiles);
    }
    allocate(exact);
    run_tiles(Mode::convert, threads, tiles);
    result_.counts = counts_;
    for (std::vector<RejectedRecords>* const tiles : {&rejected_, &left_out_}) {
        std::sort(tiles->begin(), tiles->end(), [](const auto& a, const auto& b) { return a.tile < b.tile; });
    }
    result_.rejected_records = std::move(rejected_);
    result_.left_out_records = std::move(left_out_);
    result_.seconds.find += seconds_.find;
    result_.seconds.convert += seconds_.convert;
    ++result_.passes;
    if (run_.wants_spans) {
        for (Region* const span : {&result_.record_begins, &result_.record_ends}) span->trim(counts_.rows * 8);
    }
    for (const usize c : wanted_) {
        finish_codes(c);
        LoadedColumn& column = result_.columns[c];
        const usize rows = counts_.rows;
        column.values.trim(is_string(column.type) ? string_bytes_[c] : (rows * value_bits(column.type) + 7) / 8);
        if (is_string(column.type)) column.offsets.trim(offset_bytes(column, rows));
        null_bits_[c].trim(column.null_count == 0 ? 0 : (rows + 7) / 8);
        column.validity = std::move(null_bits_[c]);
    }
}

// Make a column whose texts are codes a dictionary. If there were too many texts, the codes become strings.
void LoadPass::finish_codes(usize c) {
    TextCodes& codes = codes_[c];
    if (!codes.coder) return;
    LoadedColumn& column = result_.columns[c];
    const CodedRows coded = {codes.tiles, codes.region.as<u32>(),
                             column.null_count == 0 ? nullptr : null_bits_[c].as<u64>()};
    if (codes.coding == TextCoding::chosen) {
        column.dictionary = codes.coder->finish(coded, result_.budget, plan_.threads);
        column.type.id = TypeId::int32;
        column.offsets = Region{};
        column.values = std::move(codes.region);
    } else if (value_bits(column.type) == 64) {
        codes.coder->decode(coded, column.values.as<u8>(), column.offsets.as<i64>(), plan_.threads);
    } else {
        codes.coder->decode(coded, column.values.as<u8>(), column.offsets.as<i32>(), plan_.threads);
    }
}

void LoadPass::run_again() {
    lists_faults_ = false;
    run(EVERY_TILE);
}

// Return bits of the records of a tile that earlier passes rejected, or null.
const std::vector<u64>* LoadPass::rejected_before(std::uint64_t tile) const {
    const std::vector<RejectedRecords>& tiles = result_.rejected_records;
    const auto found =
        std::lower_bound(tiles.begin(), tiles.end(), tile,
                         [](const RejectedRecords& one, std::uint64_t wanted) { return one.tile < wanted; });
    return found == tiles.end() || found->tile != tile ? nullptr : &found->bits;
}

void LoadPass::add_rejected(std::vector<RejectedRecords> rejected, std::vector<RejectedRecords> left_out) {
    const std::lock_guard lock(results_mutex_);
    std::move(rejected.begin(), rejected.end(), std::back_inserter(rejected_));
    std::move(left_out.begin(), left_out.end(), std::back_inserter(left_out_));
}

namespace {

constexpr double MAX_RESERVED = 32e12;
constexpr usize MAX_MAPPINGS = 16'000;
constexpr u64 MAX_RECORD_BYTES = 0xFFFF0000;
constexpr usize MAX_SMALL_TEXT = 0x7FFFFFFF;

}  // namespace

// Return the bytes in which records of this load begin.
std::uint64_t LoadPass::span() const {
    const std::uint64_t stop = std::min<std::uint64_t>(plan_.stop, source_.size());
    return plan_.begin < stop ? stop - plan_.begin : 0;
}

// Return an upper bound of the rows. Every field of a record takes at least one byte, except the last field of the
// text. The last record of a part may end after the part.
usize LoadPass::max_rows() const {
    const usize fields = plan_.rows.fill_short ? 1 : plan_.rows.base_columns;
    return span() / fields + (is_part() ? 2 : 1);
}

usize LoadPass::max_text(usize bytes) const {
    return source_.encoding().text_bound(bytes) * (plan_.replace_invalid ? REPLACEMENT_GROWTH : 1);
}

// Return an upper bound of a column's string bytes. A part is small, but the length of its last record is not known
// yet.
usize LoadPass::text_bound() const {
    if (!is_part()) return max_text(span());
    return max_text(std::min<std::uint64_t>(source_.size() - plan_.begin, span() + MAX_RECORD_BYTES));
}

// Return whether a pass must measure the text before buffers are allocated. The bounds known before reading are
// generous: for many columns their sum may be too large.
bool LoadPass::wants_exact() const {
    if (plan_.exact_memory) return true;
    const usize rows = max_rows();
    const usize text = max_text(span());
    double reserved = 0, heap = 0;
    usize mappings = 0;
    const auto add = [&](usize bound) {
        (bound < Region::MAPPED_FROM ? heap : reserved) += static_cast<double>(bound);
        mappings += bound < Region::MAPPED_FROM ? 0 : 1;
    };
    for (const usize c : wanted_) {
        add(rows * value_bits(guesses_[c].type) / 8);
        add(rows / 8);
        if (is_string(guesses_[c].type)) add(text_capacity(guesses_[c].type));
        if (may_have_codes(c)) add(rows * sizeof(u32));
    }
    return reserved > MAX_RESERVED || mappings > MAX_MAPPINGS || heap > 16e6 + static_cast<double>(text);
}

// Return the capacity for string bytes. All parts of a text have the same types, so 32-bit offsets are never widened
// there.
usize LoadPass::text_capacity(const ColumnType& type) const {
    return is_part() && value_bits(type) == 32 ? std::min(text_bound(), MAX_SMALL_TEXT) : text_bound();
}

bool LoadPass::may_have_codes(usize c) const {
    return plan_.columns[c].codes && small_form(guesses_[c].type.id) == TypeId::string && !result_.budget->is_limited();
}

void LoadPass::allocate(bool exact) {
    const usize rows = exact ? counts_.rows : max_rows();
    const usize text = text_bound();
    max_rows_ = rows;
    ensured_rows_ = 0;
    null_bits_.resize(guesses_.size());
    if (run_.wants_spans) {
        for (Region* const span : {&result_.record_begins, &result_.record_ends}) {
            *span = Region(rows * 8, result_.budget);
            span->ensure(0);
        }
    }
    for (const usize c : wanted_) {
        // Each of a column's four regions has its own purpose, by which freed memory is reused.
        const auto use = [c](u32 region) { return static_cast<u32>(4 * c + 1) + region; };
        LoadedColumn& column = result_.columns[c];
        const bool large = is_string(guesses_[c].type) && !is_part() && text > MAX_SMALL_TEXT;
        column = LoadedColumn{};
        column.type = guesses_[c].type;
        if (large) column.type.id = large_form(column.type.id);
        const usize bits = value_bits(column.type);
        column.views = plan_.columns[c].views && column.type.id == TypeId::string && text <= MAX_SMALL_TEXT;
        if (may_have_codes(c)) {
            codes_[c].coding = TextCoding::undecided;
            codes_[c].region = Region(rows * sizeof(u32), result_.budget, Region::Content::any, use(3));
        }
        if (is_string(column.type)) {
            column.offsets = Region(offset_bytes(column, rows), result_.budget, Region::Content::any, use(1));
            column.offsets.ensure(offset_bytes(column, 0));
            std::fill_n(column.offsets.as<u8>(), offset_bytes(column, 0), u8{0});
            const usize bound = exact ? string_bytes_[c] : text_capacity(column.type);
            column.values = Region(bound, result_.budget, Region::Content::any, use(0));
        } else {
            const auto content = bits == 1 ? Region::Content::zero : Region::Content::any;
            column.values = Region((rows * bits + 63) / 64 * 8, result_.budget, content, use(0));
        }
        column.values.ensure(0);
        null_bits_[c] = Region((rows + 63) / 64 * 8, result_.budget, Region::Content::zero, use(2));
        null_bits_[c].ensure(0);
    }
}

// Make memory usable for the rows up to this tile, whose turn it is, and for those that are expected in all tiles. So
// few tiles touch every column here, while all later tiles wait. With a memory limit, only counted rows are charged.
void LoadPass::ensure_rows(usize counted, std::uint64_t tile) {
    if (counted <= ensured_rows_) return;
    constexpr double SPARE = 1.03;
    const double expected =
        SPARE * static_cast<double>(counted) * static_cast<double>(tiles_) / static_cast<double>(tile + 1);
    const usize bound = expected < static_cast<double>(max_rows_) ? static_cast<usize>(expected) : max_rows_;
    const usize rows = result_.budget->is_limited() ? counted : std::max(counted, bound);
    if (run_.wants_spans) {
        for (Region* const span : {&result_.record_begins, &result_.record_ends}) span->ensure(rows * 8);
    }
    for (const usize c : wanted_) {
        LoadedColumn& column = result_.columns[c];
        const usize bits = value_bits(column.type);
        if (is_string(column.type)) {
            column.offsets.ensure(offset_bytes(column, rows));
        } else {
            column.values.ensure((rows * bits + 63) / 64 * 8);
        }
        if (codes_[c].coding != TextCoding::none) codes_[c].region.ensure(rows * sizeof(u32));
        null_bits_[c].ensure((rows + 63) / 64 * 8);
    }
    ensured_rows_ = rows;
}

void LoadPass::report_progress() const {
    if (!run_.poll) return;
    const std::uint64_t position = scan_->next_tile.load(std::memory_order_relaxed) * plan_.tile_bytes;
    run_.poll(mode_ == Mode::convert ? std::min<std::uint64_t>(position, span()) : 0, span());
}

void LoadPass::run_tiles(Mode mode, unsigned threads, std::uint64_t tiles) {
    // Nothing is read after the last of these tiles: a sample is short, and the text may be on a GPU.
    const std::uint64_t stop = std::min<std::uint64_t>(plan_.stop, plan_.begin + tiles * plan_.tile_bytes);
    const TilePart part{plan_.begin, stop, plan_.before.state};
    TileScan scan(source_, dialect_, plan_.isa, part, plan_.tile_bytes);
    scan.filtered = {run_.filter, run_.dropped, plan_.file, plan_.before.bytes, plan_.data_begin};
    OrderedGate bases, places;
    scan_ = &scan;
    bases_ = &bases;
    places_ = &places;
    mode_ = mode;
    tiles_ = tiles;
    counts_ = LoadCounts{};
    removes_rows_ = false;
    row_bound_ = 0;
    records_ahead_ = 0;
    std::fill(string_bytes_.begin(), string_bytes_.end(), 0);
    run_gated({&scan.gate, &bases, &places}, threads, [&](unsigned worker) { TileWorker(*this).run(worker == 0); });
    if (mode == Mode::convert) result_.state = scan.state;
}

// Throw if the strings of a column exceed 32-bit offsets. This concerns parts only: for a whole text the bound is
// known, and a large one has 64-bit offsets.
void LoadPass::check_text(usize c) const {
    if (value_bits(result_.columns[c].type) == 64 || string_bytes_[c] <= MAX_SMALL_TEXT) return;
    throw std::length_error(
        "column '" + plan_.columns[c].name +
        "' has more than 2 GiB of text in one batch; give it the type large_string or large_binary");
}

void LoadPass::note_end(const Tile& tile) {
    if (tile.records == 0 && tile.left_out == 0) return;
    const std::uint64_t end = tile.left_out != 0 ? tile.left_out_end : tile.end();
    const std::lock_guard lock(end_mutex_);
    result_.end = std::max<u64>(result_.end, end);
    result_.is_cut |= tile.is_cut;
    result_.has_quotes |= tile.has_quotes || tile.has_escapes;
}

}  // namespace headrace
