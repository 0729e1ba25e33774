// Copies the strings of rows. Short ones are gathered in shared memory, so that stores are adjacent. Long ones are
// copied by all warps once all rows are read. If bytes of some are dropped, the strings of 32 rows are copied in
// chunks. The sizes measured per 32 records give each warp the target of its first row.
#pragma once

#include "columns/convert/gpu/fast/row_sizes.cuh"
#include "columns/convert/gpu/fast/row_splits.cuh"
#include "columns/convert/gpu/fast/row_values.cuh"
#include "columns/rules/escape_sequences.hpp"

namespace headrace {

// Returns the next field, of any length, and moves past it. If the record has no further field, the field is empty. If
// it is not null then, the record is no longer live.
HR_FN FieldSpan next_field(const RowMemory& memory, const RowTask& task, Cursor& cursor) {
    const bool missing = is_missing(task, cursor);
    const u32 end = find_ends(memory, cursor.live && !missing ? cursor.at : staged_bytes);
    if (missing) return {cursor.at, 0, cursor.at, false};
    cursor.live = cursor.live && end <= cursor.end;
    if (!cursor.live) return {cursor.at, 0, cursor.at, true};
    const FieldSpan field = field_at(memory, task, cursor, end - cursor.at);
    cursor.at = field.next;
    return field;
}

HR_FN void put_offset(const RowColumn& column, u64 row, u64 value) {
    store_offset(reinterpret_cast<void*>(column.offsets_or_rules), column.flags & ROW_LONG_OFFSETS, row, value);
}

// A row's string: staged bytes, and the number of string bytes in its 32 rows before it and up to its end.
struct RowString {
    u32 begin, raw;
    u32 before, until;
};

// Returns whether some bytes of the string are dropped.
HR_FN bool has_dropped(const RowString& own) { return may_quote && own.until - own.before != own.raw; }

// Returns a staged byte of a string's text, decoded if an escape before it stands for another byte together with it.
HR_FN u8 byte_of_text(const RowMemory& memory, const RowTask& task, u32 at, bool is_first) {
    const u8* const text = staged_text(memory);
    const bool decodes = has_escapes && decodes_escapes(task.dfa.dialect) && !is_first &&
                         text[at - 1] == task.dfa.escape && is_dropped(memory, at - 1);
    return decodes ? escaped_byte(text[at]) : text[at];
}

// A string in the words of the stream: bytes [skew, until) from the word at byte `slot` on.
struct StreamWords {
    u32 slot, skew, until;
};

HR_FN StreamWords stream_words(u32 to, u32 n) {
    const u32 skew = to % 4;
    return {to - skew, skew, skew + n};
}

// Stores the words whose first byte is one of the string's, each from two words of the text. The last may have further
// bytes. Returns the word before them, for put_first_bytes. Example "x,Joan of Arc" to byte 3: "oan ", "of A", and "rc"
// with two others; "?x,J" is returned.
HR_FN u32 put_words(const RowMemory& memory, u8* stream, u32 from, const StreamWords& own) {
    const u32 begin = from - own.skew, shift = 8 * begin;
    const u32* next = staged_words(memory) + begin / 4;
    u32 low = *next++, high = *next++;
    const u32 first = __funnelshift_r(low, high, shift);
    if (own.skew == 0 && own.until != 0) *reinterpret_cast<u32*>(stream + own.slot) = first;
#pragma unroll 1
    for (u32 at = 4; at < own.until; at += 4) {
        low = high;
        high = *next++;
        *reinterpret_cast<u32*>(stream + own.slot + at) = __funnelshift_r(low, high, shift);
    }
    return first;
}

// Stores those of the string's bytes that precede these words: "J".
HR_FN void put_first_bytes(u8* stream, u32 first, const StreamWords& own) {
#pragma unroll
    for (u32 k = 1; k < 4; ++k) {
        if (own.skew != 0 && k >= own.skew && k < own.until) stream[own.slot + k] = static_cast<u8>(first >> (8 * k));
    }
}

// Copies the lanes' strings to `to`, one lane's after the other's, through shared memory. No byte of them is dropped. A
// word of the stream may have bytes of several lanes. The lane of its first byte stores it whole, before the others
// store their bytes.
HR_FN void copy_short(const RowMemory& memory, u8* stream, u8* to, const RowString& own, u32 total) {
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(to) % 4), end = own.begin + own.raw;
    u32 from = own.begin, at = own.before + skew;  // staged byte, and byte of the stream
    for (u32 first = 0; first < total; first += stream_bytes) {
        const u32 size = min(stream_bytes, total - first) + skew;
        const u32 n = min(end - from, size - min(at, size));
        const StreamWords words = stream_words(at, n);
        const u32 first_word = put_words(memory, stream, from, words);
        __syncwarp();
        put_first_bytes(stream, first_word, words);
        from += n;
        at += n - stream_bytes;
        __syncwarp();
        put_stream(stream, to + first - skew, skew, size);
        __syncwarp();
    }
}

