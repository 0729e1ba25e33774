// Finds the windows of a tile that have the fingerprint of the pattern's window: a bit for each position.
//
// DRK (Ashkiani 2017, section 2.6.2): a block copies the bytes of its tile to shared memory, and each thread rolls the
// fingerprint over 32 positions. Windows too long for shared memory are read from the text itself.
#pragma once
#include "query/find/gpu/text.cuh"
#include "query/find/paper/matrix_scan.cuh"

namespace headrace {

constexpr u32 threads = HR_THREADS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 thread_positions = 32;  // of a thread: a word of marks
constexpr u32 tile_positions = threads * thread_positions;
constexpr FingerprintForm form = static_cast<FingerprintForm>(HR_FORM);
constexpr u32 sub_text = 4 * threads;  // positions whose prefixes a block stores at once (HRK)

// Number of the thread's positions from `first` on at which the pattern may begin.
HR_FN u32 count_positions(const FindTask& task, u64 first) {
    const u64 positions = task.size - task.length + 1;
    if (first >= positions) return 0;
    return positions - first < thread_positions ? static_cast<u32>(positions - first) : thread_positions;
}

// Copies the bytes from position `begin` on to shared memory, by words.
HR_FN void copy_text(const FindTask& task, u64 begin, u64 size, u32* to) {
    for (u64 i = 4 * threadIdx.x; i < size; i += 4 * threads) to[i / 4] = text_word(task, begin + i);
    __syncthreads();
}

// Rolls codes without modulo over the windows of a thread. `bytes`: the first of them.
template <class Word>
HR_FN u32 match_bits(const Fingerprint& print, const u8* bytes, u32 count) {
    const Word remaining = static_cast<Word>(remaining_bits(print)), wanted = static_cast<Word>(print.value);
    const u32 last = static_cast<u32>(print.width) - 1;
    Word value = 0;
    for (u32 i = 0; i < last; ++i) value = roll_bits(value, remaining, print.bits, code_of(print, bytes[i]));
    u32 found = 0;
    for (u32 i = 0; i < count; ++i) {
        value = roll_bits(value, remaining, print.bits, code_of(print, bytes[last + i]));
        if (value == wanted) found |= 1u << i;
    }
    return found;
}

HR_FN u32 match_modulo(const Fingerprint& print, const u8* bytes, u32 count) {
    const u32 wanted = static_cast<u32>(print.value);
    u32 value = 0;
    for (u64 i = 0; i < print.width; ++i) value = append_modulo(print, value, code_of(print, bytes[i]));
    u32 found = 0;
    for (u32 i = 0;; ++i) {
        if (value == wanted) found |= 1u << i;
        if (i + 1 == count) return found;
        value = roll_modulo(print, value, code_of(print, bytes[i]), code_of(print, bytes[i + print.width]));
    }
}

// `stored`: bytes of shared memory for the tile's text, 0 if it does not fit.
HR_FN u32 divided_mask(const FindTask& task, const Fingerprint& print, u64 first, u8* shared, u32 stored) {
    const u64 begin = static_cast<u64>(blockIdx.x) * tile_positions + print.offset;
    if (stored != 0) copy_text(task, begin, stored, reinterpret_cast<u32*>(shared));
    const u32 count = count_positions(task, first);
    if (count == 0) return 0;
    const u8* const bytes = stored != 0 ? shared + threadIdx.x * thread_positions : task.text + first + print.offset;
    if (form == FingerprintForm::bits32) return match_bits<u32>(print, bytes, count);
    if (form == FingerprintForm::bits64) return match_bits<u64>(print, bytes, count);
    return match_modulo(print, bytes, count);
}

// CRK: `prefixes[i]` is the product of the codes of the first i characters of the text (prefixes.cu).
HR_FN u32 cooperative_mask(const FindTask& task, const Fingerprint& print, u64 first, const Matrix* prefixes) {
    const u32 count = count_positions(task, first);
    u32 found = 0;
    for (u32 i = 0; i < count; ++i) {
        const Matrix product = between(prefixes[first + i], prefixes[first + i + print.width]);
        if (is_equal(product, matrix_of(print))) found |= 1u << i;
    }
    return found;
}

// HRK: the block stores the products of all prefixes of a sub-text in shared memory.
HR_FN void store_prefixes(const FindTask& task, const Fingerprint& print, u64 begin, Matrix* prefixes,
                          Matrix (&totals)[warps]) {
    const u32 size = sub_text + static_cast<u32>(print.width) - 1;
    const u32 each = (size + threads - 1) / threads;
    const u32 from = min(size, threadIdx.x * each), to = min(size, from + each);
    const auto code = [&](u32 i) { return begin + i < task.size ? code_of(print, task.text[begin + i]) : 0; };
    Matrix product = unit_matrix();
    for (u32 i = from; i < to; ++i) product = append_code(product, print.bits, code(i));
    Matrix before = scan_matrices<threads>(product, totals).before;
    if (threadIdx.x == 0) prefixes[0] = unit_matrix();
    for (u32 i = from; i < to; ++i) prefixes[i + 1] = before = append_code(before, print.bits, code(i));
    __syncthreads();
}

// Returns the thread's word of marks of the tile.
HR_FN u32 hybrid_mask(const FindTask& task, const Fingerprint& print, Matrix* prefixes) {
    __shared__ Matrix totals[warps];
    __shared__ u32 words[threads];
    const u64 begin = static_cast<u64>(blockIdx.x) * tile_positions;
    for (u32 first = 0; first < tile_positions; first += sub_text) {
        store_prefixes(task, print, begin + first, prefixes, totals);
        for (u32 i = threadIdx.x; i < sub_text; i += threads) {
            const Matrix product = between(prefixes[i], prefixes[i + print.width]);
            const bool is_match = is_equal(product, matrix_of(print)) && begin + first + i + task.length <= task.size;
            const u32 word = __ballot_sync(tile::all_lanes, is_match);
            if (tile::lane() == 0) words[(first + i) / thread_positions] = word;
        }
        __syncthreads();
    }
    return words[threadIdx.x];
}

}  // namespace headrace
