// Reads the operations of a mixed batch, and writes their results.
#pragma once
#include "index/hash_map/gpu/batch_rows.cuh"
#include "index/hash_map/gpu/mixed_ref.cuh"
#include "index/hash_map/gpu/mixed_task.hpp"

namespace headrace::slab {

HR_FN Key key_of(const MixedTask& task, u64 row) { return static_cast<const Key*>(task.keys)[row]; }

HR_FN MixedOperation<L> operation_of(const MixedTask& task, u64 row) {
    Value value{0};
    if constexpr (L::has_values) value = static_cast<const Value*>(task.values)[row];
    return {static_cast<MapOperation>(task.operations[row]),
            static_cast<NumberKind>(task.kind),
            {key_of(task, row), value}};
}

HR_FN void write_result(const MixedTask& task, u64 row, const OptionalValue<Value>& held) {
    if (task.found != nullptr) task.found[row] = held.is_present;
    if constexpr (L::has_values) {
        if (task.held != nullptr) static_cast<Value*>(task.held)[row] = held.value;
    }
}

// Returns the state of a key that a search has found, or not.
HR_FN OptionalValue<Value> held_by(const SlabTable& table, const Match& match) {
    OptionalValue<Value> held{Value{0}, match.slot != no_slot};
    if constexpr (L::is_paired) {
        held.value = match.value;
    } else if constexpr (L::has_values) {
        if (held.is_present) held.value = *value_in<L>(slab_of_slot(table, match.slot), position_of(match.slot));
    }
    return held;
}

}  // namespace headrace::slab
