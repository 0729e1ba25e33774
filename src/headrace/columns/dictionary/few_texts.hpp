// The slots of a few short texts, for columns of categories.
#pragma once

#include <array>
#include <cstring>
#include <string_view>

#include "core/cpu/portable.hpp"

namespace headrace {

// A cache of texts of at most 32 bytes, each at one place by its hash. A text of 2 bytes and one of 20 take the same
// instructions: 32 bytes are loaded, and a mask clears those after the text's end. They have to be readable. Texts with
// equal hashes displace each other, so a text that is not found may still have a slot. Several columns share a cache.
class FewTexts {
public:
    // Let the following calls be about a column, of which none has 2^26 or more.
    void begin(usize column) { column_ = static_cast<u32>(column) << SIZE_BITS; }

    // Return whether the cache has a text, and write its slot.
    bool find(const u8* text, usize size, u32& slot) const {
        if (size > MAX_BYTES) return false;
        const Bytes bytes = bytes_of(text, size);
        const Entry& entry = entries_[hash(bytes, size)];
        slot = entry.slot;
        return is_same(bytes, entry.text) && entry.key == (column_ | size);
    }

    [[gnu::noinline]] void add(std::string_view text, u32 slot) {
        if (text.size() > MAX_BYTES) return;
        const Bytes bytes = bytes_of(reinterpret_cast<const u8*>(text.data()), text.size());
        entries_[hash(bytes, text.size())] = {bytes, column_ | static_cast<u32>(text.size()), slot};
    }

private:
    static constexpr usize MAX_BYTES = 32, BITS = 9, SIZE_BITS = 6;
    using Half = u64 __attribute__((vector_size(16)));
    struct Bytes {
        Half low, high;
    };
    struct alignas(64) Entry {
        Bytes text{};
        u32 key = ~u32{0};  // column and size
        u32 slot = 0;
    };

    static Half half_at(const u8* bytes) {
        Half half;
        std::memcpy(&half, bytes, sizeof(half));
        return half;
    }
    static Bytes bytes_of(const u8* text, usize size) {
        const u8* const mask = FIRST_BYTES.data() + MAX_BYTES - size;
        return {half_at(text) & half_at(mask), half_at(text + 16) & half_at(mask + 16)};
    }
    static usize hash(const Bytes& text, usize size) {
        const Half both = text.low ^ text.high;
        return ((both[0] ^ (both[1] << 7 | both[1] >> 57) ^ size) * 0x9E3779B97F4A7C15) >> (64 - BITS);
    }
    static bool is_same(const Bytes& a, const Bytes& b) {
        const Half differ = (a.low ^ b.low) | (a.high ^ b.high);
        return (differ[0] | differ[1]) == 0;
    }

    static constexpr std::array<u8, 2 * MAX_BYTES> FIRST_BYTES = [] {
        std::array<u8, 2 * MAX_BYTES> bytes{};
        for (usize i = 0; i < MAX_BYTES; ++i) bytes[i] = 0xFF;
        return bytes;
    }();

    u32 column_ = 0;
    std::array<Entry, usize{1} << BITS> entries_;
};

}  // namespace headrace
