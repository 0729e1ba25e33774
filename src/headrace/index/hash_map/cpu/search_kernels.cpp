// Searches a hash map for 16 keys at a time; compiled once per instruction set. Only AVX-512 has it.
//
// Vectors compute hashes and addresses, compare tags of four groups at a time, and gather keys. No branch depends on
// whether a key is present, so keys of both kinds take as long as those of one.
//
// A comparison of tags has a bit for each slot with the tag, and bit 15 if no key has passed the group. The key of the
// lowest slot is compared. The search is decided if that is the key, or if bit 15 alone is left.
//
//     bits 0x8010: the key is that of slot 4, or absent    bits 0x0000: the key may be in a later group
//
// The steps of consecutive chunks overlap, so that memory is there when a step reads it:
//
//     turn 2: locate chunk 2, match chunk 1, write results of chunk 0
#include "index/hash_map/cpu/search_kernels.hpp"

#include "core/hash.hpp"
#include "index/hash_map/cpu/tag_group.hpp"

#if defined(HR_ISA_AVX512)
#include <immintrin.h>

#include <algorithm>
#include <type_traits>
#endif

HR_BEGIN_NAMESPACE
#if defined(HR_ISA_AVX512)
namespace {

constexpr u64 not_passed = u64{1} << TagGroup::slot_count;

HR_HOT __m512i word(u64 value) { return _mm512_set1_epi64(static_cast<i64>(value)); }

// Returns fold_product(a, golden_ratio) of each lane, by products of 32 bits.
HR_HOT __m512i folded_products(__m512i a) {
    const __m512i b = word(golden_ratio), a_high = _mm512_srli_epi64(a, 32), b_high = word(golden_ratio >> 32);
    const __m512i lows = _mm512_mul_epu32(a, b);
    const __m512i first = _mm512_add_epi64(_mm512_srli_epi64(lows, 32), _mm512_mul_epu32(a, b_high));
    const __m512i second = _mm512_add_epi64(_mm512_and_si512(first, word(0xFFFFFFFF)), _mm512_mul_epu32(a_high, b));
    const __m512i carries = _mm512_add_epi64(_mm512_srli_epi64(first, 32), _mm512_srli_epi64(second, 32));
    const __m512i high = _mm512_add_epi64(_mm512_mul_epu32(a_high, b_high), carries);
    return _mm512_xor_si512(high, _mm512_mask_blend_epi32(0xAAAA, lows, _mm512_slli_epi64(second, 32)));
}

template <class Key, class Value>
struct SearchedSlot {
    Key key;
    Value value;
};
template <class Key>
struct SearchedSlot<Key, void> {
    Key key;
};

// Searches chunks of keys. Arrays of a chunk are used again four chunks later. Value is void for sets. Calls for
// consecutive keys share a pipeline, so that the steps of all chunks overlap.
template <class Key, class Value, SearchResult result>
class ChunkedSearch {
public:
    ChunkedSearch(const KeySearch& search, SearchPipeline& pipeline)
        : search_(search), in_(pipeline), keys_(static_cast<const Key*>(search.keys)) {}

    u64 run() {
        const u64 chunks = search_.count / chunk_keys, end = search_.end / chunk_keys;
        u64 turn = in_.turn;
        for (; turn < end + 2; ++turn) {
            if (turn < chunks) locate(turn);
            if (turn >= 1 && turn <= chunks) match(turn - 1);
            if (turn >= 2) write(turn - 2);
        }
        in_.turn = turn;
        for (u64 row = std::max(search_.begin, end * chunk_keys); row < search_.end; ++row) {
            const u64 at = row - search_.begin;
            search_.unfinished[unfinished_++] = static_cast<u32>(at);
            if (search_.found != nullptr) search_.found[at] = 0;
            if constexpr (result != SearchResult::value) search_.addresses[at] = search_.nowhere;
        }
        return unfinished_;
    }

private:
    using Slot = SearchedSlot<Key, Value>;

    // Computes hashes, and the addresses of groups and of their slots.
    [[gnu::always_inline]] void locate(u64 chunk) {
        u64 *const groups = in_.groups[chunk % 4], *const slots = in_.slots[chunk % 4],
                   *const hashes = in_.hashes[chunk % 4];
        for (u32 i = 0; i < chunk_keys; i += 8) {
            const __m512i key = keys_at(chunk * chunk_keys + i);
            const __m512i hash = folded_products(_mm512_xor_si512(key, word(search_.seed)));
            const __m512i table = _mm512_i64gather_epi64(_mm512_srli_epi64(hash, 58), search_.tables, 8);
            const __m512i size = _mm512_rolv_epi64(word(1), table);  // in groups, by the low 6 bits
            const __m512i begin = _mm512_andnot_si512(word(63), table);
            const __m512i group = _mm512_and_si512(hash, _mm512_sub_epi64(size, word(1)));
            const __m512i offset = _mm512_slli_epi64(group, 4);
            const __m512i slot = _mm512_slli_epi64(_mm512_sub_epi64(offset, group), log_slot_bytes);  // 15 a group
            const __m512i slots_begin = _mm512_add_epi64(begin, _mm512_slli_epi64(size, 4));
            _mm512_store_si512(groups + i, _mm512_add_epi64(begin, offset));
            _mm512_store_si512(slots + i, _mm512_add_epi64(slots_begin, slot));
            _mm512_store_si512(hashes + i, hash);
        }
        if (!search_.is_cached) prefetch(groups);
    }

