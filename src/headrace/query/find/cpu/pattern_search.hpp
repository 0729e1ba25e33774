// Finds the hits of a pattern by pieces of the text, for callers that want them by piece or in one array.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "query/find/cpu/find.hpp"
#include "query/find/cpu/find_kernels.hpp"

namespace headrace {

// Part of a text, and the hits that begin in it. It ends where the next part begins: after its last hit, if that is
// later.
struct HitPart {
    u64 begin, end;
    std::span<const u64> hits;  // ascending
    u64 hits_before;
};

class PatternSearch {
public:
    PatternSearch(const FindPattern& pattern, const FindText& text, const FindResources& resources);

    u64 count() const;
    std::optional<u64> first() const;

    // Finds the number of positions, and what write() and use_parts() need. Hits of a pattern without a border never
    // overlap.
    u64 prepare(bool overlapping);

    void write(u64* out, u64 total) const;

    // Calls use(part) for each part of the text, on several threads. Hits may not overlap.
    void use_parts(const std::function<void(const HitPart&)>& use) const;

private:
    struct PieceHits {
        std::vector<u64> stored;  // all positions, if they are few
        u64 count = 0;            // all positions
        u64 first = 0;            // first position, if there is one
        u64 last = 0;             // last position, if there is one
        u64 entry = 0;            // least position that counts, as known to the search
        u64 place = 0;            // index of the piece's first position in the result
        u64 begin = 0;            // of its part of the text
    };

    // Memory of a thread for the positions of a piece, and the end of its last search.
    struct PieceScratch {
        std::vector<u64> out;
        u64 next_piece = 0;
        u64 exit = 0;
    };

    u64 exit_of(const PieceHits& piece) const { return piece.count == 0 || gap_ == 0 ? 0 : piece.last + gap_; }
    void search(u64 piece, FoundPositions& found) const;
    void search_piece(u64 index, u64 entry, std::vector<u64>& out);
    bool has_hits_of(u64 index, u64 entry) const;
    void write_piece(u64 index, u64* out) const;

    FindPlan plan_;
    FindText text_;
    unsigned threads_;
    decltype(PatternKernels::find) kernel_;
    Pieces starts_;  // of positions where the pattern may begin
    u64 gap_ = 0;    // of positions (FoundPositions)
    std::vector<PieceHits> found_;
};

}  // namespace headrace
