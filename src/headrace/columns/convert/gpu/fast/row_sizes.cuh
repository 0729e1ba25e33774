// Measures the strings of a tile's records: a lane takes a record and subtracts the positions of field ends.
#pragma once

#include "columns/convert/gpu/fast/row_fields.cuh"
#include "columns/convert/gpu/utf8.cuh"
#include "columns/rules/column_type.hpp"
#include "columns/rules/word_table.hpp"

namespace headrace {

// Returns the last byte of the tile up to `end` that begins a record, or `otherwise` if there is none.
HR_FN u32 last_begin(const RowMemory& memory, u32 end, u32 otherwise) {
    u32 word = min(end / 32, chunks - 1);
    u32 bits = memory.begins[word] & (end / 32 == word ? low_mask(end % 32 + 1) : ~0u);
    while (bits == 0 && word > head_chunks) bits = memory.begins[--word];
    return bits == 0 || word < head_chunks ? otherwise
                                           : 32 * word + 31 - static_cast<u32>(__clz(static_cast<i32>(bits)));
}

// Returns the begin of a record, after blank lines and comments.
HR_FN u32 record_begin(const RowMemory& memory, const RowTile& tile, u32 record) {
    if constexpr (by_dfa) {
        const u32 end = record < tile.records ? memory.starts[record + 1] : tile.end;
        return last_begin(memory, end - 1, memory.starts[0]);
    }
    u32 at = memory.starts[record];
    while (tile.blanks && at < tile.end && byte_at(memory, tile, at) == tile.line_end) ++at;
    return at;
}

// Returns the cursor of a lane's record; without one, a cursor that is not live.
HR_FN Cursor cursor_at(const RowMemory& memory, const RowTile& tile, u32 record) {
    Cursor cursor{halo_bytes, halo_bytes, record < tile.records, false};
    if (!cursor.live) return cursor;
    cursor.at = record_begin(memory, tile, record);
    cursor.end = memory.starts[record + 1] - 1u;
    if (tile.returns) {
        // There are as many LF as records, no record is empty, and none begins with CR or ends with two. Then each ends
        // with LF or CR LF. Without this check, blank lines could make up for records that end with CR alone. A tile
        // that begins between CR and LF could pass for one in which a record ends there.
        const auto is_return = [&](u32 at) { return byte_at(memory, tile, at) == '\r'; };
        if (cursor.end > cursor.at && is_return(cursor.end - 1)) --cursor.end;
        cursor.live = cursor.end > cursor.at && !is_return(cursor.at) && !is_return(cursor.end - 1);
    }
    return cursor;
}

// Returns the number of bytes of a field that are part of its text. `enclosed`: it is in quotes, or any field is.
HR_FN u32 kept_bytes(const RowMemory& memory, u32 begin, u32 end, bool enclosed) {
    if (!may_quote || !(by_dfa || enclosed)) return end - begin;
    return end - begin - (dropped_until(memory, end) - dropped_until(memory, begin));
}

// Returns whether staged bytes [begin, end), after spaces that the dialect skips, are a text of up to four bytes.
HR_COLD bool equals_text(const RowMemory& memory, const RowTask& task, const RowTile& tile, u32 text, u32 begin,
                         u32 end) {
    while (skips_spaces(task) && begin != end && byte_at(memory, tile, begin) == ' ') ++begin;
    if (end - begin - 1 >= sizeof(text)) return false;
    for (; begin != end; ++begin, text >>= 8) {
        if (byte_at(memory, tile, begin) != static_cast<u8>(text)) return false;
    }
    return text == 0;
}

// Returns whether the field of staged bytes [begin, end) is a null word. If only the rules know, the record is no
// longer live. So it is if the word may be long, or some bytes of the field are dropped.
HR_COLD bool is_null_word(const RowMemory& memory, const RowTask& task, const RowTile& tile, const FieldRules& rules,
                          u32 begin, u32 end, bool& live) {
    const u32 n = end - begin, size = n - (dropped_until(memory, end) - dropped_until(memory, begin));
    if (n == 0 || (rules.words.null_sizes >> min(size, 63u) & 1) == 0) return false;
    if (is_dropped(memory, begin) && byte_at(memory, tile, begin) == task.dialect.quote) return false;
    live = size == n && n <= 8;
    u64 word = 0;
    for (u32 i = 0; live && i < n; ++i) word |= u64{byte_at(memory, tile, begin + i)} << (8 * i);
    return live && (meaning_of_word(rules.words, word, n) & NULL_WORD) != 0;
}

// Returns whether the field of staged bytes [begin, end) of a live record is null, for a column of strings. A null text
// of RowColumn::largest begins with an escape. So only texts that the DFA reads have it, and no field in quotes is
// equal to it.
template <class Column>
HR_FN bool is_null_text(const RowMemory& memory, const RowTask& task, const RowTile& tile, const Column& column,
                        const ConvertColumn* all_columns, u32 begin, u32 end, bool& live) {
    if (has_null_words && column.largest == ROW_NULL_WORDS)
        return is_null_word(memory, task, tile, *all_columns[column.number].rules, begin, end, live);
    return has_escapes && column.largest != 0 && column.largest != ROW_NULL_WORDS &&
           equals_text(memory, task, tile, column.largest, begin, end);
}

// A field's staged bytes [begin, end), and the last byte of the separator or line end after it.
struct FieldExtent {
    u32 begin, end, place;
};

// Returns the number of bytes of the field that this tile copies, by the rule of general/tile_strings.cuh. A field that
// is open at the tile's end extends beyond it.
HR_FN u32 owned_bytes(const RowMemory& memory, const RowTile& tile, const FieldExtent& field, bool open) {
    const u32 from = max(field.begin, tile.begin - string_head);
    const u32 until = open ? tile.end - string_head : field.end;
    return (open || field.place >= tile.begin) && until > from
               ? kept_bytes(memory, from, until, is_dropped(memory, field.begin))
               : 0;
}

// Skips `count` fields, at least one. `fills`: missing ones are skipped, too.
HR_FN void skip_fields(const RowMemory& memory, Cursor& cursor, u32 count, bool fills) {
    u32 at = cursor.at, left = count;
    while (at <= cursor.end) {
        const u32* const from = memory.ends + at / 32;
        u32 ends = __funnelshift_r(from[0], from[1], at);
        const u32 here = static_cast<u32>(__popc(ends));
        if (here >= left) {
            for (; left > 1; --left) ends &= ends - 1;
            at += first_bit(ends) + 1;
            left = 0;
            break;
        }
        left -= here;
        at += 32;
    }
    const bool is_short = left != 0 || at > cursor.end + 1;
    cursor.live = cursor.live && (left == 0 || fills);
    if (cursor.live) cursor.at = fills && is_short ? cursor.end + 1 : at;
    cursor.is_short |= is_short;
}

// Returns the number of bytes that the tile owns of a column's field, in a complete record or in the part of an open
// one.
template <class Column>
HR_FN u32 measure_field(const RowMemory& memory, const RowTask& task, const RowTile& tile, const Column& column,
                        const ConvertColumn* all_columns, Cursor& cursor, bool open) {
    const u32 begin = cursor.at, end = find_ends(memory, cursor.live ? begin : staged_bytes);
    const bool ends = end <= cursor.end;
    const FieldExtent field{begin, end - delimiter_more(task, end, open ? ~0u : cursor.end), end};
    const bool there = cursor.live && begin <= cursor.end;
    cursor.live = cursor.live && (ends || open || ((task.flags & ROW_TASK_FILLS) && begin > cursor.end));
    cursor.at = ends ? end + 1 : cursor.end + 1;
    const bool null = there && ends && cursor.live &&
                      is_null_text(memory, task, tile, column, all_columns, begin, field.end, cursor.live);
    return there && !null ? owned_bytes(memory, tile, field, !ends) : 0;
}

// Skips fields of such a record. An open record that ends among them has nothing left.
HR_FN void measure_skipped(const RowMemory& memory, const RowTask& task, Cursor& cursor, bool open, u32 count) {
    skip_fields(memory, cursor, count, task.flags & ROW_TASK_FILLS);
    if (!open || cursor.live) return;
    cursor.live = true;
    cursor.at = cursor.end + 1;
}

// Stores the sums, and zeros for columns of kind `empty`. Call after a barrier.
HR_FN void put_sums(const RowMemory& memory, const RowTask& task, u64* sums) {
    for (u32 i = threadIdx.x; i < task.sums; i += threads)
        sums[u64{blockIdx.x} * task.sums + i] = i < task.strings ? memory.sums[i] : 0;
}

// Returns the first chunk of the tile's records. It is checked whole, after the byte before it. Of a field that goes on
// from the tile before, the tile copies the string_head bytes before its own, so these are checked, too. With quotes,
// the tile may turn out to begin in such a field.
HR_FN u32 first_checked(const RowTile& tile) {
    static_assert(string_head % 32 == 0);
    constexpr u32 before = head_chunks - string_head / 32;
    if (!tile.entry.open) return may_quote ? before : head_chunks;
    if (tile.far) return before;
    const u32 begin = static_cast<u32>(static_cast<i64>(tile.entry.record_begin) - tile.origin) / 32;
    return may_quote ? min(begin, before) : begin;
}

// Returns whether this thread's share of a tile's staged bytes is UTF-8, from chunk `first` on.
HR_COLD bool is_valid_text(const u8* text, const RowTask& task, i64 origin, u32 first) {
    // The zeros after the text's end reveal a truncated character.
    const u32 end = chunks + (blockIdx.x + 1 == task.tiles ? 1 : 0);
    const bool whole = origin >= 16 && static_cast<u64>(origin) + 32 * end <= task.size;
    const auto load = [&](i32 number) {
        const i64 at = origin + 16 * i64{number};
        return whole ? tile::load_streaming(reinterpret_cast<const uint4*>(text + at))
                     : structure::edge_vector(text, task.size, at, 0, 0);
    };
    return is_valid_utf8(first + threadIdx.x, end, threads, load);
}

// Returns whether `sizes` has room for the tile. A tile whose records are shorter than their number of fields may have
// more groups.
HR_FN bool has_sizes(const RowTask& task, const RowTile& tile) { return tile.records / tile::lanes < task.groups; }

// Adds up the bytes of each column of strings that the tile owns in `sums`, which are zero before; they are complete
// after a barrier. Writes those of each 32 records to `sizes`, columns side by side. Returns whether all records of
// this thread are complete. `column_of(number)`: a column's kind, number of skipped fields, and index among the
// strings. `all_columns`: the table of the general conversion; not read unless the program has null words.
template <class Columns>
HR_FN bool measure_records(RowMemory& memory, const RowTask& task, const RowTile& tile, Columns column_of,
                           const ConvertColumn* all_columns, u16* sizes) {
    const bool has_open = tile.next.open && blockIdx.x + 1 != task.tiles;
    // The check of complete records (cursor_at), for the open one.
    bool whole = !(has_open && tile.returns && byte_at(memory, tile, memory.starts[tile.records]) == '\r');
    for (u32 first = tile::warp() * tile::lanes; first < tile.records + (has_open ? 1 : 0); first += threads) {
        const u32 record = first + tile::lane();
        const bool open = has_open && record == tile.records;
        Cursor cursor = cursor_at(memory, tile, record);
        if (open) cursor = {record_begin(memory, tile, record), tile.end - 1, true, false};
        // add_far_fields measures a far record. No lane searches its text for ends, which may be 16 KB away.
        const bool far = tile.far && record == 0;
        if (far) cursor = {cursor.end + 1, cursor.end, false, false};
        u32 own = 0;  // lane c: the bytes of column c
        for (u32 number = 0; number < task.columns; ++number) {
            const auto column = column_of(number);
            if (column.kind != RowKind::text) {
                measure_skipped(memory, task, cursor, open, column.largest);
                continue;
            }
            const u32 size = measure_field(memory, task, tile, column, all_columns, cursor, open);
            const u32 sum = __reduce_add_sync(tile::all_lanes, size);
            if (tile::lane() == column.number) own = sum;
        }
        if (tile::lane() < task.strings) {
            atomicAdd(&memory.sums[tile::lane()], own);
            sizes[first / tile::lanes * task.strings + tile::lane()] = static_cast<u16>(own);
        }
        // The available part of an open record has no fields after it.
        const bool fine = cursor.live && cursor.at == cursor.end + 1;
        whole &= fine || (open && (cursor.at > cursor.end || find_end(memory, cursor.at) > cursor.end)) ||
                 (record >= tile.records && !open) || far;
    }
    return whole;
}

}  // namespace headrace
