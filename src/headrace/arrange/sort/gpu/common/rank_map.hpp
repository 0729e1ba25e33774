// Maps codes to estimated ranks. The map is a piecewise linear approximation of the keys' distribution function, made
// from a sample. Prefixes of ranks are spread evenly where prefixes of codes are not, such as those of normal floats.
// Source: Kristo, Vaidya, Cetintemel, Misra and Kraska 2020, "The case for a learned sorting algorithm", section 3.
// Here cells of equal width replace two levels of models.
//
// Distances from the lowest sampled code are divided into cells by their highest bits. A cell has a range of prefixes,
// one at least, in proportion to its keys in the sample. In a cell, ranks rise linearly. If the sample is spread evenly
// from its lowest code to its highest one, there is one cell.
#pragma once

#include "arrange/sort/gpu/common/key_range.hpp"

HR_BEGIN_NAMESPACE

// The map of codes of 4 bytes, followed by a word for each cell: its first prefix, and their number in the upper half.
struct RankMap {
    u32 low;    // lowest code of the sample
    u32 most;   // highest distance from it; codes beyond either end have the rank of that end
    u32 zeros;  // leading zeros of that distance
    u32 scale;  // without cells: distances, shifted left by `zeros`, rise by this share of 2^32, so that ranks have 32
                // bits
    u32 cell_bits;  // 0 without cells
    u32 prefix_bits;

    // Returns the map without cells for codes from `low` to `high`.
    HR_MEMBER static RankMap of(u32 low, u32 high, u32 prefix_bits) {
        const u32 most = high == low ? 1 : high - low, zeros = static_cast<u32>(leading_zeros(u64{most})) - 32;
        const u64 end = (u64{most} << zeros) + 1;
        const bool has_all_codes = end >> 32 != 0;  // ranks are codes
        return {low, most, zeros, has_all_codes ? 0 : static_cast<u32>(~u64{0} / end - (u64{1} << 32)), 0, prefix_bits};
    }
    HR_MEMBER const u32* cell() const { return reinterpret_cast<const u32*>(this + 1); }
    HR_MEMBER u32 first_of(u32 i) const { return cell()[i] & 0xFFFF; }

    HR_MEMBER u32 cell_of(u32 prefix) const {
        u32 found = 0;
        for (u32 step = 1u << (cell_bits - 1); step != 0; step /= 2) {
            if (first_of(found + step) <= prefix) found += step;
        }
        return found;
    }
    // Returns the lowest distance of a prefix, shifted left by `zeros`.
    HR_MEMBER u64 shifted_begin_of(u32 prefix) const {
        if (cell_bits == 0) {
            const u64 rank = u64{prefix} << (32 - prefix_bits) << 32, rise = (u64{1} << 32) + scale;
            return rank / rise + (rank % rise != 0 ? 1 : 0);
        }
        const u32 own = cell_of(prefix);
        // the least fraction of the cell whose share of its prefixes reaches this one, in units of 2^-32
        const u64 number = cell()[own] >> 16, past = u64{prefix - first_of(own)} << 32;
        const u64 fraction = (past + number - 1) / number, step = u64{1} << cell_bits;
        return (u64{own} << (32 - cell_bits)) + (fraction + step - 1) / step;
    }
    // Returns the lowest code whose rank has a prefix or a higher one; the highest code of all if there is none.
    HR_MEMBER u32 begin_of(u32 prefix) const {
        if (prefix == 0) return 0;
        if (prefix >> prefix_bits != 0) return ~0u;
        const u64 distance = (shifted_begin_of(prefix) + ((u64{1} << zeros) - 1)) >> zeros;
        return distance > most ? ~0u : low + static_cast<u32>(distance);
    }
    HR_MEMBER KeyRange range_of(u32 prefix, u32 digits) const {
        const u32 begin = begin_of(prefix), end = begin_of(prefix + 1);
        return KeyRange::of(begin, end == ~0u || end == begin ? end - begin : end - 1 - begin, digits);
    }
};

HR_END_NAMESPACE
