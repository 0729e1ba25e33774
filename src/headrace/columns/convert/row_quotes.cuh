// Quotes of a staged tile: delimiters inside them are none, and which of them are no part of their field's text.
//
// A byte is inside quotes where the number of quotes so far is odd; what is so where the tile begins, its entry tells,
// and the head's bytes are settled back from there. Two quotes inside quotes are one closing and one opening behind it:
// the first is dropped and the second kept.
#pragma once

#include "columns/convert/row_tile.cuh"
#include "columns/convert/text_bits.cuh"

namespace headrace {

// A word of 32 bytes: raw quotes, and whether its first byte's predecessor is inside quotes, or a quote.
struct QuoteWord {
    u32 quotes;
    bool inside, quote_before;
};

// Settles a word; returns the quotes that are dropped.
HR_FN u32 settle_quotes(RowMemory& memory, const PlainDialect& dialect, u32 word, const QuoteWord& own) {
    const u32 inside = prefix_xor(own.quotes) ^ (own.inside ? ~0u : 0);
    memory.ends[word] &= ~inside;
    if (word >= head_chunks) memory.lines[word - head_chunks] &= ~inside;
    return dropped_quotes(own.quotes, inside, dialect.flags & PLAIN_DOUBLES, own.quote_before && !own.inside ? 1 : 0);
}

// Settles all words; ends with a barrier.
HR_FN void settle_tile(RowMemory& memory, const RowTask& task, const RowTile& tile) {
    const u32 own_first = threadIdx.x * own_chunks, first = head_chunks + own_first;
    const bool has_head = threadIdx.x < head_chunks && threadIdx.x >= tile.first_chunk;
    const u32 head_quotes = has_head ? memory.dropped[threadIdx.x] : 0;
    bool head_before = has_head && threadIdx.x != tile.first_chunk && memory.dropped[threadIdx.x - 1] >> 31 != 0;
    const bool before = has_chunk(own_first) && memory.dropped[first - 1] >> 31 != 0;
    u32 quotes[own_chunks], count = 0;
#pragma unroll
    for (u32 i = 0; i < own_chunks; ++i) {
        quotes[i] = has_chunk(own_first + i) ? memory.dropped[first + i] : 0;
        count += static_cast<u32>(__popc(quotes[i]));
    }
    // Quotes of the tile, and of the head above them.
    const u64 own = count | u64{static_cast<u32>(__popc(head_quotes))} << 32;
    const u64 joined = tile::scan_warp<Sum<u64>>(own);
    const tile::Before<u64> block =
        tile::scan_warps<Sum<u64>, threads>(tile::shuffle(joined, tile::lanes - 1), memory.totals);
    const u64 until = block.before + joined - own;
    u32 dropped = 0, head_dropped = 0;
    if (has_head) {
        const u32 behind = static_cast<u32>(block.total >> 32) - static_cast<u32>(until >> 32);
        head_dropped = settle_quotes(memory, task.dialect, threadIdx.x,
                                     {head_quotes, ((behind & 1) != 0) != tile.inside, head_before});
    }
    bool inside = ((until & 1) != 0) != tile.inside, quote_before = before;
#pragma unroll
    for (u32 i = 0; i < own_chunks; ++i) {
        if (!has_chunk(own_first + i)) break;
        const u32 raw = quotes[i];
        quotes[i] = settle_quotes(memory, task.dialect, first + i, {raw, inside, quote_before});
        inside ^= (__popc(raw) & 1) != 0;
        quote_before = raw >> 31 != 0;
        dropped += static_cast<u32>(__popc(quotes[i]));
    }
    __syncthreads();  // all have read the quotes of their neighbours, and the totals
    const u64 gone = dropped | u64{static_cast<u32>(__popc(head_dropped))} << 32;
    const u64 gone_joined = tile::scan_warp<Sum<u64>>(gone);
    const tile::Before<u64> gone_block =
        tile::scan_warps<Sum<u64>, threads>(tile::shuffle(gone_joined, tile::lanes - 1), memory.totals);
    const u64 gone_until = gone_block.before + gone_joined - gone;
    if (has_head) {
        memory.dropped[threadIdx.x] = head_dropped;
        memory.dropped_before[threadIdx.x] = static_cast<u16>(gone_until >> 32);
    }
    u32 sum = static_cast<u32>(gone_block.total >> 32) + static_cast<u32>(gone_until);
#pragma unroll
    for (u32 i = 0; i < own_chunks; ++i) {
        if (!has_chunk(own_first + i)) break;
        memory.dropped[first + i] = quotes[i];
        memory.dropped_before[first + i] = static_cast<u16>(sum);
        sum += static_cast<u32>(__popc(quotes[i]));
    }
    if (threadIdx.x == threads - 1) memory.dropped_before[chunks] = static_cast<u16>(sum);
    __syncthreads();
}

// Quotes that are dropped of staged bytes [0, at).
HR_FN u32 dropped_until(const RowMemory& memory, u32 at) {
    if constexpr (!may_quote) return 0;
    return bits_until(memory.dropped, memory.dropped_before, at);
}

}  // namespace headrace
