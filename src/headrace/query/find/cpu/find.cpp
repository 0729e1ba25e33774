// Threads take pieces of the text in order. A piece keeps its positions if they are few; one with many is searched
// again once their places in the result are known. So besides the result a search takes an eighth of the text at most.
//
// If hits may not overlap, those of a piece depend on the last hit before it. A thread that takes a piece after the one
// before it knows that hit. Other pieces are searched as if there were none, and again if it matters.
#include "query/find/cpu/find.hpp"

#include <algorithm>
#include <atomic>

#include "query/find/cpu/pattern_search.hpp"
#include "query/find/cpu/probes.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const PatternKernels&(), pattern_kernels)

namespace {

constexpr u64 all = ~u64{0};
constexpr u64 stored_share = 64;     // a piece keeps one position in 64 at most
constexpr u64 patterns_a_piece = 4;  // least length of a piece: a linear search reads a pattern's length past its end

}  // namespace

PatternSearch::PatternSearch(const FindPattern& pattern, const FindText& text, const FindResources& resources)
    : plan_(find_plan(pattern, text)),
      text_(text),
      threads_(resources.threads),
      kernel_(pattern_kernels_for(resources.isa)().find),
      starts_(text.size < plan_.length ? 0 : text.size - plan_.length + 1, 1) {
    starts_.length = std::max(starts_.length, patterns_a_piece * plan_.length);
}

u64 PatternSearch::count() const {
    std::atomic<u64> total{0};
    for_each_piece(starts_.number(), threads_, [&](u64 piece) {
        FoundPositions found{nullptr, 0, all};
        search(piece, found);
        total += found.count;
    });
    return total;
}

std::optional<u64> PatternSearch::first() const {
    std::atomic<u64> least{all};
    for_each_piece(starts_.number(), threads_, [&](u64 piece) {
        if (least < starts_.begin(piece)) return;
        u64 position = all;
        FoundPositions found{&position, 1, 1};
        search(piece, found);
        u64 known = least;
        while (position < known && !least.compare_exchange_weak(known, position)) {
        }
    });
    return least == all ? std::nullopt : std::optional<u64>(least);
}

u64 PatternSearch::prepare(bool overlapping) {
    gap_ = overlapping || plan_.period == plan_.length ? 0 : plan_.length;
    found_.resize(starts_.number());
    const auto scratch = [&] {
        return PieceScratch{std::vector<u64>(std::min(starts_.count, starts_.length / stored_share))};
    };
    for_each_piece(starts_.number(), threads_, scratch, [&](PieceScratch& own, u64 piece) {
        search_piece(piece, own.next_piece == piece ? own.exit : 0, own.out);
        own.next_piece = piece + 1;
        own.exit = exit_of(found_[piece]);
    });
    PieceScratch spare = scratch();
    u64 total = 0, entry = 0, end = 0;
    for (u64 i = 0; i < found_.size(); ++i) {
        PieceHits& piece = found_[i];
        if (gap_ != 0 && !has_hits_of(i, entry)) {
            check_interrupt();
            search_piece(i, entry, spare.out);
        }
        entry = std::max(entry, exit_of(piece));
        piece.place = total;
        piece.begin = std::max(starts_.begin(i), end);
        total += piece.count;
        if (piece.count != 0) end = piece.last + plan_.length;
    }
    return total;
}

void PatternSearch::write(u64* out, u64 total) const {
    take_pages(out, total * sizeof(u64), threads_);
    for_each_piece(starts_.number(), threads_, [&](u64 piece) { write_piece(piece, out + found_[piece].place); });
}

void PatternSearch::use_parts(const std::function<void(const HitPart&)>& use) const {
    if (found_.empty()) return use({0, text_.size, {}, 0});
    const auto scratch = [] { return std::vector<u64>(); };
    for_each_piece(found_.size(), threads_, scratch, [&](std::vector<u64>& hits, u64 i) {
        const PieceHits& piece = found_[i];
        hits.resize(std::max<u64>(hits.size(), piece.count));
        write_piece(i, hits.data());
        const u64 end = i + 1 < found_.size() ? found_[i + 1].begin : text_.size;
        use({piece.begin, end, {hits.data(), piece.count}, piece.place});
    });
}

void PatternSearch::search(u64 piece, FoundPositions& found) const {
    const u64 begin = starts_.begin(piece);
    kernel_(plan_, {text_.bytes, begin, begin + starts_.size(piece)}, found);
}

// Finds the positions of a piece from `entry` on.
void PatternSearch::search_piece(u64 index, u64 entry, std::vector<u64>& out) {
    PieceHits& piece = found_[index];
    FoundPositions found{out.data(), out.size(), all, 0, gap_, entry};
    search(index, found);
    piece.count = found.count;
    piece.entry = entry;
    piece.first = found.count == 0 ? all : out[0];
    piece.last = found.entry - gap_;
    piece.stored.clear();
    if (found.count <= out.size()) piece.stored.assign(out.begin(), out.begin() + static_cast<i64>(found.count));
}

// Returns whether the positions of a piece are those from `entry` on.
bool PatternSearch::has_hits_of(u64 index, u64 entry) const {
    const PieceHits& piece = found_[index];
    const u64 begin = starts_.begin(index), known = std::max(piece.entry, begin), wanted = std::max(entry, begin);
    return known == wanted || (known < wanted && piece.first >= wanted);
}

void PatternSearch::write_piece(u64 index, u64* out) const {
    const PieceHits& piece = found_[index];
    if (piece.count == piece.stored.size()) {
        std::copy_n(piece.stored.data(), piece.count, out);
        return;
    }
    FoundPositions found{out, piece.count, all, 0, gap_, piece.entry};
    search(index, found);
}

void pattern_positions(const FindPattern& pattern, const FindText& text, bool overlapping,
                       const std::function<u64*(u64)>& allocate, const FindResources& resources) {
    PatternSearch search(pattern, text, resources);
    const u64 total = search.prepare(overlapping);
    search.write(allocate(total), total);
}

u64 pattern_count(const FindPattern& pattern, const FindText& text, bool overlapping, const FindResources& resources) {
    PatternSearch search(pattern, text, resources);
    if (overlapping || pattern.period == pattern.bytes.size()) return search.count();
    return search.prepare(overlapping);
}

std::optional<u64> first_pattern(const FindPattern& pattern, const FindText& text, const FindResources& resources) {
    return PatternSearch(pattern, text, resources).first();
}

}  // namespace headrace
