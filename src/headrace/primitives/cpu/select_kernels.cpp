// Selects from one piece; compiled once per instruction set.
//
// 64 flags are converted to a mask. The selected items of a vector then move to its low end: AVX-512 has an
// instruction, AVX2 uses a permutation computed from the mask, and other code moves them one by one without a branch.
// The whole vector is stored, and the next vector is stored where the selected items end. Items are collected in a
// buffer in L1 that is written in whole lines. So nothing is written after the last item, and large results can bypass
// the cache.
#include "primitives/cpu/select_kernels.hpp"

#include "core/cpu/simd.hpp"
#include "core/cpu/vectors.hpp"

HR_BEGIN_NAMESPACE
namespace {

struct TwoWords {
    u64 low, high;
};

// Copies bytes that are whole vectors; if they are streamed, `to` is aligned to a vector.
HR_FN void move_bytes(const u8* from, u8* to, u64 n, Stores stores) {
    u64 i = 0;
    if (stores == Stores::streamed) {
        for (; i + vector_bytes <= n; i += vector_bytes) stream(to + i, load(from + i));
    } else {
        for (; i + vector_bytes <= n; i += vector_bytes) store(to + i, load(from + i));
    }
    __builtin_memcpy(to + i, from + i, n - i);
}

// Output buffer for items. Its start corresponds to the vector boundary at or before the first item.
template <class Item>
class Outgoing {
public:
    Outgoing(void* out, Stores stores) : stores_(stores) {
        const u64 address = reinterpret_cast<u64>(out);
        if (address % sizeof(Item) != 0) stores_ = Stores::cached;
        first_ = stores_ == Stores::cached ? 0 : static_cast<u32>(address % vector_bytes / sizeof(Item));
        filled_ = first_;
        to_ = static_cast<u8*>(out) - first_ * sizeof(Item);
    }

    // Returns the position of the next items: there is space for 64 items and a vector.
    Item* next() { return staged_ + filled_; }

    void add(u64 items) {
        filled_ += items;
        if (filled_ < capacity) return;
        leave(capacity);
        filled_ -= capacity;
        __builtin_memcpy(staged_, staged_ + capacity, filled_ * sizeof(Item));
        to_ += capacity * sizeof(Item);
        first_ = 0;
    }

    void finish() {
        leave(filled_);
        if (stores_ == Stores::streamed) stream_end();
    }

private:
    static constexpr u64 capacity = 8192 / sizeof(Item);

    void leave(u64 items) {
        const u64 skipped = first_ * sizeof(Item);
        move_bytes(reinterpret_cast<const u8*>(staged_) + skipped, to_ + skipped, items * sizeof(Item) - skipped,
                   skipped == 0 ? stores_ : Stores::cached);
    }

    Stores stores_;
    u64 first_, filled_;
    u8* to_;
    alignas(64) Item staged_[capacity + 64 + 64 / sizeof(Item)];
};

#if defined(HR_ISA_AVX512)

// Moves the items of a vector whose bit in `mask` is set to its low end.
template <class Item>
HR_HOT __m512i packed(__m512i v, u64 mask) {
    if constexpr (sizeof(Item) == 1) return _mm512_maskz_compress_epi8(mask, v);
    if constexpr (sizeof(Item) == 2) return _mm512_maskz_compress_epi16(static_cast<__mmask32>(mask), v);
    if constexpr (sizeof(Item) == 4) return _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), v);
    if constexpr (sizeof(Item) == 8) return _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), v);
    const u64 pairs = _pdep_u64(mask, 0x55) * 3;
    return _mm512_maskz_compress_epi64(static_cast<__mmask8>(pairs), v);
}

