// Gathers rows of columns by their numbers: items, bits and texts. Row numbers are in any order, so reads are
// scattered, and each thread has several reads in flight; writes are coalesced.
//
// Bytes moved per row, with row numbers of width r. Items of width w: r + 2 w, where each read is a sector of 32 bytes
// if rows are far apart. Bits: r and a sector. Texts: 2 r, the sectors of their offsets twice, two offsets of the
// result, and the bytes of the text in and out.
#include "arrange/gather/take.hpp"
#include "gpu/block/block.cuh"

using namespace headrace;

using Row = HR_ROW;
constexpr u32 threads = HR_THREADS;
constexpr u32 turns = HR_TURNS;
constexpr u32 block_rows = threads * turns;

HR_FN u64 row_of_turn(u32 turn) { return static_cast<u64>(blockIdx.x) * block_rows + turn * threads + threadIdx.x; }

// Writes the row numbers 0, 1, 2, ...
extern "C" __global__ void __launch_bounds__(threads) number_rows(Row* rows, u64 count) {
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = row_of_turn(turn);
        if (i < count) rows[i] = static_cast<Row>(i);
    }
}

// Adds the count of row numbers that are not below `there` to `outside`.
extern "C" __global__ void __launch_bounds__(threads) check_rows(const Row* rows, u64 count, u64 there, u64* outside) {
    u32 found = 0;
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = row_of_turn(turn);
        found += i < count && rows[i] >= there;
    }
    if (found != 0) atomicAdd(outside, static_cast<u64>(found));
}

template <class Item>
HR_FN void take(const Row* rows, u64 count, const void* from, void* to) {
    const Item* const in = static_cast<const Item*>(from);
    Item* const out = static_cast<Item*>(to);
    Row row[turns];
    Item item[turns];
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
        if (row_of_turn(turn) < count) row[turn] = rows[row_of_turn(turn)];
    }
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
        if (row_of_turn(turn) < count) item[turn] = in[row[turn]];
    }
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
        if (row_of_turn(turn) < count) out[row_of_turn(turn)] = item[turn];
    }
}

extern "C" __global__ void __launch_bounds__(threads)
    take_items(const Row* rows, u64 count, const void* from, void* to, u32 width) {
    if (width == 1) return take<u8>(rows, count, from, to);
    if (width == 2) return take<u16>(rows, count, from, to);
    if (width == 4) return take<u32>(rows, count, from, to);
    if (width == 8) return take<u64>(rows, count, from, to);
    take<uint4>(rows, count, from, to);
}

// Pads items of fewer than 16 bytes with zeros.
extern "C" __global__ void __launch_bounds__(threads) pad_items(const u8* items, u64 count, u32 width, uint4* to) {
    const u64 i = static_cast<u64>(blockIdx.x) * threads + threadIdx.x;
    if (i >= count) return;
    u32 word[4] = {};
#pragma unroll
    for (u32 k = 0; k < 16; ++k) {
        if (k < width) word[k / 4] |= static_cast<u32>(items[i * width + k]) << (k % 4 * 8);
    }
    to[i] = {word[0], word[1], word[2], word[3]};
}

template <class Word>
HR_FN void take_words(const Row* rows, u64 words, const void* from, void* to, u32 each) {
    const Word* const in = static_cast<const Word*>(from);
    Word* const out = static_cast<Word*>(to);
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = row_of_turn(turn);
        if (i < words) out[i] = in[static_cast<u64>(rows[i / each]) * each + i % each];
    }
}

// Gathers items of `each` words of `width` bytes; a thread copies words.
extern "C" __global__ void __launch_bounds__(threads)
    take_long_items(const Row* rows, u64 count, const void* from, void* to, u32 each, u32 width) {
    const u64 words = count * each;
    if (width == 1) return take_words<u8>(rows, words, from, to, each);
    if (width == 2) return take_words<u16>(rows, words, from, to, each);
    if (width == 4) return take_words<u32>(rows, words, from, to, each);
    if (width == 8) return take_words<u64>(rows, words, from, to, each);
    take_words<uint4>(rows, words, from, to, each);
}

// Gathers bits as take_bits of take_host.hpp, into words; adds the number of set bits to `set`.
extern "C" __global__ void __launch_bounds__(threads)
    take_bits(const Row* rows, u64 count, const u8* bits, u64 first, u32* to, u64* set) {
    u32 found = 0;
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = row_of_turn(turn);
        const u32 word = __ballot_sync(tile::all_lanes, i < count && bit_at(bits, first + rows[i]));
        if (i < count && tile::lane() == 0) to[i / tile::lanes] = word;
        found += static_cast<u32>(__popc(word));
    }
    if (tile::lane() == 0 && found != 0) atomicAdd(set, static_cast<u64>(found));
}