// The lanes' strings as chunks of staged bytes, the chunks of all 32 strings in one sequence. Each string has at least
// one.
struct StringChunks {
    u32 first;       // index of this lane's first chunk
    u32 total;       // number of chunks of all lanes
    u32 begin, end;  // staged bytes of this lane's string
    u32 to;          // plus a staged byte without the dropped bytes before it: byte of the result
};

HR_FN StringChunks string_chunks(const RowMemory& memory, const RowString& own) {
    const u32 count = max((own.raw + kept_chunk - 1) / kept_chunk, 1u), until = tile::scan_warp<Sum<u32>>(count);
    return {until - count, tile::shuffle(until, tile::lanes - 1), own.begin, own.begin + own.raw,
            own.before + dropped_until(memory, own.begin) - own.begin};
}

// A lane's chunk: staged bytes [at, end), and the byte of the result to which the first of them goes.
struct KeptChunk {
    u32 at, end, begin;  // `begin`: that of the string
    u32 to;
};

// Returns the chunk `first` + lane. If there is none, the chunk is empty and follows the last string. `started`: number
// of strings that begin before chunk `first`; then that of those before the next 32 chunks.
HR_FN KeptChunk chunk_of(const RowMemory& memory, const StringChunks& own, u32 first, u32& started) {
    const u32 place = own.first - first;
    const u32 starts = __reduce_or_sync(tile::all_lanes, place < tile::lanes ? 1u << place : 0);
    const u32 owner = started + static_cast<u32>(__popc(starts & (~0u >> (31 - tile::lane())))) - 1;
    started += static_cast<u32>(__popc(starts));
    const u32 from = tile::shuffle(own.begin - kept_chunk * own.first, owner), end = tile::shuffle(own.end, owner);
    const u32 at = min(from + kept_chunk * (first + tile::lane()), end);
    const u32 begin = has_escapes ? tile::shuffle(own.begin, owner) : 0;
    return {at, end, begin, tile::shuffle(own.to, owner) + at - dropped_until(memory, at)};
}

// Stores the bytes of a chunk that are not dropped from byte `to` of the stream on. Returns one past the last.
HR_FN u32 put_kept(const RowMemory& memory, const RowTask& task, const KeptChunk& chunk, u8* stream, u32 to) {
    const u32 at = chunk.at;
    const u32* const dropped = memory.dropped + at / 32;
    const u32 gone = __funnelshift_r(dropped[0], dropped[1], at) | ~low_mask(min(chunk.end - at, kept_chunk));
    u32 words[kept_chunk / 4];
    load_from(staged_words(memory), at, words);
#pragma unroll
    for (u32 k = 0; k < kept_chunk; ++k) {
        if ((gone >> k & 1) != 0) continue;
        stream[to++] = has_escapes ? byte_of_text(memory, task, at + k, at + k == chunk.begin)
                                   : static_cast<u8>(words[k / 4] >> (8 * (k % 4)));
    }
    return to;
}

// Copies the lanes' strings to `to`, without the dropped bytes. A lane takes a chunk of any of them, so that long and
// short strings take the same time. Of the pieces that fill the stream, the warp takes every `step`th from `piece` on.
HR_FN void copy_kept(const RowMemory& memory, const RowTask& task, u8* stream, u8* to, const RowString& strings,
                     u32 piece, u32 step) {
    constexpr u32 rounds = stream_bytes / (kept_chunk * tile::lanes), piece_chunks = rounds * tile::lanes;
    const StringChunks own = string_chunks(memory, strings);
    for (u32 first = piece * piece_chunks; first < own.total; first += step * piece_chunks) {
        u32 started = static_cast<u32>(__popc(__ballot_sync(tile::all_lanes, own.first < first)));
        u32 skew = 0, size = 0;
        u32 begin = 0;  // byte of the result at the begin of the stream; -1 to -3 before an aligned word
#pragma unroll 1
        for (u32 i = 0; i < rounds; ++i) {
            const KeptChunk chunk = chunk_of(memory, own, first + i * tile::lanes, started);
            if (i == 0) {
                begin = tile::shuffle(chunk.to, 0);
                skew = (static_cast<u32>(reinterpret_cast<u64>(to)) + begin) % 4;
                begin -= skew;
            }
            size = put_kept(memory, task, chunk, stream, chunk.to - begin);
        }
        __syncwarp();
        put_stream(stream, to + static_cast<i32>(begin), skew, tile::shuffle(size, tile::lanes - 1));
        __syncwarp();
    }
}

