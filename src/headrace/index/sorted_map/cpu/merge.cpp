// Merges all levels in one pass over memory. The result is divided into pieces that fit a core's cache. The exact
// begin of a piece in each level is found by bisection of the code (rank selection).
//
// The parts of the levels in a piece are merged in the cache (merge_parts.hpp). Values are copied once.
#include <algorithm>
#include <atomic>
#include <vector>

#include "arrange/gather/widths.hpp"
#include "core/cpu/cache_blocks.hpp"
#include "index/sorted_map/cpu/merge_parts.hpp"
#include "index/sorted_map/cpu/sorted_map.hpp"

namespace headrace {
namespace {

// The positions in all levels at which a piece begins.
struct Cut {
    u64 at[max_levels];
};

// Returns the positions after `number` more items of the merged levels than `from`, in the order of code, level and
// position.
template <class Code>
Cut cut_after(const MapLevels& levels, const Cut& from, u64 number) {
    u64 low[max_levels], high[max_levels], rank = number;
    Code least = static_cast<Code>(~Code{0}), largest = 0;
    for (u32 i = 0; i < levels.count; ++i) {
        const Code* const codes = codes_of<Code>(levels.level[i]);
        low[i] = from.at[i];
        high[i] = low[i] + std::min(number, levels.level[i].count - low[i]);
        rank += low[i];
        if (low[i] == high[i]) continue;
        least = std::min(least, codes[low[i]]);
        largest = std::max(largest, codes[high[i] - 1]);
    }
    if (least > largest) return from;  // no items are left
    // The code of the item at `rank` is found bit by bit, below the bits that all codes share.
    int bit = least == largest ? 0 : 64 - leading_zeros(u64{least} ^ u64{largest});
    Code code = bit == 64 ? Code{0} : static_cast<Code>(least & ~((u64{1} << bit) - 1));
    while (--bit >= 0) {
        const Code middle = static_cast<Code>(code | Code{1} << bit);
        u64 ranks[max_levels], before = 0;
        for (u32 i = 0; i < levels.count; ++i) {
            ranks[i] = low[i] + rank_of(codes_of<Code>(levels.level[i]) + low[i], high[i] - low[i], middle, 0);
            before += ranks[i];
        }
        const bool is_upper = before <= rank;
        if (is_upper) code = middle;
        std::copy_n(ranks, levels.count, is_upper ? low : high);
    }
    Cut cut{};
    u64 left = rank;
    for (u32 i = 0; i < levels.count; ++i) left -= low[i];
    for (u32 i = 0; i < levels.count; ++i) {  // items of that code, newer ones first
        const u64 equal = rank_of(codes_of<Code>(levels.level[i]) + low[i], high[i] - low[i], code, 1);
        const u64 share = std::min(left, equal);
        cut.at[i] = low[i] + share;
        left -= share;
    }
    return cut;
}

template <class Code>
class Merger {
public:
    Merger(const MapLevels& levels, const NewLevel& to) : levels_(levels), to_(to) {}

    // Merges the items from one cut to the next, to position `place` on.
    void piece(const Cut& begin, const Cut& end, u64 place) {
        write(parts_.merge(levels_, begin.at, end.at), begin, place);
    }

private:
    void write(const LevelPart<Code>& merged, const Cut& begin, u64 place) const {
        std::copy_n(merged.codes, merged.count, static_cast<Code*>(to_.codes) + place);
        if (to_.values != nullptr && levels_.value_width == 4) gather<u32>(merged, begin, to_.values, place);
        if (to_.values != nullptr && levels_.value_width == 8) gather<u64>(merged, begin, to_.values, place);
        if (to_.tombstones == nullptr) return;
        for (u64 i = 0; i < merged.count; ++i) {
            const u32 source = merged.source_of(i), of = source >> level_shift;
            to_.tombstones[place + i] =
                is_tombstone(levels_.level[of], begin.at[of] + (source & low_mask(level_shift)));
        }
    }

    // Copies the values of merged items.
    template <class Value>
    void gather(const LevelPart<Code>& merged, const Cut& begin, void* to, u64 place) const {
        const Value* values[max_levels];  // of each level, from the begin of the piece on
        for (u32 i = 0; i < levels_.count; ++i) {
            values[i] = static_cast<const Value*>(levels_.level[i].values) + begin.at[i];
        }
        Value* const target = static_cast<Value*>(to) + place;
        for (u64 i = 0; i < merged.count; ++i) {
            const u32 source = merged.source_of(i);
            target[i] = values[source >> level_shift][source & low_mask(level_shift)];
        }
    }

    const MapLevels& levels_;
    const NewLevel& to_;
    PartMerger<Code> parts_;
};

template <class Code>
void merge_all(const MapLevels& levels, const NewLevel& to, unsigned threads) {
    u64 count = 0;
    for (u32 i = 0; i < levels.count; ++i) count += levels.level[i].count;
    take_pages(to.codes, count * sizeof(Code), threads);
    if (to.values != nullptr) take_pages(to.values, count * levels.value_width, threads);
    // A worker takes several neighbouring pieces, so that the end of one is the begin of the next.
    constexpr u64 neighbours = 8, group = neighbours * piece_items;
    for_each_piece((count + group - 1) / group, threads, [&] { return Merger<Code>(levels, to); },
                   [&](Merger<Code>& merger, u64 number) {
                       Cut begin = cut_after<Code>(levels, {}, number * group);
                       for (u64 place = number * group; place < std::min(count, (number + 1) * group);
                            place += piece_items) {
                           const Cut end = cut_after<Code>(levels, begin, std::min(count - place, piece_items));
                           merger.piece(begin, end, place);
                           begin = end;
                       }
                   });
}

template <class Code>
struct Compaction {
    const MapLevel& level;
    unsigned value_width;
    Pieces pieces;

    u64 count(u64 piece) const {
        u64 found = 0;
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        for (u64 i = begin; i < end; ++i) found += is_visible<Code>(level, i);
        return found;
    }

    void write(u64 piece, u64 place, const NewLevel& to) const {
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        for (u64 i = begin; i < end; ++i) {
            if (!is_visible<Code>(level, i)) continue;
            static_cast<Code*>(to.codes)[place] = codes_of<Code>(level)[i];
            copy_value(level.values, i, to.values, place, value_width);
            ++place;
        }
    }
};

}  // namespace

void merge_levels(const MapLevels& levels, unsigned code_width, const NewLevel& to, unsigned threads) {
    with_width<u32, u64>(code_width, [&]<class Code>(Code) { merge_all<Code>(levels, to, threads); });
}

void compact_level(const MapLevel& level, unsigned code_width, unsigned value_width,
                   const std::function<NewLevel(u64)>& allocate, unsigned threads) {
    with_width<u32, u64>(code_width, [&]<class Code>(Code) {
        const Compaction<Code> work{level, value_width, Pieces(level.count, sizeof(Code) + value_width)};
        std::vector<u64> begins(work.pieces.number() + 1);
        for_each_piece(work.pieces.number(), threads, [&](u64 piece) { begins[piece + 1] = work.count(piece); });
        for (u64 piece = 0; piece < work.pieces.number(); ++piece) begins[piece + 1] += begins[piece];
        const NewLevel to = allocate(begins.back());
        for_each_piece(work.pieces.number(), threads, [&](u64 piece) { work.write(piece, begins[piece], to); });
    });
}

}  // namespace headrace
