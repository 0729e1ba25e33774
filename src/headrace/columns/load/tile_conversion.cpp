// Converts the columns of a worker's tile, before the tile has a place in the result.
#include <algorithm>
#include <cstring>

#include "columns/buffers/text_views.hpp"
#include "columns/load/shared_load.hpp"
#include "columns/load/tile_worker.hpp"

namespace headrace {
namespace {

// The buffer for strings grows by a quarter more than a tile needs, so that it seldom grows again. For one very long
// text the spare is limited.
constexpr usize MAX_SPARE_BYTES = usize{4} << 20;

// A part of the memory for values begins at a multiple of these bytes.
constexpr usize ALIGNMENT = 64;

}  // namespace

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

}  // namespace headrace
