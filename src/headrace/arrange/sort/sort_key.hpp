// Turns keys into codes: unsigned integers whose order is that of the keys. CPU and GPU sort codes. The type of a key
// (float, date), its direction and the position of NaN are four words, which all keys of a launch share.
// KeyOrder.packed of key_order.py computes them. So kernels differ only by the width of keys.
//
//   code = ((bits ^ fold if the highest bit is set) ^ toggle) + plus
//
// |                   fold       toggle          plus
// | unsigned          0          0               0         -> itself
// | signed            0          1000..0         0         -5 -> below 3
// | float             0111..1    1000..0         0         IEEE's totalOrder: -NaN, -inf .. -0, 0 .. inf, NaN
// | float, NaN last   0111..1    1000..0         minus the number of negative NaN, which wrap around to the end
// | time, NaT last    0          1000..0         -1        NaT, the lowest number, wraps around to the end
//
// Descending toggles every bit, and keys that are last are moved back to the end: plus = code of infinity + 1; 0 for
// times. (The float mapping is that of Stehle and Jacobsen 2017, section 4.6, and older.)
//
// A code can be turned back into its key without loss, so keys alone are sorted as codes, and equal bits are
// contiguous. The order is -0, 0, then NaN by their bits (reversed if descending). If keys carry values, keys that
// compare equal must keep their order: -0 and 0 share one `equal_code`, and all NaN share one. For example, float16
// with NaN last:
//
//   -inf 0, -0 0x7C00, 0 0x7C01, inf 0xF801, NaN 0xF802 .. 0xFFFF; equal codes: -0 0x7C01, NaN 0xFFFF
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// The rule for keys of one width. Bits: u8, u16, u32 or u64.
template <class Bits>
struct KeyRule {
    Bits fold;
    Bits toggle;
    Bits plus;
    Bits infinity;  // bits of infinity if NaN are last and -0 equals 0; else 0: codes are equal codes

    static constexpr int highest = sizeof(Bits) * 8 - 1;

    HR_MEMBER static Bits folded(Bits bits, Bits fold) {
        const Bits signs = static_cast<Bits>(Bits{0} - static_cast<Bits>(bits >> highest));
        return static_cast<Bits>(bits ^ (signs & fold));
    }
    HR_MEMBER Bits code(Bits key) const { return static_cast<Bits>((folded(key, fold) ^ toggle) + plus); }

    // Returns the key that has this code.
    HR_MEMBER Bits key(Bits code) const { return folded(static_cast<Bits>((code - plus) ^ toggle), fold); }

    HR_MEMBER Bits equal_code(Bits key) const {
        const Bits size = static_cast<Bits>(key & fold);
        const Bits found = code(size == 0 && infinity != 0 ? Bits{0} : key);
        return infinity != 0 && size > infinity ? static_cast<Bits>(~Bits{0}) : found;
    }
};

HR_END_NAMESPACE
