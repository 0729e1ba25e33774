// Computes the digit of a key: its bucket, one of at most 256, by a rule (rules.hpp): HR_RULE, where there is one.
// The rule Computed evaluates an expression of the caller.
#pragma once
#include "arrange/bucket/rules.hpp"
#include "arrange/multisplit/gpu/split_task.hpp"
#include "core/expressions/expression_values.hpp"
#include "gpu/block/tile_rows.cuh"

namespace headrace {

using Key = HR_KEY;
#if defined(HR_BITS)
constexpr u32 bits = HR_BITS;
constexpr u32 digits = 1u << bits;
#endif

#if defined(HR_BUCKET)
// HR_BUCKET is an expression of the key's word, such as (key >> 24u) or bucket_of(multiplied(bits_as<float>(key), ..)).
template <class Key>
struct Computed {
    static constexpr bool total = false;
    BucketLimit count;
    HR_MEMBER u32 of(Key key) const { return at_most(HR_BUCKET, count.value); }
};
#endif

// The digit of a key by a rule. `last`: the highest bucket. Keys in no bucket get this digit, so that all positions
// stay in bounds.
template <class Rule>
struct DigitBy {
    Rule rule;
    BucketLimit last;

    HR_MEMBER bool is_stray(Key key) const { return !Rule::total && rule.of(key) > last.value; }
    HR_MEMBER u32 of(Key key) const {
        const u32 bucket = rule.of(key);
        return Rule::total ? bucket : at_most(bucket, last.value);
    }
    // Returns the key that is moved in place of a loaded one. Digits are those of moved keys.
    HR_MEMBER Key moved_key(Key key) const {
        if constexpr (requires { rule.moved_key(key); }) return rule.moved_key(key);
        return key;
    }
    // Returns four times the digit, by different instructions if the rule has some. The compiler then does not keep the
    // digits in registers from counting to ranking, where registers are short.
    template <class Word>
    HR_MEMBER u32 offset_of(Word key) const {
        return offset_by(rule, key);
    }

private:
    template <class Given>
        requires requires(const Given& rule, u32 key) { rule.offset_of(key); }
    HR_MEMBER u32 offset_by(const Given& rule, u32 key) const {
        return rule.offset_of(key);
    }
    template <class Given, class Word>
    HR_MEMBER u32 offset_by(const Given&, Word key) const {
        return 4 * of(key);
    }
};

#if defined(HR_RULE)
using Rule = HR_RULE<Key>;
using Digit = DigitBy<Rule>;
#endif

}  // namespace headrace