// Copies a string without dropped bytes by a warp. It stores words of the result, each from two words of the text, and
// the bytes before and after them.
HR_FN void copy_whole(const RowMemory& memory, u8* to, u32 from, u32 n) {
    const u8* const text = staged_text(memory);
    const u32 head = min(static_cast<u32>(0 - reinterpret_cast<u64>(to)) % 4, n), tail = (n - head) % 4;
    for (u32 at = head + 4 * tile::lane(); at + 4 <= n; at += 4 * tile::lanes) {
        u32 words[1];
        load_from(staged_words(memory), from + at, words);
        *tile::in_global(reinterpret_cast<u32*>(to + at)) = words[0];
    }
    if (tile::lane() >= head + tail) return;
    const u32 at = tile::lane() < head ? tile::lane() : n - tail + tile::lane() - head;
    *tile::in_global(to + at) = text[from + at];
}

// Copies the lanes' strings to `to` if none is longer than a word; no stream is built for these.
HR_FN void copy_tiny(const RowMemory& memory, u8* to, const RowString& own) {
    u32 text[1];
    load_from(staged_words(memory), own.begin, text);
#pragma unroll
    for (u32 i = 0; i < tiny_string; ++i) {
        if (i < own.raw) *tile::in_global(to + own.before + i) = static_cast<u8>(text[0] >> (8 * i));
    }
}

// Leaves the strings of 32 rows to all warps, once all rows are read.
HR_FN void leave_to_block(RowStrings& strings, u8* to, const RowString& own) {
    u32 slot = 0;
    if (tile::lane() == 0) slot = atomicAdd(&strings.long_count, 1u);
    LongStrings& aside = strings.longs[tile::shuffle(slot, 0)];
    if (tile::lane() == 0) aside.to = to;
    aside.begin[tile::lane()] = static_cast<u16>(own.begin);
    aside.raw[tile::lane()] = static_cast<u16>(own.raw);
    aside.until[tile::lane()] = static_cast<u16>(own.until);
}

// Copies the lanes' strings, one after the other, by a warp. No byte of them is dropped.
HR_FN void copy_each(const RowMemory& memory, u8* to, const RowString& own) {
#pragma unroll 1
    for (u32 lane = 0; lane < tile::lanes; ++lane)
        copy_whole(memory, to + tile::shuffle(own.before, lane), tile::shuffle(own.begin, lane),
                   tile::shuffle(own.raw, lane));
}

// Copies a string without dropped bytes by all warps, each a part.
HR_FN void copy_part(const RowMemory& memory, u8* to, u32 from, u32 n) {
    const u32 part = (n / warps + 4 * tile::lanes) / (4 * tile::lanes) * (4 * tile::lanes);
    const u32 first = min(tile::warp() * part, n);
    copy_whole(memory, to + first, from + first, min(part, n - first));
}

// Copies the strings that were left to all warps. All warps call this after a barrier.
HR_FN void copy_long(const RowMemory& memory, const RowTask& task, RowStrings& strings) {
    for (u32 i = 0; i < strings.long_count; ++i) {
        const LongStrings& aside = strings.longs[i];
        const auto own = [&](u32 owner) {
            return RowString{aside.begin[owner], aside.raw[owner], owner == 0 ? 0u : aside.until[owner - 1],
                             aside.until[owner]};
        };
        const RowString mine = own(tile::lane());
        if (may_quote && __any_sync(tile::all_lanes, has_dropped(mine))) {
            copy_kept(memory, task, strings.streams[tile::warp()], aside.to, mine, tile::warp(), warps);
            continue;
        }
        const u32 shared = __ballot_sync(tile::all_lanes, mine.raw >= long_string);
        for (u32 left = shared; left != 0; left &= left - 1) {
            const RowString one = own(first_bit(left));
            copy_part(memory, aside.to + one.before, one.begin, one.raw);
        }
        for (u32 owner = tile::warp(); owner < tile::lanes; owner += warps) {
            const RowString one = own(owner);
            if (!(shared >> owner & 1)) copy_whole(memory, aside.to + one.before, one.begin, one.raw);
        }
    }
}

