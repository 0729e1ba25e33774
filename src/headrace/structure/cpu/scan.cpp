#include "structure/cpu/scan.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>

namespace headrace {

HR_FOR_EACH_ISA(const FindKernels&(), find_kernels)

const FindKernels& find_kernels(Isa isa) { return find_kernels_for(isa)(); }

TileScan::TileScan(const Source& src, const Dialect& dia, Isa isa, TilePart part, usize bytes)
    : source(src),
      dialect(dia),
      kernels(find_kernels(isa)),
      begin(part.begin),
      stop(std::min(part.stop, src.size())),
      tile_bytes(bytes),
      state(part.state),
      quotes(src, dia) {}

std::uint64_t TileScan::tile_count() const { return begin < stop ? (stop - begin + tile_bytes - 1) / tile_bytes : 0; }

namespace {

// Bytes read after a tile, so that its last record rarely needs a second read.
constexpr usize LOOKAHEAD = 4096;
constexpr usize MAX_TILE_TEXT = 0xFFFF0000;  // positions in a tile are 32 bits
constexpr usize MAX_ENDS = RECORD_INDEX;

}  // namespace

bool has_line_records(const Dialect& dialect) {
    return dialect.plain && dialect.universal_line_end && dialect.escape < 0 && !dialect.looks_ahead();
}

void TileReader::reserve(usize bytes) {
    const usize needed = bytes + 2 * 64;  // a flattened block's overshoot, and the end that input's end adds
    if (needed <= capacity_) return;
    const usize larger = std::max(needed, capacity_ + capacity_ / 2);
    const auto grow = [&](WorkMemory& array, usize used) { array.resize(larger * sizeof(u32), used * sizeof(u32)); };
    grow(ends_, index_.end_count);
    grow(starts_, index_.start_count);
    grow(last_, index_.record_count);
    grow(strays_, index_.stray_count);
    capacity_ = larger;  // of all of them; an array that is refused leaves the earlier capacity
}

void TileReader::index_range(usize from, usize to, usize owned) {
    if (to > MAX_TILE_TEXT || index_.end_count > MAX_ENDS - (to - from)) {
        throw std::length_error("the record that holds byte " + std::to_string(window_.origin(from)) +
                                " is longer than 4 GiB, or has more than 2^30 fields");
    }
    reserve(to);
    if (marked_) marks_.mark(window_, to);
    index_.marks = marked_ ? marks_.bits() : nullptr;
    index_.ends = ends_.as<u32>();
    index_.record_starts = starts_.as<u32>();
    index_.record_last = last_.as<u32>();
    index_.strays = strays_.as<u32>();
    scan_.kernels.index(scan_.dialect, window_.data(), from, to, owned, index_);
}

// Return whether all owned records are indexed to their ends. A tile that begins inside a record of an earlier tile
// sees that record's end first.
bool TileReader::finished() const {
    const u64 foreign = scan_.dialect.automaton.is_idle(tile_.entry_state) ? 0 : 1;
    return index_.start_count == 0 || index_.record_count >= index_.start_count + foreign;
}

// End the open record at the end of the input, as a line end would.
void TileReader::close_last_record() {
    const u8 state = index_.state;
    const u32 marks = scan_.dialect.automaton.comment >> state & 1 ? COMMENT_RECORD : 0;
    tile_.is_cut = true;
    tile_.unclosed_quote = scan_.dialect.automaton.is_quoted(state);
    tile_.unfinished = scan_.dialect.automaton.unfinished >> state & 1;
    last_.as<u32>()[index_.record_count++] = static_cast<u32>(index_.end_count) | marks;
    ends_.as<u32>()[index_.end_count++] = static_cast<u32>(window_.size() + scan_.dialect.line_end_length - 1);
}

const Tile* TileReader::next() {
    const std::uint64_t number = scan_.next_tile.fetch_add(1, std::memory_order_relaxed);
    if (number >= scan_.tile_count()) return nullptr;
    const std::uint64_t begin = scan_.begin + number * scan_.tile_bytes;
    const usize bytes = static_cast<usize>(std::min<std::uint64_t>(scan_.tile_bytes, scan_.stop - begin));
    if (take_dropped(number, begin, bytes)) return &tile_;
    window_.open(begin, bytes, LOOKAHEAD);
    const usize owned = window_.owned();

    u8 map[MAX_STATES];
    const QuoteLook quotes = look();
    const Summary found = scan_.kernels.summarize(scan_.dialect, window_.data(), owned, quotes, map);
    scan_.gate.enter(number);
    const u8 entry = scan_.state;
    const bool is_resolved = (found.unresolved >> entry & 1) == 0;
    const u8 exit = is_resolved ? map[entry] : scan_.kernels.run(scan_.dialect, window_.data(), owned, quotes, entry);
    scan_.state = exit;
    scan_.gate.leave();

    const FilteredText& filtered = scan_.filtered;
    if (found.has_quotes || !drops_all(number, owned) || !count_dropped(entry, owned)) {
        index_tile(entry, owned, !found.has_quotes);
    } else if (filtered.dropped != nullptr) {
        const u64 end = tile_.left_out == 0 ? 0 : tile_.left_out_end - begin;
        filtered.dropped->add(filtered.file, filtered.bytes_before + begin, {bytes, tile_.left_out, end, exit});
    }
    present(number);
    return &tile_;
}

// Take a tile that an earlier pass over the text has found to have no record that stays. It is not read again.
bool TileReader::take_dropped(std::uint64_t number, std::uint64_t begin, usize bytes) {
    const FilteredText& filtered = scan_.filtered;
    if (filtered.dropped == nullptr || number + 1 == scan_.tile_count()) return false;
    const auto known = filtered.dropped->find(filtered.file, filtered.bytes_before + begin);
    if (!known || known->bytes != bytes) return false;
    scan_.gate.enter(number);
    scan_.state = known->exit;
    scan_.gate.leave();
    tile_ = Tile{};
    tile_.number = number;
    tile_.left_out = known->records;
    tile_.left_out_end = begin + known->end;
    return true;
}

// Return whether the filter leaves out all records that may begin in the tile. The last tile has an index, since its
// last record may have no line end.
bool TileReader::drops_all(std::uint64_t number, usize owned) const {
    const FilteredText& filtered = scan_.filtered;
    if (filtered.filter == nullptr || !has_line_records(scan_.dialect) || number + 1 == scan_.tile_count())
        return false;
    if (owned == 0 || window_.origin(0) < filtered.data_begin) return false;
    return filtered.filter->drops_all(window_.data(), window_.size());
}

// Count the records of a tile without quotes, none of which stays. Return false if it has to be indexed to count them:
// it may have blank lines, or its last record may end after the window.
bool TileReader::count_dropped(u8 entry, usize owned) {
    const Dialect& dialect = scan_.dialect;
    const u8* const text = window_.data();
    const bool is_at_record = dialect.automaton.is_idle(entry);
    if (dialect.automaton.is_quoted(entry) || (is_at_record && (text[0] == '\n' || text[0] == '\r'))) return false;
    const LineFeeds feeds = scan_.kernels.line_feeds(text, owned);
    if (feeds.has_others) return false;
    const bool ends_record = text[owned - 1] == '\n';
    const usize end = ends_record ? owned : last_dropped_end(owned);
    if (end == 0) return false;
    if (!ends_record && dialect.quote >= 0 && std::memchr(text + owned, dialect.quote, end - owned) != nullptr)
        return false;
    begin_tile(entry);
    tile_.left_out = feeds.count + (is_at_record ? 1 : 0) - (ends_record ? 1 : 0);
    tile_.left_out_end = window_.origin(end);
    return true;
}

// Return one past the line end of the record that is open at the tile's end; 0 if the window does not show it.
usize TileReader::last_dropped_end(usize owned) const {
    const u8* const text = window_.data();
    for (usize at = owned; at < window_.size(); ++at) {
        if (text[at] == '\n') return at + 1;
        if (text[at] != '\r') continue;
        if (at + 1 == window_.size()) return 0;
        return text[at + 1] == '\n' ? at + 2 : at + 1;
    }
    return 0;
}

// Index the tile. With lenient quotes, masks are right as long as no quote is malformed. At the first malformed quote
// the tile starts again, with marks at the quotes that open or close.
void TileReader::index_tile(u8 entry, usize owned, bool free_of_quotes) {
    if (scan_.dialect.looks_ahead() && scan_.dialect.plain) {
        if (!index_strictly(entry, owned, free_of_quotes)) index_marked(entry, owned);
        return;
    }
    begin_tile(entry);
    index_.free_of_quotes = free_of_quotes;
    index_range(0, owned, owned);
    index_to_end(owned);
}

void TileReader::index_marked(u8 entry, usize owned) {
    begin_tile(entry);
    marks_.begin(scan_.dialect.automaton, entry);
    marked_ = true;
    index_range(0, owned, owned);
    index_to_end(owned);
    const std::vector<u32>& strays = marks_.strays();
    reserve(strays.size());
    std::copy(strays.begin(), strays.end(), strays_.as<u32>());
    index_.stray_count = strays.size();
}

bool TileReader::index_strictly(u8 entry, usize owned, bool free_of_quotes) {
    constexpr usize STEP = usize{16} << 10;  // a text with one malformed quote usually has more
    begin_tile(entry);
    index_.free_of_quotes = free_of_quotes;
    for (usize from = 0; from == 0 || from < owned; from += STEP) {
        index_range(from, std::min(from + STEP, owned), owned);
        if (index_.stray_count != 0) return false;
    }
    return trusts_masks(owned) && index_to_end(owned);
}

// Return whether the masks' result up to `to` is right for lenient quotes: none is malformed, and an open field will be
// closed. A quote right before `to` closes its field only if a delimiter follows.
bool TileReader::trusts_masks(usize to) {
    if (!scan_.dialect.looks_ahead() || !scan_.dialect.plain || marked_) return true;
    if (index_.stray_count != 0) return false;
    if (to == 0) return true;  // a tile in the middle of a character
    const bool open = scan_.dialect.automaton.is_quoted(index_.state);
    if (window_.data()[to - 1] == scan_.dialect.quote) {
        return !open && scan_.quotes.delimiter_at({window_.data(), window_.size(), window_.at_end()}, to);
    }
    return !open || scan_.quotes.closes_behind(window_, to);
}

void TileReader::begin_tile(u8 entry) {
    index_ = TileIndex{};
    index_.state = entry;
    index_.look = look();
    marked_ = false;
    tile_ = Tile{};
    tile_.entry_state = entry;
}

// Index on to the end of the tile's last record. Return false if lenient quotes make the masks wrong.
bool TileReader::index_to_end(usize owned) {
    usize indexed = owned;
    for (usize step = 1024; !finished(); step *= 2) {
        if (indexed + step > window_.size()) window_.extend(indexed + step);
        if (indexed == window_.size()) {
            close_last_record();
            break;
        }
        const usize to = std::min(window_.size(), indexed + step);
        const u8* const text = window_.data();
        index_.free_of_quotes =
            scan_.dialect.quote >= 0 && std::memchr(text + indexed, scan_.dialect.quote, to - indexed) == nullptr;
        index_range(indexed, to, owned);
        if (!trusts_masks(to)) return false;
        indexed = to;
    }
    return true;
}

QuoteLook TileReader::look() { return scan_.dialect.looks_ahead() ? quotes_.look() : QuoteLook{}; }

void TileReader::present(std::uint64_t number) {
    const bool foreign = !scan_.dialect.automaton.is_idle(tile_.entry_state) && index_.record_count > 0;
    const u32 dropped = foreign ? (last_.as<u32>()[0] & RECORD_INDEX) + 1 : 0;
    tile_.number = number;
    tile_.window = &window_;
    tile_.text = window_.data();
    tile_.records = index_.start_count;
    tile_.ends = ends_.as<u32>() + dropped;
    tile_.starts = starts_.as<u32>();
    tile_.last = last_.as<u32>() + (foreign ? 1 : 0);
    if (dropped != 0) {
        for (usize i = 0; i < tile_.records; ++i) last_.as<u32>()[i + 1] -= dropped;
    }
    tile_.blank_lines = index_.blank_lines;
    tile_.has_quotes = index_.has_quotes;
    tile_.has_escapes = index_.has_escapes;
    tile_.has_strays = index_.stray_count != 0 || tile_.unfinished;
    tile_.has_high_bytes = index_.has_high_bytes;
}

std::vector<u32> TileReader::strays() const {
    std::vector<u32> found;
    if (tile_.records == 0 || !tile_.has_strays) return found;
    const u32 first = tile_.starts[0];
    const u32 end = tile_.ends[tile_.last[tile_.records - 1] & RECORD_INDEX];
    const u32* const all = strays_.as<u32>();
    std::copy_if(all, all + index_.stray_count, std::back_inserter(found),
                 [&](u32 at) { return first <= at && at <= end; });
    if (tile_.unfinished) found.push_back(static_cast<u32>(window_.size()));
    return found;
}

namespace {

void append_tile(const Tile& tile, const Dialect& dialect, const std::vector<u32>& strays, Structure& to) {
    usize field = 0;
    for (usize record = 0; record < tile.records; ++record) {
        const usize last = tile.last[record] & RECORD_INDEX;
        const bool blank = tile.last[record] & BLANK_RECORD;
        if (!blank) {
            to.record_starts.push_back(tile.origin(tile.starts[record]));
            to.field_counts.push_back(last - field + 1);
            to.comments.push_back(tile.last[record] & COMMENT_RECORD);
            for (usize f = field; f < last; ++f)
                to.field_ends.push_back(tile.origin(tile.ends[f] - (dialect.separator_length - 1)));
            to.field_ends.push_back(tile.origin(tile.ends[last] - (dialect.line_end_length - 1)));
        } else {
            ++to.blank_lines;
        }
        field = last + 1;
    }
    for (const u32 at : strays) to.strays.push_back(tile.origin(at));
    to.blank_lines += tile.blank_lines;
    to.unclosed_quote |= tile.unclosed_quote;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Structure find_structure(const Source& source, const Dialect& dialect, Isa isa, unsigned threads, usize tile_bytes) {
    TileScan scan(source, dialect, isa, 0, tile_bytes);
    std::vector<Structure> parts(scan.tile_count());
    run_gated({&scan.gate}, threads, [&](unsigned) {
        TileReader reader(scan);
        while (const Tile* tile = reader.next()) append_tile(*tile, dialect, reader.strays(), parts[tile->number]);
    });
    Structure whole;
    for (const Structure& part : parts) {
        append(whole.record_starts, part.record_starts);
        append(whole.field_counts, part.field_counts);
        append(whole.field_ends, part.field_ends);
        append(whole.strays, part.strays);
        append(whole.comments, part.comments);
        whole.blank_lines += part.blank_lines;
        whole.unclosed_quote |= part.unclosed_quote;
    }
    return whole;
}

}  // namespace headrace
