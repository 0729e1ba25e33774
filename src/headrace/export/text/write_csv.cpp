#include "export/text/write_csv.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include "core/cpu/threads/thread_pool.hpp"

namespace headrace {
namespace {

constexpr double PIECE_BYTES = 1 << 19;

void write_whole(int descriptor, const u8* p, usize n, u64 offset) {
    while (n > 0) {
        const ssize_t written = pwrite(descriptor, p, n, static_cast<off_t>(offset));
        if (written < 0) {
            if (errno == EINTR) continue;
            throw WriteFailure{errno};
        }
        p += written;
        n -= static_cast<usize>(written);
        offset += static_cast<u64>(written);
    }
}

}  // namespace

CsvWriter::CsvWriter(ArrowArrayStream* stream, TextOptions options)
    : stream_(stream),
      plan_(std::move(options), stream_.format()),
      bytes_per_row_(16.0 * static_cast<double>(std::max<usize>(1, plan_.columns.size()))) {}

// Returns the next piece, none at the end. The first piece includes the header, so a table without rows has a piece
// too.
std::optional<RowsPiece> CsvWriter::take() {
    const std::lock_guard lock(mutex_);
    while (!ended_ && (rest_.batch == nullptr || rest_.begin == rest_.end)) {
        const i64 first = rest_.first + (rest_.batch != nullptr ? rest_.batch->rows : 0);
        auto batch = stream_.next();
        ended_ = batch == nullptr;
        const i64 rows = ended_ ? 0 : batch->rows;
        rest_ = RowsPiece{0, std::move(batch), 0, rows, first};
    }
    if (ended_ && next_number_ > 0) return std::nullopt;
    const i64 rows = std::max<i64>(1, static_cast<i64>(PIECE_BYTES / bytes_per_row_));
    RowsPiece piece = rest_;
    piece.number = next_number_++;
    piece.end = std::min(piece.end, piece.begin + rows);
    rest_.begin = piece.end;
    return piece;
}

void CsvWriter::format(const RowsPiece& piece, RowsText& text) const {
    text.clear();
    if (plan_.columns.empty()) return;
    if (piece.number == 0 && plan_.options.header) text.add_header();
    if (piece.batch != nullptr) text.add_rows(*piece.batch, piece.begin, piece.end, piece.first);
}

void CsvWriter::learn(const RowsPiece& piece, usize bytes) {
    if (piece.end == piece.begin) return;
    const std::lock_guard lock(mutex_);
    bytes_per_row_ = std::max(1.0, static_cast<double>(bytes) / static_cast<double>(piece.end - piece.begin));
}

// Writes the next piece; returns false at the end. A piece that fails waits for its turn too, so that the first of
// several faults is reported.
bool CsvWriter::write_next(RowsText& text, OrderedGate& gate, u64& total, const Put& put) {
    const std::optional<RowsPiece> piece = take();
    if (!piece) return false;
    std::exception_ptr fault;
    try {
        format(*piece, text);
    } catch (...) {
        fault = std::current_exception();
    }
    gate.enter(piece->number);
    if (fault) std::rethrow_exception(fault);
    const u64 offset = total;
    total += text.size();
    gate.leave();
    learn(*piece, text.size());
    put(piece->number, offset, text);
    return true;
}

void CsvWriter::run(unsigned threads, const std::function<void()>& interrupted, const Put& put) {
    OrderedGate gate;
    u64 total = 0;
    run_gated({&gate}, threads, [&](unsigned worker) {
        RowsText text(plan_);
        while (write_next(text, gate, total, put)) {
            if (worker == 0) interrupted();
        }
    });
}

void CsvWriter::write_to_file(int descriptor, unsigned threads, const std::function<void()>& interrupted) {
    run(threads, interrupted,
        [&](u64, u64 offset, RowsText& text) { write_whole(descriptor, text.data(), text.size(), offset); });
}

std::vector<TextBlock> CsvWriter::all_blocks(unsigned threads, const std::function<void()>& interrupted) {
    std::vector<TextBlock> blocks;
    std::mutex mutex;
    run(threads, interrupted, [&](u64 number, u64, RowsText& text) {
        const usize size = text.size();
        TextBlock block{text.release(), size};
        const std::lock_guard lock(mutex);
        if (blocks.size() <= number) blocks.resize(number + 1);
        blocks[number] = std::move(block);
    });
    return blocks;
}

std::vector<TextBlock> CsvWriter::next_blocks(unsigned threads) {
    std::vector<RowsPiece> pieces;
    while (pieces.size() < threads) {
        std::optional<RowsPiece> piece = take();
        if (!piece) break;
        pieces.push_back(std::move(*piece));
    }
    std::vector<TextBlock> blocks(pieces.size());
    if (pieces.empty()) return blocks;
    run_parallel(static_cast<unsigned>(pieces.size()), [&](unsigned worker) {
        RowsText text(plan_);
        format(pieces[worker], text);
        learn(pieces[worker], text.size());
        const usize size = text.size();
        blocks[worker] = TextBlock{text.release(), size};
    });
    return blocks;
}

}  // namespace headrace
