// Defines the levels of a sorted map and the walks through them, for CPU and GPU. (GPU LSM: Ashkiani, chapter 4.)
//
// A level is an array sorted by code (sort_key.hpp), whose items are pairs or tombstones. Levels are ordered from the
// newest to the oldest. In a level, of the items of one code the newest is first. So the first item of a code in the
// newest level that has it decides. A pair is visible, and a tombstone means that the key is deleted. For example, with
// * for a tombstone, the visible keys are 2, 5 and 7:
//
//   newest level   3* 5
//   oldest level   2 3 3 5 7
//
// The status is kept apart from the code, so keys have their full width.
#pragma once
#include "arrange/search/search.hpp"
#include "core/hash.hpp"

HR_BEGIN_NAMESPACE

struct MapLevel {
    const void* codes;     // `count` codes of 4 or 8 bytes, ascending
    const void* values;    // items of 4 or 8 bytes; null if the map has keys alone
    const u8* tombstones;  // 1 for a tombstone, 0 for a pair; null if there are pairs only
    const void* fences;    // codes that guide searches, see rank_in_level; null for none
    u64 count;
    u64 fence_shift;  // each fence of the top row is the last of 2^fence_shift codes
    u64* filter;      // excludes codes that the level does not have, see filter_bits; null for none
};

constexpr u32 max_levels = 48;

// The levels of a map, newest first. Each one has more items than all newer ones together, so 48 levels suffice.
struct MapLevels {
    MapLevel level[max_levels];
    MapLevel guide;  // samples of all levels, see positions_of_sample; no codes for none
    u32 count;
    u32 value_width;  // bytes of a value; 0 for keys alone
    u32 is_clean;     // whether there is at most one level, which has each key once and no tombstone
    u32 unused;
};

// An item: its level, and its position there. No item if `level` is `no_level`.
struct MapItem {
    u32 level;
    u64 at;
};
constexpr u32 no_level = ~0u;

// The rule of search.hpp for keys that are codes.
template <class Code>
struct CodeItself {
    HR_MEMBER Code equal_code(Code code) const { return code; }
};

// Returns the key of an equal code: of -0 and 0 it is 0, of all NaN the positive quiet one without a payload.
template <class Code>
HR_FN Code key_of(const KeyRule<Code>& rule, Code code) {
    if (rule.infinity != 0 && code == static_cast<Code>(~Code{0})) {
        return static_cast<Code>(rule.infinity | (rule.infinity & (Code{0} - rule.infinity)) >> 1);
    }
    return rule.key(code);
}

template <class Code>
HR_FN const Code* codes_of(const MapLevel& level) {
    return static_cast<const Code*>(level.codes);
}

HR_FN bool is_tombstone(const MapLevel& level, u64 at) { return level.tombstones != nullptr && level.tombstones[at]; }

// Returns the number of codes before `code`, and codes equal to it if `after_equal`, of `count` ascending ones.
template <class Code>
HR_FN u64 rank_of(const Code* codes, u64 count, Code code, u32 after_equal) {
    u64 low = 0;
    for (u64 length = count; length > 1; length -= length / 2) {
        low = halve(codes, low, length, code, CodeItself<Code>{}, after_equal);
    }
    return low + (count > 0 && is_before(codes[low], code, after_equal) ? 1 : 0);
}

// A search reads nodes of 8 codes, which are 1 or 2 sectors of memory, instead of single codes of many sectors. A row
// of fences has the last code of each node of the row below it, and the codes are the lowest row. The top row is first
// in memory and is one node. Each row is filled up to whole nodes with the largest code. For example, with nodes of 2:
//
//   fences  5 9, 2 5 7 9   codes  1 2 4 5 6 7 8 9
constexpr u32 fence_bits = 3;
constexpr u64 node_codes = 1 << fence_bits;

