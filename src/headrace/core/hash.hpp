// Defines the hash functions that CPU and GPU share, and the comparison of byte strings.
//
// Values of `mix_bits` and `hash_bytes` are visible to users, as hash buckets and as row hashes: they must not change.
// Values of `hash_text` depend on a seed and never leave the process, so they may change.
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

constexpr u64 golden_ratio = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio: a word without visible structure

// Finalisers of MurmurHash3 (Appleby 2011): each input bit flips half of the output bits.
HR_FN u32 mix_bits(u32 x) {
    x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
    x = (x ^ (x >> 13)) * 0xC2B2AE35u;
    return x ^ (x >> 16);
}
HR_FN u64 mix_bits(u64 x) {
    x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCDull;
    x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53ull;
    return x ^ (x >> 33);
}

// Combines a hash with the next word of its input; the order of the words matters.
HR_FN u64 combine_hash(u64 hash, u64 word) { return mix_bits(hash * 0xD6E8FEB86659FD93ull + word); }

// Combines two words by xor of the halves of their 128-bit product.
HR_FN u64 fold_product(u64 a, u64 b) {
    const Product product = multiply_wide(a, b);
    return product.low ^ product.high;
}

// Hash of a byte string, the same in every process and on every machine.
HR_FN u64 hash_bytes(const u8* bytes, u64 size) {
    u64 hash = size;
    for (; size >= 8; size -= 8, bytes += 8) hash = combine_hash(hash, load_word(bytes));
    return combine_hash(hash, load_bytes(bytes, size));
}

// Hash of a text for tables inside one process. With a random seed, an outsider cannot prepare texts that collide. Two
// words a product halve the chain of products (wyhash: Wang Yi 2019).
HR_HOT u64 hash_text(const u8* text, u64 size, u64 seed) {
    const u64 secret = golden_ratio ^ seed;
    u64 hash = seed ^ (size * golden_ratio), low, high;
    for (u64 at = 0; at + 16 < size; at += 16) {
        hash = fold_product(load_word(text + at) ^ secret, load_word(text + at + 8) ^ hash);
    }
    if (size >= 8) {  // the last 16 bytes, or all; some are read twice
        low = load_word(text + (size < 16 ? 0 : size - 16));
        high = load_word(text + size - 8);
    } else {
        low = load_bytes(text, size);
        high = 0;
    }
    return fold_product(fold_product(low ^ secret, high ^ hash), seed * golden_ratio | 1);
}

// Returns whether two byte strings of one size are equal, after their hashes were.
HR_FN bool are_bytes_equal(const u8* a, const u8* b, u64 size) {
    u64 at = 0;
    for (; at + 8 <= size; at += 8) {
        if (load_word(a + at) != load_word(b + at)) return false;
    }
    for (; at < size; ++at) {
        if (a[at] != b[at]) return false;
    }
    return true;
}

HR_END_NAMESPACE
