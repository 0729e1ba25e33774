// A stream of Arrow batches as delimited text. Pieces of rows are formatted by several threads at once; each piece
// learns its place in the text when it is its turn (OrderedGate) and is handed over there, so that the text never
// depends on threads. Memory: one piece's text per thread.
#pragma once

#include <functional>
#include <mutex>
#include <optional>

#include "core/cpu/ordered_gate.hpp"
#include "export/text/rows_text.hpp"

namespace headrace {

// The system refused to write.
struct WriteFailure {
    int code;  // errno
};

// Rows [begin, end) of a batch.
struct Piece {
    u64 number = 0;
    std::shared_ptr<const Batch> batch;
    i64 begin = 0;
    i64 end = 0;
    i64 first = 0;  // the table's row that is the batch's first
};

struct TextBlock {
    std::unique_ptr<u8[]> bytes;
    usize size = 0;
};

class CsvWriter {
public:
    CsvWriter(ArrowArrayStream* stream, TextOptions options);

    // Everything to an open file, from its start. `interrupted` is called now and then on the calling thread and may
    // throw.
    void write_to_file(int descriptor, unsigned threads, const std::function<void()>& interrupted);

    // Everything as blocks of text, in order.
    std::vector<TextBlock> all_blocks(unsigned threads, const std::function<void()>& interrupted);

    // The next few blocks, one for each thread; none at the end.
    std::vector<TextBlock> next_blocks(unsigned threads);

private:
    using Put = std::function<void(u64 number, u64 offset, RowsText& text)>;

    void run(unsigned threads, const std::function<void()>& interrupted, const Put& put);
    bool write_next(RowsText& text, OrderedGate& gate, u64& total, const Put& put);
    std::optional<Piece> take();
    void format(const Piece& piece, RowsText& text) const;
    void learn(const Piece& piece, usize bytes);

    ImportedStream stream_;
    TextPlan plan_;
    std::mutex mutex_;  // guards what follows
    Piece rest_;        // of the batch that is being handed out
    u64 next_number_ = 0;
    bool ended_ = false;
    double bytes_per_row_;
};

}  // namespace headrace
