// Declares the work of one thread in a pass of a load.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "columns/load/load_pass.hpp"
#include "columns/load/tile_column.hpp"
#include "columns/load/tile_faults.hpp"
#include "columns/plan/field_rules.hpp"
#include "core/cpu/block_cache.hpp"

namespace headrace {

// The first field of a kind in a column of a tile, if the column's guess does not cover that kind.
struct KindSeen {
    usize column;
    u8 kind;         // or UNFIT
    u32 record, at;  // in the tile
    std::string text;
};

class TileWorker {
public:
    explicit TileWorker(LoadPass& pass);
    // Work until no tile is left. `polls`: this is the calling thread, which reports progress.
    void run(bool polls);

private:
    void work(const Tile& tile);
    void leave_out();
    void choose_rows();
    void prepare(const TileRows& rows);
    usize text_capacity(const TileRows& rows) const;
    ColumnJob job_for(const TileRows& rows, TileColumn& part);
    static ColumnCounts fill_with_nulls(const TileRows& rows, TileColumn& part, u32* string_ends);
    void convert_strings(const TileRows& rows);
    template <class Use>
    void use_value_memory(const TileRows& rows, const Use& use);
    void convert_removable(const TileRows& rows);
    void move_to_memory();
    bool convert_values(const TileRows& rows, TileColumn& part, std::byte* values, usize row_base);
    void find_rejected();
    usize removed_string_bytes(const TileColumn& part) const;
    void reserve_rows();
    void reserve_strings(TileColumn& part);
    void store(const TileRows& rows, TileColumn& part);
    void store_texts(TileColumn& part, LoadedColumn& column);
    void store_spans(const TileRows& rows);
    void report();
    void report_faults();
    bool has_valid_text(const TileRows& rows) const;
    bool is_string_job(const TileColumn& part) const;
    bool has_views(const TileColumn& part) const;
    bool has_long_texts(const TileRows& rows) const;
    TextCoding coding(const TileColumn& part) const;
    void decide_coding(TileColumn& part);
    StoredRows stored_rows() const { return {rows_->rows, faults_.removed(), faults_.removed_rows(), row_base_}; }
    void report_coded();
    bool may_remove_rows() const;
    bool expects_place() const;
    bool chooses_rows() const { return pass_.run_.chosen.has_value(); }

    static void on_fault(void* self, usize row, Fault fault, u32 at);
    static void on_kind(void* self, usize row, u8 kind, u32 at);

    LoadPass& pass_;
    const ConvertKernels& kernels_;
    TileReader reader_;
    TileRowsFinder finder_;
    PlanRules rules_;
    WorkMemory string_bytes_, string_ends_, unquoted_, number_, values_;
    std::vector<TileColumn> parts_;    // one for each wanted column
    std::unique_ptr<FewTexts> known_;  // if some column may have codes
    TileFaults faults_;
    std::vector<RejectedRecords> rejected_, left_out_;  // of the tiles of this worker
    std::vector<KindSeen> kinds_;
    const Tile* tile_ = nullptr;
    const TileRows* rows_ = nullptr;
    usize column_ = 0;  // being converted
    u64 row_base_ = 0, record_base_ = 0;
    bool is_in_place_ = false;  // values are in the result, as if no row of this and the earlier tiles was removed
    bool is_valid_ = false;     // no field of the tile has invalid UTF-8, or that is not known
    u64 kinds_seen_ = 0;        // bit k: kind k was seen in the tile's column being converted
};

}  // namespace headrace
