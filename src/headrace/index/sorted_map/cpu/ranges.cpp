#include <atomic>
#include <cstring>
#include <vector>

#include "arrange/gather/widths.hpp"
#include "index/sorted_map/cpu/merge_parts.hpp"
#include "index/sorted_map/cpu/sorted_map.hpp"
#include "index/sorted_map/cpu/walks.hpp"

namespace headrace {
namespace {

constexpr u64 bytes_of_range = 512;  // about: several lines of each level

// Up to 16 ranges of codes, and a walk from the begin of each.
template <class Code>
struct RangeGroup {
    KeyRule<Code> rule;
    Code lows[walk_lanes];
    Code highs[walk_lanes];
    Walks<Code> walks;

    RangeGroup(const MapLevels& levels, const MapRanges& ranges, u64 first, u32 count)
        : rule(*static_cast<const KeyRule<Code>*>(ranges.lows.rule)) {
        for (u32 i = 0; i < count; ++i) {
            lows[i] = rule.equal_code(static_cast<const Code*>(ranges.lows.keys)[first + i]);
            highs[i] = rule.equal_code(static_cast<const Code*>(ranges.highs)[first + i]);
        }
        walks.begin(levels, lows, count, 0);
    }
    bool is_empty(u32 i) const { return lows[i] > highs[i]; }
};

constexpr u64 short_walks = 1024;  // maximum number of codes that 16 short ranges visit
constexpr u64 walked_items = 32;   // maximum number of items of a level that a walk takes

// Returns the position after the codes up to `high`, from position `at` on.
template <class Code>
u64 end_of_range(const MapLevel& level, u64 at, Code high) {
    const Code* const codes = codes_of<Code>(level);
    u64 step = walked_items;
    while (step < level.count - at && codes[at + step] <= high) step *= 2;
    const u64 most = std::min(step, level.count - at);
    return at + rank_of(codes + at, most, high, 1);
}

// Calls visit as visit_codes does. Items of long ranges are merged before, if they fit a cache.
template <class Code, class Visit>
void visit_range(PartMerger<Code>& merger, const MapLevels& levels, Code high, u64* at, const Visit& visit) {
    u64 end[max_levels], items = 0;
    bool is_long = false;
    for (u32 i = 0; i < levels.count; ++i) {
        const MapLevel& level = levels.level[i];
        is_long |= level.count - at[i] > walked_items && codes_of<Code>(level)[at[i] + walked_items] <= high;
    }
    for (u32 i = 0; is_long && i < levels.count; ++i) {
        end[i] = end_of_range(levels.level[i], at[i], high);
        items += end[i] - at[i];
    }
    if (!is_long || items > piece_items) return visit_codes(levels, high, at, visit);
    const LevelPart<Code> merged = merger.merge(levels, at, end);
    for (u64 i = 0; i < items; ++i) {
        if (i > 0 && merged.codes[i] == merged.codes[i - 1]) continue;
        const u32 source = merged.source_of(i), of = source >> level_shift;
        const MapItem item{of, at[of] + (source & low_mask(level_shift))};
        if (!visit(item, !is_tombstone(levels.level[of], item.at))) return;
    }
}

// The items of the ranges of a piece, one after another.
template <class Code>
struct CopiedItems {
    std::vector<Code> keys;
    std::vector<u64> values;  // memory for one of up to 8 bytes for each key

