// Defines bucket functions of a key for CPU and GPU; buckets of equal width are in bucket.hpp, those between edges in
// cells.hpp. `of(key)` returns the key's bucket. A rule that is not `total` returns `count` or more for a key in no
// bucket. Signed keys are read as unsigned, with the sign bit flipped where order matters.
//
// (Dissertation of Ashkiani 2017, section 3.6, has delta-buckets, identity and predicates; 3.7.1 the bits of a sort.)
#pragma once
#include "arrange/bucket/cells.hpp"
#include "core/hash.hpp"

HR_BEGIN_NAMESPACE

// Reads a key's bits as an integer of 32 or 64 bits.
template <class Key>
struct BitsAs {
    using Type = u32;
    HR_FN u32 of(Key key) { return key; }
};
template <>
struct BitsAs<u64> {
    using Type = u64;
    HR_FN u64 of(u64 key) { return key; }
};
template <>
struct BitsAs<float> {
    using Type = u32;
    HR_FN u32 of(float key) { return bits_as<u32>(key); }
};
template <>
struct BitsAs<double> {
    using Type = u64;
    HR_FN u64 of(double key) { return bits_as<u64>(key); }
};

// Keys of 16 bytes: unsigned integers of two words.
struct WideKey {
    u64 low, high;
};

HR_FN bool is_below(const WideKey& a, const WideKey& b) { return a.high != b.high ? a.high < b.high : a.low < b.low; }

// Rotates a word right by `by` bits, modulo 32.
HR_FN u32 turned(u32 word, u32 by) { return word >> (by & 31) | word << ((0 - by) & 31); }

// (key >> shift) & mask: 0x1234 with shift 4 and mask 0xFF is in bucket 0x23.
template <class Key>
struct BitsOf {
    static constexpr bool total = true;
    u32 shift;
    u32 mask;
    HR_MEMBER u32 of(Key key) const { return static_cast<u32>(BitsAs<Key>::of(key) >> shift) & mask; }
    // Returns four times the bucket, for keys of 4 bytes.
    HR_MEMBER u32 offset_of(u32 key) const { return turned(key, shift - 2) & mask << 2; }
};

// The same bits of a key's hash. `moved_key(key)` is the hash, which a pass moves in place of the key.
template <class Key>
struct HashBitsOf {
    static constexpr bool total = true;
    u32 shift;
    u32 mask;
    u64 seed;
    HR_MEMBER Key moved_key(Key key) const { return mix_bits(static_cast<Key>(key ^ seed)); }
    HR_MEMBER u32 of(Key hash) const { return BitsOf<Key>{shift, mask}.of(hash); }
    HR_MEMBER u32 offset_of(u32 hash) const { return BitsOf<u32>{shift, mask}.offset_of(hash); }
};

template <>
struct BitsOf<WideKey> {
    static constexpr bool total = true;
    u32 shift;
    u32 mask;
    HR_MEMBER u32 of(const WideKey& key) const {
        if (shift >= 64) return static_cast<u32>(key.high >> (shift - 64)) & mask;
        const u64 above = shift == 0 ? 0 : key.high << (64 - shift);
        return static_cast<u32>(key.low >> shift | above) & mask;
    }
};

// The bucket is the key itself.
template <class Key>
struct IdentityOf {
    static constexpr bool total = false;
    u32 count;
    u32 unused;
    HR_MEMBER u32 of(Key key) const {
        const auto bits = BitsAs<Key>::of(key);
        return bits < count ? static_cast<u32>(bits) : count;
    }
};

// The bucket is the non-negative remainder of a division by d > 1. With M = ceil(2^64 / d), the high word of x M is
// floor(x / d), since its error is below x / 2^64 < 1 / d. Words of 64 bits work likewise with 2^128. A signed key k of
// w bits is x - 2^(w - 1), where x is k with its highest bit flipped. So `plus` = -2^(w - 1) mod d is added to the
// remainder.
template <class Key>
struct ModuloOf {
    static constexpr bool total = true;
    u64 multiplier;
    u32 flip;
    u32 plus;
    u32 divisor;
    u32 unused;
    HR_MEMBER u32 of(Key key) const {
        const u32 x = BitsAs<Key>::of(key) ^ flip;
        const u32 remainder = x - high_word(x, multiplier) * divisor + plus;
        return remainder < divisor ? remainder : remainder - divisor;
    }
};
template <>
struct ModuloOf<u64> {
    static constexpr bool total = true;
    u64 high;
    u64 below;  // the low word of M
    u64 flip;
    u32 plus;
    u32 divisor;
    HR_MEMBER u32 of(u64 key) const {
        const u64 x = key ^ flip;
        const u32 remainder = static_cast<u32>(x - high_word(x, high, below) * divisor) + plus;
        return remainder < divisor ? remainder : remainder - divisor;
    }
};

// Maps keys that compare equal to the same bits: -0.0 to 0.0, and every NaN to one NaN.
template <class Key>
HR_FN Key one_of_equals(Key key) {
    if constexpr (Widened<Key>::whole) return key;
    if (key == 0) return 0;
    if constexpr (sizeof(Key) == 4) return key == key ? key : bits_as<Key>(0x7FC00000u);
    if constexpr (sizeof(Key) == 8) return key == key ? key : bits_as<Key>(u64{0x7FF8000000000000});
}

