#include "columns/dictionary/dictionary.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "columns/dictionary/pieces.hpp"
#include "columns/dictionary/text_table.hpp"
#include "core/cpu/random_seed.hpp"

namespace headrace {
namespace {

// Return the probable number of distinct texts of a column, if `found` are among `among` of its rows. Of D equally
// frequent texts, r rows have about r - r * r / 2D, if r is far less than D.
u64 expected_texts(u64 found, u64 among, u64 rows) {
    const double r = static_cast<double>(among), repeated = r - static_cast<double>(found);
    return std::max(2 * found, static_cast<u64>(std::min(r * r / (2 * repeated + 1), static_cast<double>(rows))));
}

// The texts of every `stride`th row of a column, for a table. `marks`: a bit for each row, or null.
struct TextsOfColumn {
    const TextColumn& column;
    u64* marks = nullptr;
    u64 stride = 1;

    u64 row(u64 i) const { return i * stride; }
    void mark(u64 row) const {
        if (marks != nullptr) marks[row / 64] |= u64{1} << (row % 64);
    }
    bool may_be_few() const { return column.form != TextForm::view && column.all_bytes() != 0; }
    const char* keep(usize, std::string_view text) const { return text.data(); }
    u32 code(usize slot) const { return static_cast<u32>(slot); }
    bool get(u64 i, std::string_view& text) const {
        const bool valid = !column.is_null(row(i));
        text = valid ? column.text(row(i)) : std::string_view();
        return valid;
    }
};

// Return the probable number of distinct texts of a column, by rows from all its parts: the first ones may differ.
u64 sampled_texts(const TextColumn& texts) {
    constexpr usize ROWS = usize{1} << 12;
    std::array<u32, ROWS> slots;
    FewTexts known;
    TextTable table(random_seed(), 4 * ROWS, 1);
    table.insert(TextsOfColumn{texts, nullptr, texts.length / ROWS}, 0, ROWS, known, slots.data());
    u64 present = 0;
    for (usize i = 0; i < ROWS; ++i) present += texts.is_null(i * (texts.length / ROWS)) ? 0 : 1;
    return expected_texts(table.text_count(), present, texts.length * present / ROWS);
}

// Fill a table with all texts, write the slots of rows, and mark each row that may be the first of its text. One thread
// writes the marks of a piece. The first table is small. The second one has as many slots as the texts of a
// sample probably need. Further ones have as many as those of the rows before the table was full.
std::unique_ptr<TextTable> filled_table(const TextColumn& texts, unsigned threads, u32* places, u64* marks) {
    constexpr usize FEW_SLOTS = usize{1} << 14, MAX_SLOTS = usize{1} << 32;
    const usize pieces = piece_count(texts.length), shares = std::clamp<usize>(pieces, 1, threads);
    usize slots = std::max(std::clamp<usize>(2 * texts.length, 64, FEW_SLOTS), 64 * shares);
    for (bool is_first = true;; is_first = false) {
        auto table = std::make_unique<TextTable>(random_seed(), slots, threads);
        std::atomic<usize> next{0};
        std::atomic<u64> done{0};
        run_each(shares, threads, [&](usize) {
            FewTexts known;
            for (usize piece = next++; piece < pieces; piece = next++) {
                const RowRange rows = piece_rows(piece, texts.length);
                const u64 end = table->insert(TextsOfColumn{texts, marks}, rows.begin, rows.end, known, places);
                done += end - rows.begin;
                if (end != rows.end) return;
            }
        });
        if (done == texts.length) return table;
        if (slots == MAX_SLOTS) throw std::length_error("more than 2147483647 distinct texts; read them as string");
        const u64 expected = is_first ? sampled_texts(texts) : expected_texts(table->text_count(), done, texts.length);
        slots = std::min(std::max<usize>(4 * slots, expected * 5 / 2), MAX_SLOTS);
    }
}

// A bit for each row whose text has not occurred before. Texts are numbered in the order of these rows.
class FirstRows {
public:
    explicit FirstRows(u64 rows) : rows_(rows), words_((rows + 63) / 64), before_(piece_count(rows) + 1) {}

