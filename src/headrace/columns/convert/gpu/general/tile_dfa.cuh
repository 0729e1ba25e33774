// Finds the begins and ends of a tile's fields and records by the dialect's DFA. This covers what masks cannot:
// escapes, comments, separators of several bytes, lenient quotes. Each thread runs the DFA over its own words
// (dfa_roles.cuh).
#pragma once

#include "columns/convert/gpu/general/tile_text.cuh"
#include "columns/rules/escape_sequences.hpp"

namespace headrace {

// Runs the DFA over `vectors` of 16 bytes from `first` on, and writes the roles of their bytes as bits. `number`: the
// first vector's number in the text.
template <u32 count, bool whole>
HR_FN void run_vectors(ConvertMemory& memory, const DfaTask& steps, structure::Extent extent, u32 first, u32 vectors,
                       u32 state, u64 number) {
    const auto& reads = *reinterpret_cast<const structure::Steps<count>*>(memory.reads);
    u32 step = structure::step_to<count>(state);
#pragma unroll 1
    for (u32 v = first; v < first + vectors; ++v) {
        const uint4 bytes = as_read(steps, memory.text[v], number + v - first);
        const DfaRoles roles = roles_of<count, whole>(reads, bytes, extent, static_cast<i32>(16 * v), step);
        reinterpret_cast<u16*>(memory.ends)[v] = static_cast<u16>(roles.ends());
        reinterpret_cast<u16*>(memory.records)[v] = static_cast<u16>(roles.record_ends());
        reinterpret_cast<u16*>(memory.starts)[v] = static_cast<u16>(roles.starts);
        reinterpret_cast<u16*>(memory.dropped)[v] = static_cast<u16>(roles.dropped());
        reinterpret_cast<u16*>(malformed_bits(memory))[v] = static_cast<u16>(roles.malformed);
    }
}

// Returns the number of a staged word among the words of the text, counted from the 16-byte boundary before it, as in
// the search. It is negative for words before that boundary.
HR_FN i64 word_of_text(const ConvertTile& tile, u32 word) {
    return static_cast<i64>(u64{tile.number} * (tile_bytes / 32)) + word - head_chunks;
}

// Runs the DFA over `words` of 32 bytes.
HR_FN void run_words(ConvertMemory& memory, const ConvertTask& task, const ConvertTile& tile, u32 first, u32 words) {
    const DfaTask& steps = task.dfa;
    const i64 number = word_of_text(tile, first);
    if (number < 0 || words == 0) return;
    const u32 state = state_before(steps, static_cast<u64>(number));
    const u64 vector = 2 * static_cast<u64>(number);
    const structure::Extent extent = {tile.origin < 0 ? static_cast<i32>(-tile.origin) : 0, static_cast<i32>(tile.end)};
    const bool whole = extent.from == 0 && tile.end == staged_bytes;
    if (steps.count > 16) return run_vectors<64, false>(memory, steps, extent, 2 * first, 2 * words, state, vector);
    if (steps.count == 8) {
        if (whole) return run_vectors<8, true>(memory, steps, extent, 2 * first, 2 * words, state, vector);
        return run_vectors<8, false>(memory, steps, extent, 2 * first, 2 * words, state, vector);
    }
    if (whole) return run_vectors<16, true>(memory, steps, extent, 2 * first, 2 * words, state, vector);
    return run_vectors<16, false>(memory, steps, extent, 2 * first, 2 * words, state, vector);
}

// Runs the DFA over the thread's words and over the staged head, which has no field ends of the tile.
HR_FN void run_tile(ConvertMemory& memory, const ConvertTask& task, const ConvertTile& tile, u32 first) {
    for (u32 word = threadIdx.x; word < head_chunks; word += threads) {
        memory.dropped[word] = malformed_bits(memory)[word] = 0;
        run_words(memory, task, tile, word, 1);
    }
    const u32 words = first >= chunks ? 0 : min(chunks - first, chunks_per_thread);
    run_words(memory, task, tile, first, words);
}

// Finds lenient quotes that were taken for closing ones but are text: the last dropped quote before a malformed one
// that is not dropped itself. `text_quotes`: their bits in the word before the thread's first, then in its words.
HR_FN void find_text_quotes(ConvertMemory& memory, const PlainDialect& dialect, u32 first, u32 words,
                            u32 (&text_quotes)[chunks_per_thread + 1]) {
#pragma unroll
    for (u32 i = 0; i <= chunks_per_thread; ++i) text_quotes[i] = 0;
#pragma unroll
    for (u32 i = 0; i < chunks_per_thread; ++i) {
        if (i >= words) continue;
        const u32 word = first + i;
        for (u32 left = malformed_bits(memory)[word]; left != 0; left &= left - 1) {
            const u32 below = (left & (0 - left)) - 1, at = static_cast<u32>(__popc(below));
            const bool is_dropped = memory.dropped[word] >> at & 1;
            if (staged_text(memory)[32 * word + at] == dialect.quote && !is_dropped) continue;
            const u32 here = memory.dropped[word] & below, before = word == 0 ? 0 : memory.dropped[word - 1];
            const u32 bits = here != 0 ? here : before;
            const u32 bit = bits == 0 ? 0 : 0x80000000u >> __clz(static_cast<int>(bits));
            text_quotes[here != 0 ? i + 1 : i] |= bit;
        }
    }
}

HR_FN void keep_quotes(ConvertMemory& memory, const PlainDialect& dialect, u32 first) {
    const u32 words = first >= chunks ? 0 : min(chunks - first, chunks_per_thread);
    u32 text_quotes[chunks_per_thread + 1];
    find_text_quotes(memory, dialect, first, words, text_quotes);
    u32 in_head[chunks_per_thread + 1];
    find_text_quotes(memory, dialect, threadIdx.x, threadIdx.x < head_chunks ? 1 : 0, in_head);
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i <= chunks_per_thread; ++i) {
        if (text_quotes[i] != 0) atomicAnd(&memory.dropped[first + i - 1], ~text_quotes[i]);
        if (in_head[i] != 0) atomicAnd(&memory.dropped[threadIdx.x + i - 1], ~in_head[i]);
    }
    __syncthreads();
}

