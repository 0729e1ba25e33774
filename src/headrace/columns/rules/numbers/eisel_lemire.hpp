// Rounds w * 10^q to a float with one or two multiplications, in all but a few cases that it recognises. Source: Daniel
// Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience 51(8), 2021, after Michael
// Eisel. Here both multiplications give a lower bound and the width of the doubt. The rounding is decided when the
// whole interval rounds one way, so the table holds lower bounds for negative powers as well.
//
// w is shifted up until its top bit is set and multiplied by 5^q from the table (128 bits, top bit set). In the top
// word of the product, e.g. for a float (24 bits precision):
//
//   h = 01 1010 ... 1101  0111...1        64 bits; the highest set bit is the first or the second
//       \__ significand _/ \_ rest _/     rounds up if rest.fraction > 1000...0, half of the last bit precision
#pragma once

#include "columns/rules/numbers/float_format.hpp"
#include "columns/rules/numbers/powers_of_five.hpp"
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

enum class Rounding : u8 { down = 0, up = 1, unknown = 2 };

// The value rounds to `significand` or to the next one up (assemble()). With Rounding::unknown it is one of these two.
struct Estimate {
    u64 significand;
    i32 scale;
    Rounding rounding;
};

template <class T>
HR_FN T rounded(const Estimate& estimate) {
    return assemble<T>(estimate.significand + (estimate.rounding == Rounding::up ? 1 : 0), estimate.scale);
}

// floor(log2(10^q)) for -400 < q < 400, e.g. 3 -> 9 and -1 -> -4; 217706 / 2^16 is a little more than log2(10).
HR_FN i32 floor_log2_of_power_of_ten(i32 q) { return (q * 217706) >> 16; }

// The product's top word, split at the format's last bit.
struct CutWord {
    u64 significand;
    u64 rest;
    u64 half;  // the highest bit of `rest`
};

HR_FN CutWord cut_word(u64 word, i32 rest_bits) {
    const u64 half = u64{1} << (rest_bits - 1);
    return {word >> (rest_bits - 1) >> 1, word & (half | (half - 1)), half};
}

// Decides the rounding if the top word alone cannot, because its rest is half or one less. `w_times_five_low`: w *
// five.low. `exact`: the power of five has no digits below five.low.
HR_FN Rounding round_near_half(CutWord cut, u64 top_low, Product w_times_five_low, bool exact) {
    const u64 fraction = top_low + w_times_five_low.high;
    const u64 rest = cut.rest + (fraction < top_low ? 1 : 0);
    // The digits that the table omits are below one unit of `fraction`, which can carry only through all ones.
    if (rest < cut.half) return exact || fraction != ~u64{0} ? Rounding::down : Rounding::unknown;
    const bool tie = rest == cut.half && exact && fraction == 0 && w_times_five_low.low == 0;
    return tie && cut.significand % 2 == 0 ? Rounding::down : Rounding::up;
}

// Returns w * 10^q rounded to nearest, ties to even; w > 0, and q in the range of the table.
template <class T>
HR_FN Estimate estimate_product(u64 w, i32 q) {
    using Format = FloatFormat<T>;
    const PowerOfFive five = POWERS_OF_FIVE[q - LOWEST_POWER_OF_FIVE];
    const i32 shift = leading_zeros(w);
    w <<= shift;
    const Product top = multiply_wide(w, five.high);

    // 2^exponent <= w * 10^q < 2^(exponent + 1)
    const i32 spare = static_cast<i32>(~top.high >> 63);
    const i32 exponent = floor_log2_of_power_of_ten(q) + 64 - shift - spare;
    const i32 scale = exponent - Format::smallest_exponent;
    const i32 precision = Format::precision + (scale < 0 ? scale : 0);
    if (precision < 0) return {0, 0, precision < -1 ? Rounding::down : Rounding::unknown};

    const CutWord cut = cut_word(top.high, 64 - spare - precision);
    // Up and down are equally likely, so the rounding is computed without a branch: 12 ns instead of 23 for a
    // coordinate.
    Rounding rounding = static_cast<Rounding>(cut.rest > cut.half);
    if (cut.rest == cut.half || cut.rest + 1 == cut.half) [[unlikely]] {
        const bool exact = q >= 0 && q <= LARGEST_EXACT_POWER_OF_FIVE;
        rounding = round_near_half(cut, top.low, multiply_wide(w, five.low), exact);
    }
    return {cut.significand, scale < 0 ? 0 : scale, rounding};
}

// Returns w * 10^power rounded to nearest, ties to even; w > 0.
template <class T>
HR_COLD Estimate estimate_decimal(u64 w, i64 power) {
    using Format = FloatFormat<T>;
    if (power < Format::lowest_power) return {0, 0, Rounding::down};
    if (power > Format::highest_power) return {0, Format::infinite_scale, Rounding::down};
    return estimate_product<T>(w, static_cast<i32>(power));
}

HR_END_NAMESPACE
