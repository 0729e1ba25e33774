// All hits are found first. Threads then take pieces of the text. The number of hits before a piece gives the place of
// its result.
#include "query/find/cpu/replace.hpp"

#include <algorithm>
#include <vector>

#include "core/cpu/cache_blocks.hpp"

namespace headrace {

void pattern_replace(const FindPattern& pattern, const FindText& text, std::string_view replacement,
                     const std::function<u8*(u64)>& allocate, const FindResources& resources) {
    std::vector<u64> hits;
    const auto positions = [&](u64 count) {
        hits.resize(count);
        return hits.data();
    };
    pattern_positions(pattern, text, false, positions, resources);
    const u64 length = pattern.bytes.size(), growth = replacement.size() - length;  // modulo 2^64
    const u64 total = text.size + hits.size() * growth;
    u8* const out = allocate(total);
    take_pages(out, total, resources.threads);
    const Pieces pieces(text.size, 1);
    for_each_piece(pieces.number(), resources.threads, [&](u64 piece) {
        const u64 end = pieces.begin(piece) + pieces.size(piece);
        auto hit = std::lower_bound(hits.begin(), hits.end(), pieces.begin(piece));
        u64 at = pieces.begin(piece);
        if (hit != hits.begin()) at = std::max(at, *(hit - 1) + length);
        u8* to = out + (at + static_cast<u64>(hit - hits.begin()) * growth);
        if (growth == 0) {  // one long copy takes less time than many short ones
            if (at < end) std::copy(text.bytes + at, text.bytes + end, to);
            for (; hit != hits.end() && *hit < end; ++hit) {
                std::copy(replacement.begin(), replacement.end(), out + *hit);
            }
            return;
        }
        for (; hit != hits.end() && *hit < end; ++hit) {
            to = std::copy(text.bytes + at, text.bytes + *hit, to);
            to = std::copy(replacement.begin(), replacement.end(), to);
            at = *hit + length;
        }
        if (at < end) std::copy(text.bytes + at, text.bytes + end, to);
    });
}

}  // namespace headrace
