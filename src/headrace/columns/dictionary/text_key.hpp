// Hashes texts for tables of this process. A seed keeps outsiders from preparing texts that collide.
#pragma once

#include <string_view>

#include "columns/buffers/text_views.hpp"
#include "core/hash.hpp"

namespace headrace {

// `low` and `high`: a text of at most 16 bytes, or the hash of a longer one and 0.
struct TextKey {
    u64 low, high, hash;

    static bool has_all(usize size) { return size <= TextStart::BYTES; }

    // 16 bytes from any text on are readable.
    static TextKey of(std::string_view text, u64 seed) {
        const auto* const bytes = reinterpret_cast<const u8*>(text.data());
        if (!has_all(text.size())) {
            const u64 hash = hash_long(bytes, text.size(), seed);
            return {hash, 0, hash};
        }
        const TextStart start(bytes, text.size());
        const u64 mixed = fold_product(start.low ^ seed, start.high ^ text.size() ^ golden_ratio);
        return {start.low, start.high, fold_product(mixed ^ start.low, seed * golden_ratio | 1)};
    }

private:
    // A call, so that the code for shorter texts keeps its values in registers.
    [[gnu::noinline]] static u64 hash_long(const u8* text, usize size, u64 seed) { return hash_text(text, size, seed); }
};

}  // namespace headrace
