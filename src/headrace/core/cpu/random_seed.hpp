// Draws seeds for hash tables whose keys come from outside, so that colliding keys cannot be prepared. Each call draws
// anew: a seed of the process would be known to every process that is forked from it.
#pragma once

#include <random>

#include "core/cpu/portable.hpp"

namespace headrace {

inline u64 random_seed() {
    std::random_device device;
    return u64{device()} << 32 | device();
}

}  // namespace headrace
