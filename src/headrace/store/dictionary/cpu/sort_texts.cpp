// Sorts texts by their bytes. Groups of texts are sorted by 8 bytes at a time, after their common prefix: texts of a
// group with equal 8 bytes are the next group. (Multikey quicksort with cached characters: Ng and Kakehi 2007.) For
// example, the group "a.b/one", "a.b/two" is sorted by "one" and "two". So no byte of a prefix is read twice.
//
// Threads sort buckets. Their borders are texts of a sorted sample, so buckets have about equal sizes for any texts.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "store/dictionary/cpu/dictionary_host.hpp"
#include "store/dictionary/cpu/text_words.hpp"

namespace headrace {
namespace {

constexpr u64 small_group = 12;       // texts that are compared as a whole
constexpr u64 counted_group = 128;    // texts from which on passes by bytes are faster than comparisons
constexpr u64 piece_texts = 1 << 12;  // texts that a thread takes at a time
constexpr u64 sample_of_bucket = 32;
constexpr u64 max_buckets = 256;

// A text and its 8 bytes after the prefix of its group.
struct GroupedText {
    u64 word;
    u32 number;
};

// Texts whose first `depth` bytes are equal.
struct TextGroup {
    GroupedText* begin;
    GroupedText* end;
    u64 depth;

    u64 size() const { return static_cast<u64>(end - begin); }
};

// Sorts by words: one stable pass for each byte of these in which two differ, from the lowest one up. `spare` has room
// for all texts.
void sort_by_words(const TextGroup& group, GroupedText* spare) {
    std::array<std::array<u32, 256>, 8> places{};
    u64 differing = 0;
    for (const GroupedText* text = group.begin; text != group.end; ++text) {
        differing |= text->word ^ group.begin->word;
        for (u32 byte = 0; byte < 8; ++byte) ++places[byte][text->word >> 8 * byte & 0xFF];
    }
    GroupedText *from = group.begin, *to = spare;
    for (u32 byte = 0; byte < 8; ++byte) {
        if ((differing >> 8 * byte & 0xFF) == 0) continue;
        u32 sum = 0;
        for (u32& place : places[byte]) sum += std::exchange(place, sum);
        for (u64 i = 0; i < group.size(); ++i) to[places[byte][from[i].word >> 8 * byte & 0xFF]++] = from[i];
        std::swap(from, to);
    }
    if (from != group.begin) std::copy_n(from, group.size(), group.begin);
}

class TextOrder {
public:
    TextOrder(const TextValues& texts, u64 count) : texts_(texts, count) {}

    u64 size(u32 i) const { return texts_.size(i); }
    u64 word(u32 i, u64 depth) const { return texts_[i].word(depth); }
    u64 common_bytes(u32 i, u32 k, u64 depth, u64 limit) const {
        return texts_[i].common_bytes(texts_[k], depth, limit);
    }

    // Compares texts whose first `depth` bytes are equal. Equal texts are in the order of their numbers.
    bool is_before(u32 i, u32 k, u64 depth) const {
        const int order = texts_[i].compare(texts_[k], depth);
        return order != 0 ? order < 0 : i < k;
    }

    bool is_before(const GroupedText& a, const GroupedText& b, u64 depth) const {
        return a.word != b.word ? a.word < b.word : is_before(a.number, b.number, depth);
    }

    // Sorts a group whose words are those at its depth.
    void sort(const TextGroup& whole) const {
        std::vector<TextGroup> groups{whole};  // no recursion: texts may have any size
        std::vector<GroupedText> spare;
        while (!groups.empty()) {
            const TextGroup group = groups.back();
            groups.pop_back();
            if (group.size() <= small_group) {
                std::sort(group.begin, group.end,
                          [&](const GroupedText& a, const GroupedText& b) { return is_before(a, b, group.depth); });
                continue;
            }
            if (group.size() < counted_group) {
                std::sort(group.begin, group.end,
                          [](const GroupedText& a, const GroupedText& b) { return a.word < b.word; });
            } else {
                spare.resize(std::max<u64>(spare.size(), group.size()));
                sort_by_words(group, spare.data());
            }
            for (GroupedText* at = group.begin; at != group.end;) {
                GroupedText* const next =
                    std::find_if(at, group.end, [&](const GroupedText& text) { return text.word != at->word; });
                if (next - at > 1) sort_equal_words({at, next, group.depth + 8}, groups);
                at = next;
            }
        }
    }

private:
    // Puts texts that end within the last word, which are prefixes of the others, first. The others become a group.
    void sort_equal_words(const TextGroup& equal, std::vector<TextGroup>& groups) const {
        GroupedText* const rest = std::partition(
            equal.begin, equal.end, [&](const GroupedText& text) { return size(text.number) <= equal.depth; });
        std::sort(equal.begin, rest, [&](const GroupedText& a, const GroupedText& b) {
            const u64 first = size(a.number), second = size(b.number);
            return first != second ? first < second : a.number < b.number;
        });
        if (rest == equal.end) return;
        u64 common = size(rest->number);
        for (GroupedText* at = rest + 1; at < equal.end && common > equal.depth; ++at) {
            common = common_bytes(rest->number, at->number, equal.depth, common);
        }
        for (GroupedText* at = rest; at < equal.end; ++at) at->word = word(at->number, common);
        groups.push_back({rest, equal.end, common});
    }

