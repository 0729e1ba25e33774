// Builds the hash sets of `is_in`.
#include "arrange/filter/cpu/value_set.hpp"

namespace headrace {

namespace {

constexpr u64 small_count = 4096;  // values of a set whose table is sparse: 512 KB at most

}  // namespace

ValueSet::ValueSet(const FilterStep& step, const u8* constants) {
    const u64 count = step.b;
    slots_.resize(std::bit_ceil((count <= small_count ? 8 : 2) * count + 2));
    const u8* const values = constants + step.a;
    if (step.domain == FilterDomain::text) {
        add_texts(reinterpret_cast<const u64*>(values), count, constants);
    } else if (step.domain == FilterDomain::i64) {
        add_numbers<i64>(values, count);
    } else if (step.domain == FilterDomain::u64) {
        add_numbers<u64>(values, count);
    } else if (step.domain == FilterDomain::f32) {
        add_numbers<float>(values, count);
    } else {
        add_numbers<double>(values, count);
    }
}

template <class Value>
void ValueSet::add_numbers(const u8* values, u64 count) {
    for (u64 i = 0; i < count; ++i)
        add(ValueLookup::key_of(item_at_any(reinterpret_cast<const Value*>(values) + i)), i + 1);
}

// `places`: for each text, its place in the constants and its size.
void ValueSet::add_texts(const u64* places, u64 count, const u8* constants) {
    texts_.resize(count + 1);
    for (u64 i = 0; i < count; ++i) {
        const TextRef text{constants + places[2 * i], places[2 * i + 1]};
        texts_[i + 1] = {text, prefix_of(text, false)};
        add(ValueLookup::key_of(texts_[i + 1].prefix, text.size), i + 1);
    }
}

void ValueSet::add(u64 key, u64 number) {
    u64 at = lookup().slot_of(key);
    while (slots_[at].number != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {key, number};
}

}  // namespace headrace
