// Defines how an upsert reduces the value of a key that is present.
#pragma once
#include "index/hash_map/cpu/hash_map_host.hpp"

namespace headrace {

// A reduction returns the value of a key after an operation. `without_branch` calls work(f) with a function f that has
// the same results, for loops over many keys.
template <class Value>
struct TakeLast {
    Value operator()(Value, Value next) const { return next; }
    template <class Work>
    void without_branch(const Work& work) const {
        work(*this);
    }
};

template <class Value>
struct WrappedSum {
    Value operator()(Value held, Value next) const { return static_cast<Value>(held + next); }
    template <class Work>
    void without_branch(const Work& work) const {
        work(*this);
    }
};

// Any reduction but the last value, chosen by each call.
template <class Value>
struct Reduction {
    MapOperation operation;  // first, sum, min or max
    NumberKind kind;

    Value operator()(Value held, Value next) const {
        return operation == MapOperation::first ? held : reduced_value(operation, kind, held, next);
    }
    template <class Work>
    void without_branch(const Work& work) const {
        constexpr bool is_wide = sizeof(Value) == 8;
        if (operation == MapOperation::first) return work([](Value held, Value) { return held; });
        if (kind == NumberKind::floating) return by_type<Either<is_wide, double, float>>(work);
        if (kind == NumberKind::signed_integer) return by_type<Either<is_wide, i64, i32>>(work);
        by_type<Value>(work);
    }

private:
    template <class Item, class Work>
    void by_type(const Work& work) const {
        if (operation == MapOperation::sum) return work(Typed<Item, MapOperation::sum>{});
        if (operation == MapOperation::min) return work(Typed<Item, MapOperation::min>{});
        work(Typed<Item, MapOperation::max>{});
    }
    template <class Item, MapOperation typed>
    struct Typed {
        Value operator()(Value held, Value next) const { return reduced_as<Item>(typed, held, next); }
    };
};

template <class Value>
Reduction<Value> reduction_of(const Upsert& how) {
    constexpr MapOperation operations[] = {MapOperation::insert, MapOperation::first, MapOperation::sum,
                                           MapOperation::min, MapOperation::max};
    return {operations[static_cast<u32>(how.reduce)], how.kind};
}

}  // namespace headrace
