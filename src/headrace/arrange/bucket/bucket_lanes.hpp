// Evaluates the rules of bucket.hpp and cells.hpp for a vector of keys, with identical results in each lane. Keys have
// 4 bytes; narrower integers are widened to lanes of 4.
#pragma once

#include "arrange/bucket/cells.hpp"
#include "core/cpu/vectors.hpp"

HR_BEGIN_NAMESPACE

HR_HOT Vector<u32> smaller(Vector<u32> a, Vector<u32> b) { return a < b ? a : b; }

// Loads keys as they are compared (Widened::of).
template <class Key>
HR_HOT Vector<u32> load_past(const Key* keys, Vector<u32> low) {
    if constexpr (sizeof(Key) == 4) {
        return load(keys) - low;
    } else {
        typedef Key Narrow __attribute__((vector_size(sizeof(Key) * lanes<u32>)));
        Narrow narrow;
        __builtin_memcpy(&narrow, keys, sizeof(narrow));
        return (__builtin_convertvector(narrow, Vector<u32>) - low) & static_cast<Key>(~Key{0});
    }
}

// Products of lanes, as high and low words.
struct Products {
    Vector<u64> even, odd;

    Products(Vector<u32> a, Vector<u64> b)
        : even(multiply_even(bits_as<Vector<u64>>(a), b)), odd(multiply_even(bits_as<Vector<u64>>(a) >> 32, b)) {}

    Vector<u32> high() const { return bits_as<Vector<u32>>((even >> 32) | (odd & 0xFFFFFFFF00000000)); }
    Vector<u32> low() const { return bits_as<Vector<u32>>((even & 0xFFFFFFFF) | (odd << 32)); }
};

// Buckets of equal width for integers of at most 4 bytes.
template <class Key>
class EvenLanes {
public:
    EvenLanes(const Even<Key>& even, u32 count)
        : low_(broadcast(even.low)),
          count_(broadcast(count)),
          high_(broadcast(even.multiplier >> 32)),
          below_(broadcast(even.multiplier & 0xFFFFFFFF)),
          shift_(even.shift) {}

    template <bool by_shift>
    Vector<u32> parts(const Key* keys) const {
        const Vector<u32> past = load_past(keys, low_);
        if constexpr (by_shift) return smaller(past >> shift_, count_);
        const Products below(past, below_);
        Products product(past, high_);
        product.even += below.even >> 32;
        product.odd += below.odd >> 32;
        return smaller(product.high(), count_);
    }

private:
    Vector<u32> low_, count_;
    Vector<u64> high_, below_;
    u32 shift_;
};

template <>
class EvenLanes<float> {
public:
    EvenLanes(const Even<float>& even, u32 count)
        : low_(broadcast(even.low)),
          high_(broadcast(even.high)),
          parts_per_unit_(broadcast(even.parts_per_unit)),
          count_(broadcast(count)) {}

    // There are at most 65,536 buckets. A key below the range gives a negative number, which is large as an unsigned.
    template <bool by_shift>
    Vector<u32> parts(const float* at) const {
        const Vector<float> keys = load(at), limit = broadcast(65536.0f);
        const Vector<float> parts = (keys - low_) * parts_per_unit_;
        const auto whole = __builtin_convertvector(parts < limit ? parts : limit, Vector<i32>);
        return (keys >= low_) & (keys < high_) ? smaller(bits_as<Vector<u32>>(whole), count_ - 1) : count_;
    }

private:
    Vector<float> low_, high_, parts_per_unit_;
    Vector<u32> count_;
};

// whole_part of non-negative numbers; NaN gives the greatest value.
HR_HOT Vector<u32> whole_parts(Vector<float> x) {
    const Vector<float> half = broadcast(2147483648.0f), all = broadcast(4294967296.0f);
    const auto fits = x < all, upper = x >= half;
    const Vector<float> rest = upper ? x - half : x;
    const auto whole = __builtin_convertvector(fits ? rest : Vector<float>{}, Vector<i32>);
    const Vector<u32> top = bits_as<Vector<u32>>(upper) & (1u << 31);
    return fits ? bits_as<Vector<u32>>(whole) + top : ~Vector<u32>{};
}

// Positions of keys in the table of cells.
struct Spots {
    Vector<u32> cell, within;
};

template <class Key>
class CellLanes {
public:
    using Wide = typename Cells<Key>::Wide;

    explicit CellLanes(const Cells<Key>& cells)
        : low_(broadcast(cells.low)),
          scale_(broadcast(cells.scale)),
          multiplier_(broadcast(static_cast<u64>(cells.multiplier))),
          count_(broadcast(cells.count)),
          unused_(32 - cells.fraction) {}

    Vector<Wide> wide(const Key* keys) const {
        if constexpr (Widened<Key>::whole)
            return load_past(keys, low_);
        else
            return load(keys);
    }

    Spots spots(Vector<Wide> keys) const {
        const Products product(places(keys), multiplier_);
        return {smaller(product.high(), count_), product.low() >> unused_};
    }

    Vector<u32> next(Vector<u32> cell) const { return smaller(cell + 1, count_); }

private:
    Vector<u32> places(Vector<Wide> keys) const {
        if constexpr (Widened<Key>::whole)
            return keys;
        else
            return keys >= low_ ? whole_parts((keys - low_) * scale_) : ~Vector<u32>{};
    }

    Vector<Wide> low_, scale_;
    Vector<u64> multiplier_;
    Vector<u32> count_;
    u32 unused_;
};

HR_END_NAMESPACE
