// Resolves the quotes of a staged tile: removes delimiters inside them, and finds quotes that are not part of their
// field's text.
//
// A byte is inside quotes if the number of quotes before it is odd. The tile's entry gives the state at its begin, and
// the head is resolved backwards from there. Two quotes inside quotes are a closing one and an opening one after it:
// the first is dropped, the second is kept.
//
// If the DFA search made the tile's entry, quotes may also be text. Then the tile is searched for a quote that would
// open a field in its middle, from the begin of the first record on. If there is none and the record begins outside
// quotes, parity is right.
#pragma once

#include "columns/convert/gpu/fast/row_tile.cuh"
#include "columns/convert/gpu/text_bits.cuh"

namespace headrace {

// A thread's words of the tile: field and line ends inside and outside quotes, quotes, and bytes inside quotes.
struct QuotedWords {
    u32 ends[thread_chunks], lines[thread_chunks], quotes[thread_chunks], inside[thread_chunks];
};

// The dropped quotes of a word of the head, and their number in the warp's words up to and including it.
struct HeadWord {
    u32 dropped, until;
};

// Shares which words of the head have an odd number of quotes. Callers put a barrier before resolve_head.
HR_FN void share_head(RowMemory& memory) {
    const u32 quotes = threadIdx.x < head_chunks ? memory.dropped[threadIdx.x] : 0;
    const u32 odd = __ballot_sync(tile::all_lanes, (__popc(quotes) & 1) != 0);
    if (tile::lane() == 0) memory.head_odd[tile::warp()] = odd;
}

HR_FN bool has_head() { return tile::warp() * tile::lanes < head_chunks; }

// Returns which bytes of this thread's word of the head are inside quotes. `inside`: the state at the tile's begin.
HR_FN u32 inside_of_head(const RowMemory& memory, u32 quotes, bool inside) {
    u32 odd = static_cast<u32>(__popc(memory.head_odd[tile::warp()] & ~((1u << tile::lane()) - 1)));
    for (u32 warp = tile::warp() + 1; warp * tile::lanes < head_chunks; ++warp)
        odd += static_cast<u32>(__popc(memory.head_odd[warp]));
    return tile::prefix_parities(quotes) ^ (inside != ((odd & 1) != 0) ? ~0u : 0);
}

// Returns the dropped quotes of a word. `quote_before`: the byte before is a quote.
HR_FN u32 dropped_of(const PlainDialect& dialect, u32 quotes, u32 inside, bool quote_before) {
    const bool outside_before = ((inside ^ quotes) & 1) == 0;
    return dropped_quotes(quotes, inside, dialect.flags & PLAIN_DOUBLES, quote_before && outside_before ? 1 : 0);
}

// Counts the dropped bytes of this thread's word of the head. Callers are whole warps.
HR_FN HeadWord count_head(RowMemory& memory, u32 dropped) {
    const u32 gone = static_cast<u32>(__popc(dropped)), until = tile::scan_warp<Sum<u32>>(gone);
    if (tile::lane() == tile::lanes - 1) memory.head_dropped[tile::warp()] = until;
    return {dropped, until - gone};
}

// Resolves this thread's word of the head. `ends`: its field and line ends inside and outside quotes.
HR_FN HeadWord resolve_head(RowMemory& memory, const PlainDialect& dialect, u32 ends, bool inside) {
    const u32 word = threadIdx.x;
    const bool there = word < head_chunks;
    const u32 quotes = there ? memory.dropped[word] : 0;
    const u32 within = inside_of_head(memory, quotes, inside);
    const bool quote_before = there && word != 0 && memory.dropped[word - 1] >> 31 != 0;
    const u32 dropped = dropped_of(dialect, quotes, within, quote_before);
    if (there) memory.ends[word] = ends & ~within;
    if (HR_WRITES && (quotes & ~dropped) != 0) memory.has_doubled = 1;
    return count_head(memory, dropped);
}

// Stores the word. Counts end with halo_bytes at the tile, where the tile's counts continue. Call after a barrier.
HR_FN void put_head(RowMemory& memory, const HeadWord& own) {
    if (threadIdx.x >= head_chunks) return;
    u32 dropped_to_tile = 0;
    for (u32 warp = tile::warp(); warp * tile::lanes < head_chunks; ++warp)
        dropped_to_tile += memory.head_dropped[warp];
    memory.dropped[threadIdx.x] = own.dropped;
    memory.dropped_before[threadIdx.x] = static_cast<u16>(halo_bytes - dropped_to_tile + own.until);
}

// Counts the line ends and the dropped bytes of this thread's words, and stores the latter with the head's. Has a
// barrier; the results are visible after the next one.
HR_FN void count_words(RowMemory& memory, const HeadWord& head, const u32 (&dropped)[thread_chunks], LineEnds& lines) {
    u32 counts = 0;
#pragma unroll
    for (u32 i = 0; i < thread_chunks; ++i) {
        counts += static_cast<u32>(__popc(lines.words[i])) | static_cast<u32>(__popc(dropped[i])) << 16;
    }
    auto& totals = reinterpret_cast<u32(&)[warps]>(memory.totals);
    const u32 joined = tile::scan_warp<Sum<u32>>(counts);
    const tile::WarpPrefix<u32> block =
        tile::scan_warps<Sum<u32>, threads>(tile::shuffle(joined, tile::lanes - 1), totals);
    const u32 until = block.before + joined - counts;
    lines.before = until & 0xFFFF;
    lines.total = block.total & 0xFFFF;
    put_head(memory, head);
    store_thread_words(memory.dropped + head_chunks, dropped);
    u32 sum = halo_bytes + (until >> 16);
#pragma unroll
    for (u32 i = 0; i < thread_chunks; ++i) {
        const u32 word = threadIdx.x * thread_chunks + i;
        if (!has_chunk(word)) break;
        memory.dropped_before[head_chunks + word] = static_cast<u16>(sum);
        sum += static_cast<u32>(__popc(dropped[i]));
    }
    if (threadIdx.x == threads - 1) memory.dropped_before[chunks] = static_cast<u16>(halo_bytes + (block.total >> 16));
}

// Resolves all words and stores field ends and dropped quotes. `head_ends`: field and line ends of this thread's word
// of the head. Has a barrier; the results are visible after the next one.
HR_FN LineEnds resolve_words(RowMemory& memory, const PlainDialect& dialect, u32 head_ends, bool inside,
                             QuotedWords& own) {
    HeadWord head{};
    if (has_head()) head = resolve_head(memory, dialect, head_ends, inside);
    const u32 first = threadIdx.x * thread_chunks;
    bool quote_before = has_chunk(first) && memory.dropped[head_chunks + first - 1] >> 31 != 0;
    LineEnds lines{};
    u32 dropped[thread_chunks];
#pragma unroll
    for (u32 i = 0; i < thread_chunks; ++i) {
        own.ends[i] &= ~own.inside[i];
        lines.words[i] = own.lines[i] & ~own.inside[i];
        dropped[i] = dropped_of(dialect, own.quotes[i], own.inside[i], quote_before);
        if (HR_WRITES && (own.quotes[i] & ~dropped[i]) != 0) memory.has_doubled = 1;
        quote_before = own.quotes[i] >> 31 != 0;
    }
    store_thread_words(memory.ends + head_chunks, own.ends);
    count_words(memory, head, dropped, lines);
    return lines;
}

// Counts the line ends and the dropped bytes that the DFA has found. Barriers as in `resolve_words`.
HR_FN LineEnds count_by_dfa(RowMemory& memory) {
    HeadWord head{};
    if (has_head()) head = count_head(memory, threadIdx.x < head_chunks ? memory.dropped[threadIdx.x] : 0);
    LineEnds lines{};
    u32 dropped[thread_chunks];
    load_thread_words(memory.lines, lines.words);
    load_thread_words(memory.dropped + head_chunks, dropped);
    count_words(memory, head, dropped, lines);
    return lines;
}

// Returns the quotes of a staged word that would open a field in its middle. Staged ends and quotes are still
// unresolved.
HR_FN u32 misplaced_quotes(const RowMemory& memory, const RowTile& tile, const PlainDialect& dialect, u32 word,
                           u32 inside) {
    const u32 doubles = dialect.flags & PLAIN_DOUBLES ? ~0u : 0;
    const u32 may_precede = memory.ends[word] | (memory.dropped[word] & doubles);
    const u32 before = word == 0 ? 0 : (memory.ends[word - 1] | (memory.dropped[word - 1] & doubles)) >> 31;
    const i64 begin = -tile.origin - 32 * i64{word};  // position of the text's begin in this word: a field begins there
    const u32 first = begin >= 0 && begin < 32 ? 1u << static_cast<u32>(begin) : 0;
    return memory.dropped[word] & inside & ~(may_precede << 1 | before | first);
}

// Returns whether parity misreads quotes of the tile's records, judged by this thread's words.
HR_FN bool misreads_quotes(const RowMemory& memory, const RowTask& task, const RowTile& tile, const QuotedWords& own) {
    u32 found = 0;
#pragma unroll
    for (u32 i = 0; i < thread_chunks; ++i) {
        const u32 number = threadIdx.x * thread_chunks + i;
        if (has_chunk(number))
            found |= misplaced_quotes(memory, tile, task.dialect, head_chunks + number, own.inside[i]);
    }
    if (!tile.entry.open || !has_head()) return found != 0;
    const u32 word = threadIdx.x, begin = static_cast<u32>(static_cast<i64>(tile.entry.record_begin) - tile.origin);
    const bool there = word < head_chunks;
    const u32 inside = inside_of_head(memory, there ? memory.dropped[word] : 0, tile.inside);
    if (!there || word < (begin - 1) / 32) return found != 0;
    const u32 skipped = word == begin / 32 ? (1u << (begin % 32)) - 1 : word < begin / 32 ? ~0u : 0;
    found |= misplaced_quotes(memory, tile, task.dialect, word, inside) & ~skipped;
    return found != 0 || (word == (begin - 1) / 32 && (inside >> ((begin - 1) % 32) & 1) != 0);
}

// Resolves a staged tile whose state at the begin is known. Clears `fine` if parity misreads its quotes.
HR_FN LineEnds resolve_tile(RowMemory& memory, const RowTask& task, const RowTile& tile, bool& fine) {
    const u32 head_ends = threadIdx.x < head_chunks ? memory.ends[threadIdx.x] : 0;
    QuotedWords own;
    load_thread_words(memory.ends + head_chunks, own.ends);
    load_thread_words(memory.lines, own.lines);
    load_thread_words(memory.dropped + head_chunks, own.quotes);
    u32 odd = 0;
#pragma unroll
    for (u32 i = 0; i < thread_chunks; ++i) odd ^= own.quotes[i];
    const u32 lanes = __ballot_sync(tile::all_lanes, (__popc(odd) & 1) != 0);
    if (tile::lane() == 0) memory.odd[tile::warp()] = static_cast<u32>(__popc(lanes)) & 1;
    share_head(memory);
    __syncthreads();
    const u32 odd_warps =
        __ballot_sync(tile::all_lanes, tile::lane() < tile::warp() && memory.odd[tile::lane() % warps] != 0);
    const u32 before = lanes & ((1u << tile::lane()) - 1);
    bool inside = ((__popc(before) + __popc(odd_warps)) & 1) != (tile.inside ? 1 : 0);
#pragma unroll
    for (u32 i = 0; i < thread_chunks; ++i) {
        own.inside[i] = tile::prefix_parities(own.quotes[i]) ^ (inside ? ~0u : 0);
        inside = own.inside[i] >> 31 != 0;
    }
    if (tile.text_quotes) fine = !__syncthreads_or(misreads_quotes(memory, task, tile, own));
    return resolve_words(memory, task.dialect, head_ends, tile.inside, own);
}

// Returns the number of dropped quotes among staged bytes [0, at).
HR_FN u32 dropped_until(const RowMemory& memory, u32 at) {
    if constexpr (!may_quote) return 0;
    return bits_until(memory.dropped, memory.dropped_before, at);
}

// Returns whether a byte is no part of its field's text. The first byte of a field in quotes is dropped.
HR_FN bool is_dropped(const RowMemory& memory, u32 at) {
    if constexpr (!may_quote) return false;
    return (memory.dropped[at / 32] >> (at % 32) & 1) != 0;
}

// Lists the records. Returns false if the line ends do not match them. Ends with a barrier.
HR_FN bool list_records(RowMemory& memory, const RowTask& task, const RowTile& tile) {
    LineEnds lines;
    bool fine = true;
    if (tile.returns) correct_edges(memory, tile);
    if constexpr (by_dfa) {
        lines = count_by_dfa(memory);
    } else if constexpr (may_quote) {
        lines = resolve_tile(memory, task, tile, fine);
    } else {
        lines = find_lines(memory);
    }
    if (tile.blanks) lines = without_blanks(memory, tile, lines);
    if (!fine || lines.total + (ends_text(task, tile) ? 1 : 0) != tile.records) return false;
    put_starts(memory, task, tile, lines);
    return true;
}

}  // namespace headrace
