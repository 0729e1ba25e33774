// Converts strings to codes, numbered by the first row of each text, as dictionary.cpp.
//
// All rows search for their text in one hash table concurrently (DistinctTexts). A slot keeps the smallest row of its
// text, so the result does not depend on the order of insertion. The rows in the slots are then numbered in their
// order.
//
// Bytes moved: each text once, and the text of the row in its slot once; 12 bytes per row for codes and slots.
#include "core/hash.hpp"
#include "encode/text_bytes.cuh"
#include "gpu/block/block.cuh"
#include "gpu/block/memory_access.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 block_rows = threads * TURNS;
constexpr u64 empty = ~u64{0}, no_slot = ~u64{0};

// A row's text. `head`: its first eight bytes, or all, before zeros. `tail`: its last eight, if it has more. Texts of
// up to 16 bytes are equal if these and their sizes are.
struct TextOfRow {
    u64 begin, size, head, tail;
};
constexpr u64 word_bytes = 8;

HR_FN u64 head_of(const PlainTexts& texts, u64 begin, u64 size, u64 end) {
    u32 words[2];
    load_first(texts, begin, static_cast<u32>(size < word_bytes ? size : word_bytes), end, words);
    return u64{words[1]} << 32 | words[0];
}

HR_FN TextOfRow text_of(const PlainTexts& texts, u64 row, u64 end) {
    const u64 begin = text_begin(texts, row), size = text_begin(texts, row + 1) - begin;
    const u64 tail = size > word_bytes ? word_at(texts, begin + size - word_bytes, end) : 0;
    return {begin, size, head_of(texts, begin, size, end), tail};
}

// Returns the hash of the text, in the form of hash_text.
HR_FN u64 hash_of(const PlainTexts& texts, const TextOfRow& text, u64 seed, u64 end) {
    const u64 secret = golden_ratio ^ seed;
    u64 hash = fold_product(text.head ^ secret, text.tail ^ seed ^ (text.size * golden_ratio));
    for (u64 at = word_bytes; at + word_bytes < text.size; at += 2 * word_bytes) {
        const u64 next = at + 2 * word_bytes < text.size ? at + word_bytes : text.size - word_bytes;
        const u64 low = word_at(texts, text.begin + at, end), high = word_at(texts, text.begin + next, end);
        hash = fold_product(low ^ secret, high ^ hash);
    }
    return fold_product(hash, seed * golden_ratio | 1);
}

// Returns whether a text of the same size at byte `begin` has the same bytes between the first and the last eight.
HR_FN bool has_same_middle(const PlainTexts& texts, u64 begin, const TextOfRow& text, u64 end) {
    for (u64 at = word_bytes; at + word_bytes < text.size; at += word_bytes) {
        if (word_at(texts, begin + at, end) != word_at(texts, text.begin + at, end)) return false;
    }
    return true;
}

HR_FN bool is_text_of(const PlainTexts& texts, u64 row, const TextOfRow& text, u64 end) {
    const u64 begin = text_begin(texts, row);
    if (text_begin(texts, row + 1) - begin != text.size) return false;
    if (head_of(texts, begin, text.size, end) != text.head) return false;
    if (text.size <= word_bytes) return true;
    if (word_at(texts, begin + text.size - word_bytes, end) != text.tail) return false;
    return has_same_middle(texts, begin, text, end);
}

HR_FN bool is_too_small(const DistinctTexts& task) { return 2 * tile::load_cached(task.used_slots) >= task.mask; }

