// 128-bit integers in two's complement: what decimals are in memory, and sums that must not wrap on the way.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// The low word first, as Arrow lays a decimal out. -1 is {~0, ~0}.
struct Int128 {
    u64 low;
    u64 high;
};

// The remainder modulo 2^128 is kept.
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

// Whether 64 bits hold the value, sign included.
HR_FN bool fits_64_bits(Int128 a) { return a.high == (a.low >> 63 != 0 ? ~u64{0} : 0); }

HR_END_NAMESPACE
