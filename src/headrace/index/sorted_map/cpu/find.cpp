#include "index/sorted_map/cpu/sorted_map.hpp"
#include "index/sorted_map/cpu/walks.hpp"
#include "index/sorted_map/cpu/widths.hpp"

namespace headrace {
namespace {

// Searches up to 16 codes at a time, in the newest level first. Codes that a level has leave the search.
template <class Code>
class Lookup {
public:
    explicit Lookup(const MapLevels& levels) : levels_(levels) {}

    // Writes the item that decides about each code; no level if no level has the code.
    void batch(const Code* codes, u32 count, MapItem* items) {
        for (u32 i = 0; i < count; ++i) {
            lane_[i] = i;
            items[i].level = no_level;
        }
        for (u32 number = 0; number < levels_.count && count > 0; ++number) {
            count = level(levels_.level[number], number, codes, count, items);
        }
    }

private:
    // Searches the codes of the first `count` lanes. Returns the number of those that the level does not have.
    u32 level(const MapLevel& level, u32 number, const Code* codes, u32 count, MapItem* items) {
        const Code* const sorted = codes_of<Code>(level);
        u64 low[walk_lanes] = {};
        for (u64 length = level.count; length > 1; length -= length / 2) {
            for (u32 i = 0; i < count; ++i) {
                low[i] = halve(sorted, low[i], length, codes[lane_[i]], CodeItself<Code>{}, 0);
            }
        }
        u32 left = 0;
        for (u32 i = 0; i < count; ++i) {
            const u32 lane = lane_[i];
            const u64 at = low[i] + (sorted[low[i]] < codes[lane] ? 1 : 0);
            if (at < level.count && sorted[at] == codes[lane]) {
                items[lane] = {number, at};
            } else {
                lane_[left++] = lane;
            }
        }
        return left;
    }

    const MapLevels& levels_;
    u32 lane_[walk_lanes];
};

template <class Code>
KeyRule<Code> rule_of(const MapKeys& keys) {
    return *static_cast<const KeyRule<Code>*>(keys.rule);
}

}  // namespace

void find_in_levels(const MapLevels& levels, const MapKeys& keys, void* values, u8* is_present, unsigned threads) {
    with_code(keys.width, [&]<class Code>(Code) {
        const KeyRule<Code> rule = rule_of<Code>(keys);
        // A key moves about 8 bytes, and several lines of the levels.
        for_each_group(keys.count, 64, threads, [&](u64 first, u32 count) {
            Lookup<Code> lookup(levels);
            Code codes[walk_lanes];
            MapItem items[walk_lanes];
            for (u32 i = 0; i < count; ++i) {
                codes[i] = rule.equal_code(static_cast<const Code*>(keys.keys)[first + i]);
            }
            lookup.batch(codes, count, items);
            for (u32 i = 0; i < count; ++i) {
                const MapItem item = items[i];
                const bool is_there = item.level != no_level && !is_tombstone(levels.level[item.level], item.at);
                is_present[first + i] = is_there;
                if (is_there) {
                    copy_value(levels.level[item.level].values, item.at, values, first + i, levels.value_width);
                } else {
                    clear_value(values, first + i, levels.value_width);
                }
            }
        });
    });
}

void find_neighbours(const MapLevels& levels, const MapKeys& keys, const NeighbourOptions& options, const NewLevel& to,
                     u8* is_present, unsigned threads) {
    with_code(keys.width, [&]<class Code>(Code) {
        const KeyRule<Code> rule = rule_of<Code>(keys);
        for_each_group(keys.count, 256, threads, [&](u64 first, u32 count) {
            Code codes[walk_lanes];
            Walks<Code> walks;
            for (u32 i = 0; i < count; ++i) {
                codes[i] = rule.equal_code(static_cast<const Code*>(keys.keys)[first + i]);
            }
            walks.begin(levels, codes, count, begins_after(options));
            for (u32 i = 0; i < count; ++i) {
                const MapItem item = neighbour_of<Code>(levels, walks.at[i], options);
                const u64 place = first + i;
                is_present[place] = item.level != no_level;
                if (item.level == no_level) {
                    static_cast<Code*>(to.codes)[place] = 0;
                    clear_value(to.values, place, levels.value_width);
                } else {
                    static_cast<Code*>(to.codes)[place] = key_of(rule, code_at<Code>(levels, item));
                    copy_value(levels.level[item.level].values, item.at, to.values, place, levels.value_width);
                }
            }
        });
    });
}

}  // namespace headrace
