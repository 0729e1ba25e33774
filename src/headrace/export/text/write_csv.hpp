// Writes a stream of Arrow batches as delimited text. Several threads format pieces of rows at once. A piece gets its
// offset in the text when it is its turn (OrderedGate), so the text does not depend on threads. Memory: the text of one
// piece a thread.
#pragma once

#include <functional>
#include <mutex>
#include <optional>

#include "core/cpu/threads/ordered_gate.hpp"
#include "export/text/rows_text.hpp"

namespace headrace {

// A write to the file failed.
struct WriteFailure {
    int code;  // errno
};

// Rows [begin, end) of a batch, formatted by one thread.
struct RowsPiece {
    u64 number = 0;
    std::shared_ptr<const Batch> batch;
    i64 begin = 0;
    i64 end = 0;
    i64 first = 0;  // the table's number of the batch's first row
};

struct TextBlock {
    std::unique_ptr<u8[]> bytes;
    usize size = 0;
};

class CsvWriter {
public:
    CsvWriter(ArrowArrayStream* stream, TextOptions options);

    // Writes all text to an open file, from its start. `interrupted` is called between pieces on the calling thread and
    // may throw.
    void write_to_file(int descriptor, unsigned threads, const std::function<void()>& interrupted);

    // Returns all text as blocks, in order.
    std::vector<TextBlock> all_blocks(unsigned threads, const std::function<void()>& interrupted);

    // Returns the next blocks, one a thread; none at the end.
    std::vector<TextBlock> next_blocks(unsigned threads);

private:
    using Put = std::function<void(u64 number, u64 offset, RowsText& text)>;

    void run(unsigned threads, const std::function<void()>& interrupted, const Put& put);
    bool write_next(RowsText& text, OrderedGate& gate, u64& total, const Put& put);
    std::optional<RowsPiece> take();
    void format(const RowsPiece& piece, RowsText& text) const;
    void learn(const RowsPiece& piece, usize bytes);

    ImportedStream stream_;
    TextPlan plan_;
    std::mutex mutex_;  // protects the members below
    RowsPiece rest_;    // rows of the current batch not yet taken
    u64 next_number_ = 0;
    bool ended_ = false;
    double bytes_per_row_;
};

}  // namespace headrace
