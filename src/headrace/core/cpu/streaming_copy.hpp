// A copy that goes past the cache where it writes (core/cpu/streaming_stores.hpp): of memory that is large, and that
// nobody reads soon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace headrace {

// From `from` to `to`, which do not overlap. Bytes: each is read once and written once; a copy through the cache also
// reads the lines that it overwrites.
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
        _mm_sfence();  // who is told of the copy by another store sees it whole
    }
#endif
    std::memcpy(to, from, bytes);
}

}  // namespace headrace
