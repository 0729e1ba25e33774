// Reads text columns with offsets of 32 or 64 bits or with views.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "columns/buffers/text_views.hpp"
#include "core/cpu/memory.hpp"
#include "core/cpu/portable.hpp"

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

// A column that was made of texts; `validity` is that of the texts, from row `offset`.
struct EncodedTexts {
    TextForm form = TextForm::small;
    Region values;             // bytes, views, or codes
    Region offsets;            // offsets of small and large texts
    Region validity;           // empty if no row is null
    std::vector<Region> data;  // buffers of views
};

constexpr u64 MAX_INT32 = 0x7FFFFFFF;

}  // namespace headrace
