// Draws seeds for hash tables whose keys come from outside, so that colliding keys cannot be prepared. Each call draws
// anew: a seed of the process would be known to every process that is forked from it. The system call takes less than a
// microsecond; `random_device` reads a slow instruction of the processor.
#pragma once

#include <sys/random.h>

#include <random>

#include "core/cpu/portable.hpp"

namespace headrace {

inline u64 random_seed() {
    u64 seed = 0;
    if (getrandom(&seed, sizeof seed, 0) == sizeof seed) return seed;
    std::random_device device;
    return u64{device()} << 32 | device();
}

}  // namespace headrace
