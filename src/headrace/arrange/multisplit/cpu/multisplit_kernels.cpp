// Evaluates the rules of rules.hpp over chunks of keys, compiled once per instruction set: loops that compilers
// vectorise. Bytes moved per key: its width, and 4 for its bucket in L1.
#include "arrange/multisplit/cpu/multisplit_kernels.hpp"

#include "arrange/bucket/rules.hpp"
#include "core/cpu/vectors.hpp"

HR_BEGIN_NAMESPACE
namespace {

template <template <class> class Rule, class Key>
void find(const void* keys, u64 n, const void* description, u32* buckets) {
    Rule<Key> rule;
    __builtin_memcpy(&rule, description, sizeof(rule));
    const Key* const in = static_cast<const Key*>(keys);
    for (u64 i = 0; i < n; ++i) buckets[i] = rule.of(item_at(in + i));
}

template <class Item>
void put(const void* items, u64 n, const u64* places, void* out) {
    const Item* const in = static_cast<const Item*>(items);
    Item* const to = static_cast<Item*>(out);
    for (u64 i = 0; i < n; ++i) put_item(to + places[i], item_at(in + i));
}

}  // namespace

const MultisplitKernels& multisplit_kernels() {
    static constexpr MultisplitKernels kernels = {
        {{find<BitsOf, u8>, find<BitsOf, u16>, find<BitsOf, u32>, find<BitsOf, u64>, find<BitsOf, float>,
          find<BitsOf, double>, find<BitsOf, WideKey>},
         {find<AnyOf, u8>, find<AnyOf, u16>, find<AnyOf, u32>, find<AnyOf, u64>, find<AnyOf, float>,
          find<AnyOf, double>, find<AnyOf, WideKey>},
         {find<BetweenOf, u8>, find<BetweenOf, u16>, find<BetweenOf, u32>, find<BetweenOf, u64>, find<BetweenOf, float>,
          find<BetweenOf, double>, find<BetweenOf, WideKey>}},
        {put<u8>, put<u16>, put<u32>, put<u64>, put<WideKey>}};
    return kernels;
}

HR_END_NAMESPACE
