// Stores the strings and offsets of a lane's column. Lanes store to different places, so each store costs as much as
// one of 32 bytes. A lane therefore collects its consecutive bytes, and stores aligned words.
#pragma once

#include "columns/convert/gpu/general/tile_copy.cuh"

namespace headrace {

// Stores a lane's consecutive bytes by aligned words of 4 or 8.
template <typename Word>
struct LaneStream {
    static constexpr u32 word_bytes = sizeof(Word);

    u8* to;      // of the word, aligned
    Word held;   // its bytes
    u32 count;   // their number
    u32 others;  // how many of these belong to the column's strings before

    HR_MEMBER static LaneStream at(u8* to) {
        const u32 others = static_cast<u32>(reinterpret_cast<u64>(to) % word_bytes);
        return {to - others, 0, others, others};
    }
    template <typename Part>
    HR_MEMBER u32 store(u32 at) const {
        *reinterpret_cast<Part*>(tile::in_global(to + at)) = static_cast<Part>(held >> (8 * at));
        return at + static_cast<u32>(sizeof(Part));
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
    // Appends the lowest bytes of a word, 1 at least.
    HR_MEMBER void append(Word bytes, u32 size) {
        const Word own = bytes & (~Word{0} >> (8 * (word_bytes - size)));
        held |= own << (8 * count);
        count += size;
        if (count < word_bytes) return;
        const u32 more = count - word_bytes;
        count = word_bytes;
        if (others == 0) {
            store<Word>(0);
        } else {
            store_part();
        }
        *this = {to + word_bytes, more == 0 ? 0 : own >> (8 * (size - more)), more, 0};
    }
    // Appends staged bytes [at, end).
    HR_MEMBER void append(const ConvertMemory& memory, u32 at, u32 end) {
        for (; at < end; at += word_bytes) {
            u32 words[word_bytes / 4];
            load_from(reinterpret_cast<const u32*>(memory.text), at, words);
            Word all = words[0];
            if constexpr (word_bytes == 8) all |= Word{words[1]} << 32;
            append(all, min(end - at, word_bytes));
        }
    }
};

// Stores a lane's consecutive offsets, two of 4 bytes at a time.
struct OffsetStream {
    u8* to;  // of the next offset
    u32 held;
    bool has_held, is_long;

    // `row`: the first one, whose string ends where the first offset says.
    HR_MEMBER static OffsetStream at(const StringColumn& column, u64 row) {
        const u32 width = column.has_long_offsets ? 8 : 4;
        return {column.offsets + (row + 1) * width, 0, false, column.has_long_offsets};
    }
    HR_MEMBER void append(u64 value) {
        if (is_long) {
            *tile::in_global(reinterpret_cast<u64*>(to)) = value;
        } else if (has_held) {
            *tile::in_global(reinterpret_cast<u64*>(to - 4)) = value << 32 | held;
        } else if (reinterpret_cast<u64>(to) % 8 != 0) {
            *tile::in_global(reinterpret_cast<u32*>(to)) = static_cast<u32>(value);
        }
        has_held = !is_long && !has_held && reinterpret_cast<u64>(to) % 8 == 0;
        held = static_cast<u32>(value);
        to += is_long ? 8 : 4;
    }
    // Call after the last one.
    HR_MEMBER void end() const {
        if (has_held) *tile::in_global(reinterpret_cast<u32*>(to - 4)) = held;
    }
};

// Stores the validity of a lane's rows, a word of up to 32 at a time.
struct ValidityStream {
    u32* word;
    u32 here, present;

    HR_MEMBER static ValidityStream at(const StringColumn& column, u64 row) {
        return {column.validity + row / 32, 0, 0};
    }
    HR_MEMBER void append(u32 row, bool is_present, BitsBefore before) {
        here |= 1u << (row % 32);
        present |= is_present ? 1u << (row % 32) : 0;
        if (row % 32 == 31) end(before);
    }
    // Call after the last one.
    HR_MEMBER void end(BitsBefore before) {
        if (here != 0) store_bits(word, here, present, before);
        *this = {word + 1, 0, 0};
    }
};

}  // namespace headrace