HR_FN u64 fences_of_row(u64 count, u64 shift) { return (count + (u64{1} << shift) - 1) >> shift; }
HR_FN u64 whole_nodes(u64 fences) { return (fences + node_codes - 1) / node_codes * node_codes; }

struct FenceRows {
    u64 shift;   // of the top row
    u64 fences;  // of all rows, with fillings
};
HR_FN FenceRows fence_rows(u64 count) {
    FenceRows rows{0, 0};
    do {
        rows.shift += fence_bits;
        rows.fences += whole_nodes(fences_of_row(count, rows.shift));
    } while (fences_of_row(count, rows.shift) > node_codes);
    return rows;
}

template <class Code>
struct alignas(16) CodeVector {
    static constexpr u32 count = 16 / sizeof(Code);
    Code code[count];
};

// Returns the number of codes of a whole node that are smaller.
template <class Code>
HR_FN u32 rank_in_node(const Code* node, Code code) {
    u32 found = 0;
    for (u32 i = 0; i < node_codes; i += CodeVector<Code>::count) {
        const CodeVector<Code> vector = *reinterpret_cast<const CodeVector<Code>*>(node + i);
        for (u32 k = 0; k < CodeVector<Code>::count; ++k) found += vector.code[k] < code ? 1 : 0;
    }
    return found;
}

// Returns the same as rank_of for the codes of a level, by its fences.
template <class Code>
HR_FN u64 rank_in_level(const MapLevel& level, Code code, u32 after_equal) {
    const Code* const codes = codes_of<Code>(level);
    if (level.fences == nullptr) return rank_of(codes, level.count, code, after_equal);
    if (after_equal != 0 && code == static_cast<Code>(~Code{0})) return level.count;
    code = static_cast<Code>(code + (after_equal != 0 ? 1 : 0));
    const Code* row = static_cast<const Code*>(level.fences);
    u64 node = 0;
    for (u64 shift = level.fence_shift; shift > 0; shift -= fence_bits) {
        const u64 fences = fences_of_row(level.count, shift);
        node = node * node_codes + rank_in_node(row + node * node_codes, code);
        if (node >= fences) return level.count;  // all codes are smaller
        row += whole_nodes(fences);
    }
    const u64 first = node * node_codes;
    if (level.count - first >= node_codes) return first + rank_in_node(codes + first, code);
    return first + rank_of(codes + first, level.count - first, code, 0);
}

// A filter has a word for each 8 items of a level. An item sets 4 bits of the word that the hash of its code selects.
// If not all bits of a code are set, the level does not have the code. (Blocked Bloom filter of Putze, Sanders and
// Singler 2007.) About 1 in 30 codes that a level does not have passes.
constexpr u64 filtered_items = 8;

HR_FN u64 filter_words(u64 count) { return (count + filtered_items - 1) / filtered_items; }
HR_FN u64 word_of_filter(u64 count, u64 hash) { return (hash >> 32) * filter_words(count) >> 32; }
HR_FN u64 bits_of_filter(u64 hash) {
    return u64{1} << (hash & 63) | u64{1} << (hash >> 6 & 63) | u64{1} << (hash >> 12 & 63) |
           u64{1} << (hash >> 18 & 63);
}

// Returns false only if a level does not have the code with this hash.
HR_FN bool may_have(const MapLevel& level, u64 hash) {
    if (level.filter == nullptr) return true;
    return (bits_of_filter(hash) & ~level.filter[word_of_filter(level.count, hash)]) == 0;
}

// A guide has the items at each multiple of a stride of each level as one sorted array, in the order of a merge. Its
// values are rows of positions, one in each level: of the items that are merged before the sample. So a search of the
// guide bounds the searches of all levels by two rows. For example, with samples at multiples of 2:
//
//   newest level  1 4 6      guide  1    2    5    6
//   oldest level  2 3 5 7    rows   0 0  1 0  2 2  2 3
constexpr u32 row_unit = 4;

