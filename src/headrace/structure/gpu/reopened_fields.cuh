// Keeps lenient quotes that only seem to close their field. The automaton drops such a quote before it reads the bytes
// that show that it is text. The first of them that is no delimiter is malformed, and reopens the field.
// | text       "a "b",        the quote at byte 3 is dropped, and byte 4 reopens the field; then byte 3 is text
// | dropped    ^  ^ ^
#pragma once
#include "structure/emit.hpp"
#include "structure/gpu/dfa_rows.cuh"

namespace headrace::structure {

// Return whether a malformed byte reopens a field. Others are quotes that are text themselves. `step`: that of the
// byte.
template <u32 count>
HR_FN bool reopens_field(const DfaTables<count>& tables, u32 byte, u32 step) {
    const bool is_quote = byte == tables.quote || byte == tables.spare;
    return !is_quote || (step & STEP_DROP) == STEP_DROP;
}

// Make text of the last of 32 bytes that is dropped. `roles`: DfaRoles.
HR_FN void keep_last(uint4& roles) {
    const u32 dropped = roles.x & roles.y;
    const u32 last = dropped == 0 ? 0 : 0x80000000u >> __clz(static_cast<i32>(dropped));
    roles.x &= ~last;
    roles.y &= ~last;
}

// Make text of the last dropped byte before each of 32 bytes that reopen their fields. It may be in the word before.
// `before`: the roles of that word, or null if another thread has them. Return whether it has such a byte then.
HR_FN bool keep_quotes(DfaRoles& roles, uint4* before, u32 reopening) {
    bool is_before = false;
    for (u32 left = reopening; left != 0; left &= left - 1) {
        const u32 dropped = roles.dropped() & ((left & (0 - left)) - 1);
        if (dropped == 0 && before == nullptr) is_before = true;
        if (dropped == 0 && before != nullptr) keep_last(*before);
        const u32 last = dropped == 0 ? 0 : 0x80000000u >> __clz(static_cast<i32>(dropped));
        roles.fields &= ~last;
        roles.records &= ~last;
    }
    return is_before;
}

// Return whether the bytes from `at` on show that the last dropped byte is text: one of them reopens the field before
// it ends. `marks`: as in Staged::stage. `state`: the state before them.
template <u32 count>
HR_FN bool is_reopened(const u8* text, u64 bytes, u64 at, const u16* marks, const Steps<count>& steps,
                       const DfaTables<count>& tables, u32 state) {
    const u64 skew = reinterpret_cast<u64>(text) & 15;
    const auto step_of = [&](u32 byte) { return steps.template at<true>(byte, 0, {}, 0).from(step_to<count>(state)); };
    while (at < bytes && (step_of(tables.other) & STEP_RARE) != 0) {  // an ordinary byte would reopen it
        const u64 place = at + skew;
        u32 byte = text[at++];
        if (byte == tables.spare) byte = tables.other;
        if ((marks[place / 16] >> place % 16 & 1) != 0) byte = tables.spare;
        const u32 step = step_of(byte);
        if ((step & STEP_RARE) != 0 && (tables.emits[tables.group_of[byte]][state] & EMIT_STRAY) != 0)
            return reopens_field(tables, byte, step);
        if ((step & STEP_DROP) != 0) return false;
        state = state_of<count>(step);
    }
    return false;
}

}  // namespace headrace::structure
