#include "core/cpu/cache_blocks.hpp"
#include "index/sorted_map/cpu/sorted_map.hpp"
#include "index/sorted_map/cpu/widths.hpp"

namespace headrace {
namespace {

template <class Code>
struct Ranges {
    const Code* lows;
    const Code* highs;
    KeyRule<Code> rule;

    explicit Ranges(const MapRanges& ranges)
        : lows(static_cast<const Code*>(ranges.lows.keys)),
          highs(static_cast<const Code*>(ranges.highs)),
          rule(*static_cast<const KeyRule<Code>*>(ranges.lows.rule)) {}
    CodeRange<Code> range(u64 i) const { return {rule.equal_code(lows[i]), rule.equal_code(highs[i])}; }
};

// Calls work(ranges, i) for each range, in parallel.
template <class Work>
void for_each_range(const MapRanges& ranges, unsigned threads, const Work& work) {
    with_code(ranges.lows.width, [&]<class Code>(Code) {
        const Ranges<Code> given(ranges);
        const Pieces pieces(ranges.lows.count, 512);
        for_each_piece(pieces.number(), threads, [&](u64 piece) {
            const u64 end = pieces.begin(piece) + pieces.size(piece);
            for (u64 i = pieces.begin(piece); i < end; ++i) work(given, i);
        });
    });
}

}  // namespace

void count_ranges(const MapLevels& levels, const MapRanges& ranges, i64* counts, unsigned threads) {
    for_each_range(ranges, threads, [&]<class Code>(const Ranges<Code>& given, u64 i) {
        counts[i] = count_of_range(levels, given.range(i), ~u64{0});
    });
}

void copy_ranges(const MapLevels& levels, const MapRanges& ranges, const i64* offsets, const NewLevel& to,
                 unsigned threads) {
    for_each_range(ranges, threads, [&]<class Code>(const Ranges<Code>& given, u64 i) {
        u64 place = static_cast<u64>(offsets[i]);
        visit_range(levels, given.range(i), [&](const MapItem& item, bool is_pair) {
            if (!is_pair) return true;
            static_cast<Code*>(to.codes)[place] = key_of(given.rule, code_at<Code>(levels, item));
            copy_value(levels.level[item.level].values, item.at, to.values, place, levels.value_width);
            ++place;
            return true;
        });
    });
}

}  // namespace headrace
