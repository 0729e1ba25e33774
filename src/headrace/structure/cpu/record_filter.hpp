// Declares the choice of records by their bytes, before fields are converted. It is made by later stages.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "structure/cpu/find.hpp"

namespace headrace {

// Records of a tile, in order. Positions count from the tile's first byte.
struct RecordList {
    const u8* text;
    const u32* starts;
    const u32* last;  // for each record, the index in `ends` of its last end, and marks
    const u32* ends;
    usize count;
    u32 line_end_length;

    u64 begin(usize record) const { return starts[record]; }
    // The end of the record's bytes, without its line end.
    u64 end(usize record) const { return ends[last[record] & RECORD_INDEX] - (line_end_length - 1); }
};

// Safe from several threads.
class RecordFilter {
public:
    virtual ~RecordFilter() = default;

    // Set the flag of each record that stays. All flags are 0 before.
    virtual void choose(const RecordList& records, std::vector<u8>& stays) const = 0;

    // Return whether no record in these bytes can stay, wherever records begin.
    virtual bool drops_all(const u8* text, u64 size) const = 0;
};

// A tile whose records were all left out.
struct DroppedTile {
    u64 bytes;
    u64 records;  // that begin in the tile
    u64 end;      // of the last of them and its line end, from the tile's first byte on
    u8 exit;      // state of the automaton after the tile
};

// Such tiles of a text, for the next passes over it. Safe from several threads.
class DroppedTiles {
public:
    // `file`, `begin`: index of the text, and the tile's first byte in it.
    std::optional<DroppedTile> find(u32 file, u64 begin) const {
        const std::lock_guard lock(mutex_);
        const auto found = tiles_.find({file, begin});
        return found == tiles_.end() ? std::nullopt : std::optional(found->second);
    }
    void add(u32 file, u64 begin, const DroppedTile& tile) {
        const std::lock_guard lock(mutex_);
        tiles_.insert_or_assign({file, begin}, tile);
    }

private:
    mutable std::mutex mutex_;
    std::map<std::pair<u32, u64>, DroppedTile> tiles_;
};

// A choice of records in one text. Pointers are null for none.
struct FilteredText {
    const RecordFilter* filter = nullptr;
    DroppedTiles* dropped = nullptr;
    u32 file = 0;
    u64 bytes_before = 0;  // bytes of the text before the source
    u64 data_begin = 0;    // records that begin before this byte of the source are not left out
};

}  // namespace headrace