    u64* marks() { return words_.data(); }
    u64 count() const { return before_.back(); }
    u64 before(usize piece) const { return before_[piece]; }

    // Clear the marks of rows that are not the first of their texts: another thread found an earlier one, or an earlier
    // table was full.
    void confirm(const TextTable& table, const u32* slots, unsigned threads) {
        run_each(before_.size() - 1, threads, [&](usize piece) {
            u64 found = 0;
            each(piece, [&](u64 row) {
                const u64 is_first = table.first_row(slots[row]) == row ? 1 : 0;
                words_[row / 64] ^= (is_first ^ 1) << (row % 64);
                found += is_first;
            });
            before_[piece + 1] = found;
        });
        for (usize piece = 1; piece < before_.size(); ++piece) before_[piece] += before_[piece - 1];
    }

    // Call `use(row)` for the first rows of a piece.
    template <class Use>
    void each(usize piece, const Use& use) const {
        const RowRange range = piece_rows(piece, rows_);
        for (u64 word = range.begin / 64; word < (range.end + 63) / 64; ++word) {
            for (u64 bits = words_[word]; bits != 0; bits &= bits - 1) {
                use(word * 64 + static_cast<u64>(std::countr_zero(bits)));
            }
        }
    }

private:
    u64 rows_;
    std::vector<u64> words_;
    std::vector<u64> before_;  // first rows before each piece
};

// Return the texts of the first rows as a column with offsets of 32 bits. Throws `length_error` if they have too many
// bytes.
EncodedTexts first_texts(const FirstRows& firsts, const TextColumn& texts, unsigned threads) {
    const usize pieces = piece_count(texts.length);
    std::vector<u64> begins(pieces + 1);
    run_each(pieces, threads,
             [&](usize piece) { firsts.each(piece, [&](u64 row) { begins[piece + 1] += texts.text(row).size(); }); });
    for (usize piece = 0; piece < pieces; ++piece) begins[piece + 1] += begins[piece];
    check_text_bytes(begins.back());
    EncodedTexts result;
    result.values = region_of(begins.back(), texts.budget);
    result.offsets = region_of((firsts.count() + 1) * sizeof(i32), texts.budget);
    i32* const ends = result.offsets.as<i32>();
    ends[0] = 0;
    run_each(pieces, threads, [&](usize piece) {
        u64 at = begins[piece], number = firsts.before(piece);
        firsts.each(piece, [&](u64 row) {
            const std::string_view text = texts.text(row);
            if (!text.empty()) std::memcpy(result.values.as<u8>() + at, text.data(), text.size());
            ends[++number] = static_cast<i32>(at += text.size());
        });
    });
    return result;
}

}  // namespace

// Threads fill one table. Then the texts are numbered by their first rows, so that no number depends on the threads.
TextDictionary make_dictionary(const TextColumn& texts, unsigned threads) {
    TextDictionary result;
    result.codes.values = region_of(texts.length * sizeof(u32), texts.budget);
    u32* const codes = result.codes.values.as<u32>();
    FirstRows firsts(texts.length);
    const std::unique_ptr<TextTable> table = filled_table(texts, threads, codes, firsts.marks());
    firsts.confirm(*table, codes, threads);
    const usize pieces = piece_count(texts.length);
    const Region numbers = region_of(table->size() * sizeof(u32), nullptr);  // by slot
    run_each(pieces, threads, [&](usize piece) {
        u64 next = firsts.before(piece);
        firsts.each(piece, [&](u64 row) { numbers.as<u32>()[codes[row]] = static_cast<u32>(next++); });
    });
    run_each(pieces, threads, [&](usize piece) {
        const RowRange rows = piece_rows(piece, texts.length);
        for (u64 row = rows.begin; row < rows.end; ++row) {
            codes[row] = texts.is_null(row) ? 0 : numbers.as<u32>()[codes[row]];
        }
    });
    result.texts = first_texts(firsts, texts, threads);
    result.count = firsts.count();
    result.codes.validity = copied_validity(texts, threads);
    return result;
}

}  // namespace headrace
