#include "columns/dictionary/text_coder.hpp"

#include <algorithm>
#include <bit>

#include "columns/dictionary/pieces.hpp"
#include "core/cpu/random_seed.hpp"

namespace headrace {

TextCoder::TextCoder(usize slots) : table_(random_seed(), slots, 1), numbers_(slots) {}

// Number a text before other threads see it.
std::string_view TextCoder::add(usize slot, std::string_view text) {
    const std::lock_guard lock(mutex_);
    numbers_[slot] = static_cast<u32>(texts_.size());
    return texts_.emplace_back(text);
}

std::unique_ptr<TextCoder> TextCoder::if_few(const TextSpans& texts, const TextRun& first, u64 max_rows,
                                             unsigned threads) {
    constexpr usize FIRST_ROWS = 2048, MIN_SLOTS = 1024, MAX_SLOTS = 16384, ROWS_A_SLOT = 128, LANES = 64;
    const usize count = std::min(first.count, FIRST_ROWS);
    std::array<u32, FIRST_ROWS> codes;
    FewTexts known;
    TextCoder sample(MIN_SLOTS);
    if (!sample.encode(texts, {first.from, count, 0, first.nulls}, known, codes.data())) return nullptr;
    usize present = 0;
    std::string_view text;
    for (usize i = 0; i < count; ++i) present += RunTexts{texts, first, nullptr}.get(i, text) ? 1 : 0;
    if (sample.table_.text_count() * 8 > present) return nullptr;
    const usize slots =
        std::max<usize>({MIN_SLOTS, std::min<usize>(max_rows / ROWS_A_SLOT, MAX_SLOTS), LANES * threads});
    return std::unique_ptr<TextCoder>(new TextCoder(std::bit_ceil(slots)));
}

LoadedTexts TextCoder::finish(const CodedRows& coded, const std::shared_ptr<Budget>& budget, unsigned threads) const {
    struct FirstRow {
        u64 row;
        u32 number;
    };
    std::vector<FirstRow> firsts;
    u64 bytes = 0;
    for (usize slot = 0; slot < table_.size(); ++slot) {
        if (table_.has_text(slot)) firsts.push_back({table_.first_row(slot), numbers_[slot]});
    }
    std::ranges::sort(firsts, {}, &FirstRow::row);
    for (const std::string& text : texts_) bytes += text.size();
    check_text_bytes(bytes);
    const usize count = firsts.size();
    LoadedTexts result{region_of(bytes, budget), region_of((count + 1) * sizeof(i32), budget), count};
    i32* const ends = result.offsets.as<i32>();
    std::vector<u32> ranks(count);
    ends[0] = 0;
    for (usize rank = 0; rank < count; ++rank) {
        const std::string& text = texts_[firsts[rank].number];
        std::copy_n(text.data(), text.size(), result.values.as<char>() + ends[rank]);
        ends[rank + 1] = ends[rank] + static_cast<i32>(text.size());
        ranks[firsts[rank].number] = static_cast<u32>(rank);
    }
    if (std::ranges::is_sorted(ranks)) return result;  // codes are such numbers already
    run_each(coded.tiles.size(), threads, [&](usize number) {
        const CodedTile& tile = coded.tiles[number];
        for (u64 row = tile.row; row < tile.row + tile.rows; ++row) {
            coded.codes[row] = coded.is_null(row) ? 0 : ranks[coded.codes[row]];
        }
    });
    return result;
}

}  // namespace headrace
