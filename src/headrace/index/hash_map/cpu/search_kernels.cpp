// Searches a hash map for 16 keys at a time; compiled once per instruction set. Only AVX-512 has it.
//
// Vectors of 8 lanes compute hashes and addresses, and compare keys. Tags of a group are compared key by key. No branch
// depends on whether a key is present, so keys of both kinds take as long as those of one. A search takes about 20
// instructions, and the scalar one of flat_table.hpp about 50.
//
// Bit 15 of a comparison of tags is set if no key has passed the group. So the lowest set bit is the place of a slot
// whose key may be equal, or 15 for an absent key. It is 16 if keys have passed the group and none has the tag.
//
// The steps of consecutive chunks overlap. A step reads by vectors what an earlier turn has written key by key. The
// processor cannot forward words that it has just stored to a wider load. For tables larger than a cache:
//
//     turn 3: locate chunk 3, match chunk 2, copy slots of chunk 1, write results of chunk 0
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

constexpr u64 absent = TagGroup::slot_count;  // the place of a key that the map does not have

// For 8 bits of a hash: the tag in each byte of a group, and no keys that have passed it.
struct TagPatterns {
    struct alignas(16) Pattern {
        u8 bytes[16];
    };
    Pattern of[256];

    constexpr TagPatterns() : of{} {
        for (u32 bits = 0; bits < 256; ++bits) {
            for (u32 i = 0; i < TagGroup::slot_count; ++i) {
                of[bits].bytes[i] = TagGroup::tag_byte_of(static_cast<u8>(bits));
            }
        }
    }
};
constexpr TagPatterns patterns{};

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

