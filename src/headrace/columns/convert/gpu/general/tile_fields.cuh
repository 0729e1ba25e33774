// Lists the ends of a tile's fields in shared memory, and determines the column and record of each field.
//
// A tile is regular if every record in it has `width` fields. Then a field's index determines its column and record. In
// an irregular tile a bit per field marks the last field of each record, and ranks of these bits give columns and
// records.
#pragma once

#include "columns/convert/gpu/general/tile_masks.cuh"

namespace headrace {

// Returns whether every record in these words ends where `width` fields per record put it.
HR_COLD bool fits_width(const ConvertMemory& memory, u32 width, u32 column, u32 ends_before) {
    // The number of record ends before these words equals the number of last fields before them.
    u64 record = (u64{column} + ends_before) / width;
    u32 ends = ends_before;
    bool fits = true;
    for (u32 word = thread_first_word(); word < thread_first_word() + chunks_per_thread && word < chunks; ++word) {
        for (u32 left = memory.records[word]; left != 0; left &= left - 1, ++record) {
            const u32 below = (left & (0 - left)) - 1;
            const u64 field = ends + static_cast<u32>(__popc(memory.ends[word] & below));
            fits &= field + column + 1 == (record + 1) * width;
        }
        ends += static_cast<u32>(__popc(memory.ends[word]));
    }
    return fits;
}

// Returns whether a tile is regular, if its numbers of fields and records allow it. If one window has all fields, only
// the last fields of records are checked. Each must end at a line end, and the number of line ends must be that of
// records.
HR_FN bool is_regular(const ConvertMemory& memory, const ConvertTask& task, const ConvertTile& tile, u32 ends_before) {
    bool fits = true;
    if (tile.fields > window_fields) {
        fits = fits_width(memory, task.width, tile.entry.column, ends_before);
    } else {
        const u8* const text = staged_text(memory);
        const u32 ends = tile.records - (tile.last_end ? 1 : 0);
        for (u32 k = threadIdx.x; k < ends; k += threads) {
            const u32 place = memory.places[(k + 1) * task.width - tile.entry.column];
            fits &= by_dfa ? ends_record(memory, place) : text[place] != task.dialect.separator;
        }
    }
    return __syncthreads_and(fits);
}

// Returns the first byte of the record that begins at or after staged byte `at`, which follows a line end or begins the
// text.
HR_FN u32 skip_line_ends(const ConvertMemory& memory, const PlainDialect& dialect, const ConvertTile& tile, u32 at) {
    const u8* const text = staged_text(memory);
    if constexpr (by_dfa) return at;  // record_start finds it
    if (dialect.flags & PLAIN_SKIP_BLANK) {
        while (at < tile.end && is_line_end(dialect, text[at])) ++at;
    } else if ((dialect.flags & PLAIN_UNIVERSAL) && at < tile.end && text[at] == '\n' && text[at - 1] == '\r') {
        ++at;
    }
    return at;
}

// Returns the first byte of the record whose field ends at `place`. With masks it is at or after `at`. If it is not in
// the tile, `at` is the begin of the field.
HR_FN u32 record_start(const ConvertMemory& memory, const PlainDialect& dialect, const ConvertTile& tile, u32 at,
                       u32 place) {
    return by_dfa ? last_start(memory, place, at) : skip_line_ends(memory, dialect, tile, at);
}

// Returns the position before the tile's first field, as if a field before it ended there; far_place if that is not
// staged.
constexpr u32 far_place = 0xFFFF;
HR_COLD u32 place_before(const ConvertMemory& memory, const PlainDialect& dialect, const ConvertTile& tile) {
    if (!tile.entry.open) return skip_line_ends(memory, dialect, tile, tile.begin) - 1;
    const i64 begin = static_cast<i64>(tile.entry.field_begin) - tile.origin;
    return begin <= 0 ? far_place : static_cast<u32>(begin) - 1;
}

// Lists the field ends of one word, in descending order. `slot`: one past the slot of the last one.
HR_FN void list_word(ConvertMemory& memory, u32 ends, u32 word, u32 slot, u32 slots) {
    while (ends != 0) {
        const u32 at = 31 - static_cast<u32>(__clz(static_cast<int>(ends)));
        ends ^= 1u << at;
        --slot;  // wraps to a number above `slots` for fields before the window
        if (slot < slots) memory.places[slot] = static_cast<u16>(32 * word + at);
    }
}

// Counts the record bits before each word, by the first warp.
HR_FN void count_records(ConvertMemory& memory) {
    constexpr u32 lane_words = (window_words + tile::lanes - 1) / tile::lanes;
    if (tile::warp() != 0) return;
    const u32 first = tile::lane() * lane_words;
    u32 count = 0;
    for (u32 i = first; i < first + lane_words && i < window_words; ++i) {
        count += static_cast<u32>(__popc(memory.record_bits[i]));
    }
    const u32 until = tile::scan_warp<Sum<u32>>(count);
    u32 before = until - count;
    for (u32 i = first; i < first + lane_words && i < window_words; ++i) {
        memory.records_before[i] = static_cast<u16>(before);
        before += static_cast<u32>(__popc(memory.record_bits[i]));
    }
    if (tile::lane() + 1 == tile::lanes) memory.window.records = until;
}

// Lists the fields that end the records of an irregular tile's window, as bits and as numbers.
HR_COLD void list_records(ConvertMemory& memory, u32 ends_before) {
    const ConvertTile& tile = memory.tile;
    const FieldWindow& window = memory.window;
    for (u32 i = threadIdx.x; i < window_words; i += threads) memory.record_bits[i] = 0;
    __syncthreads();
    const auto mark = [&](u32 field) {
        const u32 bit = field - window.first;
        if (bit < window.count) atomicOr(&memory.record_bits[bit / 32], 1u << (bit % 32));
    };
    u32 before = ends_before;
    for (u32 word = thread_first_word(); word < thread_first_word() + chunks_per_thread && word < chunks; ++word) {
        const u32 ends = memory.ends[word];
        for (u32 left = memory.records[word]; left != 0; left &= left - 1) {
            mark(before + static_cast<u32>(__popc(ends & ((left & (0 - left)) - 1))));
        }
        before += static_cast<u32>(__popc(ends));
    }
    if (tile.last_end && threadIdx.x == 0) mark(tile.fields - 1);
    __syncthreads();
    count_records(memory);
    __syncthreads();
    for (u32 i = threadIdx.x; i < window_words; i += threads) {
        u32 k = memory.records_before[i];
        for (u32 left = memory.record_bits[i]; left != 0; left &= left - 1) {
            memory.last_fields[k++] = static_cast<u16>(32 * i + static_cast<u32>(__ffs(static_cast<int>(left))) - 1);
        }
    }
    __syncthreads();
}

// Lists the ends of the window's fields and determines whether the tile is regular. Callers put a barrier between
// calls.
HR_FN void list_window(ConvertMemory& memory, const ConvertTask& task, u32 ends_before) {
    const ConvertTile& tile = memory.tile;
    const FieldWindow& window = memory.window;
    const u32 slots = window.count + 1, is_first = window.first == 0;
    u32 slot = ends_before + 1 - window.first;
#pragma unroll
    for (u32 i = 0; i < chunks_per_thread; ++i) {
        const u32 word = thread_first_word() + i;
        const u32 ends = word < chunks ? memory.ends[word] : 0;
        slot += static_cast<u32>(__popc(ends));
        list_word(memory, ends, word, slot, slots);
    }
    if (threadIdx.x == 0) {
        if (tile.last_end && tile.fields == window.first + window.count) {
            memory.places[window.count] = static_cast<u16>(tile.end + (by_dfa ? task.dfa.line_end_more : 0));
        }
        if (is_first) memory.places[0] = static_cast<u16>(place_before(memory, task.dialect, tile));
        if (window.count == 0) memory.places[1] = halo_bytes;  // lanes without a field load its text
    }
    __syncthreads();
    bool regular = tile.regular;
    if (regular && is_first) {
        regular = is_regular(memory, task, tile, ends_before);
        if (threadIdx.x == 0) memory.tile.regular = regular;
        __syncthreads();
    }
    if (!regular) list_records(memory, ends_before);
}

}  // namespace headrace
