#include <random>
#include <stdexcept>

#include "core/hash.hpp"
#include "encode/pieces.hpp"

namespace headrace {
namespace {

// Hashes texts with a seed that differs from process to process, so that colliding texts cannot be prepared. Codes do
// not depend on the seed.
class TextHash {
public:
    TextHash() : seed_((static_cast<u64>(std::random_device{}()) << 32 | std::random_device{}()) | 1) {}

    u64 operator()(std::string_view text) const {
        return hash_text(reinterpret_cast<const u8*>(text.data()), text.size(), seed_);
    }

private:
    u64 seed_;
};

// Numbers texts in the order of their first occurrence, by a hash table with linear probing that is at most half full.
class TextNumbers {
public:
    explicit TextNumbers(const TextHash& hash) : hash_(hash), slots_(64, EMPTY) {}

    u32 number_of(std::string_view text) { return number_of(text, hash_(text)); }

    u32 number_of(std::string_view text, u64 hash) {
        const usize mask = slots_.size() - 1;
        usize at = static_cast<usize>(hash) & mask;
        for (; slots_[at] != EMPTY; at = (at + 1) & mask) {
            const u32 number = slots_[at];
            if (hashes_[number] == hash && texts_[number] == text) return number;
        }
        if (texts_.size() >= MAX_INT32)
            throw std::length_error("more than 2147483647 distinct texts; read them as string");
        const u32 number = static_cast<u32>(texts_.size());
        slots_[at] = number;
        texts_.push_back(text);
        hashes_.push_back(hash);
        if (texts_.size() * 2 > slots_.size()) grow();
        return number;
    }

    const std::vector<std::string_view>& texts() const { return texts_; }
    const std::vector<u64>& hashes() const { return hashes_; }

private:
    static constexpr u32 EMPTY = 0xFFFFFFFF;

    void grow() {
        slots_.assign(slots_.size() * 2, EMPTY);
        const usize mask = slots_.size() - 1;
        for (u32 number = 0; number < hashes_.size(); ++number) {
            usize at = static_cast<usize>(hashes_[number]) & mask;
            while (slots_[at] != EMPTY) at = (at + 1) & mask;
            slots_[at] = number;
        }
    }

    const TextHash& hash_;
    std::vector<u32> slots_;
    std::vector<std::string_view> texts_;
    std::vector<u64> hashes_;
};

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
    const TextHash hash;
    std::vector<TextNumbers> local(shares, TextNumbers(hash));
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
        for (usize i = 0; i < local[share].texts().size(); ++i) {
            numbers[share].push_back(local[0].number_of(local[share].texts()[i], local[share].hashes()[i]));
        }
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
