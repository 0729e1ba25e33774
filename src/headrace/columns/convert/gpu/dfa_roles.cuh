// Reads what the DFA search has stored of a text (structure/gpu/summarize_dfa.cu): the roles of its bytes, and sets of
// states. Both conversion paths use this.
//
// Example: in a|| b⏎ with the separator || byte 2 has the role "field end" and byte 5 "record end".
#pragma once

#include "gpu/block/byte_masks.cuh"
#include "structure/gpu/dfa_tables.hpp"

namespace headrace {

// Sets of states, with which DfaTables begins.
enum class StepSet : u8 { idle, quoted, comment, unfinished, escaped };

HR_FN bool is_in(const DfaTask& steps, StepSet set, u32 state) {
    return static_cast<const u64*>(steps.tables)[static_cast<u32>(set)] >> state & 1;
}

// Returns the roles of 32 bytes. Words count from the 16-byte boundary at or before the text. It is negative before
// the text, where bytes have no role.
HR_FN DfaRoles roles_of(const DfaTask& steps, i64 word) {
    if (word < 0) return {};
    return bits_as<DfaRoles>(*reinterpret_cast<const uint4*>(steps.roles + word));
}

}  // namespace headrace
