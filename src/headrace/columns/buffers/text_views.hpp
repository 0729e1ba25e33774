// Writes texts as Arrow's views. Which texts are long is unpredictable, so nothing branches on it. The kernels of each
// instruction set include this header too.
#pragma once

#include "core/cpu/portable.hpp"

#if defined(HR_ISA_AVX512)
#include <immintrin.h>
#endif

namespace headrace {

// Arrow's view: the size, then up to 12 bytes of text; or 4 bytes of text, the number of a buffer and an offset in it.
struct View {
    static constexpr u32 INLINE_BYTES = 12;
    u32 size = 0;
    u32 prefix = 0;
    u32 buffer = 0;
    u32 offset = 0;
};

// Bytes [at, end) of a buffer, for long texts.
struct ViewBytes {
    u8* data;
    u32 buffer;  // its number
    u64 at, end;
};

}  // namespace headrace

HR_BEGIN_NAMESPACE

// All bits for a text that is not inline, else none.
HR_FN u64 long_mask(usize size) { return u64{0} - static_cast<u64>(size > View::INLINE_BYTES); }

// Return the bytes of texts that are not inline, up to 2^32 - 1. `ends`: of the texts, of which the first begins at 0.
HR_FN u32 long_bytes(const u32* ends, usize count) {
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

    // `size`: at most BYTES. A minimum here would become a branch.
    TextStart(const u8* text, usize size) {
        if (size == 0) return;
        const u8* const mask = FIRST_BYTES + BYTES - size;
        low = load_word(text) & load_word(mask);
        high = load_word(text + 8) & load_word(mask + 8);
    }

private:
    static constexpr u8 FIRST_BYTES[2 * BYTES] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                  0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
};

// Writes the views of some rows, and their long texts to a part of a buffer.
class ViewWriter {
public:
    ViewWriter(View* views, const ViewBytes& bytes) : views_(views), bytes_(bytes) {}

    // Every text is copied to the buffer, and only a long one stays there. The first 32 bytes are copied whole, unless
    // they would pass the part's end. COPIED bytes from any text on are readable.
    void add(const u8* text, usize size) {
        const u64 if_long = long_mask(size);
        put_view(text, size, if_long);
        if (bytes_.end - bytes_.at >= COPIED && size <= COPIED) {
            __builtin_memcpy(bytes_.data + bytes_.at, text, COPIED);
        } else if (if_long != 0) {
            __builtin_memcpy(bytes_.data + bytes_.at, text, size);
        }
        bytes_.at += size & if_long;
    }

    // Return the end of the long texts.
    u64 end() const { return bytes_.at; }

    static constexpr usize COPIED = 32;

private:
    void put_view(const u8* text, usize size, u64 if_long) {
        const u64 place = bytes_.buffer | bytes_.at << 32;
        const usize inlined = size < View::INLINE_BYTES ? size : View::INLINE_BYTES;
#if defined(HR_ISA_AVX512)
        const auto mask = static_cast<__mmask16>((1u << inlined) - 1);
        const __m128i start = _mm_slli_si128(_mm_maskz_loadu_epi8(mask, text), 4);
        const __m128i view = _mm_or_si128(start, _mm_cvtsi32_si128(static_cast<int>(size)));
        const auto last = static_cast<__mmask8>(if_long & 2);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(views_++),
                         _mm_mask_set1_epi64(view, last, static_cast<i64>(place)));
#else
        const TextStart start(text, inlined);
        const u64 rest = start.low >> 32 | start.high << 32;
        const u64 words[] = {static_cast<u32>(size) | start.low << 32, rest ^ ((rest ^ place) & if_long)};
        __builtin_memcpy(views_++, words, sizeof(View));
#endif
    }

    View* views_;
    ViewBytes bytes_;
};

HR_END_NAMESPACE