// Inserts the text of a row, and returns its slot; `no_slot` if the table is too small.
//
// Slots of frequent texts are read by all threads, so they are read from the nearest cache. A row that it holds may
// have been replaced by a smaller one of the same text since; an empty slot may have been taken.
HR_FN u64 insert(const DistinctTexts& task, u64 row, const TextOfRow& text, u64 end) {
    u64 slot = hash_of(task.texts, text, task.seed, end) & task.mask;
    for (u32 probes = 1;; slot = (slot + 1) & task.mask, ++probes) {
        // Threads that started when half of the slots were free may take all of them.
        if (probes % 32 == 0 && 2 * tile::load_relaxed(task.used_slots) >= task.mask) return no_slot;
        u64 known = tile::load_cached(&task.slots[slot]);
        if (known == empty) {
            known = atomicCAS(&task.slots[slot], empty, row);
            if (known == empty) {
                atomicAdd(task.used_slots, u64{1});
                return slot;
            }
        }
        if (known == row || is_text_of(task.texts, known, text, end)) {
            if (row < known) atomicMin(&task.slots[slot], row);
            return slot;
        }
    }
}

// The texts of a block in its first turn with their slots, by thread. Most rows of few texts find theirs here: in
// shared memory, without a hash of all bytes or an access to the table. Rows of later turns follow those of the first,
// so they do not change the slot's row.
struct FirstTexts {
    static constexpr u32 entries = 2 * threads;
    TextOfRow texts[threads];
    u32 slots[threads];
    u32 owners[entries];  // the first thread whose text has this hash, or `threads`
    bool are_few;

    static HR_MEMBER u32 hash_of(const TextOfRow& text) {
        const u32 head = static_cast<u32>(text.head) + static_cast<u32>(text.head >> 32) * 0x85EBCA6Bu;
        const u32 tail = static_cast<u32>(text.tail) + static_cast<u32>(text.tail >> 32) * 0xC2B2AE35u;
        const u32 mixed = (head ^ tail * 0x27D4EB2Fu ^ static_cast<u32>(text.size)) * 0x9E3779B1u;
        return (mixed >> 16) % entries;
    }

    HR_MEMBER void begin(const DistinctTexts& task) {
        for (u32 k = threadIdx.x; k < entries; k += threads) owners[k] = threads;
        if (threadIdx.x == 0) are_few = tile::load_relaxed(task.used_slots) <= threads / 4;
        __syncthreads();
    }

    HR_MEMBER void add(const TextOfRow& text, u64 slot) {
        texts[threadIdx.x] = text;
        slots[threadIdx.x] = static_cast<u32>(slot);
        atomicMin(&owners[hash_of(text)], threadIdx.x);
    }

    // Returns the slot of a text, or `no_slot`.
    HR_MEMBER u64 find(const PlainTexts& all, const TextOfRow& text, u64 end) const {
        const u32 owner = owners[hash_of(text)];
        if (owner == threads) return no_slot;
        const TextOfRow& known = texts[owner];
        if (known.head != text.head || known.tail != text.tail || known.size != text.size) return no_slot;
        return has_same_middle(all, known.begin, text, end) ? slots[owner] : no_slot;
    }
};

// A launch for each column: its arguments are operands then. Those of a column that blockIdx.y chooses need registers.
extern "C" __global__ void __launch_bounds__(threads, 6) insert_texts(const __grid_constant__ DistinctTexts task) {
    __shared__ FirstTexts firsts;
    const PlainTexts& texts = task.texts;
    const u64 end = text_begin(texts, texts.rows);
    firsts.begin(task);
    const bool are_few = firsts.are_few;
    for (u32 turn = 0; turn < TURNS; ++turn) {
        const u64 row = u64{blockIdx.x} * block_rows + turn * threads + threadIdx.x;
        if (row < texts.rows && has_text(texts, row) && !is_too_small(task)) {
            const TextOfRow text = text_of(texts, row, end);
            u64 slot = are_few && turn != 0 ? firsts.find(texts, text, end) : no_slot;
            if (slot == no_slot) {
                slot = insert(task, row, text, end);
                if (are_few && turn == 0 && slot != no_slot) firsts.add(text, slot);
            }
            task.where[row] = static_cast<u32>(slot);
        }
        if (are_few && turn == 0) __syncthreads();
    }
}

