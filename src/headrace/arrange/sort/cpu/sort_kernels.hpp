// Interface of the kernels for runs of keys and codes. Tables are indexed by the width of a key: 1, 2, 4 and 8 bytes.
#pragma once

#include "core/cpu/isa.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

// Facts about codes from one look at their keys.
struct KeysSeen {
    u64 any;  // OR and AND of all codes
    u64 all;
    u64 first;
    u64 last;
    bool rises;  // no code is below the preceding one
    bool falls;  // no code is above the preceding one
};

// A digit of codes: (code >> shift) & mask.
struct KeyDigit {
    u32 shift;
    u32 mask;
};

// Outputs of a look.
struct KeyLook {
    bool by_equal = false;  // whether codes are equal codes
    void* codes = nullptr;  // output for codes, which may be the memory of the keys
    u64* counts = nullptr;  // counters of digits
    KeyDigit digit = {};
};

// Packs a code and the index of its key in one word: ((code & span) >> drop) << index_bits | index.
struct KeyPacking {
    u64 span;
    u32 drop;
    u32 index_bits;
};

// State of quicksort for a piece: a lower bound `least`, if known, and the number of `steps` left whose pivot comes
// from a sample. After them the pivot is the middle of all values, which takes at most one step a bit.
struct QuickPiece {
    u64 count;
    u64 least;
    bool has_least;
    u32 steps;
};

// Bytes of a line in which `scatter` collects codes of one digit, aligned to lines.
constexpr u64 line_bytes = 64;

constexpr u64 min_halved = 4096;

struct SortKernels {
    bool sorts_in_place;
    // Inspects n > 0 keys by their codes.
    void (*look[4])(const void* keys, u64 n, const void* rule, const KeyLook& how, KeysSeen* seen);
    void (*decode[4])(const void* codes, u64 n, const void* rule, void* keys);
    // Packs equal codes with the indices of their keys, from `first` on.
    void (*pack[4])(const void* keys, u64 n, const void* rule, KeyPacking how, u64 first, u64* packed);
    // Writes indices of keys, from `first` on, to places[digit] on in `order`, by digits of equal codes.
    void (*number[4])(const void* keys, u64 n, const void* rule, KeyDigit digit, u64* places, u64 first, u64* order);
    // Writes codes of keys to places[digit] on in `to`. They are collected in `lines` and written past the cache.
    void (*scatter[4])(const void* keys, u64 n, const void* rule, KeyDigit digit, u64* places, void* lines, void* to);
    // Sorts codes at `from` to `to`: the same memory, or separate memory (then `from` is overwritten). In place it
    // needs spare memory of their size, unless it `sorts_in_place`. The lowest `ordered` bits of codes ascend with
    // their positions, so only the others are sorted. There is none for one byte.
    void (*sort[4])(void* from, void* to, void* spare, u64 n, int ordered);
    // Runs a step of quicksort in place, if it `sorts_in_place`, on a piece of at least `min_halved` items: `piece`
    // becomes the upper part, `lower` the lower part. Returns whether the lower part is in order, since all its items
    // are equal.
    bool (*halve[4])(void* items, QuickPiece* piece, QuickPiece* lower);
    // Counts, for each digit, the equal codes that agree with `prefix` in the bits of `prefix_mask`.
    void (*count_among[4])(const void* keys, u64 n, const void* rule, u64 prefix, u64 prefix_mask, KeyDigit digit,
                           u64* counts);
    // Writes first + i for each key i whose equal code is below `bound`, and for the first `equals` that are equal to
    // it. Returns their number. Without `found`, nothing is written.
    u64 (*collect[4])(const void* keys, u64 n, const void* rule, u64 bound, u64 equals, u64 first, u64* found);
};

}  // namespace headrace
