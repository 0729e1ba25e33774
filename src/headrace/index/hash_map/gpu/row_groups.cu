// Steps of the search for equal rows (row_groups.py): marks, counts and results of rows, by row numbers of width r.
// Then those of the numbering of keys (numbered_rows.py), whose rows have numbers of 4 bytes. One program has all of
// them.
//
// Bytes moved per row. Marks: r or 1, and a bit. Counts: r, and one atomic operation for equal rows of a warp. Results:
// 3 r, or 2 r + 9 for matches. Numbers: 5, and a number. Texts that are kept: each byte twice, and 28.
#include "arrange/gather/selected_rows.cuh"
#include "arrange/partition_rows/equal_rows.hpp"

using namespace headrace;

using Row = HR_ROW;
constexpr u32 threads = HR_THREADS;

HR_FN u64 thread_row() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }

// Marks the rows that are the first of their group. firsts[row]: the first row that is equal to it.
extern "C" __global__ void __launch_bounds__(threads) mark_firsts(const Row* firsts, u64 rows, u32* bits, u64* counts) {
    selected::mark(rows, bits, counts, [&](u64 row) { return firsts[row] == row; });
}

// Marks the pairs of rows that are not equal, for the next round.
extern "C" __global__ void __launch_bounds__(threads)
    mark_unequal(const RowVerdict* verdicts, u64 pairs, u32* bits, u64* counts) {
    selected::mark(pairs, bits, counts, [&](u64 pair) { return verdicts[pair] == RowVerdict::unequal; });
}

// Adds 1 to counts[firsts[row]] for each row. The lanes of a warp with one value add together.
extern "C" __global__ void __launch_bounds__(threads) count_rows(const Row* firsts, u64 rows, u64* counts) {
    const u64 row = thread_row();
    const bool is_row = row < rows;
    const u64 first = is_row ? firsts[row] : ~u64{0};
    const u32 alike = __match_any_sync(tile::all_lanes, first);
    if (is_row && tile::lane() == static_cast<u32>(__ffs(alike) - 1)) {
        atomicAdd(counts + first, static_cast<u64>(__popc(alike)));
    }
}

// Writes result[rows[i]] = values[i].
extern "C" __global__ void __launch_bounds__(threads)
    scatter_rows(const Row* rows, const Row* values, u64 count, Row* result) {
    const u64 i = thread_row();
    if (i < count) result[rows[i]] = values[i];
}

// Writes the matches of the pairs that are equal.
extern "C" __global__ void __launch_bounds__(threads)
    store_matches(const Row* rows, const Row* others, u64 count, const RowVerdict* verdicts, i64* result) {
    const u64 i = thread_row();
    if (i < count && verdicts[i] == RowVerdict::equal) result[rows[i]] = static_cast<i64>(others[i]);
}

// Marks the rows of a batch that have no number, given null for `rows` and `firsts`. Else marks those that are the
// first ones of their values: firsts[i] == rows[i]. Counts rows whose hash is that of other values.
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
