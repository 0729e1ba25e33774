// Looks up texts with a special meaning: nulls, and words for bools.
#pragma once

#include "columns/rules/column_type.hpp"
#include "columns/rules/text_match.hpp"

HR_BEGIN_NAMESPACE

HR_COLD bool is_one_of(const WordList& list, const u8* p, usize n) {
    for (usize i = 0; i < list.count; ++i) {
        if (equals(p, n, list.words[i].text, list.words[i].size)) return true;
    }
    return false;
}

HR_END_NAMESPACE
