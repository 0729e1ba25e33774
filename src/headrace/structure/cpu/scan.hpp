// Finds the structure of a whole source tile by tile on several threads. Each thread summarizes its tile from every
// state and composes the map at the tile's turn (OrderedGate). This gives the tile its start state and the next tile
// its own. The thread then indexes the tile. Only the composition is sequential: one table lookup a tile (ParPaRaw,
// section 3.1).
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/cpu/isa.hpp"
#include "core/cpu/threads/ordered_gate.hpp"
#include "sources/window.hpp"
#include "structure/cpu/find.hpp"
#include "structure/cpu/lenient.hpp"
#include "structure/cpu/record_filter.hpp"

namespace headrace {

const FindKernels& find_kernels(Isa isa);

// Return whether each line that is not blank is a record, in a text without quotes.
bool has_line_records(const Dialect& dialect);

// Records that a tile owns. `starts` and `last` have `records` items; positions count from the tile's first byte.
struct Tile {
    std::uint64_t number = 0;
    const Window* window = nullptr;
    const u8* text = nullptr;
    const u32* ends = nullptr;
    const u32* starts = nullptr;
    const u32* last = nullptr;  // for each record, the index in `ends` of its last end, and marks
    usize records = 0;
    u64 blank_lines = 0;
    u64 left_out = 0;      // data records of a tile that has no others, and whose records are not indexed
    u64 left_out_end = 0;  // position in the source after the last of these and its line end
    u8 entry_state = 0;
    bool has_quotes = false;
    bool has_escapes = false;
    bool has_strays = false;
    bool has_high_bytes = false;
    bool is_cut = false;          // the input ends before the last record's line end
    bool unclosed_quote = false;  // the input ends inside the last record's quotes
    bool unfinished = false;      // the input ends within a delimiter that follows closing quotes

    // Position in the source after the last record and its line end.
    std::uint64_t end() const {
        const usize after_last = usize{ends[last[records - 1] & RECORD_INDEX]} + 1;
        return origin(after_last < window->size() ? after_last : window->size());
    }

    // Position in the source of a position in the tile.
    std::uint64_t origin(usize at) const { return window->origin(at); }
};

// Part of a source: the records that begin in [begin, stop), read to their ends. Before `begin` the automaton is in
// `state`, which may lie inside a record of an earlier part.
struct TilePart {
    std::uint64_t begin = 0;
    std::uint64_t stop = ~std::uint64_t{0};
    u8 state = 0;
};

// State shared by the tiles of one pass.
struct TileScan {
    TileScan(const Source& source, const Dialect& dialect, Isa isa, TilePart part, usize tile_bytes);
    TileScan(const Source& source, const Dialect& dialect, Isa isa, std::uint64_t begin, usize tile_bytes)
        : TileScan(source, dialect, isa, TilePart{begin}, tile_bytes) {}
    std::uint64_t tile_count() const;

    const Source& source;
    const Dialect& dialect;
    const FindKernels& kernels;
    const std::uint64_t begin, stop;
    const usize tile_bytes;
    std::atomic<std::uint64_t> next_tile{0};
    OrderedGate gate;
    u8 state = 0;  // before the tile whose turn it is
    QuoteRuns quotes;
    FilteredText filtered;  // tiles whose records it leaves out need no index
};

// Takes tiles in order and finds their records; one a worker thread. Its buffers are reused for each tile.
class TileReader {
public:
    explicit TileReader(TileScan& scan)
        : scan_(scan), window_(scan.source), quotes_{scan.quotes, window_}, marks_(scan.quotes) {}

    // Return the next tile that no reader has taken, or nullptr after the last. It is valid until the next call.
    const Tile* next();

    // Return the positions of malformed quotes in the tile's records, ascending.
    std::vector<u32> strays() const;

private:
    void reserve(usize bytes);
    bool take_dropped(std::uint64_t number, std::uint64_t begin, usize bytes);
    bool drops_all(std::uint64_t number, usize owned) const;
    bool count_dropped(u8 entry, usize owned);
    usize last_dropped_end(usize owned) const;
    void begin_tile(u8 entry);
    void index_tile(u8 entry, usize owned, bool free_of_quotes);
    void index_marked(u8 entry, usize owned);
    bool index_strictly(u8 entry, usize owned, bool free_of_quotes);
    bool index_to_end(usize owned);
    void index_range(usize from, usize to, usize owned);
    bool trusts_masks(usize to);
    QuoteLook look();
    void close_last_record();
    void present(std::uint64_t number);
    bool finished() const;

    TileScan& scan_;
    Window window_;
    WindowQuotes quotes_;
    WorkMemory ends_, starts_, last_, strays_;  // u32 each
    usize capacity_ = 0;                        // of each
    TileIndex index_{};
    LenientMarks marks_;
    bool marked_ = false;  // the tile has malformed quotes, so `marks_` is used
    Tile tile_;
};

// Structure of a text as absolute positions, for tests and for callers that need no columns.
struct Structure {
    std::vector<std::uint64_t> record_starts;
    std::vector<std::uint64_t> field_counts;
    std::vector<std::uint64_t> field_ends;  // ends of the fields' bytes, without separators and line ends
    std::vector<std::uint64_t> strays;
    std::vector<bool> comments;
    std::uint64_t blank_lines = 0;
    bool unclosed_quote = false;
};

Structure find_structure(const Source& source, const Dialect& dialect, Isa isa, unsigned threads, usize tile_bytes);

}  // namespace headrace
