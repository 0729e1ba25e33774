// Merges two sorted dictionaries of texts by direct comparison. Pieces are those of merge_numbers.cpp. The first step
// notes in a byte which dictionary each merged text of a piece is from. The second one copies the texts and writes both
// tables.
//
// Both dictionaries are sorted, so the texts of a piece have the bytes in common that its first and last texts have.
// The 8 bytes after these are kept as a word of each text, so that most comparisons read no text. Texts of equal words
// are a group, whose texts have more bytes in common, and the words of a group are those after them. For example, with
// "item 0041", "item 0042" and "item 0097", the common bytes are "item 00", and the words "41", "42" and "97".
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "store/dictionary/cpu/dictionary_host.hpp"
#include "store/dictionary/cpu/text_words.hpp"

namespace headrace {
namespace {

constexpr u64 piece_texts = 1 << 12;
constexpr u64 word_bytes = 8;

// The dictionary of a merged text.
enum Origin : u8 { of_main, of_delta, of_both };

// Positions in both dictionaries.
struct TextCut {
    u64 main;
    u64 delta;
};

// The distinct texts of a piece, in order, and their bytes. `repeats`: its first text of the delta is the last text of
// the preceding piece.
struct TextPiece {
    TextCut begin;
    TextCut end;
    std::vector<u8> origins;
    u64 bytes = 0;
    bool repeats = false;
};

// Texts with equal words; `depth`: number of their first bytes that are equal.
struct EqualTexts {
    TextCut end;
    u64 depth;
};

// Merges the texts of one piece after another.
class PieceMerge {
public:
    PieceMerge(const DictionaryTexts& main, const DictionaryTexts& delta) : main_(main), delta_(delta) {}

    // Writes the origins of a piece from a position on.
    void run(TextPiece& piece, TextCut begin) {
        begin_ = at_ = begin;
        piece.origins.resize(piece.end.main - begin.main + piece.end.delta - begin.delta);
        next_ = piece.origins.data();
        main_words_.resize(piece.end.main - begin.main);
        delta_words_.resize(piece.end.delta - begin.delta);
        groups_.clear();
        add_group(piece.end, 0);
        while (!groups_.empty()) {
            const EqualTexts group = groups_.back();
            if (at_.main == group.end.main || at_.delta == group.end.delta) {
                add(of_main, group.end.main - at_.main);
                add(of_delta, group.end.delta - at_.delta);
                groups_.pop_back();
            } else if (merge_until_equal(group.end)) {
                merge_equal(group);
            }
        }
        piece.origins.resize(static_cast<usize>(next_ - piece.origins.data()));
    }

private:
    u64 main_word(u64 i) const { return main_words_[i - begin_.main]; }
    u64 delta_word(u64 k) const { return delta_words_[k - begin_.delta]; }

    void add(Origin origin, u64 count) {
        std::memset(next_, origin, count);
        next_ += count;
        at_.main += origin == of_delta ? 0 : count;
        at_.delta += origin == of_main ? 0 : count;
    }

    void add_compared(u64 depth) {
        const int order = main_[at_.main].compare(delta_[at_.delta], depth);
        add(order < 0 ? of_main : order > 0 ? of_delta : of_both, 1);
    }

    // Merges while the next words differ. Returns whether two are equal. No branch depends on the order of two words.
    bool merge_until_equal(TextCut end) {
        const u64* main = main_words_.data() + (at_.main - begin_.main);
        const u64* delta = delta_words_.data() + (at_.delta - begin_.delta);
        const u64 *const main_end = main + (end.main - at_.main), *const delta_end = delta + (end.delta - at_.delta);
        const u64 *const main_begin = main, *const delta_begin = delta;
        u8* next = next_;
        while (main != main_end && delta != delta_end && *main != *delta) {
            const bool is_main = *main < *delta;
            *next++ = is_main ? of_main : of_delta;
            main += is_main;
            delta += !is_main;
        }
        at_.main += static_cast<u64>(main - main_begin);
        at_.delta += static_cast<u64>(delta - delta_begin);
        next_ = next;
        return main != main_end && delta != delta_end;
    }

    // Merges the texts whose words equal the next ones, or makes a group of them.
    void merge_equal(const EqualTexts& group) {
        const u64 word = main_word(at_.main), depth = group.depth + word_bytes;
        TextCut end{at_.main + 1, at_.delta + 1};
        while (end.main != group.end.main && main_word(end.main) == word) ++end.main;
        while (end.delta != group.end.delta && delta_word(end.delta) == word) ++end.delta;
        // Texts that end within the word differ from longer ones by their sizes, and precede them.
        const auto is_pair = [&] { return at_.main != end.main && at_.delta != end.delta; };
        const auto is_short = [&] { return std::min(main_.size(at_.main), delta_.size(at_.delta)) <= depth; };
        const bool is_single = end.main - at_.main == 1 && end.delta - at_.delta == 1;
        while (is_pair() && (is_single || is_short())) add_compared(group.depth);
        if (is_pair()) return add_group(end, depth);
        add(of_main, end.main - at_.main);
        add(of_delta, end.delta - at_.delta);
    }

    // Makes a group of the texts up to `end`, whose first `depth` bytes are equal, and reads their words.
    void add_group(TextCut end, u64 depth) {
        if (at_.main != end.main && at_.delta != end.delta) {
            const TextBytes first = main_[at_.main];
            u64 common = first.common_bytes(main_[end.main - 1], depth, first.size);
            common = first.common_bytes(delta_[at_.delta], depth, common);
            depth = first.common_bytes(delta_[end.delta - 1], depth, common);
            for (u64 i = at_.main; i < end.main; ++i) main_words_[i - begin_.main] = main_[i].word(depth);
            for (u64 k = at_.delta; k < end.delta; ++k) delta_words_[k - begin_.delta] = delta_[k].word(depth);
        }
        groups_.push_back({end, depth});
    }

