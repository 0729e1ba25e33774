// Reduces values of slots by atomic operations.
#pragma once
#include "core/operators.hpp"
#include "gpu/block/memory_access.cuh"

namespace headrace::slab {

// The order of the rows changes the result of `last` and `first`, and of the reductions of floats. Numbers are those of
// slab_kernels.py.
enum class SlotReduction : u32 { sum, min, max, signed_min, signed_max, last, first, float_sum, float_min, float_max };

// Reduces a held value by another one, by a reduction whose order does not matter. Most minima and maxima of a frequent
// key change nothing, and a read is faster than an atomic operation then.
template <class Word>
HR_FN void reduce_value(Word* held, Word value, SlotReduction how) {
    using Signed = Either<sizeof(Word) == 8, i64, i32>;
    if (how == SlotReduction::sum) {
        atomicAdd(held, value);
        return;
    }
    const Word seen = tile::load_relaxed(held);
    const auto own = static_cast<Signed>(value), other = static_cast<Signed>(seen);
    if (how == SlotReduction::min && value < seen) atomicMin(held, value);
    if (how == SlotReduction::max && value > seen) atomicMax(held, value);
    if (how == SlotReduction::signed_min && own < other) atomicMin(reinterpret_cast<Signed*>(held), own);
    if (how == SlotReduction::signed_max && own > other) atomicMax(reinterpret_cast<Signed*>(held), own);
}

}  // namespace headrace::slab
