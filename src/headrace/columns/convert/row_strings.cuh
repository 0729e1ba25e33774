// Strings of rows: where each warp's go, and their bytes. Short ones are gathered in shared memory, so that stores are
// side by side; long ones are copied by all warps.
#pragma once

#include "columns/convert/row_sizes.cuh"
#include "columns/convert/row_values.cuh"

namespace headrace {

// Goes on behind a field of any length; returns it. A record without it is no longer live, and then it has no bytes.
HR_FN Field next_field(const RowMemory& memory, const RowTask& task, Cursor& cursor) {
    const u32 end = find_end(memory, cursor.at);
    cursor.live = cursor.live && end <= cursor.end;
    if (!cursor.live) return {cursor.at, 0, cursor.at, true};
    const Field field = field_at(memory, task, cursor.at, end - cursor.at);
    cursor.at = field.next;
    return field;
}

// Notes a column's strings of a warp: their places, and how many bytes they have.
HR_FN void read_strings(RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                        Cursor (&cursors)[per_lane], u32 round) {
    RowStrings& strings = strings_behind(memory);
    const u32 number = column.string;
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        const Field field = next_field(memory, task, cursors[i]);
        const u32 n = kept_bytes(memory, field.begin, field.begin + field.n, field.quoted);
        const u32 until = tile::scan_warp<Sum<u32>>(n);
        const u32 part = tile::warp() * per_lane + i;
        strings.places[number][part * tile::lanes + tile::lane()] = {
            static_cast<u16>(field.begin), static_cast<u16>(field.n), static_cast<u16>(until)};
        if (tile::lane() == tile::lanes - 1) strings.added[round % 2][number][part] = until;
        const bool null = field.n == 0 && !field.quoted && cursors[i].live && (column.flags & ROW_EMPTY_IS_NULL);
        const u32 nulls = __ballot_sync(tile::all_lanes, null);
        if (nulls != 0) clear_bits(column.validity, group.first + i * tile::lanes, nulls);
    }
}

HR_FN void put_offset(const RowColumn& column, u64 row, u64 value) {
    store_offset(reinterpret_cast<void*>(column.more), column.flags & ROW_LONG_OFFSETS, row, value);
}

// Stores bytes [skew, size) of a stream, whose word 0 goes to `to`, a multiple of 4; `skew` is less than 4.
HR_FN void put_stream(const u8* stream, u8* to, u32 skew, u32 size) {
    const u32 whole = size & ~3u, lane = tile::lane();
    for (u32 at = 4 * (lane + (skew != 0 ? 1 : 0)); at < whole; at += 4 * tile::lanes) {
        *reinterpret_cast<u32*>(to + at) = *reinterpret_cast<const u32*>(stream + at);
    }
    // Of the word before and the one behind, each byte by a lane.
    const u32 at = lane < 4 ? lane : whole + lane - 4;
    const bool before = lane < 4 && skew != 0 && at >= skew, behind = lane - 4 < 4 && (whole != 0 || skew == 0);
    if ((before || behind) && at < size) to[at] = stream[at];
}

// A row's string, and where its bytes go behind those of 32 rows' first.
struct RowString {
    u32 begin, raw;
    u32 before, until;
};
HR_FN RowString string_of(const StringPlace* places, u32 row) {
    const StringPlace own = places[row];
    return {own.begin, own.raw, row % tile::lanes == 0 ? 0u : places[row - 1].until, own.until};
}

// Whether bytes of its text are left out.
HR_FN bool drops(const RowString& own) { return may_quote && own.until - own.before != own.raw; }

// How far a lane has copied its string.
struct Copied {
    u32 from;  // staged byte
    u32 end;
    u32 to;  // byte of the stream
};

// Copies on until `to` reaches `until`, byte by byte; of two quotes, one.
HR_FN void copy_bytes(const RowMemory& memory, const RowTask& task, u8* stream, Copied& copied, u32 until) {
    const u8* const text = staged_text(memory);
    while (copied.from < copied.end && copied.to < until) {
        const u8 byte = text[copied.from];
        stream[copied.to++] = byte;
        copied.from += byte == task.dialect.quote ? 2 : 1;
    }
}

// The same where no byte is dropped: whole words of the stream, each of two words of the text, and the bytes before
// and behind them. "x,Joan of Arc" to byte 3: "J" is a byte, "oan " and "of A" are words, "rc" are bytes.
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

// Copies each lane's string to `to` and behind it, all lanes' at once, through shared memory.
HR_FN void copy_short(const RowMemory& memory, const RowTask& task, u8* stream, u8* to, const RowString& own,
                      u32 total) {
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(to) % 4);
    const bool by_bytes = drops(own);
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

// Copies a string of which no byte is dropped by a warp: words of the result, each of two words of the text, and the
// bytes before and behind them.
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

// The same where quotes are dropped; four bytes a lane.
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

// Stores a round's strings of one column; behind the barrier that all warps' sizes wait for. `rows`: of the round, the
// first of which is `first`; `before`: bytes of its string that other tiles own.
HR_FN void put_strings(RowMemory& memory, const RowTask& task, const RowColumn& column, u64 first, u32 rows, u32 round,
                       u32 before) {
    constexpr u32 parts = warps * per_lane;  // of 32 rows
    static_assert(parts <= tile::lanes);
    RowStrings& strings = strings_behind(memory);
    const u32 number = column.string, warp = tile::warp(), lane = tile::lane();
    const StringPlace* const places = strings.places[number];
    const u64 base = strings.bases[warp][number] - before;
    const u32 added = lane < parts && lane * tile::lanes < rows ? strings.added[round % 2][number][lane] : 0;
    const u32 until = tile::scan_warp<Sum<u32>>(added);
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        const u32 part = warp * per_lane + i, row = part * tile::lanes + lane;
        const u32 total = tile::shuffle(added, part);
        const u64 place = base + (tile::shuffle(until, part) - total);
        if (part * tile::lanes >= rows) break;
        const RowString own = string_of(places, row);
        if (row < rows) {
            put_offset(column, first + row + 1, place + own.until);
            if (first + row == 0) put_offset(column, 0, 0);
        }
        if (total <= long_strings) copy_short(memory, task, strings.streams[warp], column.values + place, own, total);
    }
    for (u32 left = __ballot_sync(tile::all_lanes, added > long_strings); left != 0; left &= left - 1) {
        const u32 part = first_bit(left);
        u8* const to = column.values + (base + (tile::shuffle(until, part) - tile::shuffle(added, part)));
        for (u32 owner = warp; owner < tile::lanes; owner += warps) {
            const RowString own = string_of(places, part * tile::lanes + owner);
            if (drops(own)) {
                copy_kept(memory, to + own.before, own.begin, own.raw);
            } else {
                copy_whole(memory, to + own.before, own.begin, own.raw);
            }
        }
    }
    const u64 behind = base + tile::shuffle(until, tile::lanes - 1);
    __syncwarp();
    if (lane == 0) strings.bases[warp][number] = behind;
}

}  // namespace headrace