    void add(const MapLevels& levels, const KeyRule<Code>& rule, const MapItem& item) {
        keys.push_back(key_of(rule, code_at<Code>(levels, item)));
        values.emplace_back();
        copy_value(levels.level[item.level].values, item.at, values.data(), keys.size() - 1, levels.value_width);
    }
};

// Copies `count` items of a clean level.
template <class Code>
void copy_clean_range(const MapLevels& levels, const KeyRule<Code>& rule, u64 at, u64 count, const NewLevel& to,
                      u64 place) {
    const MapLevel& level = levels.level[0];
    for (u64 i = 0; i < count; ++i) {
        static_cast<Code*>(to.codes)[place + i] = key_of(rule, codes_of<Code>(level)[at + i]);
        copy_value(level.values, at + i, to.values, place + i, levels.value_width);
    }
}

}  // namespace

bool count_ranges(const MapLevels& levels, const MapRanges& ranges, i64* counts, u64 limit, unsigned threads) {
    std::atomic<u64> visited{0};
    with_width<u32, u64>(ranges.lows.width, [&]<class Code>(Code) {
        const auto merger = [] { return PartMerger<Code>(); };
        for_each_group(ranges.lows.count, bytes_of_range, threads, merger,
                       [&](PartMerger<Code>& parts, u64 first, u32 count) {
                           if (visited.load(std::memory_order_relaxed) > limit) return;
                           RangeGroup<Code> group(levels, ranges, first, count);
                           Walks<Code> ends;
                           u64 items = 0;
                           if (levels.is_clean != 0) ends.begin(levels, group.highs, count, 1);
                           for (u32 i = 0; i < count; ++i) {
                               i64& found = counts[first + i];
                               if (group.is_empty(i) || levels.count == 0) {
                                   found = 0;
                               } else if (levels.is_clean != 0) {
                                   found = static_cast<i64>(ends.at[i][0] - group.walks.at[i][0]);
                               } else {
                                   found = 0;
                                   visit_range(parts, levels, group.highs[i], group.walks.at[i],
                                               [&](const MapItem&, bool is_pair) {
                                                   found += is_pair ? 1 : 0;
                                                   return ++items <= limit;
                                               });
                               }
                           }
                           visited.fetch_add(items, std::memory_order_relaxed);
                       });
    });
    return visited.load() <= limit;
}

bool copy_short_ranges(const MapLevels& levels, const MapRanges& ranges, i64* offsets,
                       const std::function<NewLevel(u64)>& allocate, unsigned threads) {
    return with_width<u32, u64>(ranges.lows.width, [&]<class Code>(Code) {
        const Pieces pieces(ranges.lows.count, bytes_of_range);
        std::vector<CopiedItems<Code>> copies(pieces.number());
        std::atomic<bool> are_short{true};
        for_each_group(ranges.lows.count, bytes_of_range, threads, [&](u64 first, u32 count) {
            if (!are_short.load(std::memory_order_relaxed)) return;
            RangeGroup<Code> group(levels, ranges, first, count);
            CopiedItems<Code>& to = copies[first / pieces.length];
            u64 visited = 0;
            for (u32 i = 0; i < count; ++i) {
                const u64 before = to.keys.size();
                if (!group.is_empty(i)) {
                    visit_codes(levels, group.highs[i], group.walks.at[i], [&](const MapItem& item, bool is_pair) {
                        if (is_pair) to.add(levels, group.rule, item);
                        return ++visited <= short_walks;
                    });
                }
                offsets[first + i + 1] = static_cast<i64>(to.keys.size() - before);
            }
            if (visited > short_walks) are_short.store(false, std::memory_order_relaxed);
        });
        if (!are_short.load()) return false;
        offsets[0] = 0;
        for (u64 i = 0; i < ranges.lows.count; ++i) offsets[i + 1] += offsets[i];
        const NewLevel to = allocate(static_cast<u64>(offsets[ranges.lows.count]));
        for_each_piece(pieces.number(), threads, [&](u64 piece) {
            const CopiedItems<Code>& from = copies[piece];
            const u64 begin = static_cast<u64>(offsets[pieces.begin(piece)]), count = from.keys.size();
            if (count == 0) return;
            std::memcpy(static_cast<Code*>(to.codes) + begin, from.keys.data(), count * sizeof(Code));
            if (levels.value_width == 0) return;
            std::memcpy(static_cast<u8*>(to.values) + begin * levels.value_width, from.values.data(),
                        count * levels.value_width);
        });
        return true;
    });
}

void copy_ranges(const MapLevels& levels, const MapRanges& ranges, const i64* offsets, const NewLevel& to,
                 unsigned threads) {
    with_width<u32, u64>(ranges.lows.width, [&]<class Code>(Code) {
        const auto merger = [] { return PartMerger<Code>(); };
        for_each_group(
            ranges.lows.count, bytes_of_range, threads, merger, [&](PartMerger<Code>& parts, u64 first, u32 count) {
                RangeGroup<Code> group(levels, ranges, first, count);
                for (u32 i = 0; i < count; ++i) {
                    u64 place = static_cast<u64>(offsets[first + i]);
                    const u64 items = static_cast<u64>(offsets[first + i + 1]) - place;
                    if (items == 0) continue;
                    if (levels.is_clean != 0) {
                        copy_clean_range(levels, group.rule, group.walks.at[i][0], items, to, place);
                        continue;
                    }
                    visit_range(
                        parts, levels, group.highs[i], group.walks.at[i], [&](const MapItem& item, bool is_pair) {
                            if (!is_pair) return true;
                            static_cast<Code*>(to.codes)[place] = key_of(group.rule, code_at<Code>(levels, item));
                            copy_value(levels.level[item.level].values, item.at, to.values, place, levels.value_width);
                            ++place;
                            return true;
                        });
                }
            });
    });
}

}  // namespace headrace