// Returns where the strings of a warp's first row go: lane c has the target of column c. `begins`: those of the tile.
// `groups`: groups of 32 records of the tile before that row.
HR_FN u64 string_targets(const RowTask& task, const u64* begins, const u16* sizes, u32 groups) {
    if (tile::lane() >= task.strings) return 0;
    u32 before = 0;
    const u16* own = sizes + tile::lane();
    for (; groups != 0; --groups, own += task.strings) before += *own;
    return begins[tile::lane()] + before;
}

// Reads a warp's strings of a column and copies them. Moves the column's target past them. A tile whose rows turn out
// to be incomplete writes no more bytes than were measured, since measuring follows the same steps. So it never writes
// to another tile's range.
HR_FN void read_strings(RowMemory& memory, const RowTask& task, const RowTile& tile, const RowColumn& column,
                        const RowGroup& group, Cursor (&cursors)[per_lane], u64& targets, u32 part) {
    RowStrings& strings = row_strings(memory);
    u64 place = tile::shuffle(targets, column.number);
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        const u32 begin = cursors[i].at;
        const bool missing = is_missing(task, cursors[i]);
        FieldSpan field = next_field(memory, task, cursors[i]);
        if (splits_records && group.has_parts) field = span_of_part(field, begin, part, cursors[i]);
        const u32 last = cursors[i].at - 1, end = last - delimiter_more(task, last, cursors[i].end);
        const bool is_null = cursors[i].live && !missing &&
                             is_null_text(memory, task, tile, column, group.columns, begin, end, cursors[i].live);
        if (is_null) field.n = 0;
        const u32 n = group.may_drop ? kept_bytes(memory, field.begin, field.begin + field.n, field.quoted) : field.n;
        const u32 until = tile::scan_warp<Sum<u32>>(n);
        const u32 total = tile::shuffle(until, tile::lanes - 1);
        if (i == 0 && group.first == tile.entry.record) {
            // Bytes of the tile's first string that other tiles own: those far before the tile, or all before it.
            u32 until = max(begin, tile.begin - string_head);
            const bool is_cut = part < rest_part;
            if (!is_cut && last < tile.begin) until = end;
            const bool there = is_cut || (cursors[0].live && !is_null && !missing);
            place -= tile::shuffle(there ? kept_bytes(memory, begin, until, true) : 0, 0);
        }
        if (cursors[i].live) put_offset(column, group.row + i * tile::lanes + 1, place + until);
        const RowString own{field.begin, field.n, until - n, until};
        u8* const to = column.values + place;
        u8* const stream = strings.streams[tile::warp()];
        const bool drops = group.may_drop && __any_sync(tile::all_lanes, has_dropped(own));
        if (!drops && __all_sync(tile::all_lanes, own.raw <= tiny_string)) {
            copy_tiny(memory, to, own);
        } else if (total > long_strings) {
            leave_to_block(strings, to, own);
        } else if (drops) {
            copy_kept(memory, task, stream, to, own, 0, 1);
        } else if (total >= long_string && __any_sync(tile::all_lanes, own.raw >= long_string)) {
            // A lane's share of the work would keep the others waiting.
            copy_each(memory, to, own);
        } else {
            copy_short(memory, stream, to, own, total);
        }
        place += total;
        const bool is_empty =
            field.n == 0 && !field.quoted && cursors[i].live && ((column.flags & ROW_EMPTY_IS_NULL) || missing);
        const u32 nulls = __ballot_sync(tile::all_lanes, is_null || is_empty);
        if (nulls != 0) clear_bits(column.validity, group.first + i * tile::lanes, nulls);
    }
    if (tile::lane() == column.number) targets = place;
}

// Reads fields of a column that had no value in the sample: empty fields are null, others are left to the general path.
HR_FN void read_empty(RowMemory& memory, const RowTask& task, const RowTile& tile, const RowColumn& column,
                      const RowGroup& group, Cursor (&cursors)[per_lane]) {
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        const FieldSpan field = next_field(memory, task, cursors[i]);
        if (cursors[i].live && (field.n != 0 || field.quoted)) memory.has_kinds = 1;
        if (cursors[i].live) put_offset(column, group.row + i * tile::lanes + 1, 0);
        const u32 nulls = __ballot_sync(tile::all_lanes, cursors[i].live);
        if (nulls != 0) clear_bits(column.validity, group.first + i * tile::lanes, nulls);
    }
}

}  // namespace headrace
