// Writes texts as Arrow's views. Which texts are long is unpredictable, so nothing branches on it.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "core/cpu/memory.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

// Arrow's view: the size, then up to 12 bytes of text; or 4 bytes of text, the number of a buffer and an offset in it.
struct View {
    static constexpr u32 INLINE_BYTES = 12;
    u32 size = 0;
    u32 prefix = 0;
    u32 buffer = 0;
    u32 offset = 0;
};

// All bits for a text that is not inline, else none.
inline u64 long_mask(usize size) { return u64{0} - static_cast<u64>(size > View::INLINE_BYTES); }

// Return the bytes of texts that are not inline, up to 2^32 - 1. `ends`: of the texts, of which the first begins at 0.
inline u32 long_bytes(const u32* ends, usize count) {
    u32 bytes = count == 0 || ends[0] <= View::INLINE_BYTES ? 0 : ends[0];
    for (usize i = 1; i < count; ++i) {
        const u32 size = ends[i] - ends[i - 1];
        bytes += size > View::INLINE_BYTES ? size : 0;
    }
    return bytes;
}

// The first 16 bytes of a text as two words, with zeros after its end. 16 bytes from any text on are readable, because
// every region has slack. One mask is selected for both words: sizes are unpredictable.
struct TextStart {
    static constexpr usize BYTES = 16;
    u64 low = 0, high = 0;

    explicit TextStart(std::string_view text) {
        if (text.empty()) return;
        const u8* const mask = FIRST_BYTES.data() + BYTES - std::min(text.size(), BYTES);
        low = word_at(text.data()) & word_at(mask);
        high = word_at(text.data() + 8) & word_at(mask + 8);
    }

private:
    static constexpr std::array<u8, 2 * BYTES> FIRST_BYTES = [] {
        std::array<u8, 2 * BYTES> bytes{};
        std::fill_n(bytes.begin(), BYTES, u8{0xFF});
        return bytes;
    }();

    static u64 word_at(const void* bytes) {
        u64 word;
        std::memcpy(&word, bytes, sizeof(word));
        return word;
    }
};

// Bytes [at, end) of a buffer, for long texts.
struct ViewBytes {
    u8* data;
    u32 buffer;  // its number
    u64 at, end;
};

// Writes the views of some rows, and their long texts to a part of a buffer.
class ViewWriter {
public:
    ViewWriter(View* views, const ViewBytes& bytes) : views_(views), bytes_(bytes) {}

    // Every text is copied to the buffer, and only a long one stays there. The first 32 bytes are copied whole, unless
    // they would pass the part's end. COPIED bytes from any text on are readable.
    void add(std::string_view text) {
        static_assert(COPIED <= Region::SLACK);
        const TextStart start(text);
        const u64 if_long = long_mask(text.size());
        const u64 rest = start.low >> 32 | start.high << 32;
        const u64 last = rest ^ ((rest ^ (bytes_.buffer | bytes_.at << 32)) & if_long);
        const u64 words[] = {static_cast<u32>(text.size()) | start.low << 32, last};
        std::memcpy(views_++, words, sizeof(View));
        if (bytes_.end - bytes_.at >= COPIED && text.size() <= COPIED) {
            std::memcpy(bytes_.data + bytes_.at, text.data(), COPIED);
        } else if (if_long != 0) {
            std::memcpy(bytes_.data + bytes_.at, text.data(), text.size());
        }
        bytes_.at += text.size() & if_long;
    }

    static constexpr usize COPIED = 32;

private:
    View* views_;
    ViewBytes bytes_;
};

}  // namespace headrace
