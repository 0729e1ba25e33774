// Finds many patterns at once in one reading of a text (Karp and Rabin 1987, section 6). The fingerprint of each window
// is looked up in a table of bits, which each block copies into its shared memory. So a multiprocessor has one block,
// whose warps take parts of the text until none is left. Windows whose bit is set wait in a queue of the warp, until
// each lane has one to verify: its bucket's entries are compared (window.hpp). Hits of up to some thousand patterns are
// counted in shared memory first.
//
// Bytes moved per byte of text: 1, and 8 for each hit. Lookups per byte: 1, 1/2 or 1/4. A lane looks up 32 windows of
// each part.
#include "gpu/block/block.cuh"
#include "query/find/gpu/find_task.hpp"
#include "query/find/gpu/rows.cuh"
#include "query/find/pattern/window.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 words = HR_WORDS;    // of a window
constexpr u32 stride = HR_STRIDE;  // bytes from one window to the next
constexpr u32 warps = threads / tile::lanes;
constexpr u32 extra_words = stride == 4 ? words - 1 : words;
constexpr u32 windows_per_row = 16 / stride;
constexpr u32 rows = 32 / windows_per_row;

using Part = WarpRows<rows>;

// `counts`: the block's counts of the patterns, or null.
HR_FN void add(const SetTask& found, u64 position, u32 pattern, u32* counts) {
    if (counts != nullptr) {
        atomicAdd(&counts[pattern], 1u);
        return;
    }
    if (found.counts != nullptr) {
        atomicAdd(&found.counts[pattern], u64{1});
        return;
    }
    const u64 at = atomicAdd(found.total, u64{1});
    if (at < found.capacity) found.keys[at] = position << found.pattern_bits | pattern;
}

HR_FN bool occurs(const PatternTable& table, FindTask& task, u32 pattern, u64 position) {
    const PatternBytes bytes = table.patterns[pattern];
    if (bytes.length > task.size - position) return false;
    task.pattern = table.bytes + bytes.begin;
    task.length = bytes.length;
    for (u64 offset = 0; offset < bytes.length; offset += 4) {
        if (unlike_word(task, position, offset, bytes.length) != 0) return false;
    }
    return true;
}

// Fingerprint of the window whose word `i` is word(4 * i).
template <class Word>
HR_FN u32 print_of(const PatternTable& table, const Word& word) {
    u32 print = 0;
#pragma unroll
    for (u32 i = 0; i < words; ++i) {
        u32 next = word(4 * i) | table.letter_bits;
        if (i == words - 1) next &= table.mask;
        print = next_print(print, next);
    }
    return print;
}

// Verifies the patterns of a window at byte `at` of the text, which may be outside of it.
HR_FN void verify(const PatternTable& table, const SetTask& found, i64 at, u32* counts) {
    if (at < 0 || at >= static_cast<i64>(found.size)) return;
    FindTask task{};
    task.text = found.text;
    task.size = found.size;
    task.ignore_case = table.ignore_case;
    const u32 print = print_of(table, [&](u32 offset) { return text_word(task, static_cast<u64>(at) + offset); });
    const u32 bucket = slot_of(print, table.bucket_bits);
    const u32 end = table.buckets[bucket + 1];
    for (u32 i = table.buckets[bucket]; i < end; ++i) {
        const WindowEntry entry = table.entries[i];
        if (entry.print != print || at < static_cast<i64>(entry.offset)) continue;
        const u64 position = static_cast<u64>(at) - entry.offset;
        if (occurs(table, task, entry.pattern, position)) add(found, position, entry.pattern, counts);
    }
}

// Returns a bit for each window of the lane, by row: whether the table has its fingerprint's slot.
HR_FN u32 probable_windows(const PatternTable& table, const u32* slots, const Part& text) {
    u32 probable = 0;
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        const TextWords<extra_words> own = words_of<extra_words>(text, row);
#pragma unroll
        for (u32 i = 0; i < 16; i += stride) {
            const u32 slot =
                slot_of(print_of(table, [&](u32 offset) { return own.window(i + offset); }), table.slot_bits);
            probable = __funnelshift_r(probable, slots[slot / 32] >> slot % 32, 1);
        }
    }
    return probable;
}

extern "C" __global__ void __launch_bounds__(threads, 1) find_patterns(PatternTable table, SetTask found) {
    HR_DYNAMIC_SHARED(u32, slots);
    __shared__ i64 queues[warps][2 * tile::lanes];
    const u32 slot_words = 1u << table.slot_bits >> 5;
    u32* const counts = found.block_counts != 0 ? slots + slot_words : nullptr;
    for (u32 i = threadIdx.x; i < slot_words; i += threads) slots[i] = table.bits[i];
    for (u32 i = threadIdx.x; i < found.block_counts; i += threads) counts[i] = 0;
    __syncthreads();
    i64* const queue = queues[tile::warp()];
    u32 queued = 0;
    const u64 parts = (found.size + shift_of(found.text) + 16 * Part::vectors - 1) / (16 * Part::vectors);
    for (u64 part = blockIdx.x + u64{gridDim.x} * tile::warp(); part < parts; part += u64{gridDim.x} * warps) {
        Part text;
        load_text<extra_words>(text, found.text, found.size, part * Part::vectors);
        const i64 begin = static_cast<i64>(part * Part::vectors * 16) - shift_of(found.text) + tile::lane() * 16;
        u32 left = probable_windows(table, slots, text);
        while (true) {
            const u32 some = __ballot_sync(tile::all_lanes, left != 0);
            if (some == 0) break;
            if (left != 0) {
                const u32 window = static_cast<u32>(trailing_zeros(left));
                queue[queued + static_cast<u32>(__popc(some & low_mask(tile::lane())))] =
                    begin + window / windows_per_row * tile::lanes * 16 + window % windows_per_row * stride;
                left &= left - 1;
            }
            queued += static_cast<u32>(__popc(some));
            __syncwarp();
            if (queued < tile::lanes) continue;
            queued -= tile::lanes;
            verify(table, found, queue[queued + tile::lane()], counts);
            __syncwarp();
        }
    }
    if (tile::lane() < queued) verify(table, found, queue[tile::lane()], counts);
    __syncthreads();
    for (u32 i = threadIdx.x; i < found.block_counts; i += threads) {
        if (counts[i] != 0) atomicAdd(&found.counts[i], u64{counts[i]});
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
