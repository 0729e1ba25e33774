// Finds the hits of a pattern in a part of a text that is the pattern's cycle again and again. The cycle is what the
// pattern repeats, at least the pattern itself. It equals none of its rotations, so all hits are a multiple of its
// length apart, and one comparison of the part decides on all.
//
// Example: the pattern "abab" has the cycle "ab". In "babababa" it occurs at 1, 3 and 5.
#pragma once
#include "query/find/gpu/rows.cuh"

namespace headrace {

// The length of a pattern's cycle, and remainders by it.
class Cycle {
public:
    HR_MEMBER explicit Cycle(const FindTask& task)
        : length_(static_cast<u32>(task.cycle)), reciprocal_(~0u / static_cast<u32>(task.cycle)) {}

    // Returns value % length, for a value below 2^16. The quotient of the reciprocal is right or too small by one.
    HR_MEMBER u32 rest(u32 value) const {
        const u32 left = value - static_cast<u32>(static_cast<u64>(value) * reciprocal_ >> 32) * length_;
        return left < length_ ? left : left - length_;
    }
    // Returns (a - b) % length, for values below 2^16.
    HR_MEMBER u32 difference(u32 a, u32 b) const { return rest(rest(a) + length_ - rest(b)); }
    HR_MEMBER u32 sum(u32 a, u32 b) const { return a + b < length_ ? a + b : a + b - length_; }
    HR_MEMBER u32 length() const { return length_; }

private:
    u32 length_, reciprocal_;
};

// A warp's part of a text, and a place of a hit in its last row.
template <u32 rows>
class CyclicPart {
public:
    // `begin`: position of the part's first bit. `first`: bit of a position that passes the filter.
    HR_MEMBER CyclicPart(const FindTask& task, i64 begin, u32 first) : task_(task), cycle_(task), first_(first) {
        before_ = (task.lead + 15) / 16;
        after_ = (static_cast<u32>(task.length) - task.lead + 15) / 16;
        from_ = begin + task.lead - 16 * static_cast<i64>(before_);
        start_ = cycle_.difference(task.lead, 16 * before_ + first);
    }

    // Whether the part is the cycle again and again, and so are the vectors of bytes of its occurrences before and
    // after it. Not if they reach past an end of the text. `text`: the part's rows. All lanes of a warp call it.
    HR_MEMBER bool is_cycle(const WarpRows<rows>& text) const {
        if (from_ < 0 || from_ + 16 * static_cast<i64>(before_ + vectors + after_) > static_cast<i64>(task_.size))
            return false;
        u32 offset = cycle_.rest(start_ + 16 * (before_ + tile::lane()));
        const u32 advance = cycle_.rest(16 * tile::lanes);
        uint4 expected = expected_at(offset);
        u32 unlike = 0;
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
            unlike |= difference(text.row[row], expected);
            if (advance == 0) continue;
            offset = cycle_.sum(offset, advance);
            expected = expected_at(offset);
        }
        for (u32 i = tile::lane(); i < before_ + after_; i += tile::lanes) {
            const u32 vector = i < before_ ? i : i + vectors;
            unlike |= difference(*text_at(vector), expected_at(cycle_.rest(start_ + 16 * vector)));
        }
        return !__any_sync(tile::all_lanes, unlike != 0);
    }

    // Sets the bits of the hits.
    HR_MEMBER void hits(u32 (&masks)[rows]) const {
        u32 repeats = 0;
        for (u32 bit = 0; bit < 16; bit += cycle_.length()) repeats |= 1u << bit;
        // Distance from a vector's first bit to the next hit.
        u32 next = cycle_.difference(first_, 16 * tile::lane());
        const u32 step = cycle_.length() - cycle_.rest(16 * tile::lanes);
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
            masks[row] = next < 16 ? repeats << next & 0xFFFF : 0;
            next = cycle_.sum(next, step);
        }
    }

private:
    static constexpr u32 vectors = WarpRows<rows>::vectors;

    HR_MEMBER const uint4* text_at(u32 vector) const {
        return reinterpret_cast<const uint4*>(task_.text + from_) + vector;
    }

    HR_MEMBER uint4 expected_at(u32 offset) const { return VectorStream(task_.pattern + offset).next(); }

    // Returns 0 if a vector of the text equals one of the pattern.
    HR_MEMBER u32 difference(uint4 text, uint4 expected) const {
        const uint4 own = folded(task_, text);
        return (own.x ^ expected.x) | (own.y ^ expected.y) | (own.z ^ expected.z) | (own.w ^ expected.w);
    }

    const FindTask& task_;
    const Cycle cycle_;
    const u32 first_;
    u32 before_, after_;  // vectors with bytes of occurrences, before the part and after it
    i64 from_;            // position of the first of them
    u32 start_;           // offset in the cycle of its first byte
};

// Whether positions of the last row that pass the filter are as dense as hits in the pattern's cycle again and again.
// `mask`: those of the lane's vector.
HR_FN bool may_be_cyclic(const FindTask& task, u32 mask) {
    if (task.cycle == 0 || !__any_sync(tile::all_lanes, mask != 0)) return false;
    const u32 number = __reduce_add_sync(tile::all_lanes, static_cast<u32>(__popc(mask)));
    return (number + 1) * static_cast<u32>(task.cycle) > 16 * tile::lanes;
}

// Decides on all hits of a part that is the pattern's cycle again and again. Returns whether it is.
// `text`: its rows. `masks`: the last row has the positions that pass the filter, of which there are some.
template <u32 rows>
HR_FN bool decide_by_cycle(const FindTask& task, const WarpRows<rows>& text, i64 begin, u32 (&masks)[rows]) {
    const u32 mask = masks[rows - 1];
    const u32 own =
        mask != 0 ? 16 * ((rows - 1) * tile::lanes + tile::lane()) + static_cast<u32>(trailing_zeros(mask)) : ~0u;
    const CyclicPart<rows> part(task, begin, __reduce_min_sync(tile::all_lanes, own));
    if (!part.is_cycle(text)) return false;
    part.hits(masks);
    return true;
}

}  // namespace headrace
