// Defines the hash of the keys of a map, on both devices. The seed changes which keys share a bucket.
#pragma once
#include "core/hash.hpp"

HR_BEGIN_NAMESPACE

HR_FN u32 seeded_hash(u32 key, u64 seed) { return mix_bits(key ^ static_cast<u32>(seed ^ seed >> 32)); }
HR_FN u64 seeded_hash(u64 key, u64 seed) { return mix_bits(key ^ seed); }

HR_END_NAMESPACE
