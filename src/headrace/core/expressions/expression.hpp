// Runs an expression of the caller (expression.py) as a program for a stack machine: keys in, buckets out.
//
// key * 2654435761 >> 24, for example, is: key, number 2654435761, multiply, number 24, shift right. Each instruction
// processes a piece of keys that stays in L1.
#pragma once
#include <functional>
#include <memory>
#include <string_view>

#include "core/cpu/isa.hpp"
#include "core/expressions/expression_kernels.hpp"

namespace headrace {

class Expression {
public:
    // `program`: the number of the type of its values, then steps. `key`: type of the keys, as multisplit.hpp names it.
    static std::unique_ptr<const Expression> of(std::string_view program, std::string_view key, Isa isa);

    virtual ~Expression() = default;

    static constexpr usize piece = 2048;

    // Computes the buckets of at most `piece` keys. Each thread needs its own.
    using Find = std::function<void(const void* keys, u64 n, u32* buckets)>;
    virtual Find begin() const = 0;
};

}  // namespace headrace
