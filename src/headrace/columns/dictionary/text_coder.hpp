// Encodes the texts of tiles while they are in the cache, for columns with few texts.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "columns/buffers/column_buffers.hpp"
#include "columns/convert/cpu/convert.hpp"
#include "columns/dictionary/text_table.hpp"

namespace headrace {

// Texts of a tile that become rows of a column.
struct TextRun {
    usize from, count;
    u64 row;           // that the first one becomes
    const u64* nulls;  // bits of the tile's texts
};

// A tile whose rows have codes, and where its strings would be among those of the column.
struct CodedTile {
    u64 row, rows, string_base;
};

// A column's tiles with codes, and its null marks (bit 1: null), or null if it has none.
struct CodedRows {
    const std::vector<CodedTile>& tiles;
    u32* codes;
    const u64* nulls;

    bool is_null(u64 row) const { return nulls != nullptr && (nulls[row / 64] >> (row % 64) & 1) != 0; }
};

// The distinct texts of one column, numbered as they are inserted. All threads fill one table of a fixed size. If it is
// full, there are more texts than the first rows showed. Then the codes are decoded, and the dictionary is made of the
// finished column.
class TextCoder {
public:
    // Return a table for a column of at most `max_rows`, or null if its first texts do not occur eight times each.
    // Otherwise there are probably less than 300 texts. More are found faster in a table for the whole column.
    static std::unique_ptr<TextCoder> if_few(const TextSpans& texts, const TextRun& first, u64 max_rows,
                                             unsigned threads);

    // Write the codes of a run. Return false if the table is full. `known`: the thread's cache for all columns; this
    // column has begun.
    bool encode(const TextSpans& texts, const TextRun& run, FewTexts& known, u32* codes) {
        return table_.insert(RunTexts{texts, run, this}, 0, run.count, known, codes) == run.count;
    }

    // Return the texts in the order of their first rows, and change codes to their numbers in that order. The code of a
    // null is 0. Throws `length_error` if the texts have too many bytes.
    LoadedTexts finish(const CodedRows& coded, const std::shared_ptr<Budget>& budget, unsigned threads) const;

    // Store the texts of codes as strings.
    template <class Offset>
    void decode(const CodedRows& coded, u8* values, Offset* offsets, unsigned threads) const {
        run_each(coded.tiles.size(), threads, [&](usize number) {
            const CodedTile& tile = coded.tiles[number];
            u64 at = tile.string_base;
            for (u64 row = tile.row; row < tile.row + tile.rows; ++row) {
                if (!coded.is_null(row)) {
                    const std::string& text = texts_[coded.codes[row]];
                    std::memcpy(values + at, text.data(), text.size());
                    at += text.size();
                }
                offsets[row + 1] = static_cast<Offset>(at);
            }
        });
    }

private:
    explicit TextCoder(usize slots);
    std::string_view add(usize slot, std::string_view text);

    // The texts of a tile for the table.
    struct RunTexts {
        TextSpans spans;
        TextRun run;
        TextCoder* all;

        u64 row(u64 i) const { return run.row + i; }
        void mark(u64) const {}
        bool may_be_few() const { return true; }
        const char* keep(usize slot, std::string_view text) const { return all->add(slot, text).data(); }
        u32 code(usize slot) const { return all->numbers_[slot]; }
        bool get(u64 i, std::string_view& text) const {
            const usize at = run.from + i;
            text = {reinterpret_cast<const char*>(spans.bytes) + spans.start(at), spans.size(at)};
            return !text.empty() || (run.nulls[at / 64] >> (at % 64) & 1) == 0;  // nulls are empty
        }
    };

    TextTable table_;
    std::vector<u32> numbers_;  // by slot
    std::mutex mutex_;
    std::deque<std::string> texts_;  // by number; their addresses do not change
};

}  // namespace headrace
