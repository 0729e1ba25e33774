// Keys as whole numbers without a sign whose order is that of the keys: their codes. CPU and GPU sort codes; what a key
// is (a float, a date), which way it goes and where NaN belongs is four words that KeyOrder.packed of key_order.py
// gives and all keys of a launch share, so kernels differ by width alone.
//
//   code = ((bits ^ fold where the highest bit is set) ^ toggle) + plus
//
//                     fold       toggle          plus
//   unsigned          0          0               0         -> itself
//   signed            0          1000..0         0         -5 -> below 3
//   float             0111..1    1000..0         0         IEEE's totalOrder: -NaN, -inf .. -0, 0 .. inf, NaN
//   float, NaN last   0111..1    1000..0         minus the number of negative NaN: these come round to the end
//   time, NaT last    0          1000..0         -1        NaT is the lowest number there is, and comes round to the
//   end
//
// Descending toggles every bit, and what is last is brought back to the end: plus = code of infinity + 1, of times 0.
// (The float mapping is that of Stehle and Jacobsen 2017, section 4.6, and older.)
//
// A code is made of a key and back without loss, so keys alone are sorted as codes, and equal bits are in one place:
// -0 before 0, then NaN by their bits (descending: the other way round). Where keys carry something, keys that compare
// equal must keep their order: `equal_code` is one for -0 and 0, and one for all NaN, and what it does not keep is
// moved beside it. For example with NaN last, of float16:
//   -inf 0, -0 0x7C00, 0 0x7C01, inf 0xF801, NaN 0xF802 .. 0xFFFF; equal codes: -0 0x7C01, NaN 0xFFFF
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// Bits: u8, u16, u32 or u64, as wide as the key.
template <class Bits>
struct KeyRule {
    Bits fold;
    Bits toggle;
    Bits plus;
    Bits infinity;  // bits of the float infinity where NaN are last and -0 equals 0; else 0: codes are equal codes

    static constexpr int highest = sizeof(Bits) * 8 - 1;

    HR_MEMBER static Bits folded(Bits bits, Bits fold) {
        const Bits signs = static_cast<Bits>(Bits{0} - static_cast<Bits>(bits >> highest));
        return static_cast<Bits>(bits ^ (signs & fold));
    }
    HR_MEMBER Bits code(Bits key) const { return static_cast<Bits>((folded(key, fold) ^ toggle) + plus); }

    // The key whose code this is.
    HR_MEMBER Bits key(Bits code) const { return folded(static_cast<Bits>((code - plus) ^ toggle), fold); }

    HR_MEMBER Bits equal_code(Bits key) const {
        const Bits size = static_cast<Bits>(key & fold);
        const Bits found = code(size == 0 && infinity != 0 ? Bits{0} : key);
        return infinity != 0 && size > infinity ? static_cast<Bits>(~Bits{0}) : found;
    }

    // Whether the equal code may be that of other bits as well: of -0 and NaN. All other keys are key(equal_code(key)).
    HR_MEMBER bool is_lost(Bits key) const {
        const Bits size = static_cast<Bits>(key & fold);
        return infinity != 0 && (size > infinity || (size == 0 && key != 0));
    }
};

HR_END_NAMESPACE
