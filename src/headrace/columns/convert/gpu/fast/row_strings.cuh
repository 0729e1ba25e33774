// Copies the strings of rows. Short ones are gathered in shared memory, so that stores are adjacent. Long ones are
// copied by all warps once all rows are read. The sizes measured per 32 records give each warp its target.
#pragma once

#include "columns/convert/gpu/fast/row_sizes.cuh"
#include "columns/convert/gpu/fast/row_values.cuh"

namespace headrace {

// Returns the next field, of any length, and moves past it. If the record has no further field, it is no longer live,
// and the field is empty.
HR_FN FieldSpan next_field(const RowMemory& memory, const RowTask& task, Cursor& cursor) {
    const u32 end = find_end(memory, cursor.at);
    cursor.live = cursor.live && end <= cursor.end;
    if (!cursor.live) return {cursor.at, 0, cursor.at, true};
    const FieldSpan field = field_at(memory, task, cursor, end - cursor.at);
    cursor.at = field.next;
    return field;
}

HR_FN void put_offset(const RowColumn& column, u64 row, u64 value) {
    store_offset(reinterpret_cast<void*>(column.offsets_or_rules), column.flags & ROW_LONG_OFFSETS, row, value);
}

// Stores bytes [skew, size) of a stream, whose word 0 belongs at `to`, a multiple of 4. `skew` is less than 4.
HR_FN void put_stream(const u8* stream, u8* to, u32 skew, u32 size) {
    const u32 whole = size & ~3u, lane = tile::lane();
    for (u32 at = 4 * (lane + (skew != 0 ? 1 : 0)); at < whole; at += 4 * tile::lanes) {
        *reinterpret_cast<u32*>(to + at) = *reinterpret_cast<const u32*>(stream + at);
    }
    // Bytes of the partial words at both ends, one per lane.
    const u32 at = lane < 4 ? lane : whole + lane - 4;
    const bool in_first_word = lane < 4 && skew != 0 && at >= skew,
               in_last_word = lane - 4 < 4 && (whole != 0 || skew == 0);
    if ((in_first_word || in_last_word) && at < size) to[at] = stream[at];
}

// A row's string: staged bytes, and the number of string bytes in its 32 rows before it and up to its end.
struct RowString {
    u32 begin, raw;
    u32 before, until;
};

// Returns whether some bytes of the string are dropped.
HR_FN bool has_dropped(const RowString& own) { return may_quote && own.until - own.before != own.raw; }

// A lane's position while it copies its string.
struct Copied {
    u32 from;  // staged byte
    u32 end;
    u32 to;  // byte of the stream
};

// Copies byte by byte until `to` reaches `until`; of two quotes only one, and no byte that the DFA has dropped.
HR_FN void copy_bytes(const RowMemory& memory, const RowTask& task, u8* stream, Copied& copied, u32 until) {
    const u8* const text = staged_text(memory);
    while (copied.from < copied.end && copied.to < until) {
        const u8 byte = text[copied.from];
        if constexpr (by_dfa) {
            if (!is_dropped(memory, copied.from++)) stream[copied.to++] = byte;
            continue;
        }
        stream[copied.to++] = byte;
        copied.from += byte == task.dialect.quote ? 2 : 1;
    }
}

// Copies a string without dropped bytes until `to` reaches `until`. It stores whole words of the stream, each from two
// words of the text, and the bytes before and after them. Example "x,Joan of Arc" to byte 3: "J" is a byte, "oan " and
// "of A" are words, "rc" are bytes.
HR_FN void copy_words(const RowMemory& memory, u8* stream, Copied& copied, u32 until) {
    const u32 n = min(copied.end - copied.from, until - min(copied.to, until));
    const u32* const text = staged_words(memory);
    u32 first[1];
    load_from(text, copied.from, first);
    u32 at = (0 - copied.to) % 4;
    const u32 head = min(at, n);
#pragma unroll
    for (u32 k = 0; k < 3; ++k) {
        if (k < head) stream[copied.to + k] = static_cast<u8>(first[0] >> (8 * k));
    }
    const u32 begin = copied.from + at, shift = 8 * begin;
    const u32* next = text + begin / 4;
    u32 low = *next;
    for (; at + 4 <= n; at += 4) {
        const u32 high = *++next;
        *reinterpret_cast<u32*>(stream + copied.to + at) = __funnelshift_r(low, high, shift);
        low = high;
    }
    if (at < n) {
        const u32 last = __funnelshift_r(low, next[1], shift);
#pragma unroll
        for (u32 k = 0; k < 3; ++k) {
            if (at + k < n) stream[copied.to + at + k] = static_cast<u8>(last >> (8 * k));
        }
    }
    copied.from += n;
    copied.to += n;
}

// Copies the lanes' strings to `to`, one lane's after the other's, through shared memory.
HR_FN void copy_short(const RowMemory& memory, const RowTask& task, u8* stream, u8* to, const RowString& own,
                      u32 total) {
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(to) % 4);
    const bool by_bytes = has_dropped(own);
    Copied copied{own.begin, own.begin + own.raw, own.before + skew};
    for (u32 first = 0; first < total; first += stream_bytes) {
        const u32 size = min(stream_bytes, total - first) + skew;
        if (by_bytes) {
            copy_bytes(memory, task, stream, copied, size);
        } else {
            copy_words(memory, stream, copied, size);
        }
        copied.to -= stream_bytes;
        __syncwarp();
        put_stream(stream, to + first - skew, skew, size);
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
        *reinterpret_cast<u32*>(to + at) = words[0];
    }
    if (tile::lane() >= head + tail) return;
    const u32 at = tile::lane() < head ? tile::lane() : n - tail + tile::lane() - head;
    to[at] = text[from + at];
}

