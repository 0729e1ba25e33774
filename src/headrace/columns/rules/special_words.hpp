// Looks up texts with a special meaning: nulls, and words for bools.
#pragma once

#include "columns/rules/column_type.hpp"
#include "columns/rules/common/text_match.hpp"

HR_BEGIN_NAMESPACE

HR_COLD bool is_one_of(const WordList& list, const u8* p, usize n) {
    for (usize i = 0; i < list.count; ++i) {
        if (equals(p, n, list.words[i].text, list.words[i].size)) return true;
    }
    return false;
}

// Returns whether a field is null by its bytes without spaces and quotes, but with escapes. With the escape \ and the
// null text \N, the field \N is null; \\N is the text \N, and N is the text N.
HR_FN bool is_written_null(const FieldRules& rules, const u8* p, usize n, bool quoted) {
    return rules.written_nulls.count != 0 && (!quoted || rules.quoted_may_be_null) &&
           is_one_of(rules.written_nulls, p, n);
}

HR_END_NAMESPACE
