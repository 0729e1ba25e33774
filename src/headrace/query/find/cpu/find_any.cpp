// A thread takes pieces of the text and probes the table of windows at each first, second or fourth position. Hits of a
// piece are those that begin in it, so its windows may lie a few bytes past its end. They are found in the order of
// windows and then sorted.
#include "query/find/cpu/find_any.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "query/find/cpu/set_search.hpp"

namespace headrace {
namespace {

struct Hit {
    u64 position;
    u32 pattern;
    bool operator<(const Hit& other) const {
        return position != other.position ? position < other.position : pattern < other.pattern;
    }
};

}  // namespace

void patterns_positions(const FindPatterns& patterns, const FindText& text,
                        const std::function<HitArrays(u64)>& allocate, unsigned threads) {
    const SetSearch search(patterns, text);
    const Pieces pieces(text.size, 1);
    std::vector<std::vector<Hit>> found(pieces.number());
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        const u64 begin = pieces.begin(piece);
        std::vector<Hit>& hits = found[piece];
        search.run(begin, begin + pieces.size(piece), [&](u64 at, u32 pattern) { hits.push_back({at, pattern}); });
        std::sort(hits.begin(), hits.end());
    });
    u64 total = 0;
    std::vector<u64> places;
    for (const std::vector<Hit>& hits : found) {
        places.push_back(total);
        total += hits.size();
    }
    const HitArrays out = allocate(total);
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        u64 to = places[piece];
        for (const Hit& hit : found[piece]) {
            out.positions[to] = hit.position;
            out.patterns[to++] = hit.pattern;
        }
    });
}

void patterns_counts(const FindPatterns& patterns, const FindText& text, u64* counts, unsigned threads) {
    const SetSearch search(patterns, text);
    const Pieces pieces(text.size, 1);
    const u64 number = patterns.patterns().size();
    std::fill_n(counts, number, u64{0});
    std::mutex adding;
    for_each_piece(
        pieces.number(), threads, [&] { return std::vector<u64>(number); },
        [&](std::vector<u64>& own, u64 piece) {
            const u64 begin = pieces.begin(piece);
            search.run(begin, begin + pieces.size(piece), [&](u64, u32 pattern) { ++own[pattern]; });
        },
        [&](const std::vector<u64>& own) {
            const std::scoped_lock lock(adding);
            for (u64 i = 0; i < number; ++i) counts[i] += own[i];
        });
}

}  // namespace headrace
