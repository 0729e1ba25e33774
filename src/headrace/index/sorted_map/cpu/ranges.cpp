#include <atomic>

#include "index/sorted_map/cpu/sorted_map.hpp"
#include "index/sorted_map/cpu/walks.hpp"
#include "index/sorted_map/cpu/widths.hpp"

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
    with_code(ranges.lows.width, [&]<class Code>(Code) {
        for_each_group(ranges.lows.count, bytes_of_range, threads, [&](u64 first, u32 count) {
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
                    visit_codes(levels, group.highs[i], group.walks.at[i], [&](const MapItem&, bool is_pair) {
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

void copy_ranges(const MapLevels& levels, const MapRanges& ranges, const i64* offsets, const NewLevel& to,
                 unsigned threads) {
    with_code(ranges.lows.width, [&]<class Code>(Code) {
        for_each_group(ranges.lows.count, bytes_of_range, threads, [&](u64 first, u32 count) {
            RangeGroup<Code> group(levels, ranges, first, count);
            for (u32 i = 0; i < count; ++i) {
                u64 place = static_cast<u64>(offsets[first + i]);
                const u64 items = static_cast<u64>(offsets[first + i + 1]) - place;
                if (items == 0) continue;
                if (levels.is_clean != 0) {
                    copy_clean_range(levels, group.rule, group.walks.at[i][0], items, to, place);
                    continue;
                }
                visit_codes(levels, group.highs[i], group.walks.at[i], [&](const MapItem& item, bool is_pair) {
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