// The buckets are `count` equal ranges of the high 32 bits of the key's hash.
template <class Key>
struct HashOf {
    static constexpr bool total = true;
    u32 count;
    u32 unused;
    HR_MEMBER u32 of(Key key) const {
        const auto hash = mix_bits(BitsAs<Key>::of(one_of_equals(key)));
        const u32 word = static_cast<u32>(hash >> (sizeof(hash) * 8 - 32));
        return static_cast<u32>(static_cast<u64>(word) * count >> 32);
    }
};

template <class Key>
struct EvenOf {
    static constexpr bool total = false;
    Even<Key> even;
    u32 count;
    u32 unused;
    HR_MEMBER u32 of(Key key) const {
        return Even<Key>::by_shift(even) ? Even<Key>::template part<true>(even, key, count)
                                         : Even<Key>::template part<false>(even, key, count);
    }
};

// Buckets between edges. `words`: table of the cells. `edges`: widened keys, one more than there are buckets.
template <class Key>
struct BetweenOf {
    static constexpr bool total = false;
    using Wide = typename Widened<Key>::Type;
    Cells<Key> cells;
    const u32* words;
    const Wide* edges;
    HR_MEMBER u32 of(Key key) const {
        const Wide wide = Widened<Key>::of(key, cells.low);
        const Spot at = spot(cells, place(cells, wide));
        const u32 word = words[at.cell];
        if ((word & crowded) == 0) return (word + at.within) >> cells.fraction;
        return bucket_in_crowd(word, words[at.cell + 1], cells.fraction, edges, wide);
    }
};

// Edges of wide keys are found by binary search.
template <>
struct BetweenOf<WideKey> {
    static constexpr bool total = false;
    const WideKey* edges;  // one more than there are buckets
    u32 count;
    u32 unused;
    HR_MEMBER u32 of(const WideKey& key) const {
        if (is_below(key, edges[0])) return count;
        u32 low = 0;
        for (u32 left = count; left != 0;) {
            const u32 half = left / 2;
            if (!is_below(key, edges[low + half + 1])) {
                low += half + 1;
                left -= half + 1;
            } else {
                left = half;
            }
        }
        return low;
    }
};

// One of the rules above, selected by a number that is the same for all keys of a launch.
enum class RuleKind : u32 { identity, modulo, hash, even };

template <class Key>
struct AnyOf {
    static constexpr bool total = false;
    u64 multiplier;
    u32 first;   // ModuloOf's flip, Even's low
    u32 second;  // ModuloOf's plus, Even's shift
    u32 count;
    RuleKind kind;
    HR_MEMBER u32 of(Key key) const {
        if (kind == RuleKind::hash) return HashOf<Key>{count, 0}.of(key);
        if (kind == RuleKind::identity) return IdentityOf<Key>{count, 0}.of(key);
        if (kind == RuleKind::modulo) return ModuloOf<Key>{multiplier, first, second, count, 0}.of(key);
        return EvenOf<Key>{{multiplier, first, second}, count, 0}.of(key);
    }
};
template <>
struct AnyOf<u64> {
    static constexpr bool total = false;
    u64 high;
    u64 below;
    u64 first;
    u32 second;
    u32 count;
    RuleKind kind;
    u32 unused;
    HR_MEMBER u32 of(u64 key) const {
        if (kind == RuleKind::hash) return HashOf<u64>{count, 0}.of(key);
        if (kind == RuleKind::identity) return IdentityOf<u64>{count, 0}.of(key);
        if (kind == RuleKind::modulo) return ModuloOf<u64>{high, below, first, second, count}.of(key);
        return EvenOf<u64>{{high, below, first, second}, count, 0}.of(key);
    }
};
template <class Float>
struct AnyOfFloats {
    static constexpr bool total = false;
    Float low;
    Float high;
    Float parts_per_unit;
    Float unused;
    u32 count;
    RuleKind kind;
    HR_MEMBER u32 of(Float key) const {
        if (kind == RuleKind::hash) return HashOf<Float>{count, 0}.of(key);
        return EvenOf<Float>{{{low, high, parts_per_unit, unused}}, count, 0}.of(key);
    }
};
template <>
struct AnyOf<float> : AnyOfFloats<float> {};
template <>
struct AnyOf<double> : AnyOfFloats<double> {};

// The remainder of high 2^64 + low from the remainders of its words; counts are below 2^25, so nothing overflows.
template <>
struct AnyOf<WideKey> {
    static constexpr bool total = false;
    u64 residue;  // 2^64 modulo count
    u32 count;
    RuleKind kind;
    HR_MEMBER u32 of(const WideKey& key) const {
        if (kind == RuleKind::hash) return HashOf<u64>{count, 0}.of(mix_bits(key.high + golden_ratio) ^ key.low);
        if (kind == RuleKind::identity) return key.high == 0 && key.low < count ? static_cast<u32>(key.low) : count;
        return static_cast<u32>((key.high % count * residue + key.low % count) % count);
    }
};

HR_END_NAMESPACE
