// The class of a key (heavy_hitters.cuh) as the digit of a multisplit.
#pragma once
#include "arrange/sort/gpu/heavy_hitters/heavy_hitters.cuh"
#include "arrange/sort/sort_key.hpp"

namespace headrace {

template <class Word>
struct HeavyClass {
    static constexpr bool total = true;
    KeyRule<Word> rule;
    const ClassTable<Word, HR_BITS>* table;

    // Returns the class of a key as given: extracted keys move unchanged.
    HR_MEMBER u32 of(Word key) const { return table->of(HR_EQUALS != 0 ? rule.equal_code(key) : rule.code(key)); }
};

}  // namespace headrace
