// Stages a tile's text in shared memory and makes bit masks of its field and record ends: one 32-bit word per 32 bytes.
//
// A vector of 16 bytes is read once from device memory; its masks are made while it is in registers
// (gpu/block/byte_masks.cuh). Bytes moved: the text once, and 64 bytes more per tile.
#pragma once

#include "columns/convert/gpu/convert_task.hpp"
#include "columns/convert/gpu/dfa_roles.cuh"
#include "columns/convert/gpu/text_bits.cuh"
#include "columns/convert/gpu/utf8.cuh"
#include "gpu/block/block.cuh"
#include "gpu/block/memory_access.cuh"
#include "structure/gpu/tile_text.cuh"

namespace headrace {

constexpr u32 threads = HR_THREADS;
constexpr u32 tile_bytes = HR_TILE;
constexpr u32 span = HR_SPAN;             // tiles of the search that a tile of this kernel has
constexpr u32 window_fields = HR_WINDOW;  // fields whose ends are listed at a time
constexpr u32 window_words = window_fields / 32;
constexpr bool may_quote = HR_QUOTES != 0;
constexpr bool by_dfa = HR_QUOTES == 2;  // a DFA finds field ends and dropped bytes, instead of masks
constexpr u32 halo_bytes = 64;           // bytes of text staged before the tile
constexpr u32 staged_bytes = halo_bytes + tile_bytes;
constexpr u32 chunks = staged_bytes / 32;  // 32-bit words of a mask
constexpr u32 head_chunks = halo_bytes / 32;
constexpr u32 chunks_per_thread = (tile_bytes / 32 + threads - 1) / threads;
static_assert(tile_bytes % 32 == 0 && staged_bytes <= 0xFFE0 && window_fields % 32 == 0);
static_assert(span == 1 || !by_dfa);

// Properties of the tile, the same in every thread.
struct ConvertTile {
    TileStart entry, next;
    u32 number;  // index among the tiles of this size
    i64 origin;  // staged byte s is the text's byte s + origin; negative in the first tile
    u32 begin;   // staged bytes [begin, end) are the tile's part of the text
    u32 end;
    u32 fields;  // number of fields that end in the tile
    u32 records;
    bool regular;     // every record has `width` fields
    bool last;        // the text's end is in the tile
    bool last_end;    // the text's end ends the last field
    bool open_field;  // a field continues after the tile
    bool only_kinds;  // only columns without a type are read, for the kinds of their fields
    bool has_errors;  // the table has strings, and some may not be UTF-8
    bool untouched;   // no kernel has changed bits of the tile's rows: those of validity are ones
    u64 unclosed;     // index of the record with a quote that the text's end leaves open: it is rejected; or no_record
};
constexpr u64 no_record = ~u64{0};

// A range of the tile's fields: those whose ends are in `places`.
struct FieldWindow {
    u32 first;  // index of its first field in the tile
    u32 count;
    // For irregular tiles:
    u32 records;         // number of records that end in the window
    u32 records_before;  // number of records that end in the tile before the window
    u32 column;          // column of the window's first field
};

// A part of a string that all warps copy together: `size` staged bytes from `begin` on, without dropped ones, to `to`.
struct LongPiece {
    u8* to;
    u16 begin, size;
    bool raw;
};
constexpr u32 long_piece = 96;  // minimum size in bytes
constexpr u32 max_measured_columns = 512;
constexpr u32 no_target = 0xFFFF;  // beyond all targets: a lane has no string
constexpr u32 max_left = 512;      // fields that the list of those left to the rules holds
constexpr u32 max_left_lanes = 8;  // of a group; if more fields are left, the group is converted by the rules
constexpr u32 no_field = ~0u;

struct ConvertMemory {
    uint4 text[staged_bytes / 16 + 1];
    u32 ends[chunks];                                // field ends, including those at a record's end
    u32 records[chunks];                             // record ends
    u32 starts[by_dfa ? chunks : 1];                 // first bytes of records
    u32 dropped[may_quote ? chunks + 1 : 1];         // quotes and other bytes that are not part of their field's text
    u16 dropped_before[may_quote ? chunks + 1 : 2];  // number of dropped bytes in all preceding words
    u16 places[window_fields + 2];     // ends of the window's fields; the first is the end of the field before
    u32 record_bits[window_words];     // irregular tiles: bit set if a field is the last of its record
    u16 records_before[window_words];  // number of such bits in all preceding words
    u64 totals[threads / tile::lanes];
    union {
        u16 targets[window_fields];  // regular tiles: offset of a field's string from the column's first in the window
        u16 last_fields[window_fields];  // irregular tiles: the field that ends each record of the window
    };
    u32 sized[max_measured_columns];  // bytes of a column's strings that end in the window
    u32 streams[threads / tile::lanes][2][tile::lanes];
    u32 next_unit;       // next unit of the window that no warp has taken
    u32 open_number;     // column of strings whose unfinished field this tile copies, or no_field
    u32 open_bytes;      // bytes of that field
    u32 long_pieces;     // number of entries in `pieces`
    u32 left_count;      // fields that were left to the rules, listed or not
    u32 left[max_left];  // column and field of each: the column's number times window_fields, plus the slot
    LongPiece pieces[staged_bytes / long_piece + 1];
    // For functions that are not inlined: a thread's own copies stay in registers only if their address is never taken.
    ConvertTile tile;
    FieldWindow window;
    FieldFault* faults;
    ConvertTotals* totals_of_text;
};

HR_FN const u8* staged_text(const ConvertMemory& memory) { return reinterpret_cast<const u8*>(memory.text); }

// Returns the position in the text of a staged byte.
HR_FN u64 tile_position(const ConvertTile& tile, u32 staged) { return static_cast<u64>(tile.origin + staged); }

HR_FN u32 equal_mask(uint4 v, u32 pattern) {
    return tile::gather({tile::equals(v.x, pattern), tile::equals(v.y, pattern), tile::equals(v.z, pattern),
                         tile::equals(v.w, pattern)});
}

HR_FN bool is_line_end(const PlainDialect& dialect, u8 byte) {
    return byte == dialect.line_end || ((dialect.flags & PLAIN_UNIVERSAL) && byte == '\r');
}

// Returns the line ends among 16 bytes. CR is searched for only if any of the 16 bytes is one.
HR_FN u32 line_mask(uint4 v, u32 line_end, bool universal) {
    u32 lines = equal_mask(v, line_end);
    if (universal) {
        constexpr u32 returns = 0x0D0D0D0D;
        if (tile::has_byte(v, returns)) lines |= equal_mask(v, returns);
    }
    return lines;
}

// Stores a vector and its masks: quotes for all staged bytes, separators and line ends for the tile only.
HR_FN void stage_vector(ConvertMemory& memory, const PlainDialect& dialect, u32 v, uint4 bytes, u32 valid) {
    memory.text[v] = bytes;
    if constexpr (by_dfa) return;
    if (v >= halo_bytes / 16) {
        const u32 lines = line_mask(bytes, dialect.line_end * 0x01010101u, dialect.flags & PLAIN_UNIVERSAL);
        reinterpret_cast<u16*>(memory.ends)[v] =
            static_cast<u16>(equal_mask(bytes, dialect.separator * 0x01010101u) & valid);
        reinterpret_cast<u16*>(memory.records)[v] = static_cast<u16>(lines & valid);
    }
    if constexpr (may_quote) {
        const u32 quotes = dialect.flags & PLAIN_QUOTES ? equal_mask(bytes, dialect.quote * 0x01010101u) : 0;
        reinterpret_cast<u16*>(memory.dropped)[v] = static_cast<u16>(quotes & valid);
    }
}

// Returns which of the 16 bytes at `position` are text, as a mask.
HR_COLD u32 valid_mask(i64 position, u64 size) {
    const i64 before = position < 0 ? -position : 0;
    const i64 left = static_cast<i64>(size) - position;
    const u32 front = left <= 0 ? 0 : left >= 16 ? 0xFFFF : low_mask(static_cast<u32>(left));
    return before >= 16 ? 0 : front & ~low_mask(static_cast<u32>(before));
}

// Bits of malformed quotes from tile_dfa.cuh. They share memory with `pieces`, which strings use later.
HR_FN u32* malformed_bits(ConvertMemory& memory) { return reinterpret_cast<u32*>(memory.pieces); }

// Returns whether the staged text is UTF-8 after the byte before it. Callers put a barrier before.
HR_COLD bool is_valid_tile(const ConvertMemory& memory, const u8* text, const ConvertTask& task,
                           const ConvertTile& tile) {
    constexpr i32 vectors = staged_bytes / 16;
    const auto load = [&](i32 number) -> uint4 {
        if (number < 0) return structure::edge_vector(text, task.size, tile.origin - 16, 0, 0);
        return number < vectors ? memory.text[number] : uint4{0, 0, 0, 0};
    };
    // The zeros after the text's end reveal a truncated character.
    const u32 end = chunks + (tile.last ? 1 : 0);
    return is_valid_utf8(threadIdx.x, end, threads, load);
}

// Stages the tile's text and masks.
HR_FN void stage_tile(ConvertMemory& memory, const u8* text, const ConvertTask& task, ConvertTile& tile) {
    constexpr u32 vectors = staged_bytes / 16;
    u32 high = 0;
    if (tile.origin >= 0 && static_cast<u64>(tile.origin) + staged_bytes <= task.size) {
        const uint4* const from = reinterpret_cast<const uint4*>(text + tile.origin);
        tile::use_streamed(from, threadIdx.x, vectors, threads, [&](u32 v, const uint4& own) {
            high |= (own.x | own.y) | (own.z | own.w);
            stage_vector(memory, task.dialect, v, own, 0xFFFF);
        });
    } else {
#pragma unroll 1
        for (u32 v = threadIdx.x; v < vectors; v += threads) {
            const i64 position = tile.origin + 16 * v;
            const uint4 bytes = structure::edge_vector(text, task.size, position, 0, 0);
            high |= (bytes.x | bytes.y) | (bytes.z | bytes.w);
            stage_vector(memory, task.dialect, v, bytes, valid_mask(position, task.size));
        }
    }
    if (threadIdx.x == 0) memory.text[vectors] = {0, 0, 0, 0};
    const bool is_ascii = !__syncthreads_or((high & tile::top_bits) != 0);
    tile.has_errors = !is_ascii && task.strings != 0;
    const bool may_split = by_dfa && task.dfa.has_high_bytes;
    if (tile.has_errors && !may_split) tile.has_errors = __syncthreads_or(!is_valid_tile(memory, text, task, tile));
}

}  // namespace headrace
