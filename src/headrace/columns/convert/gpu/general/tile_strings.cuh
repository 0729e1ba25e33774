// Converts the strings of a tile. Each byte of a string is copied by one tile. If the field begins in the staged head
// or later, the tile in which the field ends copies it. Otherwise each tile copies the bytes that lie 64 bytes before
// its own. So short fields are copied whole, and a long field is copied by all tiles that it spans.
//
// A warp copies the strings of 32 rows as one stream. Each lane takes the next byte, finds its row by binary search,
// and stores it next to its neighbours' bytes.
//
// Bytes moved: those of the strings, once, and an offset per row.
#pragma once

#include "columns/convert/gpu/digits.cuh"
#include "columns/convert/gpu/general/tile_rows.cuh"

namespace headrace {

// Returns the number of staged bytes [begin, end) without dropped ones.
HR_FN u32 kept_bytes(const ConvertMemory& memory, u32 begin, u32 end, bool raw) {
    return raw ? end - begin : end - begin - (dropped_until(memory, end) - dropped_until(memory, begin));
}

// Copies each lane's staged bytes [begin, begin + size) to `to` + `place`.
HR_FN void copy_pieces(const ConvertMemory& memory, u8* to, u32 begin, u32 size, u32 place, bool raw) {
    const u8* const text = staged_text(memory);
    const u32 until = tile::scan_warp<Sum<u32>>(size);
    const u32 total = tile::shuffle(until, tile::lanes - 1);
    const u32 shift = begin - (until - size);  // a byte's staged position minus its position in the stream
    const u32 target = place - begin + (raw ? 0 : dropped_until(memory, begin));
    for (u32 first = 0; first < total; first += tile::lanes) {
        const u32 number = first + tile::lane();
        u32 owner = 0;
#pragma unroll
        for (u32 step = tile::lanes / 2; step != 0; step /= 2) {
            if (tile::shuffle(until, owner + step - 1) <= number) owner += step;
        }
        const u32 at = number + tile::shuffle(shift, owner);
        const u32 place_of_owner = tile::shuffle(target, owner);
        if (number >= total) continue;
        if (may_quote && !raw) {
            if (memory.dropped[at / 32] >> (at % 32) & 1) continue;
            to[place_of_owner + at - dropped_until(memory, at)] = text[at];
        } else {
            to[place_of_owner + at] = text[at];
        }
    }
}

// Leaves a lane's long piece to all warps. Returns the number of bytes that this warp still has to copy.
HR_FN u32 leave_to_block(ConvertMemory& memory, u8* to, u32 begin, u32 size, u32 place, bool raw) {
    if (size < long_piece) return size;
    const u32 number = atomicAdd(&memory.long_pieces, 1u);
    memory.pieces[number] = {to + place, static_cast<u16>(begin), static_cast<u16>(size), raw};
    return 0;
}

// Bytes of a long piece that a warp copies at a time: each lane stores one word. These are 31 words of the result, or
// 32 with the partial ones at both ends.
constexpr u32 part_bytes = 124;

HR_FN void copy_part(const ConvertMemory& memory, const LongPiece& piece, u32 part) {
    const u32 begin = piece.begin + part_bytes * part;
    const u32 count = min(piece.begin + piece.size - begin, part_bytes);
    const u8* const text = staged_text(memory);
    u8* to = piece.to + part_bytes * part;
    if (may_quote && !piece.raw) {
        const u32 before = dropped_until(memory, begin);
        to -= before - dropped_until(memory, piece.begin);
        if (dropped_until(memory, begin + count) != before) {
            for (u32 i = begin + tile::lane(); i < begin + count; i += tile::lanes) {
                if (memory.dropped[i / 32] >> (i % 32) & 1) continue;
                to[i - begin - (dropped_until(memory, i) - before)] = text[i];
            }
            return;
        }
    }
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(to) & 3), last = 4 * tile::lane() + 4;
    const u32 from = last < skew + 4 ? 0 : last - 4 - skew, stop = last < skew ? 0 : min(last - skew, count);
    if (stop == from + 4) {
        u32 word[1];
        load_before(reinterpret_cast<const u32*>(memory.text), begin + stop, word);
        *reinterpret_cast<u32*>(to + from) = word[0];
        return;
    }
    for (u32 i = from; i < stop; ++i) to[i] = text[begin + i];
}

// Copies the long pieces. Call after a barrier.
HR_FN void copy_long_pieces(const ConvertMemory& memory) {
    constexpr u32 warps = threads / tile::lanes;
    u32 part = tile::warp();
    for (u32 number = 0; number < memory.long_pieces; ++number) {
        const LongPiece piece = memory.pieces[number];
        const u32 parts = (piece.size + part_bytes - 1) / part_bytes;
        for (; part < parts; part += warps) copy_part(memory, piece, part);
        part -= parts;
    }
}

HR_FN void put_offset(const ConvertColumn& column, u64 row, u64 value) {
    store_offset(column.offsets, column.width == 8, row, value);
}