HR_FN u64 row_length(u32 levels) { return (levels + row_unit - 1) / row_unit * row_unit; }
HR_FN const u32* positions_of_sample(const MapLevels& levels, u64 sample) {
    return static_cast<const u32*>(levels.guide.values) + sample * row_length(levels.count);
}

// Returns the number of codes before `code` in level `of`, by the number of samples before it.
template <class Code>
HR_FN u64 rank_between_samples(const MapLevels& levels, u32 of, u64 samples, Code code, u32 after_equal) {
    const u64 low = samples > 0 ? positions_of_sample(levels, samples - 1)[of] : 0;
    const u64 high = samples < levels.guide.count ? positions_of_sample(levels, samples)[of] : levels.level[of].count;
    return low + rank_of(codes_of<Code>(levels.level[of]) + low, high - low, code, after_equal);
}

// Returns the position after the run of codes that begins at `at`: one read for a run of one, log n for a long one.
template <class Code>
HR_FN u64 end_of_run(const Code* codes, u64 count, u64 at) {
    const Code code = codes[at];
    u64 step = 1;
    while (step < count - at && codes[at + step] == code) step *= 2;
    const u64 known = at + step / 2, end = step < count - at ? at + step : count;
    return known + rank_of(codes + known, end - known, code, 1);
}

// Returns the position of the first code of the run that ends before `end`.
template <class Code>
HR_FN u64 begin_of_run(const Code* codes, u64 end) {
    const Code code = codes[end - 1];
    u64 step = 1;
    while (step < end && codes[end - 1 - step] == code) step *= 2;
    const u64 low = step < end ? end - 1 - step : 0;
    return low + rank_of(codes + low, end - low, code, 0);
}

// Finds the next code of a walk towards larger codes, and the item that decides about it. `at` has the position of the
// walk in each level, and is moved past the code. The item has no level if no code is left.
template <class Code>
HR_FN MapItem next_item(const MapLevels& levels, u64* at) {
    MapItem found{no_level, 0};
    Code least = 0;
    for (u32 i = 0; i < levels.count; ++i) {
        if (at[i] >= levels.level[i].count) continue;
        const Code code = codes_of<Code>(levels.level[i])[at[i]];
        if (found.level == no_level || code < least) {
            found = {i, at[i]};
            least = code;
        }
    }
    for (u32 i = found.level; i < levels.count; ++i) {
        const Code* const codes = codes_of<Code>(levels.level[i]);
        const u64 count = levels.level[i].count;
        if (at[i] < count && codes[at[i]] == least) at[i] = end_of_run(codes, count, at[i]);
    }
    return found;
}

// The same towards smaller codes: `at` has the end of the items that are left in each level.
template <class Code>
HR_FN MapItem previous_item(const MapLevels& levels, u64* at) {
    MapItem found{no_level, 0};
    Code largest = 0;
    for (u32 i = 0; i < levels.count; ++i) {
        if (at[i] == 0) continue;
        const Code code = codes_of<Code>(levels.level[i])[at[i] - 1];
        if (found.level == no_level || code > largest) {
            found.level = i;
            largest = code;
        }
    }
    for (u32 i = found.level; i < levels.count; ++i) {
        const Code* const codes = codes_of<Code>(levels.level[i]);
        if (at[i] == 0 || codes[at[i] - 1] != largest) continue;
        at[i] = begin_of_run(codes, at[i]);
        if (i == found.level) found.at = at[i];
    }
    return found;
}

template <class Code>
HR_FN Code code_at(const MapLevels& levels, const MapItem& item) {
    return codes_of<Code>(levels.level[item.level])[item.at];
}

// The codes from `low` to `high`, both included; none if `high` is smaller.
template <class Code>
struct CodeRange {
    Code low;
    Code high;
};