template <class Item>
HR_HOT u64 gather_block(const Item* in, u64 mask, Item* out) {
    constexpr u64 step = 64 / sizeof(Item);
    constexpr u64 all = step == 64 ? ~u64{0} : (u64{1} << step % 64) - 1;
    u64 place = 0;
    for (u64 i = 0; i < 64; i += step) {
        const u64 own = mask >> i & all;
        _mm512_storeu_si512(out + place, packed<Item>(_mm512_loadu_si512(in + i), own));
        place += static_cast<u64>(count_ones(own));
    }
    return place;
}

#elif defined(HR_ISA_AVX2)

// Returns the numbers of the set bits, one per byte, each expanded to `unit` numbers: for 0b0101 and unit 2, 0 1 4 5.
template <u64 unit>
HR_HOT u64 numbers_of(u64 mask) {
    constexpr u64 each = unit == 1 ? 0x0101010101010101 : unit == 2 ? 0x0001000100010001 : 0x0000000100000001;
    return _pext_u64(0x0706050403020100, _pdep_u64(mask, each) * ((u64{1} << 8 * unit) - 1));
}

template <class Item>
HR_HOT u64 gather_block(const Item* in, u64 mask, Item* out) {
    constexpr u64 step = sizeof(Item) <= 2 ? 8 : 32 / sizeof(Item);
    u64 place = 0;
    for (u64 i = 0; i < 64; i += step) {
        const u64 own = mask >> i & ((u64{1} << step) - 1);
        if constexpr (sizeof(Item) == 1) {
            u64 bytes;
            __builtin_memcpy(&bytes, in + i, 8);
            bytes = _pext_u64(bytes, _pdep_u64(own, 0x0101010101010101) * 255);
            __builtin_memcpy(out + place, &bytes, 8);
        } else if constexpr (sizeof(Item) == 2) {
            const __m128i numbers = _mm_cvtepu8_epi16(_mm_cvtsi64_si128(static_cast<i64>(numbers_of<1>(own))));
            const __m128i bytes =
                _mm_add_epi16(_mm_mullo_epi16(numbers, _mm_set1_epi16(0x0202)), _mm_set1_epi16(0x100));
            const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + place), _mm_shuffle_epi8(v, bytes));
        } else {
            const u64 words = numbers_of<sizeof(Item) / 4>(own);
            const __m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<i64>(words)));
            const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + place), _mm256_permutevar8x32_epi32(v, order));
        }
        place += static_cast<u64>(count_ones(own));
    }
    return place;
}

#else

template <class Item>
HR_HOT u64 gather_block(const Item* in, u64 mask, Item* out) {
    u64 place = 0;
    for (u64 i = 0; i < 64; ++i) {
        out[place] = item_at(in + i);
        place += mask >> i & 1;
    }
    return place;
}

#endif

HR_HOT u64 mask_of(const u8* flags) { return ~Block(flags).equals(0); }

template <class Item>
void gather(const void* items, const u8* flags, u64 n, void* out, Stores stores) {
    const Item* in = static_cast<const Item*>(items);
    Outgoing<Item> outgoing(out, stores);
    u64 i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        read_ahead(flags + i);
        for (u64 item = 0; item < BLOCK; item += 64 / sizeof(Item)) read_ahead(in + i + item);
        const u64 mask = mask_of(flags + i);
        if (mask != 0) outgoing.add(gather_block(in + i, mask, outgoing.next()));
    }
    for (; i < n; ++i) {
        *outgoing.next() = item_at(in + i);
        outgoing.add(flags[i] != 0);
    }
    outgoing.finish();
}

u64 count(const u8* flags, u64 n) {
    u64 selected = 0, i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        read_ahead(flags + i);
        selected += static_cast<u64>(count_ones(mask_of(flags + i)));
    }
    for (; i < n; ++i) selected += flags[i] != 0;
    return selected;
}

}  // namespace

const SelectKernels& select_kernels() {
    static constexpr SelectKernels kernels = {count,
                                              {gather<u8>, gather<u16>, gather<u32>, gather<u64>, gather<TwoWords>}};
    return kernels;
}

HR_END_NAMESPACE
