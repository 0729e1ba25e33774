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

// Bits of a key, of the number of a cell, and of a prefix.
struct RankBits {
    u32 of_key, of_cell, of_prefix;
};

// The map, followed by a word for each cell: its first prefix, and their number in the upper half.
struct RankMap {
    u64 low;    // lowest code of the sample
    u64 most;   // highest distance from it; codes beyond either end have the rank of that end
    u32 zeros;  // leading zeros of that distance in a key
    u32 key_bits;
    u32 cell_bits;
    u32 prefix_bits;
    u32 has_cells;
    u32 scale;  // without cells: a distance's highest 32 bits rise by this share of 2^32, so that the highest rank is
                // full

    // Returns the map without cells for codes from `low` to `high`.
    HR_MEMBER static RankMap of(u64 low, u64 high, const RankBits& bits) {
        const u64 most = high == low ? 1 : high - low;
        const u32 zeros = static_cast<u32>(leading_zeros(most)) - (64 - bits.of_key);
        const u64 highest = most << zeros >> (bits.of_key - 32);
        const u64 scale = highest == 0xFFFFFFFF ? 0 : ~u64{0} / (highest + 1) - (u64{1} << 32);
        return {low, most, zeros, bits.of_key, bits.of_cell, bits.of_prefix, 0, static_cast<u32>(scale)};
    }
    HR_MEMBER const u32* cell() const { return reinterpret_cast<const u32*>(this + 1); }
    HR_MEMBER u32 first_of(u32 i) const { return cell()[i] & 0xFFFF; }
    HR_MEMBER u32 number_of(u32 i) const { return cell()[i] >> 16; }

    // Returns the cell of a prefix.
    HR_MEMBER u32 cell_of(u32 prefix) const {
        u32 found = 0;
        for (u32 step = 1u << (cell_bits - 1); step != 0; step /= 2) {
            if (first_of(found + step) <= prefix) found += step;
        }
        return found;
    }
    // Returns the lowest distance of a prefix, shifted left by `zeros`, as bits of a key from the highest one on.
    HR_MEMBER u64 shifted_begin_of(u32 prefix) const {
        if (has_cells == 0) {
            const u64 rank = u64{prefix} << (32 - prefix_bits) << 32, rise = (u64{1} << 32) + scale;
            return (rank / rise + (rank % rise != 0 ? 1 : 0)) << (key_bits - 32);
        }
        const u32 own = cell_of(prefix);
        // the least fraction of the cell whose share of its prefixes reaches this one, in units of 2^-32
        const u64 number = number_of(own), past = u64{prefix - first_of(own)} << 32;
        const u64 fraction = (past + number - 1) / number;
        const u32 below = key_bits - cell_bits;  // bits of a distance within its cell
        const u64 inside =
            below >= 32 ? fraction << (below - 32) : (fraction + ((u64{1} << (32 - below)) - 1)) >> (32 - below);
        return (u64{own} << below) + inside;
    }
    // Returns the lowest code whose rank has a prefix or a higher one; the highest code of all if there is none.
    HR_MEMBER u64 begin_of(u32 prefix) const {
        const u64 highest = ~u64{0} >> (64 - key_bits);
        if (prefix == 0) return 0;
        if (prefix >> prefix_bits != 0) return highest;
        const u64 normal = shifted_begin_of(prefix), shifted = normal >> zeros;
        const u64 distance = shifted << zeros == normal ? shifted : shifted + 1;
        return distance > most ? highest : low + distance;
    }
    // Returns the range of the codes of a prefix.
    HR_MEMBER KeyRange range_of(u32 prefix, u32 digits) const {
        const u64 begin = begin_of(prefix), end = begin_of(prefix + 1);
        const bool is_last = end == ~u64{0} >> (64 - key_bits);
        return KeyRange::of(begin, is_last || end == begin ? end - begin : end - 1 - begin, digits);
    }
};

HR_END_NAMESPACE
