// Converts columns of numbers, bools and nulls. A family of types has a shape, and a function that converts a column by
// it: `convert_` and the family's name in core/types.def.
//
// A shape has `fast`, a fast form that may decline; `rule`, the reference, which then decides; and with AVX-512
// `eight`, which reads eight rows and returns those that it declines.
#pragma once

#include "columns/convert/cpu/convert_values.hpp"
#include "columns/convert/cpu/fast_decimal.hpp"
#include "columns/convert/cpu/fast_number.hpp"
#include "columns/convert/cpu/number_lanes.hpp"
#include "columns/rules/numbers/parse_real.hpp"

HR_BEGIN_NAMESPACE

// `canonical`: no leading zeros, as inference requires.
template <class T>
struct IntShape {
    bool canonical;
    [[gnu::always_inline]] bool fast(const u8* p, usize n, T& out, u8 = '.') const {
        return fast_int<T>({p, n, canonical}, out);
    }
    Parse rule(const u8* p, usize n, T& out) const { return parse_int<T>(p, n, out); }
#if defined(HR_ISA_AVX512)
    [[gnu::always_inline]] __mmask8 eight(const TileRows& rows, const LaneFields& lanes, T* values,
                                          u8 point = '.') const {
        const LaneDecimals found = decimals_of(rows, lanes, tails_of(rows, lanes), canonical, point);
        return found.declined | found.has_point | store_ints(found, values);
    }
#endif
};

template <class T>
struct FloatShape {
    bool canonical;
    [[gnu::always_inline]] bool fast(const u8* p, usize n, T& out, u8 point = '.') const {
        return fast_float<T>({p, n, canonical, point}, out);
    }
    bool general(const u8* p, usize n, T& out) const { return long_float<T>(p, n, canonical, out); }
    // Reads nan, inf and -inf, which are of kind float64, before the kind is searched.
    bool word(const u8* p, usize n, T& out) const {
        const usize letters = n - (*p == '-' ? 1 : 0);
        return letters == 3 && *p != '+' && parse_float_word(p, n, out) == Parse::ok;
    }
    Parse rule(const u8* p, usize n, T& out) const { return parse_real<T>(p, n, out); }
#if defined(HR_ISA_AVX512)
    [[gnu::always_inline]] __mmask8 eight(const TileRows& rows, LaneFields lanes, T* values, u8 point = '.') const {
        LaneTails tails = tails_of(rows, lanes);
        const LaneExponents exponents = cut_exponents(rows, lanes, tails);
        const LaneDecimals found = decimals_of(rows, lanes, tails, canonical, point);
        return found.declined | exponents.wrong | store_floats(found, exponents, canonical, values);
    }
#endif
};

// Reads a column that is inferred to be of hexadecimal numbers; a decimal number is invalid there.
template <class T>
struct HexShape {
    bool fast(const u8* p, usize n, T& out) const {
        u64 value;
        constexpr u64 LARGEST = static_cast<u64>(static_cast<T>(-1) < 0 ? ~u64{0} >> 1 : ~u64{0});
        if (!is_hex(p, n) || !fast_hex_digits(p + 2, n - 2, value) || value > LARGEST) return false;
        out = static_cast<T>(value);
        return true;
    }
    Parse rule(const u8* p, usize n, T& out) const { return parse_int<T>(p, n, out); }
};

struct DecimalShape {
    DecimalFormat format;
    [[gnu::always_inline]] bool fast(const u8* p, usize n, Int128& out, u8 point = '.') const {
        return fast_decimal({p, n, false, point}, format, out);
    }
    Parse rule(const u8* p, usize n, Int128& out) const {
        return parse_decimal128(p, n, format.precision, format.scale, out);
    }
#if defined(HR_ISA_AVX512)
    [[gnu::always_inline]] __mmask8 eight(const TileRows& rows, const LaneFields& lanes, Int128* values,
                                          u8 point = '.') const {
        const LaneDecimals found = decimals_of(rows, lanes, tails_of(rows, lanes), false, point);
        return found.declined | store_decimals(found, format, values);
    }
#endif
};

// Reads numbers whose marks are not the usual ones: rewrites them with a point and passes them to the shape for that.
// Lanes read another decimal mark directly and decline grouped digits.
template <class T, class Shape>
struct MarkedShape {
    Shape shape;
    NumberMarks marks;
    u8* number;  // capacity: one field
    bool fast(const u8* p, usize n, T& out) const {
        if (SCANS_ANY_POINT && marks.thousands == NO_MARK) return shape.fast(p, n, out, marks.decimal);
        alignas(32) u8 plain[96];
        usize size;
        if (!fast_plain_number(marks, p, n, plain, size)) return false;
        return shape.fast(plain, size, out);
    }
    Parse rule(const u8* p, usize n, T& out) const {
        usize size;
        return to_plain_number(marks, p, n, number, size) ? shape.rule(number, size, out) : Parse::invalid;
    }
#if defined(HR_ISA_AVX512)
    [[gnu::always_inline]] __mmask8 eight(const TileRows& rows, const LaneFields& lanes, T* values) const {
        return shape.eight(rows, lanes, values, marks.decimal);
    }
#endif
};

// Reads a column of nulls: every text is invalid.
struct NullShape {
    bool fast(const u8*, usize, bool&) const { return false; }
    Parse rule(const u8*, usize, bool&) const { return Parse::invalid; }
};

struct BoolShape {
    const FieldRules& rules;
    bool fast(const u8* p, usize n, bool& out) const {
        const u8 meaning = meaning_of(rules, p, n);
        out = (meaning & TRUE_WORD) != 0;
        return (meaning & BOOL_WORDS) != 0;
    }
    Parse rule(const u8* p, usize n, bool& out) const { return fast(p, n, out) ? Parse::ok : Parse::invalid; }
};

template <class T, class Shape>
usize convert_numbers(const TileRows& rows, const ColumnJob& job, const Shape& shape) {
    if (are_usual(job.rules->marks)) return convert_values<T>(rows, job, shape, store_to<T>(job));
    return convert_values<T>(rows, job, MarkedShape<T, Shape>{shape, job.rules->marks, job.number}, store_to<T>(job));
}

template <class T>
usize convert_integer(const TileRows& rows, const ColumnJob& job) {
    if constexpr (sizeof(T) == 8) {
        const bool hex = job.inferred && is_hex_kind(static_cast<Kind>(job.guess));
        if (hex) return convert_values<T>(rows, job, HexShape<T>{}, store_to<T>(job));
    }
    return convert_numbers<T>(rows, job, IntShape<T>{job.inferred});
}

template <class T>
usize convert_real(const TileRows& rows, const ColumnJob& job) {
    return convert_numbers<T>(rows, job, FloatShape<T>{job.inferred});
}

template <class T>
usize convert_decimal(const TileRows& rows, const ColumnJob& job) {
    return convert_numbers<T>(rows, job, DecimalShape{{job.type.precision, job.type.scale}});
}

template <class T>
usize convert_boolean(const TileRows& rows, const ColumnJob& job) {
    u64* const bits = job.bits;
    return convert_values<T>(rows, job, BoolShape{*job.rules},
                             [bits](usize row, T value) { set_bit_if(value, bits, row); });
}

template <class T>
usize convert_null(const TileRows& rows, const ColumnJob& job) {
    return convert_values<T>(rows, job, NullShape{}, [](usize, T) {});
}

HR_END_NAMESPACE
