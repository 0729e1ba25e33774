// Reads records with listed faults again, by the rules of the loader. Their texts are adjacent in a buffer, and all
// records of a buffer are read as one tile.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "columns/plan/load_plan.hpp"
#include "columns/records/tile_rows.hpp"
#include "sources/source.hpp"
#include "structure/cpu/scan.hpp"

namespace headrace {

// Texts of records, each with its line end. Text i ends at ends[i], where the next one begins. A record whose text is
// empty is not there: it is very long, or the last one of a text without a last line end.
struct RecordTexts {
    std::span<const u8> bytes;
    std::span<const u64> ends;

    u64 begin(usize record) const { return record == 0 ? 0 : ends[record - 1]; }
    usize size(usize record) const { return ends[record] - begin(record); }
    std::span<const u8> text(usize record) const { return bytes.subspan(begin(record), size(record)); }
};

// One record of a tile.
struct RecordView {
    const Tile& tile;
    const TileRowsFinder& rows;
    usize number;                       // index in the tile
    usize row;                          // index among the tile's rows, if the record is one
    std::span<const TileFault> faults;  // of the record
    u64 begin;                          // byte of the source

    bool is_rejected() const;
    usize fields() const;
    // Return the byte of the source at a position in the tile.
    u64 origin(u32 at) const { return begin + at - tile.starts[number]; }
};

// Some bytes in memory, as if they were the end of a source.
class BytesAt final : public Source {
public:
    void show(u64 begin, std::span<const u8> bytes) {
        begin_ = begin;
        bytes_ = bytes.data();
        size_ = begin + bytes.size();
    }
    void read(std::uint64_t offset, std::size_t n, std::uint8_t* to) const override {
        std::copy_n(bytes_ + (offset - begin_), n, to);
    }

private:
    u64 begin_ = 0;
    const u8* bytes_ = nullptr;
};

// Reads records in turn. `source`: the whole text.
class RecordReader {
public:
    RecordReader(const Source& source, const Dialect& dialect, const LoadPlan& plan);

    // Read records [from, to), all of which have texts. `begin`: the byte of the source at which the first one begins.
    void read(const RecordTexts& texts, usize from, usize to, u64 begin);

    // Read the record that begins at byte `begin` of the source.
    void read(u64 begin);

    // Return record `number` of those that are read, which is after all records that were returned. `begin`: its first
    // byte in the source.
    RecordView record(usize number, u64 begin);

    const TileRows& rows() const { return *rows_; }

private:
    void read_tile(const Source& source, u64 begin, usize bytes);

    const Source& source_;
    const Dialect& dialect_;
    const LoadPlan& plan_;
    const std::string between_;  // a record that separates two others
    TileRowsFinder finder_;
    std::vector<u8> text_;
    BytesAt bytes_;
    std::optional<TileScan> scan_;
    std::optional<TileReader> reader_;
    const Tile* tile_ = nullptr;
    const TileRows* rows_ = nullptr;
    usize records_apart_ = 1, next_row_ = 0, next_fault_ = 0;
};

}  // namespace headrace
