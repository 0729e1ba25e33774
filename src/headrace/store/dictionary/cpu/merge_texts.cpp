// Merges two sorted dictionaries of texts by direct comparison. Pieces are those of merge_numbers.cpp.
// The first step writes the tables and the source of each merged text, the second one copies the texts.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "store/dictionary/cpu/dictionary_host.hpp"

namespace headrace {
namespace {

constexpr u64 piece_texts = 1 << 12;
constexpr u64 is_of_delta = u64{1} << 63;

// The distinct texts of a piece, by number and dictionary, and their bytes.
struct TextPiece {
    std::vector<u64> sources;
    u64 bytes = 0;
};

class TextMerge {
public:
    TextMerge(const TextDictionaries& given, const CodeTables& tables)
        : pair_(given.texts),
          counts_(given.counts),
          tables_(tables),
          pieces_((given.counts.main + given.counts.delta + piece_texts - 1) / piece_texts) {}

    void run(const std::function<NewTexts(u64, u64)>& allocate, unsigned threads) {
        for_each_piece(pieces_.size(), threads, [&](u64 piece) { merge(piece); });
        std::vector<u64> firsts(pieces_.size() + 1), begins(pieces_.size() + 1);
        for (usize i = 0; i < pieces_.size(); ++i) {
            firsts[i + 1] = firsts[i] + pieces_[i].sources.size();
            begins[i + 1] = begins[i] + pieces_[i].bytes;
        }
        const NewTexts to = allocate(firsts.back(), begins.back());
        to.offsets[firsts.back()] = static_cast<i64>(begins.back());
        for_each_piece(pieces_.size(), threads, [&](u64 piece) {
            write(piece, firsts[piece], begins[piece], to);
            add_first(piece, static_cast<u32>(firsts[piece]));
        });
    }

private:
    u64 main_at(u64 piece) const {
        const u64 rank = std::min(piece * piece_texts, counts_.main + counts_.delta);
        return main_before(pair_, counts_.main, counts_.delta, rank);
    }
    u64 rank_at(u64 piece) const { return std::min(piece * piece_texts, counts_.main + counts_.delta); }

    // Writes positions in the piece to the tables; -1 for a text that the preceding piece ends with.
    void merge(u64 piece) {
        u64 i = main_at(piece), k = rank_at(piece) - i;
        const u64 main_end = main_at(piece + 1), delta_end = rank_at(piece + 1) - main_end;
        TextPiece& to = pieces_[piece];
        to.sources.reserve(main_end - i + delta_end - k);
        if (k < delta_end && is_duplicate(pair_, i, k)) tables_.delta[k++] = ~u32{0};
        while (i < main_end || k < delta_end) {
            const i32 order = i == main_end ? 1 : k == delta_end ? -1 : compare_texts(pair_.main, i, pair_.delta, k);
            const u32 position = static_cast<u32>(to.sources.size());
            to.sources.push_back(order <= 0 ? i : k | is_of_delta);
            to.bytes += order <= 0 ? size_of(pair_.main, i) : size_of(pair_.delta, k);
            if (order <= 0) tables_.main[i++] = position;
            if (order >= 0) tables_.delta[k++] = position;
        }
    }

    void write(u64 piece, u64 first, u64 begin, const NewTexts& to) const {
        for (const u64 source : pieces_[piece].sources) {
            const TextValues& texts = source & is_of_delta ? pair_.delta : pair_.main;
            const u64 i = source & ~is_of_delta, size = size_of(texts, i);
            to.offsets[first++] = static_cast<i64>(begin);
            if (size != 0) std::memcpy(to.bytes + begin, texts.bytes + texts.offsets[i], size);
            begin += size;
        }
    }

    // Adds the number of texts before the piece to the codes of the piece.
    void add_first(u64 piece, u32 first) const {
        const u64 main_begin = main_at(piece), main_end = main_at(piece + 1);
        for (u64 i = main_begin; i < main_end; ++i) tables_.main[i] += first;
        for (u64 k = rank_at(piece) - main_begin; k < rank_at(piece + 1) - main_end; ++k) tables_.delta[k] += first;
    }

    static u64 size_of(const TextValues& texts, u64 i) {
        return static_cast<u64>(texts.offsets[i + 1] - texts.offsets[i]);
    }

    TextPair pair_;
    MergeCounts counts_;
    CodeTables tables_;
    std::vector<TextPiece> pieces_;
};

}  // namespace

void merge_texts(const TextDictionaries& dictionaries, const CodeTables& tables,
                 const std::function<NewTexts(u64, u64)>& allocate, unsigned threads) {
    TextMerge(dictionaries, tables).run(allocate, threads);
}

}  // namespace headrace