    // Compares tags, and finds slots. In large tables, a key without one has its group instead, which is in the cache.
    [[gnu::always_inline]] void match(u64 chunk) {
        const u64* const hashes = in_.hashes[chunk % 4];
        u64 *const groups = in_.groups[chunk % 4], *const slots = in_.slots[chunk % 4],
                   *const equal_bits = in_.equal_bits[chunk % 4];
        for (u32 i = 0; i < chunk_keys; i += 8) {
            // as TagGroup::tag_of
            const __m512i tags = _mm512_max_epu8(_mm512_srli_epi64(_mm512_load_si512(hashes + i), 50), word(1));
            const __m128i equal = _mm_set_epi64x(equal_tags<4>(groups + i, tags), equal_tags<0>(groups + i, tags));
            const __m512i bits = _mm512_cvtepu16_epi64(equal);
            const __m512i lowest = _mm512_and_si512(bits, _mm512_sub_epi64(word(0), bits));
            const __m512i place = _mm512_sub_epi64(word(63), _mm512_lzcnt_epi64(lowest));
            const __m512i slot =
                _mm512_add_epi64(_mm512_load_si512(slots + i), _mm512_slli_epi64(place, log_slot_bytes));
            const __m512i group = _mm512_load_si512(groups + i);
            _mm512_store_si512(equal_bits + i, bits);
            _mm512_store_si512(slots + i,
                               search_.is_cached ? slot : _mm512_mask_mov_epi64(group, has_slot(bits), slot));
            if (result == SearchResult::tag) _mm512_store_si512(groups + i, _mm512_add_epi64(group, place));
            // (bits ^ lowest) | (lowest & not_passed)
            const __m512i after = _mm512_ternarylogic_epi64(bits, lowest, word(not_passed), 0xBC);
            in_.is_last[chunk % 4][i / 8] = _mm512_cmpeq_epi64_mask(after, word(not_passed));
        }
        if (!search_.is_cached) prefetch(slots);
    }
    // Compares the tags of four groups, from the address `first` on: 16 bits for each. `tags`: in the lowest bytes of
    // words.
    template <u32 first>
    [[gnu::always_inline]] static i64 equal_tags(const u64* groups, __m512i tags) {
        const auto group = [=](u32 i) { return _mm_load_si128(reinterpret_cast<const __m128i*>(groups[first + i])); };
        __m512i four = _mm512_castsi128_si512(group(0));
        four = _mm512_inserti64x2(four, group(1), 1);
        four = _mm512_inserti64x2(four, group(2), 2);
        four = _mm512_inserti64x2(four, group(3), 3);
        constexpr i64 byte = 8 * 0x0101010101010101, all = first * byte;  // the lowest one of a word, 8 times
        const __m512i bytes = _mm512_set_epi64(all + 3 * byte, all + 3 * byte, all + 2 * byte, all + 2 * byte,
                                               all + byte, all + byte, all, all);
        const __m512i patterns = _mm512_maskz_permutexvar_epi8(0x7FFF7FFF7FFF7FFF, bytes, tags);
        return static_cast<i64>(_mm512_cmpeq_epi8_mask(four, patterns));
    }
    [[gnu::always_inline]] static __mmask8 has_slot(__m512i equal_bits) {
        return _mm512_test_epi64_mask(equal_bits, word(not_passed - 1));
    }
    [[gnu::always_inline]] static void prefetch(const u64* addresses) {
        for (u32 i = 0; i < chunk_keys; ++i) __builtin_prefetch(reinterpret_cast<const void*>(addresses[i]));
    }