// Copies a string with dropped quotes by a warp, four bytes per lane.
HR_FN void copy_kept(const RowMemory& memory, u8* to, u32 from, u32 n) {
    const u8* const text = staged_text(memory);
    for (u32 i = 4 * tile::lane(); i < n; i += 4 * tile::lanes) {
        const u32 count = min(n - i, 4u), at = from + i;
        const u32* const dropped = memory.dropped + at / 32;
        const u32 gone = __funnelshift_r(dropped[0], dropped[1], at) & low_mask(count);
        u8* place = to + i - (dropped_until(memory, at) - dropped_until(memory, from));
        for (u32 k = 0; k < count; ++k) {
            if (!(gone >> k & 1)) *place++ = text[at + k];
        }
    }
}

// Copies the lanes' strings to `to` if none is longer than a word; no stream is built for these.
HR_FN void copy_tiny(const RowMemory& memory, u8* to, const RowString& own, u32 longest) {
    const u8* const text = staged_text(memory) + own.begin;
    for (u32 i = 0; i < longest; ++i) {
        if (i < own.raw) to[own.before + i] = text[i];
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

// Copies the strings that were left to all warps. All warps call this after a barrier.
HR_FN void copy_long(const RowMemory& memory, const RowStrings& strings) {
    for (u32 i = 0; i < strings.long_count; ++i) {
        const LongStrings& aside = strings.longs[i];
        for (u32 owner = tile::warp(); owner < tile::lanes; owner += warps) {
            const RowString own{aside.begin[owner], aside.raw[owner], owner == 0 ? 0u : aside.until[owner - 1],
                                aside.until[owner]};
            if (has_dropped(own)) {
                copy_kept(memory, aside.to + own.before, own.begin, own.raw);
            } else {
                copy_whole(memory, aside.to + own.before, own.begin, own.raw);
            }
        }
    }
}

// Targets of a warp's strings: lane c has the begin of column c.
struct StringTargets {
    u64 begin;
    u32 groups;  // groups of 32 records of the tile before this one
};

// Moves on to a later group.
HR_FN void move_to(StringTargets& places, const RowTask& task, const u16* sizes, u32 group) {
    for (; places.groups < group; ++places.groups) {
        if (tile::lane() < task.strings) places.begin += sizes[places.groups * task.strings + tile::lane()];
    }
}

// Reads a warp's strings of a column and copies them. A tile whose rows turn out to be incomplete writes no more bytes
// than were measured, since measuring follows the same steps. So it never writes to another tile's range.
HR_FN void read_strings(RowMemory& memory, const RowTask& task, const RowTile& tile, const RowColumn& column,
                        const RowGroup& group, Cursor (&cursors)[per_lane], const StringTargets& places) {
    RowStrings& strings = row_strings(memory);
    u64 place = tile::shuffle(places.begin, column.number);
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        const u32 begin = cursors[i].at;
        const FieldSpan field = next_field(memory, task, cursors[i]);
        const u32 n = kept_bytes(memory, field.begin, field.begin + field.n, field.quoted);
        const u32 until = tile::scan_warp<Sum<u32>>(n);
        const u32 total = tile::shuffle(until, tile::lanes - 1);
        if (i == 0 && group.first == tile.entry.record) {
            u32 others = 0;  // bytes of the tile's first string that other tiles own
            if (cursors[0].live) {
                const u32 place = cursors[0].at - 1, end = place - separator_more(task, place, cursors[0].end);
                others = kept_bytes(memory, begin, end, true) - owned_bytes(memory, tile, {begin, end, place}, false);
            }
            place -= tile::shuffle(others, 0);
        }
        const u64 row = group.row + i * tile::lanes;
        if (row < tile.entry.record + tile.records) put_offset(column, row + 1, place + until);
        const RowString own{field.begin, field.n, until - n, until};
        u8* const to = column.values + place;
        const u32 longest = __reduce_max_sync(tile::all_lanes, has_dropped(own) ? long_strings : own.raw);
        if (longest <= tiny_string) {
            copy_tiny(memory, to, own, longest);
        } else if (total <= long_strings) {
            copy_short(memory, task, strings.streams[tile::warp()], to, own, total);
        } else {
            leave_to_block(strings, to, own);
        }
        place += total;
        const bool null = field.n == 0 && !field.quoted && cursors[i].live && (column.flags & ROW_EMPTY_IS_NULL);
        const u32 nulls = __ballot_sync(tile::all_lanes, null);
        if (nulls != 0) clear_bits(column.validity, group.first + i * tile::lanes, nulls);
    }
}

// Reads fields of a column that had no value in the sample: empty fields are null, others are left to the general path.
HR_FN void read_empty(RowMemory& memory, const RowTask& task, const RowTile& tile, const RowColumn& column,
                      const RowGroup& group, Cursor (&cursors)[per_lane]) {
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        const FieldSpan field = next_field(memory, task, cursors[i]);
        if (cursors[i].live && (field.n != 0 || field.quoted)) memory.has_kinds = 1;
        const u64 row = group.row + i * tile::lanes;
        const bool there = row < tile.entry.record + tile.records;
        if (there) put_offset(column, row + 1, 0);
        const u32 nulls = __ballot_sync(tile::all_lanes, there);
        if (nulls != 0) clear_bits(column.validity, group.first + i * tile::lanes, nulls);
    }
}

}  // namespace headrace
