// Finds many patterns at once in one reading of a text (Karp and Rabin 1987, section 6). The fingerprint of each window
// is looked up in a table of bits. If all patterns have 7 bytes or more, only windows at aligned words are. Where the
// bit is set, the entries of the window's bucket are verified (window.hpp). The table stays in the L1 cache: the text's
// loads take no place there.
//
// Bytes moved per byte of text: 1, and 8 for each hit. Lookups per byte: 1 or 1/4.
#include "gpu/block/block.cuh"
#include "query/find/gpu/find_task.hpp"
#include "query/find/gpu/rows.cuh"
#include "query/find/pattern/window.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 words = HR_WORDS;    // of a window; a window of one word may have fewer bytes
constexpr u32 stride = HR_STRIDE;  // bytes from one window to the next
constexpr u32 extra_words = stride == 4 ? words - 1 : words;

static __device__ __forceinline__ void add(const SetTask& found, u64 position, u32 pattern) {
    if (found.counts != nullptr) {
        atomicAdd(&found.counts[pattern], u64{1});
        return;
    }
    const u64 at = atomicAdd(found.total, u64{1});
    if (at < found.capacity) found.keys[at] = position << found.pattern_bits | pattern;
}

static __device__ __forceinline__ bool occurs(const PatternTable& table, FindTask& task, u32 pattern, u64 position) {
    const PatternBytes bytes = table.patterns[pattern];
    if (bytes.length > task.size - position) return false;
    task.pattern = table.bytes + bytes.begin;
    task.length = bytes.length;
    for (u64 offset = 0; offset < bytes.length; offset += 4) {
        if (unlike_word(task, position, offset, bytes.length) != 0) return false;
    }
    return true;
}

// Verifies the patterns of a window at byte `at` of the text, which may be outside of it.
static __device__ __noinline__ void verify(const PatternTable& table, FindTask task, i64 at, u32 print,
                                           const SetTask& found) {
    const u32 bucket = slot_of(print, table.slot_bits) >> (table.slot_bits - table.bucket_bits);
    const u32 end = table.buckets[bucket + 1];
    for (u32 i = table.buckets[bucket]; i < end; ++i) {
        const WindowEntry entry = table.entries[i];
        if (entry.print != print) continue;
        const i64 position = at - static_cast<i64>(entry.offset);
        if (position < 0 || position >= static_cast<i64>(task.size)) continue;
        if (occurs(table, task, entry.pattern, static_cast<u64>(position)))
            add(found, static_cast<u64>(position), entry.pattern);
    }
}

extern "C" __global__ void __launch_bounds__(threads) find_patterns(PatternTable table, SetTask found) {
    const u64 first = first_vector<rows, threads>();
    WarpRows<rows> text;
    load_text<extra_words>(text, found.text, found.size, first);
    FindTask task{};
    task.text = found.text;
    task.size = found.size;
    task.ignore_case = table.ignore_case;
    const i64 begin = static_cast<i64>(first * 16) - shift_of(found.text) + tile::lane() * 16;
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        TextWords<extra_words> own = words_of<extra_words>(text, row);
#pragma unroll
        for (u32 i = 0; i < own.count; ++i) own.word[i] |= words == 1 ? 0 : table.letter_bits;
        u32 prints[16 / stride], probable = 0;
#pragma unroll
        for (u32 i = 0; i < 16 / stride; ++i) {
            u32 print = own.window(i * stride);
            if constexpr (words == 1) print = (print & table.mask) | table.letter_bits;
#pragma unroll
            for (u32 k = 1; k < words; ++k) print = next_print(print, own.window(i * stride + 4 * k));
            prints[i] = print;
            const u32 slot = slot_of(print, table.slot_bits);
            probable |= (table.bits[slot / 32] >> (slot % 32) & 1) << i;
        }
        if (probable == 0) continue;
#pragma unroll
        for (u32 i = 0; i < 16 / stride; ++i) {
            if ((probable >> i & 1) != 0)
                verify(table, task, begin + row * tile::lanes * 16 + i * stride, prints[i], found);
        }
    }
}

// Splits keys into positions and patterns.
extern "C" __global__ void __launch_bounds__(threads)
    split_hits(const u64* keys, u64 count, u32 pattern_bits, u64* positions, u32* patterns) {
    const u64 own = static_cast<u64>(blockIdx.x) * threads + threadIdx.x;
    if (own >= count) return;
    positions[own] = keys[own] >> pattern_bits;
    patterns[own] = static_cast<u32>(keys[own]) & low_mask(pattern_bits);
}
