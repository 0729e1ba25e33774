// Defines the hash of keys in host memory. It is faster than that of tables on a GPU, which needs an inverse.
#pragma once
#include "core/hash.hpp"

namespace headrace {

inline u64 placing_hash(u64 key, u64 seed) { return fold_product(key ^ seed, golden_ratio); }

}  // namespace headrace
