#include <algorithm>

#include "core/cpu/cache_blocks.hpp"
#include "index/sorted_map/cpu/sorted_map.hpp"
#include "index/sorted_map/cpu/widths.hpp"

namespace headrace {
namespace {

// Searches that run side by side, so that their cache misses overlap.
constexpr u32 lanes = 16;

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
        u64 low[lanes] = {};
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
    u32 lane_[lanes];
};

template <class Code>
KeyRule<Code> rule_of(const MapKeys& keys) {
    return *static_cast<const KeyRule<Code>*>(keys.rule);
}

}  // namespace

void find_in_levels(const MapLevels& levels, const MapKeys& keys, void* values, u8* is_present, unsigned threads) {
    with_code(keys.width, [&]<class Code>(Code) {
        const KeyRule<Code> rule = rule_of<Code>(keys);
        const Pieces pieces(keys.count, 64);  // a key moves about 8 bytes, and several lines of the levels
        for_each_piece(pieces.number(), threads, [&](u64 piece) {
            Lookup<Code> lookup(levels);
            const u64 end = pieces.begin(piece) + pieces.size(piece);
            for (u64 first = pieces.begin(piece); first < end; first += lanes) {
                const u32 count = static_cast<u32>(std::min<u64>(lanes, end - first));
                Code codes[lanes];
                MapItem items[lanes];
                for (u32 i = 0; i < count; ++i) {
                    codes[i] = rule.equal_code(static_cast<const Code*>(keys.keys)[first + i]);
                }
                lookup.batch(codes, count, items);
                for (u32 i = 0; i < count; ++i) {
                    const bool is_there =
                        items[i].level != no_level && !is_tombstone(levels.level[items[i].level], items[i].at);
                    is_present[first + i] = is_there;
                    if (is_there) {
                        const void* const from = levels.level[items[i].level].values;
                        copy_value(from, items[i].at, values, first + i, levels.value_width);
                    } else {
                        clear_value(values, first + i, levels.value_width);
                    }
                }
            }
        });
    });
}

void find_neighbours(const MapLevels& levels, const MapKeys& keys, const NeighbourOptions& options, const NewLevel& to,
                     u8* is_present, unsigned threads) {
    with_code(keys.width, [&]<class Code>(Code) {
        const KeyRule<Code> rule = rule_of<Code>(keys);
        const Pieces pieces(keys.count, 256);
        for_each_piece(pieces.number(), threads, [&](u64 piece) {
            const u64 end = pieces.begin(piece) + pieces.size(piece);
            for (u64 i = pieces.begin(piece); i < end; ++i) {
                const Code code = rule.equal_code(static_cast<const Code*>(keys.keys)[i]);
                const MapItem item = neighbour_of(levels, code, options);
                is_present[i] = item.level != no_level;
                if (item.level == no_level) {
                    static_cast<Code*>(to.codes)[i] = 0;
                    clear_value(to.values, i, levels.value_width);
                } else {
                    static_cast<Code*>(to.codes)[i] = key_of(rule, code_at<Code>(levels, item));
                    copy_value(levels.level[item.level].values, item.at, to.values, i, levels.value_width);
                }
            }
        });
    });
}

}  // namespace headrace
