#include "arrange/gather/widths.hpp"
#include "index/sorted_map/cpu/sorted_map.hpp"
#include "index/sorted_map/cpu/walks.hpp"

namespace headrace {
namespace {

// Searches groups of up to 16 codes, in the newest level first. Codes that a level has leave the search, and codes
// outside of its first and last one do not enter. Groups that ascend, as sorted keys do, are searched from the place of
// the group before, by steps that double.
template <class Code>
class Lookup {
public:
    explicit Lookup(const MapLevels& levels) : levels_(levels) {}

    // Writes the item that decides about each code; no level if no level has the code.
    void batch(const Code* codes, u32 count, MapItem* items) {
        follow(codes, count);
        for (u32 i = 0; i < count; ++i) {
            left_[i] = i;
            items[i].level = no_level;
        }
        for (u32 number = 0; number < levels_.count && count > 0; ++number) {
            level(number, codes, count, items);
            u32 left = 0;
            for (u32 i = 0; i < count; ++i) {
                const u32 lane = left_[i];
                left_[left] = lane;
                left += items[lane].level == no_level ? 1 : 0;
            }
            count = left;
        }
    }

private:
    // Begins a group: it ascends if its codes do, and follow those of the group before.
    void follow(const Code* codes, u32 count) {
        is_ascending_ = last_ <= codes[0] && std::is_sorted(codes, codes + count);
        if (!is_ascending_) std::fill_n(begin_, levels_.count, 0);
        last_ = codes[count - 1];
        if (levels_.count == 1) return;  // the ends of an only level save no search
        least_ = most_ = codes[0];
        for (u32 i = 1; i < count; ++i) {
            least_ = std::min(least_, codes[i]);
            most_ = std::max(most_, codes[i]);
        }
    }

    // Searches the codes of the first `count` lanes that are left in one level.
    void level(u32 number, const Code* codes, u32 count, MapItem* items) {
        const MapLevel& level = levels_.level[number];
        const Code* const sorted = codes_of<Code>(level);
        const Code first = sorted[0], last = sorted[level.count - 1];
        u32 chosen[walk_lanes], inside = count;
        const u32* lanes = left_;
        if (least_ < first || most_ > last) {
            inside = 0;
            for (u32 i = 0; i < count; ++i) {
                const Code code = codes[left_[i]];
                chosen[inside] = left_[i];
                inside += first <= code && code <= last ? 1 : 0;
            }
            lanes = chosen;
        }
        if (inside == 0) return;
        u64 low[walk_lanes];
        std::fill_n(low, inside, begin_[number]);
        const u64 from = begin_[number], window = window_of(number, codes[lanes[inside - 1]]);
        for (u64 length = window; length > 1; length -= length / 2) {
            for (u32 i = 0; i < inside; ++i) {
                low[i] = halve(sorted, low[i], length, codes[lanes[i]], CodeItself<Code>{}, 0);
            }
        }
        for (u32 i = 0; i < inside; ++i) {
            const Code code = codes[lanes[i]];
            low[i] += sorted[low[i]] < code ? 1 : 0;
            if (low[i] < level.count && sorted[low[i]] == code) items[lanes[i]] = {number, low[i]};
        }
        if (is_ascending_) {
            begin_[number] = std::min(low[inside - 1], level.count - 1);
            advance_[number] = begin_[number] - from;
        }
    }

    // Returns a number of items of a level, one or more. From the begin of the group on, they have the places of all
    // codes up to `last`.
    u64 window_of(u32 number, Code last) const {
        const MapLevel& level = levels_.level[number];
        const u64 from = begin_[number], rest = level.count - from;
        if (!is_ascending_) return rest;
        const Code* const sorted = codes_of<Code>(level) + from;
        u64 step = std::max<u64>(walk_lanes, advance_[number]);
        while (step < rest && sorted[step] < last) step *= 2;
        return std::min(rest, step + 1);
    }

    const MapLevels& levels_;
    u32 left_[walk_lanes];
    bool is_ascending_ = false;
    Code least_ = static_cast<Code>(~Code{0}), most_ = 0;  // of the group, if there are several levels
    Code last_ = 0;                                        // of the group before
    u64 begin_[max_levels] = {};    // place of the last code that was searched; 0 if the group does not ascend
    u64 advance_[max_levels] = {};  // how far the group before moved it
};

template <class Code>
KeyRule<Code> rule_of(const MapKeys& keys) {
    return *static_cast<const KeyRule<Code>*>(keys.rule);
}

}  // namespace

void find_in_levels(const MapLevels& levels, const MapKeys& keys, void* values, u8* is_present, unsigned threads) {
    with_width<u32, u64>(keys.width, [&]<class Code>(Code) {
        const KeyRule<Code> rule = rule_of<Code>(keys);
        // A key moves about 8 bytes, and several lines of the levels.
        for_each_group(
            keys.count, 64, threads, [&] { return Lookup<Code>(levels); },
            [&](Lookup<Code>& lookup, u64 first, u32 count) {
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
    with_width<u32, u64>(keys.width, [&]<class Code>(Code) {
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
