// Defines the fingerprints of Rabin and Karp's method (Ashkiani 2017, chapter 2), on both devices.
//
// A character is the code of a byte: `bits` of its bits from bit `shift` on, by which the letters of a text differ.
// The codes of "ACGT" are 0, 1, 3 and 2 with 2 bits from bit 1 on. Other bytes share codes with letters, so a window
// with the fingerprint of a pattern is compared byte by byte.
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// A matrix of 2 x 2 numbers below `matrix_prime`, of determinant 1: (a b; c d).
struct Matrix {
    u32 a;
    u32 b;
    u32 c;
    u32 d;
};

// The fingerprint of a window of a pattern, for one of the forms.
struct Fingerprint {
    u64 offset;     // of the window in the pattern
    u64 width;      // bytes of the window
    u64 value;      // without modulo the codes side by side, otherwise their value modulo `prime`
    u32 matrix[4];  // product of the matrices of the codes
    u32 bits;       // of a code, 1 to 8
    u32 shift;      // first bit of a byte that a code has
    u32 prime;      // below 2^(31 - bits), so that 32 bits suffice
    u32 lead;       // 2^(bits * (width - 1)) modulo `prime`
};

enum class FingerprintForm : u32 { bits32, bits64, modulo, matrix, hybrid };

constexpr u32 matrix_prime = 0x7FFFFFFF;

HR_FN u32 code_of(const Fingerprint& print, u8 byte) { return byte >> print.shift & ((1u << print.bits) - 1); }

// Bits that stay when the oldest code of a window leaves.
HR_FN u64 remaining_bits(const Fingerprint& print) { return (u64{1} << print.bits * (print.width - 1)) - 1; }

// Section 2.7.1: one AND, one shift and one addition for each character.
template <class Word>
HR_FN Word roll_bits(Word value, Word remaining, u32 bits, u32 code) {
    return static_cast<Word>(((value & remaining) << bits) + code);
}

HR_FN u32 append_modulo(const Fingerprint& print, u32 value, u32 code) {
    return ((value << print.bits) + code) % print.prime;
}

// Section 2.6.2: `oldest` leaves the window and `code` enters it.
HR_FN u32 roll_modulo(const Fingerprint& print, u32 value, u32 oldest, u32 code) {
    const u32 left = value + print.prime - print.lead * oldest % print.prime;
    return ((left << print.bits) + code) % print.prime;
}

HR_FN u32 add_modulo(u32 a, u32 b) {
    const u32 sum = a + b;
    return sum >= matrix_prime ? sum - matrix_prime : sum;
}

HR_FN u32 subtract_modulo(u32 a, u32 b) { return a >= b ? a - b : a + matrix_prime - b; }

HR_FN Matrix unit_matrix() { return {1, 0, 0, 1}; }

HR_FN bool is_equal(Matrix m, Matrix n) { return m.a == n.a && m.b == n.b && m.c == n.c && m.d == n.d; }

HR_FN Matrix multiply(Matrix m, Matrix n) {
    const auto sum = [](u32 a, u32 b, u32 c, u32 d) {
        return static_cast<u32>((static_cast<u64>(a) * b + static_cast<u64>(c) * d) % matrix_prime);
    };
    return {sum(m.a, n.a, m.b, n.c), sum(m.a, n.b, m.b, n.d), sum(m.c, n.a, m.d, n.c), sum(m.c, n.b, m.d, n.d)};
}

// Multiplies by the matrix of a code from the right, bit by bit from the highest: K(0) = (1 0; 1 1), K(1) = (1 1; 0 1).
HR_FN Matrix append_code(Matrix m, u32 bits, u32 code) {
    for (u32 bit = bits; bit-- > 0;) {
        if ((code >> bit & 1) == 0) {
            m.a = add_modulo(m.a, m.b);
            m.c = add_modulo(m.c, m.d);
        } else {
            m.b = add_modulo(m.a, m.b);
            m.d = add_modulo(m.c, m.d);
        }
    }
    return m;
}

// Multiplies by the inverse of the matrix of a code from the left.
HR_FN Matrix drop_code(Matrix m, u32 bits, u32 code) {
    for (u32 bit = bits; bit-- > 0;) {
        if ((code >> bit & 1) == 0) {
            m.c = subtract_modulo(m.c, m.a);
            m.d = subtract_modulo(m.d, m.b);
        } else {
            m.a = subtract_modulo(m.a, m.c);
            m.b = subtract_modulo(m.b, m.d);
        }
    }
    return m;
}

// Returns the product of the codes between two prefixes of a text: the inverse of the first, times the second. The
// determinant is 1, so the inverse needs no second scan (section 2.3.2 has one).
HR_FN Matrix between(Matrix before, Matrix upto) {
    return multiply({before.d, subtract_modulo(0, before.b), subtract_modulo(0, before.c), before.a}, upto);
}

HR_FN Matrix matrix_of(const Fingerprint& print) {
    return {print.matrix[0], print.matrix[1], print.matrix[2], print.matrix[3]};
}

HR_END_NAMESPACE
