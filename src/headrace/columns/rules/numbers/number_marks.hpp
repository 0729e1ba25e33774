// Rewrites numbers with other marks than a decimal point. With ',' before the decimals and '.' between thousands,
// "-1.234.567,5" becomes "-1234567.5", which the rules for integers and floats read.
#pragma once

#include "columns/rules/numbers/digits.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

constexpr i16 NO_MARK = -1;

// The bytes before the decimals and between groups of three digits; `thousands` may be NO_MARK.
struct NumberMarks {
    u8 decimal = '.';
    i16 thousands = NO_MARK;
};

}  // namespace headrace

HR_BEGIN_NAMESPACE

HR_FN bool are_usual(const NumberMarks& marks) { return marks.decimal == '.' && marks.thousands == NO_MARK; }

// Copies digits from p[at] on without the marks between them, and moves `at` past them. Groups are strict: one to three
// digits, then threes, "1,234,567"; or no mark at all, "1234567". Returns false for "1,23", "1234,567", ",123" and
// "123,".
HR_FN bool copy_grouped_digits(const NumberMarks& marks, const u8* p, usize n, usize& at, u8* to, usize& size) {
    usize group = 0;
    bool grouped = false;
    for (; at < n; ++at) {
        if (is_digit(p[at])) {
            to[size++] = p[at];
            ++group;
        } else if (p[at] == marks.thousands) {
            if (grouped ? group != 3 : group - 1 >= 3) return false;
            grouped = true;
            group = 0;
        } else {
            break;
        }
    }
    return !grouped || group == 3;
}

// Rewrites the number with the usual marks. `to`: capacity of n bytes. Returns false if a mark is in a wrong place.
// Otherwise the `size` bytes are a number if and only if the text is one.
HR_COLD bool to_plain_number(const NumberMarks& marks, const u8* p, usize n, u8* to, usize& size) {
    size = 0;
    usize at = 0;
    if (n > 0 && (p[0] == '-' || p[0] == '+')) to[size++] = p[at++];
    if (!copy_grouped_digits(marks, p, n, at, to, size)) return false;
    if (at < n && p[at] == marks.decimal) {
        to[size++] = '.';
        ++at;
    }
    for (; at < n; ++at) {
        if (p[at] == '.') return false;  // a second decimal mark, or a point that is no mark here
        to[size++] = p[at];
    }
    return true;
}

HR_END_NAMESPACE
