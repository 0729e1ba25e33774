// The slots of a few short texts, for columns of categories.
#pragma once

#include <array>
#include <cstring>
#include <string_view>

#include "core/cpu/portable.hpp"

namespace headrace {

// A cache of texts of at most 32 bytes, each at one place by its hash. A text of 2 bytes and one of 20 take the same
// instructions: 32 bytes are loaded, and a mask clears those after the text's end. They have to be readable. Texts with
// equal hashes displace each other, so a text that is not found may still have a slot.
class FewTexts {
public:
    // Write the slots of texts up to the first one that is not in the cache, and return their number. `bounds`: where
    // the texts begin in `bytes`, and where the last one ends.
    template <class Offset>
    usize find(const u8* bytes, const Offset* bounds, usize count, u32* slots) const {
        for (usize i = 0; i < count; ++i) {
            const usize size = static_cast<usize>(bounds[i + 1] - bounds[i]);
            if (size > MAX_BYTES) return i;
            const Bytes text = bytes_of(bytes + bounds[i], size);
            const Entry& entry = entries_[hash(text, size)];
            if (!is_same(text, entry.text) || entry.size != size) return i;
            slots[i] = entry.slot;
        }
        return count;
    }

    void add(std::string_view text, u32 slot) {
        if (text.size() > MAX_BYTES) return;
        const Bytes bytes = bytes_of(reinterpret_cast<const u8*>(text.data()), text.size());
        entries_[hash(bytes, text.size())] = {bytes, static_cast<u32>(text.size()), slot};
    }

private:
    static constexpr usize MAX_BYTES = 32, BITS = 9;
    using Half = u64 __attribute__((vector_size(16)));
    struct Bytes {
        Half low, high;
    };
    struct alignas(64) Entry {
        Bytes text{};
        u32 size = ~u32{0};
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

    std::array<Entry, usize{1} << BITS> entries_;
};

}  // namespace headrace
