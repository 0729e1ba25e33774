// The rules of bucket.hpp and cells.hpp for a vector of keys of 4 bytes, lane by lane the same.
#pragma once

#include "arrange/cells.hpp"
#include "core/vectors.hpp"

HR_BEGIN_NAMESPACE

HR_HOT Vector<u32> smaller(Vector<u32> a, Vector<u32> b) { return a < b ? a : b; }

// Products of 32 by 32 bits, of the even and of the odd lanes.
struct Products {
    Vector<u64> even, odd;

    Vector<u32> high() const { return bits_as<Vector<u32>>((even >> 32) | (odd & 0xFFFFFFFF00000000)); }
    Vector<u32> low() const { return bits_as<Vector<u32>>((even & 0xFFFFFFFF) | (odd << 32)); }
};

HR_HOT Products multiply(Vector<u32> a, Vector<u64> b) {
    const Vector<u64> even = bits_as<Vector<u64>>(a);
    return {multiply_even(even, b), multiply_even(even >> 32, b)};
}

// Even<Key>::part.
template <class Key>
class EvenLanes;

template <>
class EvenLanes<u32> {
public:
    explicit EvenLanes(const Even<u32>& even)
        : low_(broadcast(even.low)),
          high_(broadcast(even.multiplier >> 32)),
          below_(broadcast(even.multiplier & 0xFFFFFFFF)),
          shift_(even.shift) {}

    // Of keys in no part it is `count`.
    template <bool by_shift>
    Vector<u32> parts(Vector<u32> keys, Vector<u32> count) const {
        const Vector<u32> past = keys - low_;
        if constexpr (by_shift) return smaller(past >> shift_, count);
        Products products = multiply(past, high_);
        const Products below = multiply(past, below_);
        products.even += below.even >> 32;
        products.odd += below.odd >> 32;
        return smaller(products.high(), count);
    }

private:
    Vector<u32> low_;
    Vector<u64> high_, below_;
    u32 shift_;
};

template <>
class EvenLanes<float> {
public:
    explicit EvenLanes(const Even<float>& even)
        : low_(broadcast(even.low)), high_(broadcast(even.high)), parts_per_unit_(broadcast(even.parts_per_unit)) {}

    // The number of parts is 65,536 at most.
    template <bool by_shift>
    Vector<u32> parts(Vector<float> keys, Vector<u32> count) const {
        const Vector<float> parts = (keys - low_) * parts_per_unit_, most = broadcast(65536.0f);
        const auto whole = __builtin_convertvector(parts < most ? parts : most, Vector<i32>);
        const Lanes<float> inside = (keys >= low_) & (keys < high_);
        return inside ? smaller(bits_as<Vector<u32>>(whole), count - 1) : count;
    }

private:
    Vector<float> low_, high_, parts_per_unit_;
};

// The words of keys' cells, and the buckets they come to.
template <class Key>
class CellLanes {
public:
    explicit CellLanes(const Cells<Key>& cells)
        : low_(broadcast(cells.low)),
          scale_(broadcast(cells.scale)),
          multiplier_(broadcast(static_cast<u64>(cells.multiplier))),
          count_(broadcast(cells.count)),
          fraction_(cells.fraction) {}

    // `crowd` has the bit `crowded` where a word has it.
    Vector<u32> buckets(Vector<Key> keys, const u32* words, Vector<u32>& crowd) const {
        const Products products = multiply(places(keys), multiplier_);
        const Vector<u32> found = gather_words(words, smaller(products.high(), count_));
        crowd |= found;
        return (found + (products.low() >> (32 - fraction_))) >> fraction_;
    }

private:
    Vector<u32> places(Vector<Key> keys) const {
        if constexpr (Widened<Key>::whole) {
            return keys - low_;
        } else {
            // Half of it fits a signed number, which vectors convert to.
            const Vector<float> places = (keys - low_) * scale_, end = broadcast(4294967296.0f);
            const Lanes<float> inside = (keys >= low_) & (places < end), low = places < end / 2;
            const auto past =
                __builtin_convertvector(inside ? low ? places : places - end / 2 : low_ - low_, Vector<i32>);
            const Vector<u32> all = broadcast(~0u), top = broadcast(1u << 31), whole = bits_as<Vector<u32>>(past);
            return inside ? low ? whole : whole | top : all;
        }
    }

    Vector<Key> low_, scale_;
    Vector<u64> multiplier_;
    Vector<u32> count_;
    u32 fraction_;
};

HR_END_NAMESPACE