// Begins a walk before the items of a code, or after them if `after_equal`.
template <class Code>
HR_FN void begin_walk(const MapLevels& levels, Code code, u32 after_equal, u64* at) {
    if (levels.guide.codes != nullptr) {
        const u64 samples = rank_in_level(levels.guide, code, after_equal);
        for (u32 i = 0; i < levels.count; ++i) at[i] = rank_between_samples(levels, i, samples, code, after_equal);
        return;
    }
    for (u32 i = 0; i < levels.count; ++i) {
        at[i] = rank_in_level(levels.level[i], code, after_equal);
    }
}

// Calls visit(item, is_pair) for the item that decides about each code up to `high`, ascending, until it returns false.
// The walk has begun before the first code of the range.
template <class Code, class Visit>
HR_FN void visit_codes(const MapLevels& levels, Code high, u64* at, const Visit& visit) {
    while (true) {
        const MapItem item = next_item<Code>(levels, at);
        if (item.level == no_level || code_at<Code>(levels, item) > high) return;
        if (!visit(item, !is_tombstone(levels.level[item.level], item.at))) return;
    }
}

// Returns the number of visible pairs of a walk up to `high`; -1 if it visits more than `longest` items.
template <class Code>
HR_FN i64 count_codes(const MapLevels& levels, Code high, u64* at, u64 longest) {
    i64 found = 0;
    u64 visited = 0;
    visit_codes(levels, high, at, [&](const MapItem&, bool is_pair) {
        found += is_pair ? 1 : 0;
        return ++visited <= longest;
    });
    return visited > longest ? -1 : found;
}

// A search for a neighbour of a key.
struct NeighbourOptions {
    u32 is_successor;  // else the predecessor
    u32 is_inclusive;  // whether the key itself is a neighbour, if it is visible
};

// Returns whether the walk to a neighbour begins after the items of the key.
HR_FN u32 begins_after(const NeighbourOptions& options) { return options.is_successor != options.is_inclusive ? 1 : 0; }

// Returns the first visible pair of a walk, or the last one before it. No level if there is none.
template <class Code>
HR_FN MapItem neighbour_of(const MapLevels& levels, u64* at, const NeighbourOptions& options) {
    while (true) {
        const MapItem item = options.is_successor ? next_item<Code>(levels, at) : previous_item<Code>(levels, at);
        if (item.level == no_level || !is_tombstone(levels.level[item.level], item.at)) return item;
    }
}

// Items of several batches are sorted at once, those of newer batches first. The status of an item has bit 0 set for a
// delete. If its batch has pairs and deletes, its upper bits are the number of that batch among such ones, from 1 on.
constexpr u32 max_mixed = 127;

HR_FN u8 status_of(u32 mixed, u32 is_delete) { return static_cast<u8>(mixed << 1 | is_delete); }

// Returns the item that delete `i` makes a tombstone. `first` is the first item of its run, and decides about the code.
// It is the newest item, but a delete of the same batch precedes it.
HR_FN u64 tombstone_of(const u8* statuses, u64 first, u64 i) {
    return statuses[i] > 1 && statuses[first] >> 1 == statuses[i] >> 1 ? first : i;
}

// Copies value `from_at` of an array to value `to_at` of another one. `width`: 4 or 8 bytes; 0 for keys alone.
HR_FN void copy_value(const void* from, u64 from_at, void* to, u64 to_at, u32 width) {
    if (width == 4) static_cast<u32*>(to)[to_at] = static_cast<const u32*>(from)[from_at];
    if (width == 8) static_cast<u64*>(to)[to_at] = static_cast<const u64*>(from)[from_at];
}

HR_FN void clear_value(void* to, u64 at, u32 width) {
    if (width == 4) static_cast<u32*>(to)[at] = 0;
    if (width == 8) static_cast<u64*>(to)[at] = 0;
}

// Returns whether an item of a level is the visible one of its code, if there is no newer level with the code.
template <class Code>
HR_FN bool is_visible(const MapLevel& level, u64 at) {
    const Code* const codes = codes_of<Code>(level);
    return (at == 0 || codes[at] != codes[at - 1]) && !is_tombstone(level, at);
}

HR_END_NAMESPACE
