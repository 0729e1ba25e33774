// Threads take pieces of the text in order. A piece keeps its positions if they are few; one with many is searched
// again once their places in the result are known. So besides the result a search takes an eighth of the text at most.
#include "query/find/cpu/find.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "query/find/cpu/find_kernels.hpp"
#include "query/find/cpu/probes.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const PatternKernels&(), pattern_kernels)

namespace {

constexpr u64 all = ~u64{0};
constexpr u64 stored_share = 64;     // a piece keeps one position in 64 at most
constexpr u64 patterns_a_piece = 4;  // least length of a piece: a linear search reads a pattern's length past its end

struct PieceHits {
    std::vector<u64> stored;  // all positions, if they are few
    u64 count = 0;            // all positions
    u64 entry = 0;            // first position that overlaps no hit of the pieces before
    u64 selected = 0;  // positions that overlap no selected one, a bound of what is written should the text change
    u64 place = 0;     // index of the piece's first position in the result
};

class PatternSearch {
public:
    PatternSearch(const FindPattern& pattern, const FindText& text, const FindResources& resources)
        : plan_(find_plan(pattern, text)),
          text_(text),
          threads_(resources.threads),
          kernel_(pattern_kernels_for(resources.isa)().find),
          starts_(text.size < plan_.length ? 0 : text.size - plan_.length + 1, 1) {
        starts_.length = std::max(starts_.length, patterns_a_piece * plan_.length);
    }

    u64 count() const {
        std::atomic<u64> total{0};
        for_each_piece(starts_.number(), threads_, [&](u64 piece) {
            FoundPositions found{nullptr, 0, all};
            search(piece, found);
            total += found.count;
        });
        return total;
    }

    std::optional<u64> first() const {
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

    // Finds the number of positions, and what write() needs. Hits of a pattern without a border never overlap.
    u64 prepare(bool overlapping) {
        selects_ = !overlapping && plan_.period < plan_.length;
        found_.resize(starts_.number());
        const u64 capacity = std::min(starts_.count, starts_.length / stored_share);
        const auto scratch = [&] { return std::vector<u64>(capacity); };
        for_each_piece(
            starts_.number(), threads_, scratch,
            [&](std::vector<u64>& out, u64 piece) {
                FoundPositions found{out.data(), out.size(), all};
                search(piece, found);
                found_[piece].count = found.count;
                if (found.count <= out.size()) {
                    found_[piece].stored.assign(out.begin(), out.begin() + static_cast<i64>(found.count));
                }
            },
            [](const std::vector<u64>&) {});
        u64 total = 0, entry = 0;
        std::vector<u64> spare;
        for (u64 i = 0; i < found_.size(); ++i) {
            PieceHits& piece = found_[i];
            piece.place = total;
            piece.entry = entry;
            if (!selects_) {
                total += piece.count;
                continue;
            }
            check_interrupt();
            const u64* const positions = positions_of(i, spare);
            for (u64 k = 0; k < piece.count; ++k) {
                if (positions[k] < entry) continue;
                entry = positions[k] + plan_.length;
                ++piece.selected;
            }
            total += piece.selected;
        }
        return total;
    }

    void write(u64* out, u64 total) const {
        take_pages(out, total * sizeof(u64), threads_);
        for_each_piece(
            starts_.number(), threads_, [] { return std::vector<u64>(); },
            [&](std::vector<u64>& spare, u64 piece) { write_piece(piece, spare, out + found_[piece].place); },
            [](const std::vector<u64>&) {});
    }

private:
    void search(u64 piece, FoundPositions& found) const {
        const u64 begin = starts_.begin(piece);
        kernel_(plan_, {text_.bytes, begin, begin + starts_.size(piece)}, found);
    }

    // Returns the positions of a piece, in its own memory or in `spare`.
    const u64* positions_of(u64 index, std::vector<u64>& spare) const {
        const PieceHits& piece = found_[index];
        if (piece.count == piece.stored.size()) return piece.stored.data();
        if (spare.size() < piece.count) spare.resize(piece.count);
        FoundPositions found{spare.data(), piece.count, all};
        search(index, found);
        return spare.data();
    }

    void write_piece(u64 index, std::vector<u64>& spare, u64* out) const {
        const PieceHits& piece = found_[index];
        if (!selects_ && piece.count != piece.stored.size()) {
            FoundPositions found{out, piece.count, all};
            search(index, found);
            return;
        }
        const u64* const positions = positions_of(index, spare);
        if (!selects_) {
            std::copy_n(positions, piece.count, out);
            return;
        }
        u64 entry = piece.entry;
        u64* const end = out + piece.selected;
        for (u64 k = 0; k < piece.count && out < end; ++k) {
            if (positions[k] < entry) continue;
            *out++ = positions[k];
            entry = positions[k] + plan_.length;
        }
    }

    FindPlan plan_;
    FindText text_;
    unsigned threads_;
    decltype(PatternKernels::find) kernel_;
    Pieces starts_;  // of positions where the pattern may begin
    bool selects_ = false;
    std::vector<PieceHits> found_;
};

}  // namespace

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
