// Finds the places where one of several windows may occur; compiled once per instruction set.
//
// The low and the high four bits of a byte are looked up in two tables of 16 entries. The AND of both has the buckets
// whose set may have the byte. The AND over all bytes of a window has the buckets that may occur. The method is that of
// Hyperscan's Teddy (Langdale), with sets in place of bytes. With AVX-512, one table of 64 entries is looked up by the
// low six bits. Places that are left are looked up in tables of 256.
// Bytes moved per position: 1, from memory.
#include "query/match/cpu/window_kernels.hpp"

#include "core/cpu/simd.hpp"

HR_BEGIN_NAMESPACE
namespace {

template <u32 width>
HR_HOT bool occurs(const LineWindows& windows, const u8* text) {
    u32 buckets = windows.sets[0][text[0]];
    for (u32 i = 1; i < width; ++i) buckets &= windows.sets[i][text[i]];
    return buckets != 0;
}

#if defined(HR_ISA_AVX512)

template <u32 width>
class WindowFilter {
public:
    explicit WindowFilter(const LineWindows& windows) {
        for (u32 i = 0; i < width; ++i) tables_[i] = _mm512_load_si512(windows.six[i]);
    }

    // Returns a mask of the positions among 64 where a window may occur.
    HR_MEMBER u64 places(const u8* text) const {
        __m512i buckets = _mm512_permutexvar_epi8(_mm512_loadu_si512(text), tables_[0]);
        for (u32 i = 1; i < width; ++i) {
            const __m512i found = _mm512_permutexvar_epi8(_mm512_loadu_si512(text + i), tables_[i]);
            buckets = _mm512_and_si512(buckets, found);
        }
        return _mm512_test_epi8_mask(buckets, buckets);
    }

private:
    __m512i tables_[width];
};

#elif defined(HR_ISA_AVX2)

template <u32 width>
class WindowFilter {
public:
    explicit WindowFilter(const LineWindows& windows) {
        for (u32 i = 0; i < width; ++i) {
            low_[i] = table(windows.low[i]);
            high_[i] = table(windows.high[i]);
        }
    }

    // Returns a mask of the positions among 64 where a window may occur.
    HR_MEMBER u64 places(const u8* text) const { return half(text) | static_cast<u64>(half(text + 32)) << 32; }

private:
    static __m256i table(const u8* entries) {
        return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(entries)));
    }

    HR_MEMBER u32 half(const u8* text) const {
        const __m256i digits = _mm256_set1_epi8(15);
        __m256i buckets = _mm256_set1_epi8(-1);
        for (u32 i = 0; i < width; ++i) {
            const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + i));
            const __m256i low = _mm256_shuffle_epi8(low_[i], _mm256_and_si256(bytes, digits));
            const __m256i high = _mm256_shuffle_epi8(high_[i], _mm256_and_si256(_mm256_srli_epi16(bytes, 4), digits));
            buckets = _mm256_and_si256(buckets, _mm256_and_si256(low, high));
        }
        return ~static_cast<u32>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(buckets, _mm256_setzero_si256())));
    }

    __m256i low_[width], high_[width];
};

#else

template <u32 width>
class WindowFilter {
public:
    explicit WindowFilter(const LineWindows& windows) : windows_(windows) {}

    HR_MEMBER u64 places(const u8* text) const {
        u64 mask = 0;
        for (u32 i = 0; i < BLOCK; ++i) mask |= u64{occurs<width>(windows_, text + i)} << i;
        return mask;
    }

private:
    const LineWindows& windows_;
};

#endif

template <u32 width>
void find_windows(const LineWindows& windows, const FindRange& range, FoundPositions& found) {
    const WindowFilter<width> filter(windows);
    const auto add = [&](u64 position) {
        if (!occurs<width>(windows, range.text + position)) return true;
        if (found.count < found.capacity) found.out[found.count] = position;
        return ++found.count < found.limit;
    };
    u64 at = range.begin;
    for (; at + BLOCK <= range.end; at += BLOCK) {
        for (u64 mask = filter.places(range.text + at); mask != 0; mask &= mask - 1) {
            if (!add(at + static_cast<u64>(trailing_zeros(mask)))) return;
        }
    }
    for (; at < range.end; ++at) {
        if (!add(at)) return;
    }
}

void find(const LineWindows& windows, const FindRange& range, FoundPositions& found) {
    if (windows.width == 1) return find_windows<1>(windows, range, found);
    if (windows.width == 2) return find_windows<2>(windows, range, found);
    if (windows.width == 3) return find_windows<3>(windows, range, found);
    find_windows<4>(windows, range, found);
}

}  // namespace

const WindowKernels& window_kernels() {
    static constexpr WindowKernels kernels = {find};
    return kernels;
}

HR_END_NAMESPACE
