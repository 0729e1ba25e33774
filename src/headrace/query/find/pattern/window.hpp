// Defines the fingerprints of windows of text by which many patterns are found at once, and the table of the patterns'
// windows. CPU and GPU compute the same ones.
//
// A window has 1 to 16 bytes: one, two or four words, of which the last is masked if the window ends in it. Its
// fingerprint is a polynomial of its words modulo 2^32 (Karp and Rabin 1987). The upper bits of a product are its slot
// in a table of bits. If that bit is set, the slot's upper bits name the bucket of entries to compare. A table may have
// any number of bits, so that it fits the memory of the device that looks windows up.
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

constexpr u32 print_factor = 0x9E3779B1;

HR_FN u32 next_print(u32 print, u32 word) { return print * print_factor + word; }
HR_FN u32 slot_of(u32 print, u32 slot_bits) { return print * 0x85EBCA6Bu >> (32 - slot_bits); }

// A window of a pattern.
struct WindowEntry {
    u32 print;
    u32 pattern;  // index of the pattern
    u32 offset;   // of the window from the pattern's first byte
    u32 unused;
};

// A pattern's bytes, from `begin` on, at a multiple of 4 bytes and padded to one by zeros.
struct PatternBytes {
    u64 begin;
    u64 length;
};

// All occurrences of a pattern have a window at a position that is a multiple of `stride`.
struct PatternTable {
    const u32* bits;     // 2^slot_bits bits
    const u32* buckets;  // begin of each of 2^bucket_bits buckets in `entries`, and the number of entries
    const WindowEntry* entries;
    const PatternBytes* patterns;
    const u8* bytes;  // folded if case is ignored
    u32 slot_bits, bucket_bits;
    u32 width, stride;  // bytes of a window, and 1, 2 or 4
    u32 mask;           // of the last word of a window
    u32 letter_bits;    // set in each word of a window before its fingerprint is computed
    u32 max_offset;
    u32 ignore_case;
};

HR_END_NAMESPACE
