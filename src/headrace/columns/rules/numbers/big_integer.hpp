// Implements non-negative integers of up to 2816 bits on the stack, as far as comparing a decimal with a midpoint needs
// them.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// words[0] is the lowest; the highest of the `size` words in use is not 0.
struct BigInteger {
    static constexpr u32 CAPACITY = 44;
    u64 words[CAPACITY];
    u32 size;
};

HR_FN void set(BigInteger& x, u64 value) {
    x.words[0] = value;
    x.size = value != 0 ? 1 : 0;
}

// x = x * factor + addend
HR_COLD void multiply_add(BigInteger& x, u64 factor, u64 addend) {
    u64 carry = addend;
    for (u32 i = 0; i < x.size; ++i) {
        const Product product = multiply_wide(x.words[i], factor);
        x.words[i] = product.low + carry;
        carry = product.high + (x.words[i] < carry ? 1 : 0);
    }
    if (carry != 0) x.words[x.size++] = carry;
}

HR_COLD void multiply_by_power_of_five(BigInteger& x, u32 power) {
    constexpr u64 FIVE_TO_THE_27 = 7450580596923828125;  // the largest power below 2^64
    for (; power >= 27; power -= 27) multiply_add(x, FIVE_TO_THE_27, 0);
    u64 factor = 1;
    for (; power > 0; --power) factor *= 5;
    multiply_add(x, factor, 0);
}

HR_COLD void shift_left(BigInteger& x, u32 count) {
    const u32 words = count / 64;
    multiply_add(x, u64{1} << (count % 64), 0);
    if (x.size == 0) return;
    for (u32 i = x.size; i > 0; --i) x.words[i - 1 + words] = x.words[i - 1];
    for (u32 i = 0; i < words; ++i) x.words[i] = 0;
    x.size += words;
}

// Returns a negative number, 0 or a positive number if x is less than, equal to or greater than y.
HR_FN i32 compare(const BigInteger& x, const BigInteger& y) {
    if (x.size != y.size) return x.size < y.size ? -1 : 1;
    for (u32 i = x.size; i > 0; --i) {
        if (x.words[i - 1] != y.words[i - 1]) return x.words[i - 1] < y.words[i - 1] ? -1 : 1;
    }
    return 0;
}

HR_END_NAMESPACE