    DictionaryTexts texts_;
};

// Texts in the order of their numbers, in pieces, which are distributed to buckets.
class TextBuckets {
public:
    TextBuckets(const TextOrder& order, u64 count, unsigned threads)
        : order_(order), texts_(count), threads_(threads), pieces_((count + piece_texts - 1) / piece_texts) {
        const u64 buckets =
            threads == 1 ? 1 : std::clamp<u64>(pieces_, 1, std::min<u64>(4 * u64{threads}, max_buckets));
        if (count == 0) return;
        find_depth();
        for_each_piece(pieces_, threads, [&](u64 piece) {
            for (u64 i = begin_of(piece); i < begin_of(piece + 1); ++i) texts_[i] = grouped(i);
        });
        ends_ = {count};
        if (buckets > 1) distribute(buckets);
    }

    void sort(u32* to) {
        for_each_piece(ends_.size(), threads_, [&](u64 bucket) {
            const u64 begin = bucket == 0 ? 0 : ends_[bucket - 1], end = ends_[bucket];
            order_.sort({texts_.data() + begin, texts_.data() + end, depth_});
            for (u64 i = begin; i < end; ++i) to[i] = texts_[i].number;
        });
    }

private:
    u64 begin_of(u64 piece) const { return std::min<u64>(piece * piece_texts, texts_.size()); }
    GroupedText grouped(u64 i) const { return {order_.word(static_cast<u32>(i), depth_), static_cast<u32>(i)}; }

    // Finds the size of the prefix of all texts.
    void find_depth() {
        std::vector<u64> common(pieces_, order_.size(0));
        for_each_piece(pieces_, threads_, [&](u64 piece) {
            for (u64 i = begin_of(piece); i < begin_of(piece + 1) && common[piece] != 0; ++i) {
                common[piece] = order_.common_bytes(0, static_cast<u32>(i), 0, common[piece]);
            }
        });
        depth_ = *std::min_element(common.begin(), common.end());
    }

    // Returns the first text of each bucket but the first one, by a sample.
    std::vector<GroupedText> borders_of(u64 buckets) const {
        const u64 count = std::min<u64>(texts_.size(), buckets * sample_of_bucket);
        std::vector<GroupedText> sample(count), borders;
        for (u64 i = 0; i < count; ++i) sample[i] = texts_[i * texts_.size() / count];
        order_.sort({sample.data(), sample.data() + count, depth_});
        for (u64 i = 1; i < buckets; ++i) borders.push_back(sample[count * i / buckets]);
        return borders;
    }

    void distribute(u64 buckets) {
        const std::vector<GroupedText> borders = borders_of(buckets);
        const auto is_before = [&](const GroupedText& a, const GroupedText& b) {
            return order_.is_before(a, b, depth_);
        };
        std::vector<u8> found(texts_.size());
        std::vector<u64> begins(pieces_ * buckets);
        for_each_piece(pieces_, threads_, [&](u64 piece) {
            for (u64 i = begin_of(piece); i < begin_of(piece + 1); ++i) {
                const auto at = std::upper_bound(borders.begin(), borders.end(), texts_[i], is_before);
                found[i] = static_cast<u8>(at - borders.begin());
                ++begins[piece * buckets + found[i]];
            }
        });
        u64 sum = 0;
        ends_.resize(buckets);
        for (u64 bucket = 0; bucket < buckets; ++bucket) {
            for (u64 piece = 0; piece < pieces_; ++piece) {
                sum += std::exchange(begins[piece * buckets + bucket], sum);
            }
            ends_[bucket] = sum;
        }
        std::vector<GroupedText> moved(texts_.size());
        for_each_piece(pieces_, threads_, [&](u64 piece) {
            u64* const to = begins.data() + piece * buckets;
            for (u64 i = begin_of(piece); i < begin_of(piece + 1); ++i) moved[to[found[i]]++] = texts_[i];
        });
        texts_.swap(moved);
    }

    TextOrder order_;
    std::vector<GroupedText> texts_;
    unsigned threads_;
    u64 pieces_;
    u64 depth_ = 0;
    std::vector<u64> ends_;
};

}  // namespace

void sort_texts(const TextValues& texts, u64 count, u32* order, unsigned threads) {
    TextBuckets(TextOrder(texts, count), count, threads).sort(order);
}

}  // namespace headrace