// sizes[block]: bytes of the texts of the block's rows.
extern "C" __global__ void __launch_bounds__(threads)
    measure_texts(const Row* rows, u64 count, Texts texts, u64* sizes) {
    __shared__ u64 parts[threads / tile::lanes];
    u64 size = 0;
    for (u32 turn = 0; turn < turns; ++turn) {
        if (row_of_turn(turn) < count) size += text_size(texts, rows[row_of_turn(turn)]);
    }
    size = tile::reduce_block<Sum<u64>, threads>(size, parts);
    if (threadIdx.x == 0) sizes[blockIdx.x] = size;
}

HR_FN void put_offset(void* offsets, u32 width, u64 i, u64 offset) {
    if (width == 8) {
        static_cast<u64*>(offsets)[i] = offset;
    } else {
        static_cast<u32*>(offsets)[i] = static_cast<u32>(offset);
    }
}

// Writes offsets, in the width of those of `texts`, and the end. `begins[block]`: position of the block's first text.
extern "C" __global__ void __launch_bounds__(threads)
    place_texts(const Row* rows, u64 count, Texts texts, const u64* begins, void* offsets) {
    __shared__ u64 parts[threads / tile::lanes];
    u64 before = begins[blockIdx.x];
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = row_of_turn(turn);
        const u64 size = i < count ? text_size(texts, rows[i]) : 0;
        const u64 until = tile::scan_warp<Sum<u64>>(size);
        const auto warps = tile::scan_warps<Sum<u64>, threads>(tile::shuffle(until, tile::lanes - 1), parts);
        const u64 end = before + warps.before + until;
        if (i < count) put_offset(offsets, texts.width, i, end - size);
        if (i + 1 == count) put_offset(offsets, texts.width, count, end);
        before += warps.total;
        __syncthreads();  // `parts` is reused
    }
}

// Returns the last of the rows `low` to `high` that begins at or before a position of the result; empty texts are
// skipped.
HR_FN u64 row_at(const Texts& result, u64 low, u64 high, u64 at) {
    while (low < high) {
        const u64 middle = high - (high - low) / 2;
        if (text_begin(result, middle) <= at) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

constexpr u32 piece = 16;  // bytes of the result per thread
constexpr u32 block_bytes = threads * piece;

// Iterates over the bytes of the result with their source addresses.
class Reader {
public:
    HR_MEMBER Reader(const Row* rows, const Texts& texts, const Texts& result, u64 low, u64 high, u64 at)
        : rows_(rows), texts_(texts), result_(result), high_(high) {
        find(low, at);
    }
    HR_MEMBER u32 byte(u64 at) {
        if (at == end_) find(row_ + 1, at);
        return from_[at];
    }

private:
    HR_MEMBER void find(u64 low, u64 at) {
        row_ = row_at(result_, low, high_, at);
        end_ = text_begin(result_, row_ + 1);
        from_ = texts_.bytes + text_begin(texts_, rows_[row_]) - text_begin(result_, row_);
    }

    const Row* rows_;
    const Texts& texts_;
    const Texts& result_;
    u64 high_, row_ = 0, end_ = 0;
    const u8* from_ = nullptr;
};

// Copies the texts of `result`, whose `bytes` bytes are 16-byte aligned, from `texts`. Work is divided by bytes of the
// result. Therefore several blocks share a long text, and the threads of one block share many short texts.
extern "C" __global__ void __launch_bounds__(threads)
    take_texts(const Row* rows, u64 count, Texts texts, Texts result, u8* to, u64 bytes) {
    __shared__ u64 ends[2];
    const u64 first = static_cast<u64>(blockIdx.x) * block_bytes;
    const u64 last = first + block_bytes < bytes ? first + block_bytes - 1 : bytes - 1;
    if (threadIdx.x < 2) ends[threadIdx.x] = row_at(result, 0, count - 1, threadIdx.x == 0 ? first : last);
    __syncthreads();
    const u64 begin = first + threadIdx.x * piece;
    if (begin >= bytes) return;
    Reader reader(rows, texts, result, ends[0], ends[1], begin);
    const u32 here = bytes - begin < piece ? static_cast<u32>(bytes - begin) : piece;
    u32 word[4];
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        word[k] = 0;
#pragma unroll 1
        for (u32 i = 4 * k; i < 4 * k + 4 && i < here; ++i) word[k] |= reader.byte(begin + i) << (i % 4 * 8);
    }
    if (here == piece) {
        *reinterpret_cast<uint4*>(to + begin) = {word[0], word[1], word[2], word[3]};
        return;
    }
#pragma unroll
    for (u32 i = 0; i < piece; ++i) {
        if (i < here) to[begin + i] = static_cast<u8>(word[i / 4] >> (i % 4 * 8));
    }
}
