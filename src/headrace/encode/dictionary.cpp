#include <random>
#include <stdexcept>

#include "core/hash.hpp"
#include "encode/pieces.hpp"

namespace headrace {
namespace {

// Numbers texts in the order of their first occurrence, by a hash table with linear probing that is at most half full.
// A slot has a text of at most 16 bytes itself, so most lookups read one slot and call nothing. Hashes have a seed that
// differs from process to process, so that colliding texts cannot be prepared. Numbers do not depend on the seed.
class TextNumbers {
public:
    explicit TextNumbers(u64 seed) : seed_(seed), slots_(64) {}

    u32 number_of(std::string_view text) {
        const Key key = key_of(text);
        const usize mask = slots_.size() - 1;
        usize at = static_cast<usize>(key.hash) & mask;
        for (; slots_[at].number != EMPTY; at = (at + 1) & mask) {
            const Slot& slot = slots_[at];
            const bool same = slot.low == key.low && slot.high == key.high && slot.size == text.size();
            if (same && (text.size() <= TextStart::BYTES || texts_[slot.number] == text)) return slot.number;
        }
        return add(text, key, at);
    }

    const std::vector<std::string_view>& texts() const { return texts_; }

private:
    static constexpr u32 EMPTY = 0xFFFFFFFF;

    // A text's first 16 bytes, its size and its number.
    struct Slot {
        u64 low = 0, high = 0, size = 0;
        u32 number = EMPTY;
    };
    struct Key {
        u64 low, high, hash;
    };

    Key key_of(std::string_view text) const {
        const TextStart start(text);
        if (text.size() > TextStart::BYTES) {
            const u64 hash = hash_text(reinterpret_cast<const u8*>(text.data()), text.size(), seed_);
            return {start.low, start.high, hash};
        }
        const u64 mixed = fold_product(start.low ^ seed_, start.high ^ text.size() ^ golden_ratio);
        return {start.low, start.high, fold_product(mixed ^ start.low, seed_ * golden_ratio | 1)};
    }

    [[gnu::noinline]] u32 add(std::string_view text, const Key& key, usize at) {
        if (texts_.size() >= MAX_INT32)
            throw std::length_error("more than 2147483647 distinct texts; read them as string");
        const u32 number = static_cast<u32>(texts_.size());
        slots_[at] = {key.low, key.high, text.size(), number};
        texts_.push_back(text);
        hashes_.push_back(key.hash);
        if (texts_.size() * 2 > slots_.size()) grow();
        return number;
    }

    void grow() {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        const usize mask = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.number == EMPTY) continue;
            usize at = static_cast<usize>(hashes_[slot.number]) & mask;
            while (slots_[at].number != EMPTY) at = (at + 1) & mask;
            slots_[at] = slot;
        }
    }

    u64 seed_;
    std::vector<Slot> slots_;
    std::vector<std::string_view> texts_;
    std::vector<u64> hashes_;
};

u64 random_seed() {
    std::random_device device;
    return (static_cast<u64>(device()) << 32 | device()) | 1;
}

// Returns texts as a column with offsets of 32 bits. Throws `length_error` if they have too many bytes.
EncodedTexts small_texts(const std::vector<std::string_view>& texts, const TextColumn& budget) {
    u64 bytes = 0;
    for (const std::string_view text : texts) bytes += text.size();
    if (bytes > MAX_INT32)
        throw std::length_error("distinct texts of more than 2147483647 bytes; read them as large_string");
    EncodedTexts result;
    result.values = region_of(bytes, budget);
    result.offsets = region_of((texts.size() + 1) * sizeof(i32), budget);
    i32* ends = result.offsets.as<i32>();
    i32 at = ends[0] = 0;
    for (usize i = 0; i < texts.size(); ++i) {
        if (!texts[i].empty()) std::memcpy(result.values.as<u8>() + at, texts[i].data(), texts[i].size());
        ends[i + 1] = at += static_cast<i32>(texts[i].size());
    }
    return result;
}

}  // namespace

// Numbers the texts of each share of the rows separately. Then the texts of all shares are numbered in the order of the
// shares, which is the order of first rows, and codes are translated.
TextDictionary make_dictionary(const TextColumn& texts, unsigned threads) {
    const usize pieces = piece_count(texts.length);
    const usize shares = std::clamp<usize>(pieces, 1, threads);
    std::vector<TextNumbers> local(shares, TextNumbers(random_seed()));
    TextDictionary result;
    result.codes.values = region_of(texts.length * sizeof(u32), texts);
    u32* codes = result.codes.values.as<u32>();
    const auto rows_of = [&](usize share) {
        const u64 end = std::min<u64>(pieces * (share + 1) / shares * PIECE_ROWS, texts.length);
        return RowRange{std::min<u64>(pieces * share / shares * PIECE_ROWS, texts.length), end};
    };
    run_pieces(shares, threads, [&](usize share) {
        const RowRange rows = rows_of(share);
        for (u64 row = rows.begin; row < rows.end; ++row) {
            codes[row] = texts.is_null(row) ? 0 : local[share].number_of(texts.text(row));
        }
    });
    std::vector<std::vector<u32>> numbers(shares);
    for (usize share = 1; share < shares; ++share) {
        for (const std::string_view text : local[share].texts()) numbers[share].push_back(local[0].number_of(text));
    }
    run_pieces(shares - 1, threads, [&](usize i) {
        const RowRange rows = rows_of(i + 1);
        for (u64 row = rows.begin; row < rows.end; ++row) {
            if (!texts.is_null(row)) codes[row] = numbers[i + 1][codes[row]];
        }
    });
    result.texts = small_texts(local[0].texts(), texts);
    result.count = local[0].texts().size();
    result.codes.validity = copied_validity(texts, threads);
    return result;
}

}  // namespace headrace
