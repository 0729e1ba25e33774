// Divides a range of codes into equal shares, one for each digit of a pass.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// Divides the codes from `low` on into equal shares, one for each digit. Codes from 100 to 355 have 256 digits of one
// code each. The distance from `low` is shifted left so that its highest 32 bits are a fraction of the range.
struct KeyRange {
    u64 low;
    u32 zeros;  // leading zeros of the highest distance
    u32 scale;  // digits per 2^32 of the fraction

    // Returns the range of codes from `low` to low + `most`.
    HR_MEMBER static KeyRange of(u64 low, u64 most, u32 digits) {
        if (most == 0) most = 1;  // so that the scale has 32 bits
        const u32 zeros = static_cast<u32>(leading_zeros(most));
        const u64 fraction = (most << zeros) >> 32;
        return {low, zeros, static_cast<u32>((u64{digits} << 32) / (fraction + 1))};
    }
    // Returns the lowest distance of a digit's codes.
    HR_MEMBER u64 begin_of(u32 digit) const {
        const u64 fraction = ((u64{digit} << 32) + scale - 1) / scale;
        if (fraction >> 32 != 0) return (~u64{0} >> zeros) + 1;
        const u64 shifted = fraction << 32, begin = shifted >> zeros;
        return begin << zeros == shifted ? begin : begin + 1;
    }
    // Returns the range of a digit's codes.
    HR_MEMBER KeyRange part(u32 digit, u32 digits) const {
        const u64 begin = begin_of(digit);
        return of(low + begin, begin_of(digit + 1) - 1 - begin, digits);
    }
};

HR_END_NAMESPACE
