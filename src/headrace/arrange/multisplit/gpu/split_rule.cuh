// Which digit a key has: its bucket of 256 at most, by the rule that HR_RULE names (rules.hpp) or, where that is
// Computed, by an expression of the caller's.
#pragma once
#include "core/expressions/expression_values.hpp"
#include "arrange/bucket/rules.hpp"
#include "gpu/block/tile_rows.cuh"

namespace headrace {

using Key = HR_KEY;
#if defined(HR_BITS)
constexpr u32 bits = HR_BITS;
constexpr u32 digits = 1u << bits;
#endif

#if defined(HR_BUCKET)
// A function of keys' words, such as (key >> 24u) or bucket_of(multiplied(bits_as<float>(key), ..)).
template <class Key>
struct Computed {
    static constexpr bool total = false;
    u32 count;
    u32 unused;
    __device__ __forceinline__ u32 of(Key key) const { return at_most(HR_BUCKET, count); }
};
#endif

using Rule = HR_RULE<Key>;

// `last`: the highest bucket, which a key that is in none gets, so that nothing goes out of bounds.
struct Digit {
    Rule rule;
    u32 last;
    u32 unused;

    __device__ __forceinline__ bool is_stray(Key key) const { return !Rule::total && rule.of(key) > last; }
    __device__ __forceinline__ u32 of(Key key) const {
        const u32 bucket = rule.of(key);
        return Rule::total ? bucket : at_most(bucket, last);
    }
    // Four times that, where a rule knows how by other instructions: then the compiler does not keep each key's digit
    // from when it is counted to when it is ranked, for which there are no registers.
    template <class Word>
    __device__ __forceinline__ u32 offset_of(Word key) const {
        return offset_by(rule, key);
    }

private:
    template <class Rule>
        requires requires(const Rule& rule, u32 key) { rule.offset_of(key); }
    __device__ __forceinline__ u32 offset_by(const Rule& rule, u32 key) const {
        return rule.offset_of(key);
    }
    template <class Rule, class Word>
    __device__ __forceinline__ u32 offset_by(const Rule&, Word key) const {
        return 4 * of(key);
    }
};

}  // namespace headrace
