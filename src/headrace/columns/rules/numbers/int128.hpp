// Implements 128-bit integers in two's complement, for decimals in memory and for sums that must not wrap.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// The low word comes first, as in Arrow's decimals. -1 is {~0, ~0}.
struct Int128 {
    u64 low;
    u64 high;
};

// Returns the sum modulo 2^128.
HR_FN Int128 add(Int128 a, Int128 b) {
    const u64 low = a.low + b.low;
    return {low, a.high + b.high + (low < a.low ? 1 : 0)};
}

HR_FN Int128 negate(Int128 a) { return {0 - a.low, ~a.high + (a.low == 0 ? 1 : 0)}; }

HR_FN Int128 multiply(u64 a, u64 b) {
    const Product product = multiply_wide(a, b);
    return {product.low, product.high};
}

// x * factor for x * factor < 2^128.
HR_FN Int128 multiply(Int128 x, u64 factor) { return add(multiply(x.low, factor), {0, x.high * factor}); }

HR_FN bool is_negative(Int128 a) { return a.high >> 63 != 0; }

// Returns whether the value fits in 64 bits with its sign.
HR_FN bool fits_64_bits(Int128 a) { return a.high == (a.low >> 63 != 0 ? ~u64{0} : 0); }

HR_END_NAMESPACE
