// Runs a dialect's DFA over staged text. The search has stored the state before each 32 bytes
// (structure/gpu/summarize_dfa.cu), so threads run it over words of their own. The table entry of a step holds the next
// state and the role of the byte. Both conversion paths use this.
//
// Example: in a|| b⏎ with the separator || byte 2 has the role "field end" and byte 5 "record end".
//
// Bytes moved: a state per 32 bytes; 2 or 4 KiB of tables per tile, from the cache. About 8 operations per byte.
#pragma once

#include "structure/gpu/dfa_rows.cuh"

namespace headrace {

// Packs the top bits of four bytes into four bits.
HR_FN u32 four_bits(u32 tops) { return (tops * 0x00204081) >> 28; }

// Sets of states, stored after the three arrays of DfaTables.
enum class StepSet : u8 { idle, quoted, comment, unfinished, escaped };

HR_FN u32 begin_of_sets(const DfaTask& steps) { return steps.count > 16 ? 10824 : 770 * steps.count; }

HR_FN bool is_in(const DfaTask& steps, StepSet set, u32 state) {
    const u64* const sets = reinterpret_cast<const u64*>(static_cast<const u8*>(steps.tables) + begin_of_sets(steps));
    return sets[static_cast<u32>(set)] >> state & 1;
}

// Returns the state before a word of 32 bytes. Words count from the 16-byte boundary at or before the text.
HR_FN u32 state_before(const DfaTask& steps, u64 word) {
    return steps.states[word / steps.chunk * steps.stride + word % steps.chunk];
}

// Copies DfaTables::reads of up to 16 states to shared memory, by all threads of the block.
HR_FN void stage_reads(uint4* to, const DfaTask& steps) {
    const u32 vectors = steps.count == 8 ? 257 * 8 / 16 + 1 : 257;
    const u8* const reads = static_cast<const u8*>(steps.tables) + 257 * steps.count;
    // Rows of 8 bytes begin in the middle of a 16-byte vector.
    const u64* const from = reinterpret_cast<const u64*>(reads);
    for (u32 v = threadIdx.x; v < vectors; v += blockDim.x) {
        const u64 row = from[2 * v];
        const u64 next = 2 * v + 1 < 257u * steps.count / 8 ? from[2 * v + 1] : 0;
        to[v] = {static_cast<u32>(row), static_cast<u32>(row >> 32), static_cast<u32>(next),
                 static_cast<u32>(next >> 32)};
    }
}

// Returns 16 bytes of a text as the tables have them: lenient quotes that open no field are replaced. Vectors count as
// words do.
HR_FN uint4 as_read(const DfaTask& steps, uint4 bytes, u64 vector) {
    if (steps.marks == nullptr) return bytes;
    const u8* const spares = static_cast<const u8*>(steps.tables) + begin_of_sets(steps) + 42;
    return structure::with_spares(bytes, reinterpret_cast<const u16*>(steps.marks)[vector], spares[0], spares[1]);
}

// The roles of 16 or 32 bytes, as bits.
struct DfaRoles {
    u32 fields, records, starts, malformed;

    // Field ends, including those at a record's end; record ends; bytes that are not part of their field's text.
    HR_MEMBER u32 ends() const { return fields ^ records; }
    HR_MEMBER u32 record_ends() const { return records & ~fields; }
    HR_MEMBER u32 dropped() const { return fields & records; }
};

// Runs the DFA over 16 bytes. `step`: in, the step to the state before them; out, the last step. `place`: the position
// of the first byte among those that `extent` counts.
template <u32 count, bool whole>
HR_FN DfaRoles roles_of(const structure::Steps<count>& reads, uint4 bytes, structure::Extent extent, i32 place,
                        u32& step) {
    const u32 words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
    DfaRoles roles{};
#pragma unroll
    for (u32 word = 0; word < 4; ++word) {
        u32 steps[4];
#pragma unroll
        for (u32 k = 0; k < 4; ++k, ++place) {
            step = reads.template at<whole>(words[word], k, extent, place).from(step);
            steps[k] = step;
        }
        const u32 codes =
            __byte_perm(__byte_perm(steps[0], steps[1], 0x0040), __byte_perm(steps[2], steps[3], 0x0040), 0x5410);
        roles.fields |= four_bits(codes << 3 & tile::top_bits) << (4 * word);
        roles.records |= four_bits(codes << 2 & tile::top_bits) << (4 * word);
        roles.starts |= four_bits(codes << 1 & tile::top_bits) << (4 * word);
        roles.malformed |= four_bits(codes & tile::top_bits) << (4 * word);
    }
    return roles;
}

}  // namespace headrace
