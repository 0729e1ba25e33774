// Texts of a column, wherever they lie: behind offsets of 32 or 64 bits, or behind views. And what is made of them.
#pragma once

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "core/cpu/memory.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

enum class TextForm : u8 { small, large, view };  // Arrow's string, large_string, string_view

// Arrow's view: the size, then up to 12 bytes themselves; or 4 bytes, number of the buffer, offset in it.
struct View {
    static constexpr u32 INLINE_BYTES = 12;
    u32 size = 0;
    u32 prefix = 0;
    u32 buffer = 0;
    u32 offset = 0;
};

// `places` are offsets or views, both from the buffers' first row on; `offset` rows are left out in front.
struct TextColumn {
    TextForm form = TextForm::small;
    u64 length = 0;
    u64 offset = 0;
    const u8* places = nullptr;
    const u64* validity = nullptr;   // or null: every row has a value
    std::vector<const u8*> bytes;    // one buffer, or those of the views
    std::shared_ptr<Budget> budget;  // of the column; what is made of it is charged to the same

    bool is_null(u64 row) const {
        const u64 bit = offset + row;
        return validity != nullptr && (validity[bit / 64] >> (bit % 64) & 1) == 0;
    }

    std::string_view text(u64 row) const {
        const u64 at = offset + row;
        if (form == TextForm::small) return between(load<i32>(at), load<i32>(at + 1));
        if (form == TextForm::large) return between(load<i64>(at), load<i64>(at + 1));
        const View view = load<View>(at);
        const u8* text =
            view.size <= View::INLINE_BYTES ? places + at * sizeof(View) + 4 : bytes[view.buffer] + view.offset;
        return {reinterpret_cast<const char*>(text), view.size};
    }

private:
    template <class T>
    T load(u64 at) const {
        T value;
        std::memcpy(&value, places + at * sizeof(T), sizeof(T));
        return value;
    }

    std::string_view between(i64 begin, i64 end) const {
        return {reinterpret_cast<const char*>(bytes[0]) + begin, static_cast<usize>(end - begin)};
    }
};

// What one of the functions below makes; `validity` of all of them is that of the texts, without the rows left out.
struct EncodedTexts {
    TextForm form = TextForm::small;
    Region values;             // bytes, views, or codes
    Region offsets;            // of small and large texts
    Region validity;           // empty where every row has a value
    std::vector<Region> data;  // of views
};

// A column of codes (i32), and the texts that they are the indexes of, in the order of their first rows.
struct TextDictionary {
    EncodedTexts codes;
    EncodedTexts texts;
    u64 count = 0;
};

constexpr u64 MOST_INT32 = 0x7FFFFFFF;

// Views whose buffers hold what the rows refer to and nothing else, each of at most `most_bytes`. No text may be
// longer.
EncodedTexts make_views(const TextColumn& texts, unsigned threads, u64 most_bytes = MOST_INT32);

// The texts one behind the other: small if that is at most `most_small` bytes.
EncodedTexts make_plain(const TextColumn& texts, unsigned threads, u64 most_small = MOST_INT32);

// Codes and distinct texts. `length_error` for more of these than codes reach.
TextDictionary make_dictionary(const TextColumn& texts, unsigned threads);

u64 longest_text(const TextColumn& texts, unsigned threads);

}  // namespace headrace
