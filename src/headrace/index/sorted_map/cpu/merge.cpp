// Merges all levels in one pass over memory. The result is divided into pieces that fit a core's cache. The exact
// begin of a piece in each level is found by bisection of the code (rank selection).
//
// The parts of the levels in a piece are merged two by two in the cache, each item as its code and its source. Values
// are copied once.
#include <algorithm>
#include <atomic>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "index/sorted_map/cpu/sorted_map.hpp"
#include "index/sorted_map/cpu/widths.hpp"

namespace headrace {
namespace {

constexpr u64 piece_items = 1 << 13;
constexpr u32 level_shift = 16;  // a source is a level and a position of up to 2^13 items in its part

// The positions in all levels at which a piece begins.
struct Cut {
    u64 at[max_levels];
};

// Returns the positions of the first `rank` items of the merged levels, in the order of code, level and position.
template <class Code>
Cut cut_at(const MapLevels& levels, u64 rank) {
    u64 low[max_levels] = {}, high[max_levels];
    for (u32 i = 0; i < levels.count; ++i) high[i] = levels.level[i].count;
    Code code = 0;  // the code of the item at `rank`, found bit by bit
    for (int bit = sizeof(Code) * 8 - 1; bit >= 0; --bit) {
        const Code middle = code | Code{1} << bit;
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
struct LevelPart {
    const Code* codes;
    const u32* sources;  // null if they are `source` and the numbers after it
    u32 source;
    u64 count;

    u32 source_of(u64 i) const { return sources == nullptr ? source + static_cast<u32>(i) : sources[i]; }
};

template <class Code>
struct Merged {
    Code codes[piece_items];
    u32 sources[piece_items];
};

// Merges two parts; of equal codes those of `newer` are first.
template <class Code>
void merge_parts(const LevelPart<Code>& newer, const LevelPart<Code>& older, Code* codes, u32* sources) {
    u64 a = 0, b = 0, i = 0;
    while (a < newer.count && b < older.count) {
        const Code first = newer.codes[a], second = older.codes[b];
        const bool is_older = second < first;
        codes[i] = is_older ? second : first;
        sources[i] = is_older ? older.source_of(b) : newer.source_of(a);
        a += !is_older;
        b += is_older;
        ++i;
    }
    for (; a < newer.count; ++a, ++i) {
        codes[i] = newer.codes[a];
        sources[i] = newer.source_of(a);
    }
    for (; b < older.count; ++b, ++i) {
        codes[i] = older.codes[b];
        sources[i] = older.source_of(b);
    }
}

template <class Code>
class Merger {
public:
    Merger(const MapLevels& levels, const NewLevel& to) : levels_(levels), to_(to), parts_(2) {}

    // Merges the items from one cut to the next, to position `place` on.
    void piece(const Cut& begin, const Cut& end, u64 place) {
        LevelPart<Code> merged{nullptr, nullptr, 0, 0};
        u32 turn = 0;
        for (u32 i = 0; i < levels_.count; ++i) {
            const u64 count = end.at[i] - begin.at[i];
            if (count == 0) continue;
            const LevelPart<Code> part{codes_of<Code>(levels_.level[i]) + begin.at[i], nullptr, i << level_shift,
                                       count};
            if (merged.count == 0) {
                merged = part;
                continue;
            }
            Merged<Code>& to = parts_[turn ^= 1];
            merge_parts(merged, part, to.codes, to.sources);
            merged = {to.codes, to.sources, 0, merged.count + count};
        }
        write(merged, begin, place);
    }

private:
    void write(const LevelPart<Code>& merged, const Cut& begin, u64 place) const {
        std::copy_n(merged.codes, merged.count, static_cast<Code*>(to_.codes) + place);
        if (to_.values == nullptr && to_.tombstones == nullptr) return;
        for (u64 i = 0; i < merged.count; ++i) {
            const u32 source = merged.source_of(i), of = source >> level_shift;
            const MapLevel& level = levels_.level[of];
            const u64 at = begin.at[of] + (source & low_mask(level_shift));
            if (to_.values != nullptr) copy_value(level.values, at, to_.values, place + i, levels_.value_width);
            if (to_.tombstones != nullptr) to_.tombstones[place + i] = is_tombstone(level, at);
        }
    }

    const MapLevels& levels_;
    const NewLevel& to_;
    std::vector<Merged<Code>> parts_;
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
                       Cut begin = cut_at<Code>(levels, number * group);
                       for (u64 place = number * group; place < std::min(count, (number + 1) * group);
                            place += piece_items) {
                           const Cut end = cut_at<Code>(levels, std::min(count, place + piece_items));
                           merger.piece(begin, end, place);
                           begin = end;
                       }
                   },
                   [](Merger<Code>&) {});
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
    with_code(code_width, [&]<class Code>(Code) { merge_all<Code>(levels, to, threads); });
}

void compact_level(const MapLevel& level, unsigned code_width, unsigned value_width,
                   const std::function<NewLevel(u64)>& allocate, unsigned threads) {
    with_code(code_width, [&]<class Code>(Code) {
        const Compaction<Code> work{level, value_width, Pieces(level.count, sizeof(Code) + value_width)};
        std::vector<u64> begins(work.pieces.number() + 1);
        for_each_piece(work.pieces.number(), threads, [&](u64 piece) { begins[piece + 1] = work.count(piece); });
        for (u64 piece = 0; piece < work.pieces.number(); ++piece) begins[piece + 1] += begins[piece];
        const NewLevel to = allocate(begins.back());
        for_each_piece(work.pieces.number(), threads, [&](u64 piece) { work.write(piece, begins[piece], to); });
    });
}

}  // namespace headrace
