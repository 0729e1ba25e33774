// Runs one pass of a load: finds the rows of every tile and converts the wanted columns.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "columns/convert/cpu/convert.hpp"
#include "columns/faults/fault_collector.hpp"
#include "columns/infer/infer.hpp"
#include "columns/load/load.hpp"
#include "columns/load/tile_column.hpp"
#include "columns/records/tile_rows.hpp"
#include "structure/cpu/scan.hpp"

namespace headrace {

// The parameters of a load.
struct LoadInput {
    const Source& source;
    const Dialect& dialect;
    const LoadPlan& plan;
    const LoadRun& run;
};

// The type that a column is converted as during a pass.
struct Guess {
    ColumnType type;
    Kind kind;
    bool inferred;
    bool wanted;                  // in the next pass
    bool classified = false;      // a pass has recorded the kind of every field that the guess does not cover
    bool is_text_column = false;  // no values; its empty fields are text
    bool converted = false;
};

// The results that all passes of a load have in common.
struct PassResults {
    KindLedger& ledger;
    FaultCollector& faults;
    LoadResult& result;
};

constexpr std::uint64_t EVERY_TILE = ~std::uint64_t{0};

class LoadPass {
public:
    // `input` is copied; the objects that it refers to must outlive the pass.
    LoadPass(const LoadInput& input, const std::vector<Guess>& guesses, const PassResults& results);

    // Convert the wanted columns of all tiles up to `last` into the result.
    void run(std::uint64_t last);

    // Convert all columns again, without the rows of records that any pass has rejected.
    void run_again();

    // Return whether this pass rejected records that are rows of columns converted by earlier passes.
    bool rejects_late() const { return rejects_late_.load(); }

    // Record only the kinds of the wanted inferred columns, in the first `bytes` of text.
    void classify_only(usize bytes);

    bool wants_any() const { return !wanted_.empty(); }

    // Return the first tile with a fault whose outcome is `raise`: the pass ended there. EVERY_TILE if there is none.
    std::uint64_t stopped_at() const { return stopped_at_.load(); }

private:
    friend class TileWorker;
    enum class Mode { classify, measure, convert };

    void run_tiles(Mode mode, unsigned threads, std::uint64_t tiles);
    void report_progress() const;
    void allocate(bool exact);
    void ensure_rows(usize counted, std::uint64_t tile);
    bool wants_exact() const;
    bool is_part() const { return plan_.stop < source_.size(); }
    std::uint64_t span() const;
    usize max_rows() const;
    usize text_bound() const;
    usize max_text(usize bytes) const;
    usize text_capacity(const ColumnType& type) const;
    bool may_have_codes(usize c) const;
    void finish_codes(usize c);
    void note_end(const Tile& tile);
    void check_text(usize c) const;
    bool first_pass() const { return result_.passes == 0; }
    const std::vector<u64>* rejected_before(std::uint64_t tile) const;
    void add_rejected(std::vector<RejectedRecords> rejected, std::vector<RejectedRecords> left_out);

    const Source& source_;
    const Dialect& dialect_;
    const LoadPlan& plan_;
    const LoadRun& run_;
    const std::vector<Guess>& guesses_;
    KindLedger& ledger_;
    FaultCollector& faults_;
    LoadResult& result_;
    std::vector<usize> wanted_;      // columns
    std::vector<u64> string_bytes_;  // per column, of the tiles that have their place in the result
    LoadCounts counts_;
    usize max_rows_ = 0, ensured_rows_ = 0;  // rows that the buffers may grow to, and those they have memory for
    std::vector<Region> null_bits_;          // per column, bit 1: null
    std::vector<std::atomic<u64>>
        doomed_;                    // per column, the first tile with text: kinds in later tiles do not change the type
    std::vector<TextCodes> codes_;  // per column
    std::atomic<std::uint64_t> stopped_at_{EVERY_TILE};
    std::atomic<bool> rejects_late_{false};
    std::atomic<bool> removes_rows_{false};
    usize row_bound_ = 0;    // rows of the tiles that have an expected place, if rows may be removed
    u64 records_ahead_ = 0;  // records of the tiles that have chosen their rows
    bool lists_faults_ = true;
    std::vector<RejectedRecords> rejected_;  // by this pass and earlier ones
    std::vector<RejectedRecords> left_out_;  // if rows are numbered
    std::mutex results_mutex_;
    std::mutex end_mutex_;
    StageSeconds seconds_;

    TileScan* scan_ = nullptr;
    OrderedGate* bases_ = nullptr;   // of tiles that get their expected place, if rows may be removed or are chosen
    OrderedGate* places_ = nullptr;  // of tiles that get their place
    Mode mode_ = Mode::convert;
    std::uint64_t tiles_ = 0;
};

}  // namespace headrace
