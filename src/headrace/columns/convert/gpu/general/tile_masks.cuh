// Finds the ends of a tile's fields and records by byte masks.
//
// A thread resolves 32 bytes at a time, as structure/cpu/plain_masks.hpp does. A byte is inside quotes if the number of
// quotes before it is odd. A line end directly after another one ends no record. Counts are scanned once over the
// block.
#pragma once

#include "columns/convert/gpu/general/tile_dfa.cuh"

namespace headrace {

// A thread's words of the masks, after quotes are resolved.
struct ThreadMasks {
    u32 first;  // index of the first word
    u32 ends[chunks_per_thread];
    u32 records[chunks_per_thread];
    u32 dropped[chunks_per_thread];
    u32 malformed[chunks_per_thread];
    u32 ends_before, records_before;  // number in the tile before the thread's words
};

// Properties of the byte before a word, which the word's masks depend on.
struct MaskCarry {
    u32 inside;     // all ones if inside quotes
    u32 line_end;   // bit 0: the byte before is a line end, or the text begins here
    u32 separator;  // bit 0: the byte before is a separator
    u32 closing;    // bit 0: the byte before is a closing quote
};

// Returns the line ends that end a record. Directly after another line end, one does so only if blank lines count; LF
// after CR never does.
HR_FN u32 real_ends(const ConvertMemory& memory, const PlainDialect& dialect, u32 word, u32 lines, u32 after) {
    if (dialect.flags & PLAIN_SKIP_BLANK) return lines & ~after;
    u32 result = lines;
    if (dialect.flags & PLAIN_UNIVERSAL) {
        const u8* const text = reinterpret_cast<const u8*>(memory.text) + 32 * word;
        for (u32 left = lines & after; left != 0; left &= left - 1) {
            const u32 bit = left & (0 - left);
            const u32 at = 31 - static_cast<u32>(__clz(static_cast<int>(bit)));
            // In the tile's first word the preceding byte may be the last one of the staged head.
            if (text[at] == '\n' && text[static_cast<i32>(at) - 1] == '\r') result &= ~bit;
        }
    }
    return result;
}

// Each thread has consecutive words.
HR_FN u32 thread_first_word() { return head_chunks + threadIdx.x * chunks_per_thread; }

HR_FN void resolve_word(const ConvertMemory& memory, const PlainDialect& dialect, u32 word, u32 number,
                        MaskCarry& carry, ThreadMasks& own) {
    u32 separators = memory.ends[word], lines = memory.records[word];
    u32 quotes = 0, inside = 0;
    if constexpr (may_quote) {
        quotes = memory.dropped[word];
        inside = tile::prefix_parities(quotes) ^ carry.inside;
        separators &= ~inside;
        lines &= ~inside;
    }
    const u32 after = lines << 1 | carry.line_end;
    const u32 records = real_ends(memory, dialect, word, lines, after);
    own.ends[number] = separators | records;
    own.records[number] = records;
    carry.line_end = lines >> 31;
    if constexpr (may_quote) {
        const u32 opening = quotes & inside, closing = quotes & ~inside;
        const u32 after_closing = closing << 1 | carry.closing;
        const bool doubles = dialect.flags & PLAIN_DOUBLES;
        own.dropped[number] = dropped_quotes(quotes, inside, doubles, carry.closing);
        const u32 may_open = after | separators << 1 | carry.separator | (doubles ? after_closing : 0);
        // Bytes past the text's end are excluded: a quote may close there.
        own.malformed[number] = (opening & ~may_open) | (after_closing & ~(separators | lines | quotes));
        carry.inside = static_cast<u32>(static_cast<i32>(inside) >> 31);
        carry.closing = closing >> 31;
        carry.separator = separators >> 31;
    }
}

// Finds the quotes of the staged head that are not part of their field's text. `last`: whether the head's last byte is
// a closing quote.
HR_FN void resolve_head(ConvertMemory& memory, const u8* text, const PlainDialect& dialect, const ConvertTile& tile,
                        u32 (&dropped)[head_chunks]) {
    u32 quotes[head_chunks];
    u32 parity = tile.entry.state;
#pragma unroll
    for (u32 i = 0; i < head_chunks; ++i) {
        quotes[i] = memory.dropped[i];
        parity ^= static_cast<u32>(__popc(quotes[i])) & 1;
    }
    u32 inside_before = parity != 0 ? ~0u : 0;
    u32 closing_before = parity == 0 && tile.origin > 0 && text[tile.origin - 1] == dialect.quote ? 1 : 0;
#pragma unroll
    for (u32 i = 0; i < head_chunks; ++i) {
        const u32 inside = tile::prefix_parities(quotes[i]) ^ inside_before;
        const u32 closing = quotes[i] & ~inside;
        dropped[i] = dropped_quotes(quotes[i], inside, dialect.flags & PLAIN_DOUBLES, closing_before);
        inside_before = static_cast<u32>(static_cast<i32>(inside) >> 31);
        closing_before = closing >> 31;
    }
}

// Returns the properties of the byte before a thread's first word. `quotes_before`: number of quotes in the tile before
// that word.
HR_FN MaskCarry carry_into(const ConvertMemory& memory, const ConvertTile& tile, u32 word, u32 quotes_before) {
    MaskCarry carry{};
    if (may_quote && ((tile.entry.state ^ quotes_before) & 1)) carry.inside = ~0u;
    if (word == head_chunks) {
        const u32 first = tile.begin - halo_bytes;  // not 0 in the first tile if the text is not aligned to 16 bytes
        carry.line_end = tile.entry.open ? 0 : 1u << first;
        carry.separator = tile.entry.open && tile.entry.field_begin == tile_position(tile, tile.begin) ? 1 : 0;
        if (may_quote && carry.inside == 0) carry.closing = memory.dropped[word - 1] >> 31;
    } else if (carry.inside == 0) {
        carry.line_end = memory.records[word - 1] >> 31;
        carry.separator = memory.ends[word - 1] >> 31;
        if constexpr (may_quote) carry.closing = memory.dropped[word - 1] >> 31;
    }
    return carry;
}

// Resolves a thread's words by masks, and finds the dropped quotes of the staged head.
HR_FN void resolve_words(ConvertMemory& memory, const u8* text, const ConvertTask& task, const ConvertTile& tile,
                         ThreadMasks& own, u32 (&head_dropped)[head_chunks]) {
    u32 quotes = 0, quotes_before = 0;
    if constexpr (may_quote) {
#pragma unroll
        for (u32 i = 0; i < chunks_per_thread; ++i) {
            if (own.first + i < chunks) quotes += static_cast<u32>(__popc(memory.dropped[own.first + i]));
        }
        const u64 joined = tile::scan_warp<Sum<u64>>(u64{quotes});
        quotes_before = static_cast<u32>(
            tile::scan_warps<Sum<u64>, threads>(tile::shuffle(joined, tile::lanes - 1), memory.totals).before + joined -
            quotes);
        if (threadIdx.x == 0) resolve_head(memory, text, task.dialect, tile, head_dropped);
    }
    MaskCarry carry = carry_into(memory, tile, own.first < chunks ? own.first : head_chunks, quotes_before);
#pragma unroll
    for (u32 i = 0; i < chunks_per_thread; ++i) {
        own.ends[i] = own.records[i] = own.dropped[i] = own.malformed[i] = 0;
        if (own.first + i >= chunks) continue;
        resolve_word(memory, task.dialect, own.first + i, i, carry, own);
        const u32 from = 32 * (own.first + i);
        if (may_quote && from + 32 > tile.end) own.malformed[i] &= from >= tile.end ? 0 : low_mask(tile.end - from);
    }
}

// Takes a thread's words from the DFA.
HR_FN void read_words(ConvertMemory& memory, const ConvertTask& task, const ConvertTile& tile, ThreadMasks& own,
                      u32 (&head_dropped)[head_chunks]) {
    stage_roles(memory, task, tile, own.first);
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < chunks_per_thread; ++i) {
        const u32 word = own.first + i;
        const bool here = word < chunks;
        own.records[i] = here ? memory.records[word] : 0;
        own.ends[i] = here ? memory.ends[word] : 0;
        own.malformed[i] = here ? malformed_bits(memory)[word] : 0;
        own.dropped[i] = here ? memory.dropped[word] : 0;
        // An escape at the text's end escapes nothing, so it is text.
        const bool last = tile.last_end && here && (tile.end - 1) / 32 == word;
        if (last && is_in(task.dfa, StepSet::escaped, tile.next.state)) {
            own.dropped[i] &= ~(1u << ((tile.end - 1) % 32));
        }
    }
    if (threadIdx.x != 0) return;
#pragma unroll
    for (u32 i = 0; i < head_chunks; ++i) head_dropped[i] = memory.dropped[i];
}

