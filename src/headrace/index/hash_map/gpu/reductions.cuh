// Reduces values of slots by atomic operations.
#pragma once
#include "core/operators.hpp"

namespace headrace {
namespace slab {

// The order of the rows does not change the result, except for `last` and `first`. Numbers are those of
// slab_kernels.py.
enum class SlotReduction : u32 { sum, min, max, signed_min, signed_max, last, first };

// Reduces a held value by another one; neither `last` nor `first`.
template <class Word>
__device__ __forceinline__ void reduce_value(Word* held, Word value, SlotReduction how) {
    using Signed = Either<sizeof(Word) == 8, i64, i32>;
    if (how == SlotReduction::sum) atomicAdd(held, value);
    if (how == SlotReduction::min) atomicMin(held, value);
    if (how == SlotReduction::max) atomicMax(held, value);
    if (how == SlotReduction::signed_min) atomicMin(reinterpret_cast<Signed*>(held), static_cast<Signed>(value));
    if (how == SlotReduction::signed_max) atomicMax(reinterpret_cast<Signed*>(held), static_cast<Signed>(value));
}

}  // namespace slab
}  // namespace headrace
