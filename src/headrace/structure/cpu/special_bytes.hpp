// Finds the bytes of a block that a dialect's automaton distinguishes from others.
#pragma once

#include "core/cpu/simd.hpp"
#include "structure/dfa.hpp"

HR_BEGIN_NAMESPACE

HR_FN u64 special_bytes(const Dialect& dialect, const Block& block) {
    u64 mask = 0;
    for (u32 i = 0; i < dialect.special_count; ++i) mask |= block.equals(dialect.special[i]);
    return mask;
}

HR_FN u64 quoting_bytes(const Dialect& dialect, const Block& block) {
    u64 mask = dialect.quote < 0 ? 0 : block.equals(static_cast<u8>(dialect.quote));
    if (dialect.escape >= 0) mask |= block.equals(static_cast<u8>(dialect.escape));
    return mask;
}

HR_END_NAMESPACE