// Returns the first byte at or after `at` that may begin a character. In UTF-8 at most three bytes do not.
HR_FN u32 character_from(const u8* text, u32 at) {
    for (u32 i = 0; i < 3 && (text[at] & 0xC0) == 0x80; ++i) ++at;
    return at;
}

// Returns whether staged bytes [begin, end) are a valid part of a field. A field that began before the staged head is
// validated in parts, by the tiles that copy it. A part is [s(begin), s(end)) with s = character_from. Adjacent parts
// are all valid UTF-8 if and only if the whole field is. If a part is not, the host finds the invalid byte.
//
// A warp calls this. `is_first`: the field begins at `begin`. Bytes outside the part count as zeros.
HR_COLD bool is_valid_part(const ConvertMemory& memory, u32 begin, u32 end, bool is_first) {
    const u8* const text = staged_text(memory);
    const u32* const words = reinterpret_cast<const u32*>(memory.text);
    const u32 from = is_first ? begin : character_from(text, begin), to = character_from(text, end);
    const auto word_at = [&](i32 at) {
        if (at + 4 <= static_cast<i32>(from) || at >= static_cast<i32>(to)) return 0u;
        const u32 place = static_cast<u32>(at);
        u32 word = words[place / 4];
        if (place < from) word &= ~0u << (8 * (from - place));
        if (to - place < 4) word &= ~(~0u << (8 * (to - place)));
        return word;
    };
    const auto load = [&](i32 number) {
        const i32 at = 16 * number;
        return uint4{word_at(at), word_at(at + 4), word_at(at + 8), word_at(at + 12)};
    };
    const bool valid = from >= to || is_valid_utf8(from / 32 + tile::lane(), to / 32 + 1, tile::lanes, load);
    return __all_sync(tile::all_lanes, valid);
}

HR_FN bool has_text(const ConvertColumn& column) {
    return column.type == TypeId::string || column.type == TypeId::large_string;
}

// Returns whether a field's text is UTF-8. If it is not and the record is not rejected, reports a fault.
HR_COLD bool check_text(const ConvertMemory& memory, const ConvertTask& task, const ConvertColumn& column,
                        const FieldText& field, const FieldPlace& place, u64 row, bool reports) {
    const usize invalid = find_invalid_utf8(field.p, field.n);
    if (invalid == field.n) return true;
    if (!reports || is_not_converted(task, row)) return false;
    FieldFault fault = fault_at(memory, task, place, column.position, row);
    // The text begins after initial spaces and an opening quote.
    fault.at = fault.end - field.after - field.n + invalid;
    fault.kind = static_cast<u32>(Fault::encoding);
    report(memory, task, fault);
    return false;
}

// Returns whether a field has a value, if it may be a null text, may not be UTF-8, or is quoted.
HR_COLD bool is_string_value(const ConvertMemory& memory, const u8* text, const ConvertTask& task,
                             const ConvertColumn& column, const FieldPlace& place, u64 row, bool reports) {
    const FieldText field = text_of(memory, text, task, place, column.flags & CONVERT_RAW);
    // A field of skipped spaces alone.
    if (by_dfa && field.n == 0 && !field.quoted && (column.flags & CONVERT_EMPTY_IS_NULL)) return false;
    if (has_text(column) && memory.tile.has_errors) {
        if (place.begin < 0) {
            const u8* const staged = staged_text(memory);
            const u32 from = character_from(staged, 0), size = place.end - from;
            if (reports && find_invalid_utf8(staged + from, size) != size) {
                defer(memory, task, fault_at(memory, task, place, column.position, row));
            }
        } else if (!check_text(memory, task, column, field, place, row, reports)) {
            return false;
        }
    }
    if (!(column.flags & CONVERT_NULL_WORDS) && !field.quoted) return true;
    return !is_null_text(*column.rules, field, marks_of(task));
}

// Returns whether a field is a natural number of at most eight digits by all rules of its column.
HR_FN bool is_short_natural(const ConvertMemory& memory, const ConvertColumn& column, const FieldPlace& place) {
    const bool usual = (column.flags & (CONVERT_RESERVED | CONVERT_NULL_WORDS)) == 0;
    const i64 n = place.end - place.begin;
    if (!usual || place.begin < 0 || n < 1 || n > 8 || column.rules->dates.count != 0) return false;
    const bool has_zero = n > 1 && staged_text(memory)[place.begin] == '0';
    u32 words[2], value;
    load_before(reinterpret_cast<const u32*>(memory.text), place.end, words);
    return value_of(words, static_cast<i32>(n), value) && !has_zero;
}