// Decodes letters after escapes in the staged text: of "a\\tb" the t becomes a tab, and the escape stays a dropped
// byte. A byte is decoded by the thread that has the word of its escape. The state before the staged head says whether
// the head's first byte is escaped.
HR_FN void decode_sequences(ConvertMemory& memory, const ConvertTask& task, const ConvertTile& tile, u32 first) {
    const DfaTask& steps = task.dfa;
    u8* const text = reinterpret_cast<u8*>(memory.text);
    const auto decode_after = [&](u32 word) {
        for (u32 left = memory.dropped[word]; left != 0; left &= left - 1) {
            const u32 at = 32 * word + static_cast<u32>(__ffs(static_cast<int>(left))) - 1;
            if (text[at] == steps.escape && at + 1 < tile.end) text[at + 1] = escaped_byte(text[at + 1]);
        }
    };
    if (threadIdx.x < head_chunks) decode_after(threadIdx.x);
    for (u32 word = first; word < first + chunks_per_thread && word < chunks; ++word) decode_after(word);
    if (threadIdx.x != 0 || tile.number == 0) return;
    if (is_in(steps, StepSet::escaped, state_before(steps, static_cast<u64>(word_of_text(tile, 0)))))
        text[0] = escaped_byte(text[0]);
}

// Returns the last byte up to staged byte `at` that begins a record, or `otherwise` if there is none in the tile.
HR_FN u32 last_start(const ConvertMemory& memory, u32 at, u32 otherwise) {
    u32 word = min(at / 32, chunks - 1);
    u32 bits = memory.starts[word] & (at / 32 == word ? low_mask(at % 32 + 1) : ~0u);
    while (bits == 0 && word > head_chunks) bits = memory.starts[--word];
    return bits == 0 || word < head_chunks ? otherwise
                                           : 32 * word + 31 - static_cast<u32>(__clz(static_cast<int>(bits)));
}

