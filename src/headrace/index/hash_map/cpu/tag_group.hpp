// Groups of tags: a tag is 8 bits of the hash of a slot's key. One comparison of 16 bytes finds the slots of a group
// whose keys may be equal to a key. A group counts the keys that found it full on their way to a later one.
// Source: F14 (Bronson and Shi, "Open-sourcing F14 for faster, more memory-efficient hash tables", 2019).
//
//     tags 3 7 7 0 ..., passed 0: a search for tag 7 compares the keys of slots 1 and 2, and ends in this group.
#pragma once
#include <cstring>

#include "core/cpu/portable.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace headrace {

// Returns bit i for each of 8 bytes that equals `tag`, bit 0 for the lowest address.
inline u32 equal_bytes(const u8* bytes, u8 tag) {
    constexpr u64 low = 0x7F7F7F7F7F7F7F7F;
    const u64 differences = load_word(bytes) ^ tag * 0x0101010101010101ull;
    const u64 equal = ~(((differences & low) + low) | differences | low);  // 0x80 for each byte without a difference
    return static_cast<u32>((equal >> 7) * 0x0102040810204080ull >> 56);
}

struct alignas(16) TagGroup {
    static constexpr u32 slot_count = 15;
    static constexpr u32 empty = 0;
    static constexpr u8 max_passed = 255;  // a count that has reached it stays

    // A set of slots: bit i * slot_bits for slot i. NEON has no instruction that collects one bit of each byte. A shift
    // that narrows 16 bits to 8 keeps four of each byte.
#if defined(__ARM_NEON)
    using Slots = u64;
    static constexpr u32 slot_bits = 4;
#else
    using Slots = u32;
    static constexpr u32 slot_bits = 1;
#endif
    static constexpr Slots past_slots = Slots{1} << slot_count * slot_bits;

    u8 tags[slot_count];
    u8 passed;

    struct alignas(16) Tag {
        u8 bytes[16];  // equal ones
    };
    // Returns the tag for 8 bits of a hash: 0 marks an empty slot. By a table, because GCC adds a comparison by a
    // partial register, which made each search wait for the one before it.
    static const Tag& tag_of(u8 bits) { return tag_of_bits.tags[bits]; }

    // Returns the first slot of a set that is not empty; slot_count for past_slots.
    static u32 first(Slots slots) { return static_cast<u32>(trailing_zeros(slots)) / slot_bits; }

    // Returns the slots whose tag is equal.
    Slots equal(const Tag& tag) const {
#if defined(__SSE2__)
        const __m128i wanted = _mm_load_si128(reinterpret_cast<const __m128i*>(tag.bytes));
        const __m128i found = _mm_load_si128(reinterpret_cast<const __m128i*>(tags));
        return static_cast<u32>(_mm_movemask_epi8(_mm_cmpeq_epi8(found, wanted))) & all_slots;
#elif defined(__ARM_NEON)
        const uint16x8_t found = vreinterpretq_u16_u8(vceqq_u8(vld1q_u8(tags), vld1q_u8(tag.bytes)));
        return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(found, 4)), 0) & all_slots;
#else
        return (equal_bytes(tags, tag.bytes[0]) | equal_bytes(tags + 8, tag.bytes[0]) << 8) & all_slots;
#endif
    }
    Slots unused() const { return equal(Tag{}); }
    Slots used() const { return unused() ^ all_slots; }
    void count_passed() { passed = static_cast<u8>(passed + (passed != max_passed)); }
    void discount_passed() { passed = static_cast<u8>(passed - (passed != max_passed)); }

private:
    struct TagTable {
        Tag tags[256];
        constexpr TagTable() : tags{} {
            for (u32 bits = 0; bits < 256; ++bits) {
                for (u8& byte : tags[bits].bytes) byte = static_cast<u8>(bits == 0 ? 1 : bits);
            }
        }
    };
    static const TagTable tag_of_bits;
    static constexpr Slots all_slots = (past_slots - 1) / ((Slots{1} << slot_bits) - 1);
};
static_assert(sizeof(TagGroup) == 16);
inline constexpr TagGroup::TagTable TagGroup::tag_of_bits{};

}  // namespace headrace
