// What a sort does to runs of keys and codes: the kernels' interface. Tables are by width of a key: 1, 2, 4 and 8
// bytes.
#pragma once

#include "core/cpu/isa.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

// What one look at keys tells of their codes.
struct KeysSeen {
    u64 any;  // all codes together by OR and AND
    u64 all;
    u64 first;
    u64 last;
    bool rises;  // no code is below the one before
    bool falls;  // no code is above the one before
};

// A digit of codes: (code >> shift) & mask.
struct KeyDigit {
    u32 shift;
    u32 mask;
};

// What a look does besides.
struct KeyLook {
    bool by_equal = false;  // whether codes are equal codes
    void* codes = nullptr;  // where they are put, which may be where keys are
    u64* counts = nullptr;  // where digits are counted
    KeyDigit digit = {};
};

// A code and the number of its key in one word: ((code & span) >> drop) << index_bits | number.
struct KeyPacking {
    u64 span;
    u32 drop;
    u32 index_bits;
};

// What quicksort knows of a piece: no item is below `least`, if it has one, and so many more `steps` take their pivot
// from a sample; then it is the middle of all values, which takes one step for each bit at most.
struct QuickPiece {
    u64 count;
    u64 least;
    bool has_least;
    u32 steps;
};

// Bytes that `scatter` collects codes in: a line for each digit, on a line's boundary.
constexpr u64 line_bytes = 64;

constexpr u64 least_halved = 4096;

struct SortKernels {
    bool sorts_in_place;
    // Looks at n > 0 keys by their codes.
    void (*look[4])(const void* keys, u64 n, const void* rule, const KeyLook& how, KeysSeen* seen);
    void (*decode[4])(const void* codes, u64 n, const void* rule, void* keys);
    // Equal codes with their keys' numbers from `first` on.
    void (*pack[4])(const void* keys, u64 n, const void* rule, KeyPacking how, u64 first, u64* packed);
    // Numbers of keys, from `first` on, to places[digit] on in `order`, by digits of equal codes.
    void (*number[4])(const void* keys, u64 n, const void* rule, KeyDigit digit, u64* places, u64 first, u64* order);
    // Codes of keys to places[digit] on in `to`, collected in `lines` and written past the cache.
    void (*scatter[4])(const void* keys, u64 n, const void* rule, KeyDigit digit, u64* places, void* lines, void* to);
    // Codes at `from` in order to `to`, the same place or one apart (then what is at `from` is lost). In place it needs
    // spare memory of their size, unless it `sorts_in_place`. Codes whose lowest `ordered` bits rise with their places
    // need the others sorted only. None of one byte.
    void (*sort[4])(void* from, void* to, void* spare, u64 n, int ordered);
    // A step of quicksort in place, where it `sorts_in_place`, of pieces of `least_halved` items at least: `piece`
    // becomes what is behind, `lower` what is in front of it. Says whether what is in front is in order, since all are
    // equal.
    bool (*halve[4])(void* items, QuickPiece* piece, QuickPiece* lower);
    // How many equal codes that agree with `prefix` in the bits of `prefix_mask` have each digit.
    void (*count_among[4])(const void* keys, u64 n, const void* rule, u64 prefix, u64 prefix_mask, KeyDigit digit,
                           u64* counts);
    // Writes first + i for each key i whose equal code is below `bound`, and for the first `equals` that are equal;
    // returns how many. Without `found` nothing is written.
    u64 (*collect[4])(const void* keys, u64 n, const void* rule, u64 bound, u64 equals, u64 first, u64* found);
};

}  // namespace headrace