    DictionaryTexts main_, delta_;
    TextCut begin_{}, at_{};  // the begin of the piece, and the next texts
    u8* next_ = nullptr;      // the next origin
    std::vector<u64> main_words_, delta_words_;
    std::vector<EqualTexts> groups_;  // each is in the group before it
};

class TextMerge {
public:
    TextMerge(const TextDictionaries& given, const CodeTables& tables)
        : pair_(given.texts),
          counts_(given.counts),
          tables_(tables),
          main_(given.texts.main, given.counts.main),
          delta_(given.texts.delta, given.counts.delta),
          pieces_((given.counts.main + given.counts.delta + piece_texts - 1) / piece_texts) {}

    void run(const std::function<NewTexts(u64, u64)>& allocate, unsigned threads) {
        for_each_piece(
            pieces_.size(), threads, [&] { return PieceMerge(main_, delta_); },
            [&](PieceMerge& merge, u64 i) { find(merge, i); });
        firsts_.resize(pieces_.size() + 1);
        begins_.resize(pieces_.size() + 1);
        for (usize i = 0; i < pieces_.size(); ++i) {
            firsts_[i + 1] = firsts_[i] + pieces_[i].origins.size();
            begins_[i + 1] = begins_[i] + pieces_[i].bytes;
        }
        const NewTexts to = allocate(firsts_.back(), begins_.back());
        if (to.width == 4) {
            write<i32>(to, threads);
        } else {
            write<i64>(to, threads);
        }
    }

private:
    TextCut cut(u64 piece) const {
        const u64 rank = std::min(piece * piece_texts, counts_.main + counts_.delta);
        const u64 main = main_before(pair_, counts_.main, counts_.delta, rank);
        return {main, rank - main};
    }

    void find(PieceMerge& merge, u64 i) {
        TextPiece& piece = pieces_[i];
        piece.begin = cut(i);
        piece.end = cut(i + 1);
        TextCut begin = piece.begin;
        piece.repeats = begin.delta < piece.end.delta && is_duplicate(pair_, begin.main, begin.delta);
        begin.delta += piece.repeats;
        merge.run(piece, begin);
        TextCut at = begin;
        piece.bytes = main_.begin(piece.end.main) - main_.begin(at.main);
        for (const u8 origin : piece.origins) {
            piece.bytes += origin == of_delta ? delta_.size(at.delta) : 0;
            at.delta += origin != of_main;
        }
    }

    template <class Offset>
    void write(const NewTexts& to, unsigned threads) const {
        for_each_piece(pieces_.size(), threads, [&](u64 i) { write_piece<Offset>(i, to); });
        static_cast<Offset*>(to.offsets)[firsts_.back()] = static_cast<Offset>(begins_.back());
    }

    template <class Offset>
    void write_piece(u64 number, const NewTexts& to) const {
        const TextPiece& piece = pieces_[number];
        TextCut at = piece.begin;
        u64 code = firsts_[number], byte = begins_[number];
        if (piece.repeats) tables_.delta[at.delta++] = static_cast<u32>(code - 1);
        const u8 *origin = piece.origins.data(), *const end = origin + piece.origins.size();
        while (origin != end) {
            const u8* const next = run_end(origin, end);
            const u64 count = static_cast<u64>(next - origin);
            const bool is_delta = *origin == of_delta;
            const u64 first = is_delta ? at.delta : at.main;
            const DictionaryTexts& from = is_delta ? delta_ : main_;
            put_offsets(from, first, count, byte, static_cast<Offset*>(to.offsets) + code);
            const u64 begin = from.begin(first), bytes = from.begin(first + count) - begin;
            copy_text({from.values.bytes + begin, bytes, from.end - begin}, to.bytes + byte,
                      to.bytes + begins_[number + 1]);
            if (*origin != of_delta) at.main = put_codes(tables_.main, at.main, count, code);
            if (*origin != of_main) at.delta = put_codes(tables_.delta, at.delta, count, code);
            code += count;
            byte += bytes;
            origin = next;
        }
    }

    // Returns the end of the run of equal origins at `origin`.
    static const u8* run_end(const u8* origin, const u8* end) {
        const u64 repeated = *origin * u64{0x0101010101010101};
        const u8* at = origin + 1;
        while (end - at >= static_cast<i64>(word_bytes) && load_word(at) == repeated) at += word_bytes;
        while (at != end && *at == *origin) ++at;
        return at;
    }

    template <class Offset>
    static void put_offsets(const DictionaryTexts& from, u64 first, u64 count, u64 byte, Offset* to) {
        const i64* const offsets = from.values.offsets + first;
        const i64 moved = static_cast<i64>(byte) - offsets[0];
        for (u64 i = 0; i < count; ++i) to[i] = static_cast<Offset>(offsets[i] + moved);
    }

    static u64 put_codes(u32* table, u64 first, u64 count, u64 code) {
        for (u64 i = 0; i < count; ++i) table[first + i] = static_cast<u32>(code + i);
        return first + count;
    }

    TextPair pair_;
    MergeCounts counts_;
    CodeTables tables_;
    DictionaryTexts main_, delta_;
    std::vector<TextPiece> pieces_;
    std::vector<u64> firsts_, begins_;  // number and byte of the first text of each piece
};

}  // namespace

void merge_texts(const TextDictionaries& dictionaries, const CodeTables& tables,
                 const std::function<NewTexts(u64, u64)>& allocate, unsigned threads) {
    TextMerge(dictionaries, tables).run(allocate, threads);
}

}  // namespace headrace
