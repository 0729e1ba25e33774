// Steps of the numbering of keys (numbered_rows.py): marks, numbers, and the texts that are kept. Rows of a batch have
// numbers of 4 bytes. Kept texts are sorted by words (sorted_rows.py).
//
// Bytes moved per row. Marks: 1 or 8, and a bit. Numbers: 5, and a number. Texts: each byte twice, and 28.
#include "arrange/gather/selected_rows.cuh"
#include "arrange/partition_rows/equal_rows.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

HR_FN u64 thread_row() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }

// Marks the rows of a batch that have no number, given null for `firsts`. Else marks those that are the first ones of
// their values: firsts[i] == rows[i]. Counts rows whose hash is that of other values.
extern "C" __global__ void __launch_bounds__(threads)
    mark_new_rows(const RowVerdict* verdicts, const u32* rows, const u32* firsts, u64 count, u32* bits, u64* counts,
                  u64* collisions) {
    selected::mark(count, bits, counts, [&](u64 i) {
        if (verdicts[i] == RowVerdict::unequal) atomicAdd(collisions, u64{1});
        return firsts == nullptr ? verdicts[i] == RowVerdict::unmatched : firsts[i] == rows[i];
    });
}

// Writes numbers of 4 or 8 bytes: those that were found, and all bits set for a row whose verdict is not `equal`. Null
// for `verdicts` if all rows have a number.
extern "C" __global__ void __launch_bounds__(threads)
    put_numbers(const RowVerdict* verdicts, const u32* found, u64 count, u32 width, void* numbers) {
    const u64 i = thread_row();
    if (i >= count) return;
    const bool has_number = verdicts == nullptr || verdicts[i] == RowVerdict::equal;
    if (width == 4) {
        static_cast<u32*>(numbers)[i] = has_number ? found[i] : ~u32{0};
    } else {
        static_cast<u64*>(numbers)[i] = has_number ? found[i] : ~u64{0};
    }
}

// Writes first, first + 1, ...
extern "C" __global__ void __launch_bounds__(threads) number_from(u32* numbers, u64 count, u32 first) {
    const u64 i = thread_row();
    if (i < count) numbers[i] = first + static_cast<u32>(i);
}

HR_FN RowText chosen_text(const ComparedColumn& column, const u32* rows, u64 i) {
    return text_of_row(column, column.column.first + rows[i]);
}

// Writes the bytes of each text.
extern "C" __global__ void __launch_bounds__(threads)
    measure_texts(const __grid_constant__ ComparedColumn column, const u32* rows, u64 count, u64* sizes) {
    const u64 i = thread_row();
    if (i < count) sizes[i] = chosen_text(column, rows, i).size;
}

// Writes texts and the end of each after `used` bytes of earlier ones, a warp for each text. `begins`: bytes of the
// texts before each one.
extern "C" __global__ void __launch_bounds__(threads)
    append_texts(const __grid_constant__ ComparedColumn column, const u32* rows, u64 count, const u64* begins, u64 used,
                 u64* ends, u8* bytes) {
    const u64 i = u64{blockIdx.x} * (threads / tile::lanes) + tile::warp();
    if (i >= count) return;
    const RowText text = chosen_text(column, rows, i);
    const u64 begin = used + begins[i];
    if (tile::lane() == 0) ends[i] = begin + text.size;
    for (u64 at = tile::lane(); at < text.size; at += tile::lanes) bytes[begin + at] = text.begin[at];
}

extern "C" __global__ void __launch_bounds__(threads) copy_kept(const u32* source, u64 words, u32* target) {
    const u64 i = thread_row();
    if (i < words) target[i] = source[i];
}

// Numbers of kept rows, of 4 or 8 bytes.
struct KeptRows {
    const void* numbers;
    u32 width;

    HR_MEMBER u64 operator[](u64 i) const {
        return width == 4 ? static_cast<const u32*>(numbers)[i] : static_cast<const u64*>(numbers)[i];
    }
};

// Writes the bytes of kept texts, whose offsets have 8 bytes.
extern "C" __global__ void __launch_bounds__(threads)
    size_texts(const u64* offsets, const void* numbers, u32 width, u64 count, u64* sizes) {
    const u64 i = thread_row();
    if (i >= count) return;
    const u64 row = KeptRows{numbers, width}[i];
    sizes[i] = offsets[row + 1] - offsets[row];
}

// Writes for each word of the longest text the first of the sizes, which ascend, that has a byte in the word.
extern "C" __global__ void __launch_bounds__(threads) find_word_begins(const u64* sizes, u64 count, u64* begins) {
    const u64 i = thread_row();
    if (i >= count) return;
    const u64 before = i == 0 ? 0 : (sizes[i - 1] + 7) / 8;
    for (u64 word = before; word < (sizes[i] + 7) / 8; ++word) begins[word] = i;
}

// Writes a word of each text as a number whose order is that of the bytes, with zeros after the text.
extern "C" __global__ void __launch_bounds__(threads)
    put_text_words(const u64* offsets, const u8* bytes, const void* numbers, u32 width, u64 count, u64 word,
                   u64* words) {
    const u64 i = thread_row();
    if (i >= count) return;
    const u64 row = KeptRows{numbers, width}[i], begin = offsets[row], size = offsets[row + 1] - begin;
    u64 result = 0;
    for (u64 at = 8 * word; at < 8 * word + 8; ++at) result = result << 8 | (at < size ? bytes[begin + at] : 0);
    words[i] = result;
}
