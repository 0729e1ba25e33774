// All hits are found first. Threads then take pieces of the text. The number of hits before a piece gives the place of
// its result. A text of equal length has its place known, so each piece is searched when it is copied, if no two hits
// can overlap.
#include "query/find/cpu/replace.hpp"

#include <algorithm>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "query/find/cpu/find_kernels.hpp"
#include "query/find/cpu/probes.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const PatternKernels&(), pattern_kernels)

namespace {

constexpr u64 max_length = 1024;  // each piece is searched from as many bytes before it

// Writes the text with replacements of the pattern's length. A hit at the edge of two pieces is in both.
void replace_in_place(const FindPattern& pattern, const FindText& text, std::string_view replacement, u8* out,
                      const FindResources& resources) {
    const FindPlan plan = find_plan(pattern, text);
    const auto find = pattern_kernels_for(resources.isa)().find;
    const Pieces pieces(text.size, sizeof(u64));
    const auto scratch = [&] { return std::vector<u64>(pieces.length / plan.length + 2); };
    const auto replace = [&](std::vector<u64>& hits, u64 piece) {
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        std::copy(text.bytes + begin, text.bytes + end, out + begin);
        const u64 first = begin - std::min(begin, plan.length - 1), last = text.size - plan.length + 1;
        FoundPositions found{hits.data(), hits.size(), hits.size()};
        find(plan, {text.bytes, first, std::min(end, last)}, found);
        for (u64 i = 0; i < found.count; ++i) {
            const u64 from = std::max(hits[i], begin), to = std::min(hits[i] + plan.length, end);
            std::copy(replacement.data() + (from - hits[i]), replacement.data() + (to - hits[i]), out + from);
        }
    };
    for_each_piece(pieces.number(), resources.threads, scratch, replace, [](const std::vector<u64>&) {});
}

}  // namespace

void pattern_replace(const FindPattern& pattern, const FindText& text, std::string_view replacement,
                     const std::function<u8*(u64)>& allocate, const FindResources& resources) {
    const u64 length = pattern.bytes.size(), growth = replacement.size() - length;  // modulo 2^64
    if (growth == 0 && pattern.period == length && length <= std::min(text.size, max_length)) {
        u8* const out = allocate(text.size);
        take_pages(out, text.size, resources.threads);
        return replace_in_place(pattern, text, replacement, out, resources);
    }
    std::vector<u64> hits;
    const auto positions = [&](u64 count) {
        hits.resize(count);
        return hits.data();
    };
    pattern_positions(pattern, text, false, positions, resources);
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
        for (; hit != hits.end() && *hit < end; ++hit) {
            to = std::copy(text.bytes + at, text.bytes + *hit, to);
            to = std::copy(replacement.begin(), replacement.end(), to);
            at = *hit + length;
        }
        if (at < end) std::copy(text.bytes + at, text.bytes + end, to);
    });
}

}  // namespace headrace
