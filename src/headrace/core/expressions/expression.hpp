// A bucket function that the caller built of operators (expression.py), as a program for a stack: keys in, buckets out.
//
// key * 2654435761 >> 24, for example, is: key, number 2654435761, multiply, number 24, shift right. Each instruction
// runs over a piece of keys that stays in the first cache.
#pragma once
#include <functional>
#include <memory>
#include <string_view>

#include "core/expressions/expression_kernels.hpp"
#include "core/cpu/isa.hpp"

namespace headrace {

class Expression {
public:
    // `program`: the number of the type of its values, and steps. `key`: the type of keys as multisplit.hpp names it.
    static std::unique_ptr<const Expression> of(std::string_view program, std::string_view key, Isa isa);

    virtual ~Expression() = default;

    static constexpr usize piece = 2048;

    // Finds the buckets of `piece` keys at most. One for each thread.
    using Find = std::function<void(const void* keys, u64 n, u32* buckets)>;
    virtual Find begin() const = 0;
};

}  // namespace headrace
