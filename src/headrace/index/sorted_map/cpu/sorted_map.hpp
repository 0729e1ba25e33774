// Updates and searches the levels of a sorted map in host memory, on several threads.
#pragma once
#include <functional>

#include "index/sorted_map/level.hpp"

namespace headrace {

// Keys as a caller has them.
struct MapKeys {
    const void* keys;
    u64 count;
    unsigned width;    // 4 or 8 bytes
    const void* rule;  // a KeyRule of that width
};

// A level that is written.
struct NewLevel {
    void* codes;
    void* values;
    u8* tombstones;  // null if no item is a tombstone
};

// A batch as a caller has it.
struct MapBatch {
    MapKeys keys;
    const void* values;  // null for tombstones alone, and for keys alone
    const u8* deletes;   // null if there are pairs only, and for deletes alone
    unsigned value_width;
    unsigned mixed;  // number of the batch in statuses (level.hpp); of no meaning without `deletes`
};

// Writes the codes, values and statuses of a batch in reversed order, so that a stable sort has the last of equal keys
// first.
void reverse_batch(const MapBatch& batch, const NewLevel& to, unsigned threads);

// Sorts a small batch of pairs, and merges it with older levels, which may be none.
void merge_small_batch(const MapBatch& batch, const MapLevels& older, const NewLevel& to, unsigned threads);

// Marks the items that deletes make tombstones; the tombstones of `sorted` are statuses. `tombstones` is zero before.
void mark_deleted(const MapLevel& sorted, unsigned code_width, u8* tombstones, unsigned threads);

// Merges levels into one, stably, newer items first. Bytes moved per item of width w: 2 w.
void merge_levels(const MapLevels& levels, unsigned code_width, const NewLevel& to, unsigned threads);

// Writes the visible pairs of a level, without the other levels. `allocate` gets their number.
void compact_level(const MapLevel& level, unsigned code_width, unsigned value_width,
                   const std::function<NewLevel(u64)>& allocate, unsigned threads);

// Writes value and presence of each key; the value of an absent key is 0.
void find_in_levels(const MapLevels& levels, const MapKeys& keys, void* values, u8* is_present, unsigned threads);

// Ranges of keys from a low one to a high one, both included.
struct MapRanges {
    MapKeys lows;
    const void* highs;
};

// Writes the number of visible pairs of each range. Returns false, with other numbers, if the walks through levels that
// are not clean visit more than `limit` codes.
bool count_ranges(const MapLevels& levels, const MapRanges& ranges, i64* counts, u64 limit, unsigned threads);

// Writes keys, values and offsets of ranges of levels that are not clean, in one walk. `allocate` gets the number of
// items. Returns false, with other offsets, if ranges are not short.
bool copy_short_ranges(const MapLevels& levels, const MapRanges& ranges, i64* offsets,
                       const std::function<NewLevel(u64)>& allocate, unsigned threads);

// Writes the keys and values of each range, range i from offsets[i] on.
void copy_ranges(const MapLevels& levels, const MapRanges& ranges, const i64* offsets, const NewLevel& to,
                 unsigned threads);

// Writes the neighbour of each key, its value, and whether there is one; zeros if not.
void find_neighbours(const MapLevels& levels, const MapKeys& keys, const NeighbourOptions& options, const NewLevel& to,
                     u8* is_present, unsigned threads);

void keys_of_codes(const MapKeys& codes, void* keys, unsigned threads);

}  // namespace headrace
