// Chooses between cached and streaming stores for a result, and copies with the latter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/cpu/portable.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace headrace {

enum class Stores : u8 {
    cached,
    // Bypass the cache: a line that is overwritten entirely is not read first, which would cost as much as writing it.
    streamed,
};

// Results of at least this many bytes do not benefit from staying in the cache.
constexpr u64 streamed_from = u64{8} << 20;

constexpr Stores stores_for(u64 bytes) { return bytes < streamed_from ? Stores::cached : Stores::streamed; }

// Copy `bytes` bytes to a large target that is not read soon; the ranges must not overlap. Bytes moved: each is read
// once and written once. A copy through the cache also reads the lines that it overwrites.
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
