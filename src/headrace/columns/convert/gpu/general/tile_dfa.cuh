// Finds the begins and ends of a tile's fields and records among the roles that the dialect's DFA has given its bytes
// (dfa_roles.cuh). This covers what masks cannot: escapes, comments, separators of several bytes, lenient quotes.
#pragma once

#include "columns/convert/gpu/general/tile_text.cuh"
#include "columns/rules/escape_sequences.hpp"

namespace headrace {

// Returns the number of a staged word among the words of the text, counted from the 16-byte boundary before it, as in
// the search. It is negative for words before that boundary.
HR_FN i64 word_of_text(const ConvertTile& tile, u32 word) {
    return static_cast<i64>(u64{tile.number} * (tile_bytes / 32)) + word - head_chunks;
}

HR_FN void put_roles(ConvertMemory& memory, const ConvertTask& task, const ConvertTile& tile, u32 word) {
    const DfaRoles roles = roles_of(task.dfa, word_of_text(tile, word));
    memory.ends[word] = roles.ends();
    memory.records[word] = roles.record_ends();
    memory.starts[word] = roles.starts;
    memory.dropped[word] = roles.dropped();
    malformed_bits(memory)[word] = roles.malformed;
}

// Stores the roles of the thread's words and of the staged head, which has no field ends of the tile.
HR_FN void stage_roles(ConvertMemory& memory, const ConvertTask& task, const ConvertTile& tile, u32 first) {
    for (u32 word = threadIdx.x; word < head_chunks; word += threads) put_roles(memory, task, tile, word);
    for (u32 word = first; word < first + chunks_per_thread && word < chunks; ++word)
        put_roles(memory, task, tile, word);
}

// Decodes letters after escapes in the staged text, if the dialect has escape sequences. Of "a\\tb" the t becomes a
// tab, and the escape stays a dropped byte. A byte is decoded by the thread that has the word of its escape. The head's
// first byte is escaped if the byte before it is a dropped escape.
HR_FN void decode_sequences(ConvertMemory& memory, const u8* whole, const ConvertTask& task, const ConvertTile& tile,
                            u32 first) {
    const DfaTask& steps = task.dfa;
    if (!decodes_escapes(steps.dialect)) return;
    __syncthreads();
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
    const bool is_dropped = roles_of(steps, word_of_text(tile, 0) - 1).dropped() >> 31 != 0;
    if (is_dropped && whole[tile.origin - 1] == steps.escape) text[0] = escaped_byte(text[0]);
}

// Returns the last byte up to staged byte `at` that begins a record, or `otherwise` if there is none in the tile.
HR_FN u32 last_start(const ConvertMemory& memory, u32 at, u32 otherwise) {
    u32 word = min(at / 32, chunks - 1);
    u32 bits = memory.starts[word] & (at / 32 == word ? low_mask(at % 32 + 1) : ~0u);
    while (bits == 0 && word > head_chunks) bits = memory.starts[--word];
    return bits == 0 || word < head_chunks ? otherwise
                                           : 32 * word + 31 - static_cast<u32>(__clz(static_cast<int>(bits)));
}

HR_FN bool ends_record(const ConvertMemory& memory, u32 at) { return memory.records[at / 32] >> (at % 32) & 1; }

// Returns whether a field is open there. A comment line has no fields.
HR_FN bool is_open(const ConvertTask& task, const TileStart& next) {
    return next.open && !(by_dfa && is_in(task.dfa, StepSet::comment, next.state));
}

// Returns whether a field's first byte is a quote that encloses it. A lenient quote need not be one; then it is not
// dropped.
HR_FN bool is_opening(const ConvertMemory& memory, const ConvertTask& task, u32 at) {
    if (!(task.dialect.flags & PLAIN_QUOTES) || staged_text(memory)[at] != task.dialect.quote) return false;
    if (!by_dfa || !task.dfa.dialect.looks_ahead()) return true;
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