    // Compares keys, and writes results.
    [[gnu::always_inline]] void write(u64 chunk) {
        u32 unfinished = 0;
        for (u32 i = 0; i < chunk_keys; i += 8) {
            const u64 row = chunk * chunk_keys + i, at = row - search_.begin;
            const __m512i slot = _mm512_load_si512(in_.slots[chunk % 4] + i);
            const __m512i equal_bits = _mm512_load_si512(in_.equal_bits[chunk % 4] + i);
            const __mmask8 has = has_slot(equal_bits);
            const __m512i held = gathered<sizeof(Slot) == 4>(has, slot);
            const __m512i key = sizeof(Key) == 4 ? _mm512_and_si512(held, word(0xFFFFFFFF)) : held;
            const __mmask8 is_found = _mm512_mask_cmpeq_epi64_mask(has, key, keys_at(row));
            unfinished |= static_cast<u8>(~(is_found | (in_.is_last[chunk % 4][i / 8] & finishes_absent_))) << i;
            if (result == SearchResult::value || search_.found != nullptr) {
                const u64 flags = _pdep_u64(is_found, 0x0101010101010101);
                __builtin_memcpy(search_.found + at, &flags, 8);
            }
            if constexpr (result == SearchResult::value) {
                write_values(at, is_found, slot, held);
            } else {
                const __m512i address =
                    result == SearchResult::slot ? slot : _mm512_load_si512(in_.groups[chunk % 4] + i);
                _mm512_storeu_si512(search_.addresses + at,
                                    _mm512_mask_mov_epi64(word(search_.nowhere), is_found, address));
            }
        }
        const __m512i numbers = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        const auto first = static_cast<i32>(chunk * chunk_keys - search_.begin);
        const __m512i rows = _mm512_add_epi32(numbers, _mm512_set1_epi32(first));
        const auto which = static_cast<__mmask16>(unfinished);
        _mm512_storeu_si512(search_.unfinished + unfinished_, _mm512_maskz_compress_epi32(which, rows));
        unfinished_ += static_cast<u64>(count_ones(unfinished));
    }
    // Returns words, or half words, at the addresses of chosen lanes, and 0 in others.
    template <bool is_half>
    [[gnu::always_inline]] static __m512i gathered(__mmask8 chosen, __m512i addresses) {
        if constexpr (is_half) {
            return _mm512_cvtepu32_epi64(
                _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), chosen, addresses, nullptr, 1));
        } else {
            return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), chosen, addresses, nullptr, 1);
        }
    }
    // `held`: the first words of slots.
    [[gnu::always_inline]] void write_values(u64 at, __mmask8 is_found, __m512i slot, __m512i held) {
        if constexpr (!std::is_void_v<Value>) {
            if (search_.values == nullptr) return;
            Value* const to = static_cast<Value*>(search_.values) + at;
            const __m512i value = sizeof(Slot) == 8
                                      ? _mm512_maskz_srli_epi64(is_found, held, 32)
                                      : gathered<sizeof(Value) == 4>(is_found, _mm512_add_epi64(slot, word(8)));
            if constexpr (sizeof(Value) == 8) {
                _mm512_storeu_si512(to, value);
            } else {
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi64_epi32(value));
            }
        }
    }

    [[gnu::always_inline]] __m512i keys_at(u64 row) const {
        if constexpr (sizeof(Key) == 8) {
            return _mm512_loadu_si512(keys_ + row);
        } else {
            return _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys_ + row)));
        }
    }

    static constexpr u32 log_slot_bytes = sizeof(Slot) == 4 ? 2 : sizeof(Slot) == 8 ? 3 : 4;
    static_assert(sizeof(Slot) == 1 << log_slot_bytes);

    const KeySearch search_;
    SearchPipeline& in_;
    const Key* const keys_;
    const u32 finishes_absent_ = search_.lists_absent ? 0 : 0xFF;
    u64 unfinished_ = 0;
};

template <class Key, class Value, SearchResult result>
u64 search_keys(const KeySearch& search, SearchPipeline& pipeline) {
    return ChunkedSearch<Key, Value, result>(search, pipeline).run();
}

template <SearchResult result, class Key>
SearchKeys* search_kernel_of(u32 value_width) {
    if (value_width == 0) return search_keys<Key, void, result>;
    return value_width == 4 ? search_keys<Key, u32, result> : search_keys<Key, u64, result>;
}

template <SearchResult result>
SearchKeys* search_kernel_of(const SearchKind& kind) {
    return kind.key_width == 4 ? search_kernel_of<result, u32>(kind.value_width)
                               : search_kernel_of<result, u64>(kind.value_width);
}

}  // namespace

SearchKeys* search_kernel(const SearchKind& kind) {
    if (kind.result == SearchResult::value) return search_kernel_of<SearchResult::value>(kind);
    return kind.result == SearchResult::slot ? search_kernel_of<SearchResult::slot>(kind)
                                             : search_kernel_of<SearchResult::tag>(kind);
}

#else

SearchKeys* search_kernel(const SearchKind&) { return nullptr; }

#endif
HR_END_NAMESPACE
