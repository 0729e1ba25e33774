#include <array>
#include <cstring>
#include <random>
#include <stdexcept>

#include "core/hash.hpp"
#include "encode/pieces.hpp"

namespace headrace {
namespace {

// Numbers texts in the order of their first occurrence, by a hash table with linear probing that is at most half full.
// A slot has a text of at most 16 bytes itself, so most lookups read one slot and call nothing. For a longer text it
// has the address. The slots of several texts are fetched at once, and then the texts of those slots, so that their
// cache misses overlap. Hashes have a seed that differs from process to
// process, so that colliding texts cannot be prepared. Numbers do not depend on the seed.
class TextNumbers {
public:
    explicit TextNumbers(u64 seed) : seed_(seed), slots_(64) {}

    // Writes the numbers of texts [begin, end); 0 for nulls, which are not numbered. `texts` has is_null(i) and
    // text(i).
    template <class Texts>
    void number(const Texts& texts, u64 begin, u64 end, u32* numbers) {
        std::array<std::string_view, lanes> given;
        std::array<Key, lanes> keys;
        for (u64 first = begin; first < end; first += lanes) {
            const usize count = static_cast<usize>(std::min<u64>(lanes, end - first));
            seen_ += count;
            for (usize i = 0; i < count; ++i) {
                given[i] = texts.is_null(first + i) ? std::string_view() : texts.text(first + i);
                keys[i] = key_of(given[i]);
                __builtin_prefetch(&slots_[slot_of(keys[i].hash)]);
            }
            for (usize i = 0; i < count; ++i) {
                const Slot& slot = slots_[slot_of(keys[i].hash)];
                if (given[i].size() > TextStart::BYTES && slot.hash == keys[i].hash) __builtin_prefetch(bytes_of(slot));
            }
            for (usize i = 0; i < count; ++i) {
                numbers[first + i] = texts.is_null(first + i) ? 0 : number_of(given[i], keys[i]);
            }
        }
    }

    const std::vector<std::string_view>& texts() const { return texts_; }

private:
    static constexpr u32 EMPTY = 0xFFFFFFFF;
    static constexpr usize lanes = 16;

    // A text of at most 16 bytes, or in `high` the address of a longer one; its hash, its size (at most 2^32 - 1) and
    // its number.
    struct Slot {
        u64 low = 0, high = 0, hash = 0;
        u32 size = 0, number = EMPTY;
    };
    struct Key {
        u64 low, high, hash;
    };

    static u32 stored_size(std::string_view text) { return static_cast<u32>(std::min<usize>(text.size(), 0xFFFFFFFF)); }
    usize slot_of(u64 hash) const { return static_cast<usize>(hash) & (slots_.size() - 1); }
    usize slot_after(usize at) const { return (at + 1) & (slots_.size() - 1); }

    u32 number_of(std::string_view text, const Key& key) {
        usize at = slot_of(key.hash);
        for (; slots_[at].number != EMPTY; at = slot_after(at)) {
            const Slot& slot = slots_[at];
            if (slot.hash != key.hash || slot.size != stored_size(text)) continue;
            if (text.size() <= TextStart::BYTES) {
                if (slot.low == key.low && slot.high == key.high) return slot.number;
            } else if (is_same(text, slot)) {
                return slot.number;
            }
        }
        return add(text, key, at);
    }

    static const char* bytes_of(const Slot& slot) { return reinterpret_cast<const char*>(slot.high); }

    // Returns whether a text of more than 16 bytes is that of a slot of the same stored size.
    bool is_same(std::string_view text, const Slot& slot) const {
        if (slot.size == 0xFFFFFFFF && texts_[slot.number].size() != text.size()) return false;
        return std::memcmp(bytes_of(slot), text.data(), text.size()) == 0;
    }

    Key key_of(std::string_view text) const {
        if (text.size() > TextStart::BYTES) {
            const auto* const bytes = reinterpret_cast<const u8*>(text.data());
            return {0, reinterpret_cast<u64>(bytes), hash_text(bytes, text.size(), seed_)};
        }
        const TextStart start(text);
        const u64 mixed = fold_product(start.low ^ seed_, start.high ^ text.size() ^ golden_ratio);
        return {start.low, start.high, fold_product(mixed ^ start.low, seed_ * golden_ratio | 1)};
    }

    [[gnu::noinline]] u32 add(std::string_view text, const Key& key, usize at) {
        if (texts_.size() >= MAX_INT32)
            throw std::length_error("more than 2147483647 distinct texts; read them as string");
        const u32 number = static_cast<u32>(texts_.size());
        slots_[at] = {key.low, key.high, key.hash, stored_size(text), number};
        texts_.push_back(text);
        if (texts_.size() * 2 > slots_.size()) grow();
        return number;
    }

    // If most texts up to now were new, many more are expected.
    void grow() {
        std::vector<Slot> old(slots_.size() * (2 * texts_.size() > seen_ ? 4 : 2));
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.number == EMPTY) continue;
            usize at = slot_of(slot.hash);
            while (slots_[at].number != EMPTY) at = slot_after(at);
            slots_[at] = slot;
        }
    }

    u64 seed_;
    u64 seen_ = 0;
    std::vector<Slot> slots_;
    std::vector<std::string_view> texts_;
};

// Distinct texts of a share.
struct TextList {
    const std::vector<std::string_view>& texts;

    static bool is_null(u64) { return false; }
    std::string_view text(u64 i) const { return texts[i]; }
};

u64 random_seed() {
    static const u64 seed = [] {
        std::random_device device;
        return (static_cast<u64>(device()) << 32 | device()) | 1;
    }();
    return seed;
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
    run_each(shares, threads, [&](usize share) {
        const RowRange rows = rows_of(share);
        local[share].number(texts, rows.begin, rows.end, codes);
    });
    std::vector<std::vector<u32>> numbers(shares);
    for (usize share = 1; share < shares; ++share) {
        numbers[share].resize(local[share].texts().size());
        local[0].number(TextList{local[share].texts()}, 0, numbers[share].size(), numbers[share].data());
    }
    run_each(shares - 1, threads, [&](usize i) {
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