// Records the kind of a field of a column whose type is not inferred yet. The value is null.
HR_COLD void classify_row(const ConvertMemory& memory, const u8* text, const ConvertTask& task,
                          const ConvertColumn& column, const FieldPlace& place, u64 row) {
    if (place.end - place.begin > max_read_bytes) {
        defer(memory, task, fault_at(memory, task, place, column.position, row));
        return;
    }
    if (is_short_natural(memory, column, place)) {
        const u64 position = static_cast<u64>(memory.tile.origin + place.begin);
        record_kind(task, column, static_cast<u32>(Kind::natural), position, row);
        return;
    }
    const FieldText field = text_of(memory, text, task, place, false);
    if (field.n == 0 && !field.quoted && (column.flags & CONVERT_EMPTY_IS_NULL)) return;
    Int128 value;
    u32 kind;
    const FieldOutcome outcome = resolve_field(column, field, marks_of(task), value, kind);
    FieldFault fault = fault_at(memory, task, place, column.position, row);
    if (outcome == FieldOutcome::kind) record_kind(task, column, kind, fault.begin, row);
    if (outcome == FieldOutcome::deferred) defer(memory, task, fault);
}

// The bytes [begin, end) of an unfinished field that this tile copies; possibly none.
struct UnfinishedPiece {
    u32 begin, end;
};

HR_FN UnfinishedPiece unfinished_piece(const ConvertTile& tile) {
    const i64 begin = static_cast<i64>(tile.next.field_begin) - tile.origin;
    const u32 from = begin < 0 ? 0 : static_cast<u32>(begin);
    const u32 to = tile.end - halo_bytes;
    return {from, tile.end >= halo_bytes && to > from ? to : from};
}

// Converts the tile's unfinished field if it is one of this column. Returns its number of bytes.
template <bool writes>
HR_FN u32 convert_unfinished(ConvertMemory& memory, const ConvertTask& task, const ConvertColumn& column, u64 base) {
    const ConvertTile& tile = memory.tile;
    const FieldWindow& window = memory.window;
    if (window.first + window.count != tile.fields || !tile.open_field) return 0;
    if (tile.next.column != column.position) return 0;
    const bool raw = column.flags & CONVERT_RAW;
    const UnfinishedPiece piece = unfinished_piece(tile);
    if constexpr (writes) {
        u8* const to = column.values + base;
        const u32 mine =
            tile::lane() == 0 ? leave_to_block(memory, to, piece.begin, piece.end - piece.begin, 0, raw) : 0;
        copy_pieces(memory, to, piece.begin, mine, 0, raw);
        const bool is_first = static_cast<i64>(tile.next.field_begin) >= tile.origin;
        if (has_text(column) && tile.has_errors && piece.end > piece.begin &&
            !is_valid_part(memory, piece.begin, piece.end, is_first) && tile::lane() == 0) {
            const TileStart& next = tile.next;
            defer(memory, task,
                  {next.record, next.record_begin, next.field_begin, 0, next.field_begin, column.position, 0});
        }
    }
    return kept_bytes(memory, piece.begin, piece.end, raw);
}

// Converts one column of strings in one window. Returns the number of its bytes there. `base`: offset of the first in
// the column.
template <bool writes>
HR_FN u32 convert_strings(ConvertMemory& memory, const u8* text, const ConvertTask& task, const ConvertTile& tile,
                          const FieldWindow& window, const RowSpan& rows, const ConvertColumn& column, u64 base) {
    const bool raw = column.flags & CONVERT_RAW;
    const bool classifies = (column.flags & CONVERT_INFERRED) && !has_type(column.guess);
    u32 done = 0;
    for (u64 row = rows.first / 32 * 32 + tile::lane(); row - tile::lane() < rows.end; row += tile::lanes) {
        const RowField found = field_of_row(memory, task, tile, window, column.position, row);
        bool present = false;
        u32 begin = 0, raw_size = 0, size = 0;
        if (found.mine) {
            const FieldPlace place = place_of(memory, task, tile, window, column.position, found.slot);
            if (classifies) {
                if (writes && found.sound) classify_row(memory, text, task, column, FieldPlace(place), row);
            } else {
                const bool empty = place.begin == static_cast<i64>(place.end);
                const bool looks =
                    may_quote || tile.has_errors || (column.flags & CONVERT_NULL_WORDS) || place.begin < 0;
                present = !empty || !(column.flags & CONVERT_EMPTY_IS_NULL);
                // A long field of a rejected record is not read.
                if (!found.sound && place.begin <= 0) present = false;
                if (present && looks) {
                    present =
                        is_string_value(memory, text, task, column, FieldPlace(place), row, writes && found.sound);
                }
                begin = place.begin < 0 ? 0 : static_cast<u32>(place.begin);
                raw_size = present ? place.end - begin : 0;
                size = kept_bytes(memory, begin, begin + raw_size, raw);
            }
        }
        const u32 until = tile::scan_warp<Sum<u32>>(size);
        if constexpr (writes) {
            u8* const to = column.values + base + done;
            raw_size = leave_to_block(memory, to, begin, raw_size, until - size, raw);
            copy_pieces(memory, to, begin, raw_size, until - size, raw);
            const bool here = found.mine || found.missing;
            if (here) put_offset(column, row + 1, base + done + until);
            put_validity(column.validity, row, __ballot_sync(tile::all_lanes, here),
                         __ballot_sync(tile::all_lanes, present));
        }
        done += tile::shuffle(until, tile::lanes - 1);
    }
    return classifies ? done : done + convert_unfinished<writes>(memory, task, column, base + done);
}

}  // namespace headrace
