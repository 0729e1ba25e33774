// Encodes the texts of tiles while they are in the cache: each thread numbers the texts of a column that it has seen.
#pragma once

#include <string_view>
#include <vector>

#include "columns/convert/cpu/convert.hpp"
#include "columns/dictionary/few_texts.hpp"

namespace headrace {

// Texts of a tile that become rows of a column.
struct TextRun {
    usize from, count;
    u64 row;  // that the first one becomes
};

// The distinct texts of one column in the tiles of one thread, numbered in the order of their first rows. A hash table
// with linear probing, at most half full, has the numbers. A seed keeps outsiders from preparing texts that collide.
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
    struct NumberedText {
        u64 hash, first_row;
        usize end;  // of its bytes
    };

    // A call, so that the loop for known texts keeps its values in registers.
    [[gnu::noinline]] u32 code_of(std::string_view given, u64 row);
    void grow();

    u64 seed_;
    std::vector<u32> slots_;  // code + 1, or 0
    std::vector<NumberedText> texts_;
    std::vector<u8> bytes_;
};

}  // namespace headrace