// Returns whether the byte ends a record.
HR_FN bool ends_record(const ConvertMemory& memory, u32 at) { return memory.records[at / 32] >> (at % 32) & 1; }

// Moves `begin` past the spaces that the dialect skips at the start of a field.
HR_FN void skip_spaces(const ConvertMemory& memory, const ConvertTask& task, u32& begin, u32 end) {
    if ((task.dfa.flags & DFA_SKIPS_SPACES) == 0) return;
    while (begin < end && staged_text(memory)[begin] == ' ') ++begin;
}

// Returns the end of a field that begins at `begin`, without the spaces that the dialect skips there.
HR_FN u32 end_of_text(const ConvertMemory& memory, const ConvertTask& task, u32 begin, u32 end) {
    if ((task.dfa.flags & DFA_STRIPS) == 0) return end;
    while (begin < end && staged_text(memory)[end - 1] == ' ') --end;
    return end;
}

// Marks the spaces before a field's end as dropped. They may lie in the words of several threads.
HR_FN void drop_spaces_before(ConvertMemory& memory, u32 end) {
    for (; end > 0 && staged_text(memory)[end - 1] == ' '; --end) {
        atomicOr(&memory.dropped[(end - 1) / 32], 1u << ((end - 1) % 32));
    }
}

// Returns whether a field is open there. A comment line has no fields.
HR_FN bool is_open(const ConvertTask& task, const TileStart& next) {
    return next.open && !(by_dfa && is_in(task.dfa, StepSet::comment, next.state));
}

// Returns whether the field that is open at the tile's end ends there or after spaces.
HR_COLD bool is_only_padded(const u8* text, const ConvertTask& task, const ConvertTile& tile) {
    if (tile.last_end) return !is_in(task.dfa, StepSet::quoted, tile.next.state);
    if (!is_open(task, tile.next) || is_in(task.dfa, StepSet::quoted, tile.next.state)) return false;
    u64 at = tile_position(tile, tile.end);
    while (at < task.size && text[at] == ' ') ++at;
    if (at == task.size || text[at] == task.dialect.separator || text[at] == task.dialect.line_end) return true;
    return (task.dfa.flags & DFA_UNIVERSAL) && text[at] == '\r';
}

// Marks the spaces at the ends of the tile's fields as dropped, also of a field that the tile does not finish. Example:
// in "ab  ,c" the two spaces; in "ab" + 100 spaces, all of them if a separator follows the tile.
HR_FN void drop_padding(ConvertMemory& memory, const u8* text, const ConvertTask& task, const ConvertTile& tile,
                        u32 first) {
    for (u32 word = first; word < first + chunks_per_thread && word < chunks; ++word) {
        for (u32 left = memory.ends[word]; left != 0; left &= left - 1) {
            drop_spaces_before(memory, 32 * word + static_cast<u32>(__ffs(static_cast<int>(left))) - 1);
        }
    }
    const bool is_last = threadIdx.x == 0 && tile.end > 0 && staged_text(memory)[tile.end - 1] == ' ';
    if (is_last && is_only_padded(text, task, tile)) drop_spaces_before(memory, tile.end);
    __syncthreads();
}

// Returns whether a field's first byte is a quote that encloses it. A lenient quote need not be one; then it is not
// dropped.
HR_FN bool is_opening(const ConvertMemory& memory, const ConvertTask& task, u32 at) {
    if (!(task.dialect.flags & PLAIN_QUOTES) || staged_text(memory)[at] != task.dialect.quote) return false;
    if (!by_dfa || (task.dfa.flags & DFA_LENIENT) == 0) return true;
    return memory.dropped[at / 32] >> (at % 32) & 1;
}

// Returns the end of a field's bytes, given the last byte of the separator or line end after it.
HR_FN u32 end_of_field(const ConvertMemory& memory, const ConvertTask& task, u32 place) {
    if constexpr (!by_dfa) return place;
    const DfaTask& steps = task.dfa;
    if ((steps.separator_more | steps.line_end_more) == 0) return place;
    return place -
           (place >= memory.tile.end || ends_record(memory, place) ? steps.line_end_more : steps.separator_more);
}

}  // namespace headrace
