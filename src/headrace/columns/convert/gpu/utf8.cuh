// Validates UTF-8, 32 bytes per thread, as bit planes: bit p of plane k is bit k of one of the bytes. So one logical
// operation handles 32 bytes (Cameron 2008, "A case study in SIMD text processing with parallel bit streams"). The
// rules are those of columns/rules/utf8.hpp, which takes one character at a time.
//
// Separators, quotes and line ends are whole characters. So all fields of valid text are valid, and fields are checked
// one by one only in a tile with an error.
//
// Cost: about four operations per byte, one if all bytes are ASCII.
#pragma once

#include "gpu/block/block.cuh"
#include "gpu/block/byte_masks.cuh"

namespace headrace {

// Exchanges the bits of `high` that `mask` selects with those of `low` that are `distance` above them.
HR_FN void exchange_bits(u32& low, u32& high, u32 mask, u32 distance) {
    const u32 moved = (low & mask) | ((high & mask) << distance);
    high = ((low >> distance) & mask) | (high & ~mask);
    low = moved;
}

// Transposes eight words to eight planes. Byte k of word j is at bit 8 * k + j of each plane.
HR_FN void transpose_bits(u32 (&words)[8]) {
#pragma unroll
    for (u32 j = 0; j < 4; ++j) exchange_bits(words[j], words[j + 4], 0x0F0F0F0F, 4);
#pragma unroll
    for (u32 j = 0; j < 8; j += j % 2 == 0 ? 1 : 3) exchange_bits(words[j], words[j + 2], 0x33333333, 2);
#pragma unroll
    for (u32 j = 0; j < 8; j += 2) exchange_bits(words[j], words[j + 1], 0x55555555, 1);
}

// Moves each byte's bit to the next byte. `first`: the bit for the first byte.
HR_FN u32 moved_by_byte(u32 plane, u32 first) { return plane << 8 | (plane >> 23 & 0xFE) | first; }

// Returns non-zero if one of 32 bytes is invalid after the four bytes of `before`. A truncated character is detected
// with the bytes that follow it.
HR_FN u32 utf8_errors(u32 before, const u32 (&words)[8]) {
    u32 plane[8];
#pragma unroll
    for (u32 j = 0; j < 8; ++j) plane[j] = words[j];
    transpose_bits(plane);
    // Leads of characters of at least 2, 3 and 4 bytes.
    const u32 two = plane[7] & plane[6], three = two & plane[5], four = three & plane[4];
    const u32 zero_3_to_0 = ~(plane[3] | plane[2] | plane[1] | plane[0]);
    // The same of the bytes before: two of the last one, three of the last two, four of the last three.
    const u32 last = before >> 24, second = before >> 16 & 0xFF, third = before >> 8 & 0xFF;
    const u32 four_before = last >= 0xF0;
    const u32 three_before = last >= 0xE0 || second >= 0xF0;
    const u32 two_before = last >= 0xC0 || second >= 0xE0 || third >= 0xF0;
    const u32 after_four = moved_by_byte(four, four_before);
    const u32 must = moved_by_byte(two | moved_by_byte(three | after_four, three_before), two_before);
    u32 errors = must ^ (plane[7] & ~plane[6]);
    // E0 80..9F and F0 80..8F are overlong, ED A0..BF surrogates, F4 90..BF above the last character.
    const u32 lowest = three & zero_3_to_0;
    const u32 highest = (three & ~plane[4] & plane[3] & plane[2] & ~plane[1] & plane[0]) |
                        (four & ~plane[3] & plane[2] & ~plane[1] & ~plane[0]);
    const u32 high = plane[5] | (plane[4] & after_four);
    errors |= moved_by_byte(lowest, last == 0xE0 || last == 0xF0) & ~high;
    errors |= moved_by_byte(highest, last == 0xED || last == 0xF4) & high;
    // C0, C1 and F5 to FF never occur.
    errors |= two & ~(plane[5] | plane[4] | plane[3] | plane[2] | plane[1]);
    return errors | (four & (plane[3] | (plane[2] & (plane[1] | plane[0]))));
}

// Returns whether a thread's share of 32-byte chunks [first, end) is valid UTF-8, after the bytes before them. It takes
// chunks `first`, `first + step` and so on. `load(number)`: vector of 16 bytes; it may precede the first chunk.
template <class Load>
HR_FN bool is_valid_utf8(u32 first, u32 end, u32 step, Load load) {
    u32 errors = 0;
#pragma unroll 1
    for (u32 chunk = first; chunk < end; chunk += step) {
        const i32 number = static_cast<i32>(2 * chunk);
        const uint4 low = load(number), high = load(number + 1);
        const u32 before = load(number - 1).w;
        const u32 words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
        u32 bits = before;
#pragma unroll
        for (u32 j = 0; j < 8; ++j) bits |= words[j];
        if ((bits & tile::top_bits) != 0) errors |= utf8_errors(before, words);
    }
    return errors == 0;
}

}  // namespace headrace
