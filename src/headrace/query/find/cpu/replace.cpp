// Hits are counted first. The number of hits before a piece gives the place of its result. Threads then copy the
// pieces, and find the hits of those with many again. A text of equal length has its place known, so each piece is
// searched when it is copied, if no two hits can overlap.
#include "query/find/cpu/replace.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "query/find/cpu/find_kernels.hpp"
#include "query/find/cpu/pattern_search.hpp"
#include "query/find/cpu/probes.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const PatternKernels&(), pattern_kernels)

namespace {

constexpr u64 short_bytes = 16;
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

// Copies bytes and returns their end. If `is_inner`, both texts have `short_bytes` bytes from their begin on.
u8* copied(const u8* from, u64 size, u8* to, bool is_inner) {
    if (is_inner && size <= short_bytes) {
        std::memcpy(to, from, short_bytes);
    } else {
        std::memcpy(to, from, size);
    }
    return to + size;
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
    PatternSearch search(pattern, text, resources);
    const u64 total = text.size + search.prepare(false) * growth;
    u8* const out = allocate(total);
    take_pages(out, total, resources.threads);
    const std::string padded = std::string(replacement) + std::string(short_bytes, '\0');
    search.use_parts([&](const HitPart& part) {
        u8* to = out + (part.begin + part.hits_before * growth);
        const u8* const end = out + (part.end + (part.hits_before + part.hits.size()) * growth);
        u64 at = part.begin;
        for (const u64 hit : part.hits) {
            // Short texts are copied with bytes after them, which the next copies replace.
            const bool is_inner =
                at + short_bytes <= text.size && to + (hit - at) + replacement.size() + short_bytes <= end;
            to = copied(text.bytes + at, hit - at, to, is_inner);
            to = copied(reinterpret_cast<const u8*>(padded.data()), replacement.size(), to, is_inner);
            at = hit + length;
        }
        if (at < part.end) std::copy(text.bytes + at, text.bytes + part.end, to);
    });
}

}  // namespace headrace
