// Assigns hits in the joined bytes of a column to its rows. A binary search in the offsets finds the row of a hit, and
// one in the ascending positions finds the hits of a row.
//
// Example: rows "ab", "a", "ba" and the pattern "ab". The joined bytes "ababa" have hits at 0 and 2. Hit 2 begins in
// row 1, which ends at 3, so it crosses into row 2 and is left out. Row 0 has one hit, and the others have none.
//
// Bytes moved: per hit 12, and log2(rows) offsets; per row two offsets, 9 of the result, and log2(hits) positions.
#include "gpu/block/partition_point.cuh"
#include "gpu/block/warp.cuh"
#include "query/find/column/text_rows.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 counts_of_rows = 0, first_of_rows = 1;  // kinds of `summarise_rows`; 2: whether a row has a hit

HR_FN u64 item_index() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }

HR_FN bool is_valid(const u8* validity, u64 place) { return validity == nullptr || bit_at(validity, place); }

// Returns the row that has a byte of the joined text.
HR_FN u64 row_of(const TextRows& rows, u64 byte) {
    return tile::partition_point(0, rows.count - 1, [&](u64 row) { return text_begin(rows.texts, row + 1) <= byte; });
}

// Returns the number of positions below `limit`, of those from `low` up to `count`.
HR_FN u64 hits_below(const u64* positions, u64 low, u64 count, u64 limit) {
    return tile::partition_point(low, count, [&](u64 i) { return positions[i] < limit; });
}

// Writes where the text of the first row begins, and where that of the last one ends. One thread runs.
extern "C" __global__ void __launch_bounds__(threads) bound_rows(TextRows rows, u64* bounds) {
    bounds[0] = text_begin(rows.texts, 0);
    bounds[1] = text_begin(rows.texts, rows.count);
}

// Returns whether a hit lies within one row that is not null.
HR_FN bool is_whole_hit(const TextRows& rows, u64 position, u64 length) {
    const u64 byte = text_begin(rows.texts, 0) + position;
    const u64 row = row_of(rows, byte);
    return byte + length <= text_begin(rows.texts, row + 1) && is_valid(rows.validity, rows.texts.first + row);
}

// Writes for each hit whether it lies within one row. Positions count from the begin of row 0.
extern "C" __global__ void __launch_bounds__(threads)
    check_hits(TextRows rows, const u64* positions, u64 count, u64 length, u32* is_whole) {
    const u64 own = item_index();
    if (own >= count) return;
    is_whole[own] = is_whole_hit(rows, positions[own], length) ? 1 : 0;
}

// Copies the keys of hits of several patterns that lie within one row, in no order. `total` is 0 before.
extern "C" __global__ void __launch_bounds__(threads)
    keep_whole_hits(TextRows rows, const u64* keys, u64 count, u32 pattern_bits, const u32* lengths, u64* whole,
                    u64* total) {
    const u64 own = item_index();
    if (own >= count) return;
    const u64 key = keys[own], pattern = key & ((u64{1} << pattern_bits) - 1);
    if (is_whole_hit(rows, key >> pattern_bits, lengths[pattern])) whole[atomicAdd(total, u64{1})] = key;
}

// Writes the row of each hit and its offset in the row.
extern "C" __global__ void __launch_bounds__(threads)
    locate_hits(TextRows rows, const u64* positions, u64 count, u64* hit_rows, u64* offsets) {
    const u64 own = item_index();
    if (own >= count) return;
    const u64 byte = text_begin(rows.texts, 0) + positions[own];
    const u64 row = row_of(rows, byte);
    hit_rows[own] = row;
    offsets[own] = byte - text_begin(rows.texts, row);
}

// Writes a value and a bit of validity for each row, and adds the number of valid rows to `valid_count`. Of kind
// `first_of_rows` a row without a hit is null.
extern "C" __global__ void __launch_bounds__(threads)
    summarise_rows(TextRows texts, RowCodes rows, const u64* positions, u64 count, u32 kind, void* values,
                   u32* validity, u64* valid_count) {
    const u64 row = item_index();
    bool is_there = row < rows.count && is_valid(rows.validity, rows.first + row);
    const u64 text = is_there && rows.codes != nullptr ? static_cast<u64>(rows.codes[rows.first + row]) : row;
    is_there = is_there && is_valid(texts.validity, texts.texts.first + text);
    bool has_hit = false;
    u64 value = 0;
    if (is_there && count != 0) {
        const u64 base = text_begin(texts.texts, 0);
        const u64 begin = text_begin(texts.texts, text) - base, end = text_begin(texts.texts, text + 1) - base;
        const u64 first = hits_below(positions, 0, count, begin);
        has_hit = first < count && positions[first] < end;
        if (has_hit) {
            value =
                kind == counts_of_rows ? hits_below(positions, first, count, end) - first : positions[first] - begin;
        }
    }
    const u32 hits = __ballot_sync(tile::all_lanes, has_hit);
    const u32 valid = __ballot_sync(tile::all_lanes, kind == first_of_rows ? has_hit : is_there);
    if (row < rows.count && kind <= first_of_rows) static_cast<u64*>(values)[row] = value;
    if (tile::lane() != 0 || row >= rows.count) return;
    if (kind > first_of_rows) static_cast<u32*>(values)[row / 32] = hits;
    validity[row / 32] = valid;
    if (valid != 0) atomicAdd(valid_count, static_cast<u64>(__popc(valid)));
}
