// Copies with streaming stores, which bypass the cache (core/cpu/streaming_stores.hpp). For large targets that are not
// read soon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace headrace {

// Copy `bytes` bytes; the ranges must not overlap. Bytes moved: each is read once and written once. A copy through the
// cache also reads the lines that it overwrites.
inline void copy_streamed(const std::byte* from, std::byte* to, std::size_t bytes) {
#ifdef __SSE2__
    constexpr std::size_t LINE = 64;
    const std::size_t head = (LINE - reinterpret_cast<std::uintptr_t>(to) % LINE) % LINE;
    if (bytes >= head + LINE) {
        std::memcpy(to, from, head);
        from += head;
        to += head;
        bytes -= head;
        for (; bytes >= LINE; from += LINE, to += LINE, bytes -= LINE) {
            const auto* source = reinterpret_cast<const __m128i*>(from);
            auto* target = reinterpret_cast<__m128i*>(to);
            const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
            const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
            _mm_stream_si128(target, a);
            _mm_stream_si128(target + 1, b);
            _mm_stream_si128(target + 2, c);
            _mm_stream_si128(target + 3, d);
        }
        _mm_sfence();  // orders the copy before later stores that publish it
    }
#endif
    std::memcpy(to, from, bytes);
}

}  // namespace headrace
