// Decides whether a field that begins with a lenient quote is enclosed in quotes.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// The bytes that may enclose a field, or mark a quote inside it.
struct EnclosingMarks {
    int quote;
    int escape;    // -1 if there is none
    bool doubles;  // two quotes inside quotes mean one
};

HR_FN usize leading_run(const u8* p, usize n, int byte) {
    usize count = 0;
    while (count < n && p[count] == byte) ++count;
    return count;
}

HR_FN usize trailing_run(const u8* p, usize n, int byte) {
    usize count = 0;
    while (count < n && p[n - count - 1] == byte) ++count;
    return count;
}

// Returns whether a field that begins with a lenient quote is enclosed in quotes. It is if it consists of an odd run of
// quotes, other text, and an odd run; or of quotes alone, "" and """". Otherwise its quotes are text. If quotes are not
// doubled, the last byte must be a quote. See structure/cpu/lenient.hpp.
HR_COLD bool is_enclosed(const EnclosingMarks& marks, const u8* p, usize n) {
    if (!marks.doubles) return p[n - 1] == marks.quote && trailing_run(p, n - 1, marks.escape) % 2 == 0;
    const usize leading = leading_run(p, n, marks.quote);
    if (leading == n) return n % 2 == 0;
    usize trailing = trailing_run(p, n, marks.quote);
    if (trailing != 0) trailing -= trailing_run(p, n - trailing, marks.escape) % 2;
    return leading % 2 == 1 && trailing % 2 == 1;
}

HR_END_NAMESPACE
