// The rules of bucket.hpp for a vector of keys: Even<Key>::part, cell and contains, lane by lane the same to the bit.
#pragma once

#include "arrange/bucket.hpp"
#include "core/vectors.hpp"

HR_BEGIN_NAMESPACE

HR_HOT Vector<u32> smaller(Vector<u32> a, Vector<u32> b) { return a < b ? a : b; }

// Of whole numbers, signed or not.
template <class Key>
class EvenLanes {
public:
    explicit EvenLanes(const Even<Key>& even)
        : low_(broadcast(even.low)),
          last_(broadcast(even.last)),
          own_(broadcast(even.multiplier == 0 ? ~0u : 0u)),
          high_(broadcast(even.multiplier >> 32)),
          below_(broadcast(even.multiplier & 0xFFFFFFFF)) {}

    Lanes<u32> contains(Vector<Key> keys) const { return past(keys) <= last_; }

    // Of keys in no part it is `count`.
    template <bool short_product>
    Vector<u32> parts(Vector<Key> keys, Vector<u32> count) const {
        const Vector<u32> own = past(keys);
        const Vector<u64> even = bits_as<Vector<u64>>(own), odd = even >> 32;
        Vector<u64> low = multiply_even(even, high_), high = multiply_even(odd, high_);
        if constexpr (!short_product) {
            low += multiply_even(even, below_) >> 32;
            high += multiply_even(odd, below_) >> 32;
        }
        return own > last_ ? count : joined(low, high) | (own & own_);
    }

    Vector<u32> cells(Vector<Key> keys, Vector<u32> last) const {
        const Vector<u32> own = past(keys);
        const Vector<u64> even = bits_as<Vector<u64>>(own);
        const Vector<u32> cell = joined(multiply_even(even, high_), multiply_even(even >> 32, high_));
        return smaller(cell | (own & own_), last);
    }

private:
    Vector<u32> past(Vector<Key> keys) const { return bits_as<Vector<u32>>(keys) - low_; }

    // The high words of the even and of the odd lanes' products.
    static Vector<u32> joined(Vector<u64> even, Vector<u64> odd) {
        return bits_as<Vector<u32>>((even >> 32) | (odd & 0xFFFFFFFF00000000));
    }

    Vector<u32> low_, last_, own_;
    Vector<u64> high_, below_;
};

template <>
class EvenLanes<float> {
public:
    explicit EvenLanes(const Even<float>& even)
        : low_(broadcast(even.low)), high_(broadcast(even.high)), parts_per_unit_(broadcast(even.parts_per_unit)) {}

    Lanes<float> contains(Vector<float> keys) const { return (keys >= low_) & (keys < high_); }

    template <bool short_product>
    Vector<u32> parts(Vector<float> keys, Vector<u32> count) const {
        return contains(keys) ? cells(keys, count - 1) : count;
    }

    // The number of parts is 65,536 at most; a key below all of them makes a negative number, which is a large one.
    Vector<u32> cells(Vector<float> keys, Vector<u32> last) const {
        const Vector<float> parts = (keys - low_) * parts_per_unit_, most = broadcast(65536.0f);
        const auto whole = __builtin_convertvector(parts < most ? parts : most, Vector<i32>);
        return smaller(bits_as<Vector<u32>>(whole), last);
    }

private:
    Vector<float> low_, high_, parts_per_unit_;
};

HR_END_NAMESPACE
