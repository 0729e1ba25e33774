// A tile's text in shared memory and where its records begin, for the conversion by rows (convert_rows.cu).
//
// The search for structure has told how many records end in the tile. If as many line ends are in its text, each ends a
// record, and no more need be asked: a tile with blank lines, lone carriage returns or line ends inside quotes has
// others. Bytes moved: those of the text, once, and HR_HEAD more a tile.
#pragma once

#include "columns/digits.cuh"
#include "columns/row_task.hpp"
#include "core/tile/block.cuh"
#include "structure/tile_text.cuh"

namespace headrace {

constexpr u32 threads = HR_THREADS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 per_lane = HR_RECORDS;               // records that a lane reads side by side
constexpr u32 per_warp = per_lane * tile::lanes;   // and a warp
constexpr u32 per_round = per_lane * threads;      // and a block
constexpr u32 tile_bytes = HR_TILE;
constexpr u32 head_bytes = HR_HEAD;  // of the text before the tile: of the record that is open there
constexpr u32 staged_bytes = head_bytes + tile_bytes;
constexpr u32 most_records = tile_bytes / 8;
constexpr u32 words_per_thread = tile_bytes / 32 / threads;  // of bits
constexpr i64 window_reach = 16;  // bytes before a field that are read with it
constexpr u32 pad_vectors = 3;  // what windows reach behind the tile
constexpr u32 stream_bytes = 1024;
// Strings that began further before the tile are copied by several (tile_strings.cuh).
constexpr u32 string_head = 64;
static_assert(tile_bytes % (32 * threads) == 0 && head_bytes >= string_head && staged_bytes < 0xFF00);

struct RowMemory {
    uint4 text[staged_bytes / 16 + pad_vectors];
    u32 lines[tile_bytes / 32];    // bits of the tile's bytes that are line ends
    u16 starts[most_records + 2];  // of records, and one more: behind the last one's end
    u32 totals[warps];
    u32 sums[MOST_ROW_STRINGS];  // of strings: bytes that the tile owns, or of its first row's that others do
};

// Behind it, where strings are written; `places` for as many columns as there are.
struct RowStrings {
    u64 bases[warps][MOST_ROW_STRINGS];     // where the strings of the rows at hand begin; each warp has its own
    u32 added[2][MOST_ROW_STRINGS][warps * per_lane];  // bytes of 32 rows, of this round and of the one before
    alignas(8) u8 streams[warps][stream_bytes + 4];
    u32 places[MOST_ROW_STRINGS][per_round];  // of a row's string: its begin, and bytes of the 32 rows' up to its end
};
static_assert(sizeof(RowMemory) % 4 == 0);
HR_FN RowStrings& strings_behind(RowMemory& memory) {
    constexpr usize at = (sizeof(RowMemory) + 15) / 16 * 16;
    return *reinterpret_cast<RowStrings*>(reinterpret_cast<u8*>(&memory) + at);
}

// Bits of `seen`.
enum SeenFlag : u32 { SEEN_HIGH = 1, SEEN_QUOTE = 2, SEEN_RETURN = 4 };

// What every thread knows of the tile.
struct RowTile {
    TileEntry entry, next;
    i64 origin;  // staged byte s is the text's byte s + origin
    u32 begin;   // staged bytes of the tile that are text
    u32 end;
    u32 records;  // that end in it
    u32 seen;
};

// Of a staged byte, in the text.
HR_FN u64 tile_position(const RowTile& tile, u32 staged) { return static_cast<u64>(tile.origin + staged); }

HR_FN const u32* staged_words(const RowMemory& memory) { return reinterpret_cast<const u32*>(memory.text); }
HR_FN const u8* staged_bytes_of(const RowMemory& memory) { return reinterpret_cast<const u8*>(memory.text); }

// Sixteen bits, of bytes that are equal to `pattern`'s.
HR_FN u32 equal_bits(uint4 v, u32 pattern) {
    const u32 low = dot4(tile::equals(v.y, pattern), 0x80402010, dot4(tile::equals(v.x, pattern), 0x08040201, 0));
    const u32 high = dot4(tile::equals(v.w, pattern), 0x80402010, dot4(tile::equals(v.z, pattern), 0x08040201, 0));
    return low >> 7 | high << 1;
}

HR_FN bool has_byte(uint4 v, u32 pattern) {
    const u32 found = (tile::borrows(v.x ^ pattern) | tile::borrows(v.y ^ pattern)) |
                      (tile::borrows(v.z ^ pattern) | tile::borrows(v.w ^ pattern));
    return (found & tile::top_bits) != 0;
}

// What is to be watched for besides line ends; patterns are of no byte where it is not.
struct Watched {
    u32 line_end, quote;
    bool quotes, returns;
};

HR_FN u32 stage_vector(RowMemory& memory, const Watched& watched, u32 v, uint4 bytes) {
    memory.text[v] = bytes;
    constexpr u32 head = head_bytes / 16;
    if (v >= head) {
        reinterpret_cast<u16*>(memory.lines)[v - head] = static_cast<u16>(equal_bits(bytes, watched.line_end));
    }
    u32 seen = ((bytes.x | bytes.y) | (bytes.z | bytes.w)) & tile::top_bits ? SEEN_HIGH : 0;
    if (watched.quotes && has_byte(bytes, watched.quote)) seen |= SEEN_QUOTE;
    if (watched.returns && has_byte(bytes, tile::repeated('\r'))) seen |= SEEN_RETURN;
    return seen;
}

// Reads the tile; what was seen is the same for all threads.
HR_FN u32 stage_rows(RowMemory& memory, const u8* text, const RowTask& task, const RowTile& tile, u32 found) {
    const bool quotes = (task.flags & ROWS_QUOTED) && (found & FIND_QUOTES);
    const bool returns = (task.dialect.flags & PLAIN_UNIVERSAL) && (found & FIND_RETURN);
    const Watched watched{tile::repeated(task.dialect.line_end), tile::repeated(task.dialect.quote), quotes, returns};
    constexpr u32 vectors = staged_bytes / 16;
    u32 seen = 0;
    if (tile.origin >= 0 && static_cast<u64>(tile.origin) + staged_bytes <= task.size) {
        const uint4* const from = reinterpret_cast<const uint4*>(text + tile.origin);
#pragma unroll 4
        for (u32 v = threadIdx.x; v < vectors; v += threads) {
            seen |= stage_vector(memory, watched, v, tile::load_streaming(from + v));
        }
    } else {
        const u8 other = task.dialect.other;
#pragma unroll 1
        for (u32 v = threadIdx.x; v < vectors; v += threads) {
            const uint4 bytes = structure::edge_vector(text, task.size, tile.origin + 16 * i64{v}, other, other);
            seen |= stage_vector(memory, watched, v, bytes);
        }
    }
    if (threadIdx.x < pad_vectors) {
        const u32 other = tile::repeated(task.dialect.other);
        memory.text[vectors + threadIdx.x] = {other, other, other, other};
    }
    if (!__syncthreads_or(static_cast<int>(seen))) return 0;
    u32 all = __syncthreads_or(seen & SEEN_HIGH) ? SEEN_HIGH : 0;
    if (__syncthreads_or(seen & SEEN_QUOTE)) all |= SEEN_QUOTE;
    if (__syncthreads_or(seen & SEEN_RETURN)) all |= SEEN_RETURN;
    return all;
}

// Whether the tile is one that can be read by rows, as far as its entries tell.
HR_FN bool is_readable(const RowTask& task, const RowTile& tile) {
    const bool ends_text = blockIdx.x + 1 == task.tiles && tile.next.open;
    const bool staged = !tile.entry.open || static_cast<i64>(tile.entry.record_begin) >= tile.origin + window_reach;
    // The record that is open at the end may be longer than a tile, too, and is the next one's business.
    return tile.entry.state == 0 && tile.records <= most_records && staged && !(ends_text && tile.next.state != 0);
}

// Lists the records; false if line ends are not theirs. Ends with a barrier.
HR_FN bool list_records(RowMemory& memory, const RowTask& task, const RowTile& tile) {
    const bool ends_text = blockIdx.x + 1 == task.tiles && tile.next.open;
    const u32 first = threadIdx.x * words_per_thread;
    u32 count = 0;
#pragma unroll
    for (u32 i = 0; i < words_per_thread; ++i) count += static_cast<u32>(__popc(memory.lines[first + i]));
    const u32 joined = tile::scan_warp<Sum<u32>>(count);
    const tile::Before<u32> block =
        tile::scan_warps<Sum<u32>, threads>(tile::shuffle(joined, tile::lanes - 1), memory.totals);
    if (block.total + (ends_text ? 1 : 0) != tile.records) return false;
    u32 slot = block.before + joined - count + 1;
#pragma unroll
    for (u32 i = 0; i < words_per_thread; ++i) {
        for (u32 left = memory.lines[first + i]; left != 0; left &= left - 1) {
            const u32 at = static_cast<u32>(__ffs(static_cast<int>(left)));
            memory.starts[slot++] = static_cast<u16>(head_bytes + 32 * (first + i) + at);
        }
    }
    if (threadIdx.x == 0) {
        const i64 open = static_cast<i64>(tile.entry.record_begin) - tile.origin;
        memory.starts[0] = static_cast<u16>(tile.entry.open ? open : tile.begin);
        if (ends_text) memory.starts[tile.records] = static_cast<u16>(tile.end + 1);
    }
    __syncthreads();
    return true;
}

}  // namespace headrace
