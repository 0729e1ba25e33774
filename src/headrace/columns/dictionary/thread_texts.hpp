// Encodes the texts of tiles while they are in the cache: each thread numbers the texts of a column that it has seen.
#pragma once

#include <string_view>
#include <vector>

#include "columns/convert/cpu/convert.hpp"
#include "columns/dictionary/few_texts.hpp"
#include "columns/dictionary/text_key.hpp"

namespace headrace {

// Texts of a tile that become rows of a column.
struct TextRun {
    usize from, count;
    u64 row;  // that the first one becomes
};

// The distinct texts of one column in the tiles of one thread, numbered in the order of their first rows. A hash table
// with linear probing has the numbers. It is at most a quarter full, since a text at another slot than its first costs
// a wrong prediction.
class ThreadTexts {
public:
    explicit ThreadTexts(u64 seed) : seed_(seed), slots_(64) {}

    // Write the codes of a run, and return the number of texts that are not null. `nulls`: bits of the tile's texts;
    // the code of a null is 0. `known`: the thread's cache for all columns; this one has begun.
    usize encode(const TextSpans& texts, const TextRun& run, const u64* nulls, FewTexts& known, u32* codes);

    usize count() const { return texts_.size(); }
    u64 first_row(usize code) const { return texts_[code].first_row; }
    std::string_view text(usize code) const {
        const usize begin = code == 0 ? 0 : texts_[code - 1].end;
        return {reinterpret_cast<const char*>(bytes_.data()) + begin, texts_[code].end - begin};
    }

private:
    static constexpr u32 NO_CODE = ~u32{0};
    struct CodeSlot {
        TextKey key;
        u32 size, code = NO_CODE;
    };
    struct NumberedText {
        u64 first_row;
        usize end;  // of its bytes
    };

    usize encode_few(const TextSpans& texts, const TextRun& run, const u64* nulls, FewTexts& known, u32* codes);
    usize encode_many(const TextSpans& texts, const TextRun& run, const u64* nulls, u32* codes);
    u32 code_of(std::string_view given, const TextKey& key, u64 row);
    u32 add(std::string_view given, u64 row);
    [[gnu::noinline]] u32 look_up(std::string_view given, u64 row) {
        return code_of(given, TextKey::of(given, seed_), row);
    }
    void grow();

    u64 seed_;
    std::vector<CodeSlot> slots_;
    std::vector<NumberedText> texts_;
    std::vector<u8> bytes_;
};

}  // namespace headrace
