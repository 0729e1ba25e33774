// Merges parts of levels two by two in a core's cache, each item as its code and its source.
#pragma once
#include <algorithm>
#include <vector>

#include "index/sorted_map/level.hpp"

namespace headrace {

constexpr u64 piece_items = 1 << 13;
constexpr u32 level_shift = 16;  // a source is a level and a position of up to 2^13 items in its part

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

// Returns `second` if `takes_second`, without a branch: which of two parts has the next item is random.
template <class Word>
Word chosen(bool takes_second, Word first, Word second) {
    return first ^ ((first ^ second) & (Word{0} - static_cast<Word>(takes_second)));
}

// Merges two parts, of which the older one is a part of a level; of equal codes those of `newer` are first.
template <bool has_sources, class Code>
void merge_parts(const LevelPart<Code>& newer, const LevelPart<Code>& older, Code* codes, u32* sources) {
    const auto source_of = [&](u64 a) {
        if constexpr (has_sources) return newer.sources[a];
        return newer.source + static_cast<u32>(a);
    };
    u64 a = 0, b = 0;
    while (a < newer.count && b < older.count) {
        // Neither part ends within this number of items.
        const u64 first_place = a + b, end = first_place + std::min(newer.count - a, older.count - b);
        for (u64 i = first_place; i < end; ++i) {
            a = i - b;
            const Code first = newer.codes[a], second = older.codes[b];
            const bool is_older = second < first;
            codes[i] = chosen(is_older, first, second);
            sources[i] = chosen(is_older, source_of(a), older.source + static_cast<u32>(b));
            b += static_cast<u64>(is_older);
        }
        a = end - b;
    }
    for (; a < newer.count; ++a) {
        codes[a + b] = newer.codes[a];
        sources[a + b] = source_of(a);
    }
    for (; b < older.count; ++b) {
        codes[a + b] = older.codes[b];
        sources[a + b] = older.source + static_cast<u32>(b);
    }
}

template <class Code>
class PartMerger {
public:
    // Merges the items from begin[i] to end[i] of each level i, stably and newer ones first: up to piece_items in all.
    LevelPart<Code> merge(const MapLevels& levels, const u64* begin, const u64* end) {
        parts_.resize(2);
        LevelPart<Code> merged{nullptr, nullptr, 0, 0};
        u32 turn = 0;
        for (u32 i = 0; i < levels.count; ++i) {
            const u64 count = end[i] - begin[i];
            if (count == 0) continue;
            const LevelPart<Code> part{codes_of<Code>(levels.level[i]) + begin[i], nullptr, i << level_shift, count};
            if (merged.count == 0) {
                merged = part;
                continue;
            }
            Merged<Code>& to = parts_[turn ^= 1];
            const auto merge = merged.sources == nullptr ? merge_parts<false, Code> : merge_parts<true, Code>;
            merge(merged, part, to.codes, to.sources);
            merged = {to.codes, to.sources, 0, merged.count + count};
        }
        return merged;
    }

private:
    std::vector<Merged<Code>> parts_;  // empty before the first merge
};

}  // namespace headrace
