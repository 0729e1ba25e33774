// Defines the hash of the keys of a map on a GPU, and its inverse. The seed changes which keys share a bucket.
#pragma once
#include "core/hash.hpp"

HR_BEGIN_NAMESPACE

HR_FN u32 seeded_hash(u32 key, u64 seed) { return mix_bits(key ^ static_cast<u32>(seed ^ seed >> 32)); }
HR_FN u64 seeded_hash(u64 key, u64 seed) { return mix_bits(key ^ seed); }

// Returns the key that has a hash.
HR_FN u32 hashed_key(u32 hash, u64 seed) {
    hash = (hash ^ hash >> 16) * 0x7ED1B41Du;  // the inverses of the factors of mix_bits modulo 2^32
    hash = (hash ^ hash >> 13 ^ hash >> 26) * 0xA5CB9243u;
    return hash ^ hash >> 16 ^ static_cast<u32>(seed ^ seed >> 32);
}
HR_FN u64 hashed_key(u64 hash, u64 seed) {
    hash = (hash ^ hash >> 33) * 0x9CB4B2F8129337DBull;
    hash = (hash ^ hash >> 33) * 0x4F74430C22A54005ull;
    return hash ^ hash >> 33 ^ seed;
}

HR_END_NAMESPACE