// Returns `slot`, or `group` for a place without a slot. GCC makes a branch of `?:`, and of other forms a chain from
// one key to the next.
HR_HOT u64 slot_or_group(u64 place, u64 slot, u64 group) {
    asm("cmpq %1, %2\n\tcmovaeq %3, %0" : "+r"(slot) : "i"(absent), "r"(place), "r"(group) : "cc");
    return slot;
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

    template <bool is_cached>
    u64 run() {
        constexpr u64 last_step = is_cached ? 2 : 3;
        const u64 chunks = search_.count / chunk_keys, end = search_.end / chunk_keys;
        u64 turn = in_.turn;
        for (; turn < end + last_step; ++turn) {
            if (turn < chunks) locate<is_cached>(turn);
            if (turn >= 1 && turn <= chunks) match<is_cached>(turn - 1);
            if (!is_cached && turn >= 2 && turn < chunks + 2) copy_slots(turn - 2);
            if (turn >= last_step) write(turn - last_step);
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
    static constexpr u32 slot_words = sizeof(Slot) == 16 ? 2 : 1;

    // Computes the addresses of groups, first slots, and patterns.
    template <bool is_cached>
    [[gnu::always_inline]] void locate(u64 chunk) {
        u64 *const groups = in_.groups[chunk % 4], *const slots = in_.slots[chunk % 4],
                   *const wanted = in_.wanted[chunk % 4];
        for (u32 i = 0; i < chunk_keys; i += 8) {
            const __m512i key = keys_at(chunk * chunk_keys + i);
            const __m512i hash = folded_products(_mm512_xor_si512(key, word(search_.seed)));
            const __m512i table = _mm512_i64gather_epi64(_mm512_srli_epi64(hash, 58), search_.tables, 8);
            const __m512i size = _mm512_sllv_epi64(word(1), _mm512_and_si512(table, word(63)));  // in groups
            const __m512i begin = _mm512_andnot_si512(word(63), table);
            const __m512i group = _mm512_and_si512(hash, _mm512_sub_epi64(size, word(1)));
            const __m512i offset = _mm512_slli_epi64(group, 4);
            const __m512i slot = _mm512_slli_epi64(_mm512_sub_epi64(offset, group), log_slot_bytes);  // 15 a group
            const __m512i slots_begin = _mm512_add_epi64(begin, _mm512_slli_epi64(size, 4));
            const __m512i pattern = _mm512_and_si512(_mm512_srli_epi64(hash, 46), word(0xFF0));
            _mm512_store_si512(groups + i, _mm512_add_epi64(begin, offset));
            _mm512_store_si512(slots + i, _mm512_add_epi64(slots_begin, slot));
            _mm512_store_si512(wanted + i, _mm512_add_epi64(word(reinterpret_cast<u64>(&patterns)), pattern));
        }
        for (u32 i = 0; i < chunk_keys && !is_cached; ++i) __builtin_prefetch(reinterpret_cast<void*>(groups[i]));
    }

    // Compares tags, and finds slots. A key without one has its group instead, which is in the cache. Not unrolled:
    // vectors of several places would be put together.
    template <bool is_cached>
    [[gnu::always_inline]] void match(u64 chunk) {
        const u64 *const groups = in_.groups[chunk % 4], *const wanted = in_.wanted[chunk % 4];
        u64 *const slots = in_.slots[chunk % 4], *const places = in_.places[chunk % 4];
#pragma GCC unroll 1
        for (u32 i = 0; i < chunk_keys; ++i) {
            const auto* const group = reinterpret_cast<const __m128i*>(groups[i]);
            const auto* const pattern = reinterpret_cast<const __m128i*>(wanted[i]);
            const int equal = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_load_si128(group), _mm_load_si128(pattern)));
            const u64 place = static_cast<u64>(trailing_zeros(static_cast<u32>(equal) | 1u << 16));
            const u64 slot = slot_or_group(place, slots[i] + place * sizeof(Slot), groups[i]);
            places[i] = place;
            if constexpr (!is_cached || result == SearchResult::slot) slots[i] = slot;
            if constexpr (is_cached) {
                copy_slot(chunk, i, slot);
            } else {
                __builtin_prefetch(reinterpret_cast<void*>(slot));
            }
        }
    }

    [[gnu::always_inline]] void copy_slots(u64 chunk) {
#pragma GCC unroll 1
        for (u32 i = 0; i < chunk_keys; ++i) copy_slot(chunk, i, in_.slots[chunk % 4][i]);
    }
    [[gnu::always_inline]] void copy_slot(u64 chunk, u32 i, u64 at) {
        __builtin_memcpy(in_.found[chunk % 4] + i * slot_words, reinterpret_cast<const void*>(at), sizeof(Slot));
    }

    // Compares keys, and writes results.
    [[gnu::always_inline]] void write(u64 chunk) {
        u32 unfinished = 0;
        for (u32 i = 0; i < chunk_keys; i += 8) {
            const u64 row = chunk * chunk_keys + i, at = row - search_.begin;
            const u64* const slots = in_.found[chunk % 4] + i * slot_words;
            __m512i key = _mm512_load_si512(slots), value = _mm512_srli_epi64(key, 32);
            if constexpr (slot_words == 2) {
                const __m512i others = _mm512_load_si512(slots + 8);
                value = _mm512_permutex2var_epi64(key, _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1), others);
                key = _mm512_permutex2var_epi64(key, _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), others);
            }
            if constexpr (sizeof(Key) == 4) key = _mm512_and_si512(key, word(0xFFFFFFFF));
            const __m512i place = _mm512_load_si512(in_.places[chunk % 4] + i);
            const __mmask8 has_slot = _mm512_cmplt_epu64_mask(place, word(absent));
            const u32 is_found = _mm512_mask_cmpeq_epi64_mask(has_slot, key, keys_at(row));
            unfinished |= (_mm512_cmpneq_epi64_mask(place, finished_place_) & ~is_found) << i;
            if (result == SearchResult::value || search_.found != nullptr) {
                const u64 flags = _pdep_u64(is_found, 0x0101010101010101);
                __builtin_memcpy(search_.found + at, &flags, 8);
            }
            if constexpr (result == SearchResult::value) {
                write_values(at, static_cast<__mmask8>(is_found), value);
            } else {
                const __m512i first = _mm512_load_si512(first_addresses(chunk) + i);
                const __m512i address = result == SearchResult::slot ? first : _mm512_add_epi64(first, place);
                const __m512i written =
                    _mm512_mask_mov_epi64(word(search_.nowhere), static_cast<__mmask8>(is_found), address);
                _mm512_storeu_si512(search_.addresses + at, written);
            }
        }
        const __m512i numbers = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        const auto first = static_cast<i32>(chunk * chunk_keys - search_.begin);
        const __m512i rows = _mm512_add_epi32(numbers, _mm512_set1_epi32(first));
        const auto which = static_cast<__mmask16>(unfinished);
        _mm512_storeu_si512(search_.unfinished + unfinished_, _mm512_maskz_compress_epi32(which, rows));
        unfinished_ += static_cast<u64>(count_ones(unfinished));
    }
    // Returns the slots of keys, or the groups that have their tags.
    const u64* first_addresses(u64 chunk) const {
        return result == SearchResult::slot ? in_.slots[chunk % 4] : in_.groups[chunk % 4];
    }
    [[gnu::always_inline]] void write_values(u64 at, __mmask8 is_found, __m512i value) {
        if constexpr (!std::is_void_v<Value>) {
            if (search_.values == nullptr) return;
            Value* const to = static_cast<Value*>(search_.values) + at;
            if constexpr (sizeof(Value) == 8) {
                _mm512_storeu_si512(to, _mm512_maskz_mov_epi64(is_found, value));
            } else {
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_maskz_cvtepi64_epi32(is_found, value));
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
    // The place of keys that are finished though they have no slot: that of absent keys, or none.
    const __m512i finished_place_ = word(search_.lists_absent ? ~u64{0} : absent);
    u64 unfinished_ = 0;
};

template <class Key, class Value, SearchResult result>
u64 search_keys(const KeySearch& search, SearchPipeline& pipeline) {
    ChunkedSearch<Key, Value, result> chunked(search, pipeline);
    return search.is_cached ? chunked.template run<true>() : chunked.template run<false>();
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