HR_FN bool is_first(const DistinctTexts& task, u64 row) {
    return row < task.texts.rows && has_text(task.texts, row) && task.slots[task.where[row]] == row;
}

// The following kernels are launched before the host knows whether the table is large enough. If it is too small, they
// write nothing.

// Arrays of several columns alternate: begins[block * columns + column], sizes[k * columns + column].

// Adds to counts[block] the distinct texts whose first row is in the block. Each thread looks at a slot.
extern "C" __global__ void __launch_bounds__(threads)
    count_firsts(const __grid_constant__ DistinctTextsOfColumns all, u64* counts) {
    const DistinctTexts& task = all.columns[blockIdx.y];
    const u64 slot = u64{blockIdx.x} * threads + threadIdx.x;
    if (slot > task.mask || is_too_small(task)) return;
    const u64 row = task.slots[slot];
    if (row != empty) atomicAdd(&counts[row / block_rows * gridDim.y + blockIdx.y], u64{1});
}

// Writes the code of each slot, and the first row and the size of the k-th distinct text. `begins[block]`: distinct
// texts of earlier blocks.
extern "C" __global__ void __launch_bounds__(threads)
    number_firsts(const __grid_constant__ DistinctTextsOfColumns all, const u64* begins, u64* sizes) {
    __shared__ u32 parts[threads / tile::lanes];
    const DistinctTexts& task = all.columns[blockIdx.y];
    if (is_too_small(task)) return;
    const u64* const begin = begins + u64{blockIdx.x} * gridDim.y + blockIdx.y;
    u64 before = *begin;
    if (blockIdx.x + 1 < gridDim.x && begin[gridDim.y] == before) return;  // the block has no first row
    for (u32 turn = 0; turn < TURNS; ++turn) {
        const u64 row = u64{blockIdx.x} * block_rows + turn * threads + threadIdx.x;
        const bool first = is_first(task, row);
        const u32 until = tile::scan_warp<Sum<u32>>(u32{first});
        const tile::WarpPrefix<u32> warps =
            tile::scan_warps<Sum<u32>, threads>(tile::shuffle(until, tile::lanes - 1), parts);
        if (first) {
            const u64 k = before + warps.before + until - 1;
            task.codes[task.where[row]] = static_cast<u32>(k);
            task.rows[k] = row;
            sizes[k * gridDim.y + blockIdx.y] = text_begin(task.texts, row + 1) - text_begin(task.texts, row);
        }
        before += warps.total;
        __syncthreads();  // `parts` is reused
    }
}

// Replaces the slot of each row by its code; null rows have code 0.
extern "C" __global__ void __launch_bounds__(threads) put_codes(const __grid_constant__ DistinctTextsOfColumns all) {
    const DistinctTexts& task = all.columns[blockIdx.y];
    if (is_too_small(task)) return;
    for (u32 turn = 0; turn < TURNS; ++turn) {
        const u64 row = u64{blockIdx.x} * block_rows + turn * threads + threadIdx.x;
        if (row < task.texts.rows) task.where[row] = has_text(task.texts, row) ? task.codes[task.where[row]] : 0;
    }
}

// Writes the distinct texts as columns, one warp per text and one for the last offset.
extern "C" __global__ void __launch_bounds__(threads) gather_texts(const __grid_constant__ GatheredTextsOfColumns all) {
    const GatheredTexts& task = all.columns[blockIdx.y];
    const u64 k = u64{blockIdx.x} * (threads / tile::lanes) + tile::warp();
    if (k > task.count) return;
    const u64 to = k < task.count ? task.begins[k * task.stride] : task.bytes;
    if (tile::lane() == 0) task.offsets[k] = static_cast<u32>(to);
    if (k == task.count) return;
    const u64 row = task.rows[k], from = text_begin(task.texts, row), size = text_begin(task.texts, row + 1) - from;
    for (u64 i = tile::lane(); i < size; i += tile::lanes) task.values[to + i] = task.texts.bytes[from + i];
}
