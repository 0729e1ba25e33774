// Defines the operations of a mixed batch as functions of a key's value, which may be absent. Batches in order apply
// them one by one. No two are joined first, because a wrapped sum and a minimum have no short composition.
//
//     held   | insert 5 | erase  | replace 5 | first 5 | sum 5 | min 5 | max 5
//     absent | 5        | absent | absent    | 5       | 5     | 5     | 5
//     3      | 5        | absent | 5         | 3       | 8     | 3     | 5
#pragma once
#include "core/operators.hpp"

HR_BEGIN_NAMESPACE

// `find` and `count` have no effect; `count` and `erase_all` are operations of multimaps. Numbers are those of
// headrace.MapOperation.
enum class MapOperation : u8 { find, insert, erase, replace, first, sum, min, max, count, erase_all };

// Type of values for `sum`, `min` and `max`, as NumPy's letter.
enum class NumberKind : char { signed_integer = 'i', unsigned_integer = 'u', floating = 'f' };

template <class Value>
struct OptionalValue {
    Value value;  // 0 if absent
    bool is_present;
};

// Sum of two floats. A NaN keeps its bits on every device; of two NaN the given one.
template <class Float>
HR_FN Float ordered_float_sum(Float held, Float given) {
    if (given != given) return given;
    if (held != held) return held;
    const Float sum = held + given;
    using Bits = Either<sizeof(Float) == 8, u64, u32>;
    constexpr Bits no_number = sizeof(Float) == 8 ? static_cast<Bits>(0xFFF8000000000000ull) : Bits{0xFFC00000u};
    return sum == sum ? sum : bits_as<Float>(no_number);
}

// Reduces a held value by a given one; `operation` is sum, min or max.
template <class Item, class Value>
HR_FN Value reduced_as(MapOperation operation, Value held, Value given) {
    const Item a = bits_as<Item>(held), b = bits_as<Item>(given);
    if (operation == MapOperation::min) return bits_as<Value>(Min<Item>::join(a, b));
    if (operation == MapOperation::max) return bits_as<Value>(Max<Item>::join(a, b));
    if constexpr (is_integer<Item>) {
        return static_cast<Value>(held + given);
    } else {
        return bits_as<Value>(ordered_float_sum(a, b));
    }
}

template <class Value>
HR_FN Value reduced_value(MapOperation operation, NumberKind kind, Value held, Value given) {
    if (kind == NumberKind::floating) {
        return reduced_as<Either<sizeof(Value) == 8, double, float>>(operation, held, given);
    }
    if (kind == NumberKind::signed_integer) {
        return reduced_as<Either<sizeof(Value) == 8, i64, i32>>(operation, held, given);
    }
    return reduced_as<Value>(operation, held, given);
}

// Returns the value of a key after an operation. A set has values of fewer than 4 bytes.
template <class Value>
HR_FN OptionalValue<Value> operate(OptionalValue<Value> held, MapOperation operation, NumberKind kind, Value given) {
    if (operation == MapOperation::find) return held;
    if (operation == MapOperation::erase) return {Value{}, false};
    if (operation == MapOperation::insert) return {given, true};
    if (!held.is_present) {
        if (operation == MapOperation::replace) return held;
        return {given, true};
    }
    if (operation == MapOperation::replace) return {given, true};
    if (operation == MapOperation::first) return held;
    if constexpr (sizeof(Value) >= 4) held.value = reduced_value(operation, kind, held.value, given);
    return held;
}

HR_END_NAMESPACE
