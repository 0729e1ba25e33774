// Merges two sorted dictionaries of numbers in one pass over memory. Pieces of the merged sequence have equal size and
// exact begins in both dictionaries. A piece is merged in a core's cache. At its turn its values get their codes: the
// number of distinct values of all preceding pieces, and the position in the piece.
#include <algorithm>
#include <memory>

#include "arrange/gather/widths.hpp"
#include "core/cpu/cache_blocks.hpp"
#include "core/cpu/threads/ordered_gate.hpp"
#include "store/dictionary/cpu/dictionary_host.hpp"

namespace headrace {
namespace {

constexpr u64 piece_values = 1 << 13;

template <class Bits>
struct MergedPiece {
    Bits values[piece_values];
    u32 main[piece_values];  // positions in the piece
    u32 delta[piece_values];
};

// The begin of a piece in both dictionaries.
struct PieceBegin {
    u64 main;
    u64 delta;
};

template <class Bits>
class NumberMerge {
public:
    NumberMerge(const NumberDictionaries& given, void* merged, const CodeTables& tables)
        : pair_{static_cast<const Bits*>(given.main), static_cast<const Bits*>(given.delta),
                *static_cast<const KeyRule<Bits>*>(given.rule)},
          counts_(given.counts),
          merged_(static_cast<Bits*>(merged)),
          tables_(tables) {}

    u64 run(unsigned threads) {
        const u64 pieces = (counts_.main + counts_.delta + piece_values - 1) / piece_values;
        for_each_piece(
            pieces, threads, [] { return std::make_unique<MergedPiece<Bits>>(); },
            [&](const std::unique_ptr<MergedPiece<Bits>>& scratch, u64 piece) { merge(*scratch, piece); });
        return found_;
    }

private:
    PieceBegin cut(u64 piece) const {
        const u64 rank = std::min(piece * piece_values, counts_.main + counts_.delta);
        const u64 main = main_before(pair_, counts_.main, counts_.delta, rank);
        return {main, rank - main};
    }

    void merge(MergedPiece<Bits>& to, u64 piece) {
        const PieceBegin begin = cut(piece), end = cut(piece + 1);
        const u64 count = merge_range(to, begin, end);
        gate_.enter(piece);
        const u64 before = found_;
        found_ += count;
        gate_.leave();
        std::copy_n(to.values, count, merged_ + before);
        write_codes(to.main, end.main - begin.main, static_cast<u32>(before), tables_.main + begin.main);
        write_codes(to.delta, end.delta - begin.delta, static_cast<u32>(before), tables_.delta + begin.delta);
    }

    static void write_codes(const u32* positions, u64 count, u32 before, u32* table) {
        for (u64 i = 0; i < count; ++i) table[i] = before + positions[i];
    }

    // Returns the number of distinct values of a piece. A position before the piece is -1.
    u64 merge_range(MergedPiece<Bits>& to, const PieceBegin& begin, const PieceBegin& end) const {
        u64 i = begin.main, k = begin.delta;
        u32 found = 0;
        if (k < end.delta && is_duplicate(pair_, i, k)) to.delta[k++ - begin.delta] = ~u32{0};
        // No branch depends on a value: both positions are written until a dictionary's value is passed.
        while (i < end.main && k < end.delta) {
            const Bits first = pair_.main[i], second = pair_.delta[k];
            const Bits first_code = pair_.rule.code(first), second_code = pair_.rule.code(second);
            to.values[found] = first_code <= second_code ? first : second;
            to.main[i - begin.main] = found;
            to.delta[k - begin.delta] = found;
            i += first_code <= second_code;
            k += second_code <= first_code;
            ++found;
        }
        for (; i < end.main; ++i, ++found) {
            to.values[found] = pair_.main[i];
            to.main[i - begin.main] = found;
        }
        for (; k < end.delta; ++k, ++found) {
            to.values[found] = pair_.delta[k];
            to.delta[k - begin.delta] = found;
        }
        return found;
    }

    NumberPair<Bits> pair_;
    MergeCounts counts_;
    Bits* merged_;
    CodeTables tables_;
    OrderedGate gate_;
    u64 found_ = 0;  // distinct values of the pieces before the gate's turn
};

}  // namespace

u64 merge_numbers(const NumberDictionaries& dictionaries, void* merged, const CodeTables& tables, unsigned threads) {
    return with_width<u8, u16, u32, u64>(dictionaries.width, [&]<class Bits>(Bits) {
        return NumberMerge<Bits>(dictionaries, merged, tables).run(threads);
    });
}

}  // namespace headrace
