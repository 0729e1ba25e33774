// Stores the strings and offsets of a lane's column. Lanes store to different places, so each store costs as much as
// one of 32 bytes. A lane therefore collects its consecutive bytes, and stores aligned words of eight.
#pragma once

#include "columns/convert/gpu/general/tile_copy.cuh"

namespace headrace {

// Stores a lane's consecutive bytes by aligned words of eight.
struct LaneStream {
    u8* to;      // of the word, aligned
    u64 held;    // its bytes
    u32 count;   // their number
    u32 others;  // how many of these belong to the column's strings before

    HR_MEMBER static LaneStream at(u8* to) {
        const u32 others = static_cast<u32>(reinterpret_cast<u64>(to) & 7);
        return {to - others, 0, others, others};
    }
    template <typename Word>
    HR_MEMBER u32 store(u32 at) const {
        *reinterpret_cast<Word*>(tile::in_global(to + at)) = static_cast<Word>(held >> (8 * at));
        return at + sizeof(Word);
    }
    // Stores bytes [others, count) by the largest words that are aligned.
    HR_MEMBER void store_part() const {
        u32 at = others;
        if (at % 2 == 1 && at < count) at = store<u8>(at);
        if (at % 4 == 2 && at + 2 <= count) at = store<u16>(at);
        if (at % 4 == 0 && at + 4 <= count) at = store<u32>(at);
        if (at % 2 == 0 && at + 2 <= count) at = store<u16>(at);
        if (at < count) store<u8>(at);
    }
    // Appends the lowest 1 to 8 bytes of a word.
    HR_MEMBER void append(u64 bytes, u32 size) {
        const u64 own = bytes & (~u64{0} >> (64 - 8 * size));
        held |= own << (8 * count);
        count += size;
        if (count < 8) return;
        const u32 more = count - 8;
        count = 8;
        if (others == 0) {
            store<u64>(0);
        } else {
            store_part();
        }
        *this = {to + 8, more == 0 ? 0 : own >> (8 * (size - more)), more, 0};
    }
    // Appends staged bytes [at, end).
    HR_MEMBER void append(const ConvertMemory& memory, u32 at, u32 end) {
        for (; at < end; at += 8) {
            u32 words[2];
            load_from(reinterpret_cast<const u32*>(memory.text), at, words);
            append(u64{words[1]} << 32 | words[0], min(end - at, 8u));
        }
    }
};

// Stores a lane's consecutive offsets, two of 4 bytes at a time.
struct OffsetStream {
    u32 held;
    bool has_held;

    HR_MEMBER void append(const StringColumn& column, u64 index, u64 value) {
        u32* const to = tile::in_global(reinterpret_cast<u32*>(column.offsets) + index);
        if (column.has_long_offsets) {
            store_offset(column.offsets, true, index, value);
        } else if (has_held) {
            *reinterpret_cast<u64*>(to - 1) = value << 32 | held;
            has_held = false;
        } else if (reinterpret_cast<u64>(to) % 8 == 0) {
            *this = {static_cast<u32>(value), true};
        } else {
            *to = static_cast<u32>(value);
        }
    }
    // Call after the last one, whose index is `index`.
    HR_MEMBER void end(const StringColumn& column, u64 index) const {
        if (has_held) *tile::in_global(reinterpret_cast<u32*>(column.offsets) + index) = held;
    }
};

}  // namespace headrace