// Resolves all masks, counts fields and records, and determines whether the tile is regular.
HR_FN void resolve_tile(ConvertMemory& memory, const u8* text, const ConvertTask& task, ConvertTile& tile,
                        ThreadMasks& own) {
    own.first = thread_first_word();
    u32 head_dropped[head_chunks] = {};
    if constexpr (by_dfa) {
        read_words(memory, task, tile, own, head_dropped);
    } else {
        resolve_words(memory, text, task, tile, own, head_dropped);
    }
    u32 ends = 0, records = 0, dropped = 0;
#pragma unroll
    for (u32 i = 0; i < chunks_per_thread; ++i) {
        ends += static_cast<u32>(__popc(own.ends[i]));
        records += static_cast<u32>(__popc(own.records[i]));
        dropped += static_cast<u32>(__popc(own.dropped[i]));
    }
    if (threadIdx.x == 0) {
#pragma unroll
        for (u32 i = 0; i < head_chunks; ++i) dropped += static_cast<u32>(__popc(head_dropped[i]));
    }
    // Three counts below 2^17 fit in 64 bits, two below 2^16 in 32 bits. The barrier in the scan also separates reading
    // the masks from writing them; the barrier before it frees `totals`.
    __syncthreads();
    constexpr u32 bits = may_quote ? 20 : 16;
    constexpr u32 all = (1u << bits) - 1, third = may_quote ? 2 * bits : 0;
    using Counts = Either<may_quote, u64, u32>;
    auto& totals = reinterpret_cast<Counts(&)[threads / tile::lanes]>(memory.totals);
    Counts counts = ends | static_cast<Counts>(records) << bits;
    if constexpr (may_quote) counts |= static_cast<Counts>(dropped) << third;
    const Counts joined = tile::scan_warp<Sum<Counts>>(counts);
    const tile::WarpPrefix<Counts> block =
        tile::scan_warps<Sum<Counts>, threads>(tile::shuffle(joined, tile::lanes - 1), totals);
    const Counts before = block.before + joined - counts;
    own.ends_before = static_cast<u32>(before & all);
    own.records_before = static_cast<u32>(before >> bits & all);
    u32 dropped_before = 0;
    if constexpr (may_quote) {
        dropped_before = static_cast<u32>(before >> third);
        if (threadIdx.x == 0) {
#pragma unroll
            for (u32 i = 0; i < head_chunks; ++i) {
                memory.dropped[i] = head_dropped[i];
                memory.dropped_before[i] = static_cast<u16>(dropped_before);
                dropped_before += static_cast<u32>(__popc(head_dropped[i]));
            }
            memory.dropped[chunks] = 0;
            memory.dropped_before[chunks] = static_cast<u16>(block.total >> third);
        }
    }
#pragma unroll
    for (u32 i = 0; i < chunks_per_thread; ++i) {
        if (own.first + i >= chunks) continue;
        memory.ends[own.first + i] = own.ends[i];
        memory.records[own.first + i] = own.records[i];
        if constexpr (may_quote) {
            memory.dropped[own.first + i] = own.dropped[i];
            memory.dropped_before[own.first + i] = static_cast<u16>(dropped_before);
            dropped_before += static_cast<u32>(__popc(own.dropped[i]));
        }
    }
    tile.fields = static_cast<u32>(block.total & all) + (tile.last_end ? 1 : 0);
    tile.records = static_cast<u32>(block.total >> bits & all) + (tile.last_end ? 1 : 0);
    const u64 columns = u64{tile.entry.column} + tile.fields;
    const u64 whole = u64{tile.records} * task.width;
    // After the last record's end there are fewer fields than a record has. The text's end also ends a record.
    tile.regular = tile.entry.column < task.width && columns >= whole && columns - whole < task.width &&
                   (!tile.last_end || columns == whole);
}

}  // namespace headrace
