// Reads text columns with offsets of 32 or 64 bits or with views, and converts them to views, codes or plain strings.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "columns/buffers/text_views.hpp"
#include "core/cpu/memory.hpp"
#include "core/cpu/portable.hpp"
#include "encode/few_texts.hpp"

namespace headrace {

enum class TextForm : u8 { small, large, view };  // Arrow's string, large_string, string_view

// `places`: offsets or views, from the first row of the buffers; the column starts `offset` rows later.
struct TextColumn {
    TextForm form = TextForm::small;
    u64 length = 0;
    u64 offset = 0;
    const u8* places = nullptr;
    const u64* validity = nullptr;   // bits; null if no row is null
    std::vector<const u8*> bytes;    // one buffer, or the buffers of the views
    std::shared_ptr<Budget> budget;  // budget of the column, which results are charged to

    bool is_null(u64 row) const {
        const u64 bit = offset + row;
        return validity != nullptr && (validity[bit / 64] >> (bit % 64) & 1) == 0;
    }

    // Return the number of rows from `row` on that are not null, at most up to `end`. It may be less than all of them.
    u64 present_from(u64 row, u64 end) const {
        if (validity == nullptr) return end - row;
        const u64 bit = offset + row, nulls = ~validity[bit / 64] >> (bit % 64);
        const u64 present = nulls == 0 ? 64 - bit % 64 : static_cast<u64>(trailing_zeros(nulls));
        return std::min(present, end - row);
    }

    // Write the slots of `count` texts from `row` on that are known, up to the first other one; return their number.
    // Not for views.
    u64 find(const FewTexts& known, u64 row, u64 count, u32* slots) const {
        const u8* const bounds = places + (offset + row) * (form == TextForm::small ? sizeof(i32) : sizeof(i64));
        if (form == TextForm::small) return known.find(bytes[0], reinterpret_cast<const i32*>(bounds), count, slots);
        return known.find(bytes[0], reinterpret_cast<const i64*>(bounds), count, slots);
    }

    // Bytes of all texts, which are not views.
    u64 all_bytes() const {
        if (form == TextForm::small) return static_cast<u64>(load<i32>(offset + length) - load<i32>(offset));
        return static_cast<u64>(load<i64>(offset + length) - load<i64>(offset));
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

// Result of the functions below; `validity` is that of the texts, from row `offset`.
struct EncodedTexts {
    TextForm form = TextForm::small;
    Region values;             // bytes, views, or codes
    Region offsets;            // offsets of small and large texts
    Region validity;           // empty if no row is null
    std::vector<Region> data;  // buffers of views
};

// Codes (i32), and the texts that they index, in the order of their first rows.
struct TextDictionary {
    EncodedTexts codes;
    EncodedTexts texts;
    u64 count = 0;
};

constexpr u64 MAX_INT32 = 0x7FFFFFFF;

// Converts texts to views. Their buffers have only bytes of the rows, and at most `max_bytes` each; no text may be
// longer.
EncodedTexts make_views(const TextColumn& texts, unsigned threads, u64 max_bytes = MAX_INT32);

// Concatenates the texts, with offsets of 32 bits if they have at most `max_small` bytes, else of 64.
EncodedTexts make_plain(const TextColumn& texts, unsigned threads, u64 max_small = MAX_INT32);

// Returns codes and distinct texts. Throws `length_error` if there are more texts than codes.
TextDictionary make_dictionary(const TextColumn& texts, unsigned threads);

// Returns an upper bound of the sizes of texts: the bytes of all if they are at most `limit`, else the longest.
u64 longest_text(const TextColumn& texts, unsigned threads, u64 limit);

}  // namespace headrace
