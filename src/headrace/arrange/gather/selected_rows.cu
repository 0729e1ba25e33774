// Writes the numbers of marked rows, in their order. Bytes moved: a bit per row, and a row number for each that is
// marked.
#include "arrange/gather/selected_rows.cuh"

using namespace headrace;

using Row = HR_ROW;
constexpr u32 threads = HR_THREADS;
constexpr u32 block_words = selected::block_rows / tile::lanes;

// Writes the numbers of the rows whose bits are set. begins[block]: place of a block's first number.
extern "C" __global__ void __launch_bounds__(threads)
    number_selected_rows(const u32* bits, u64 rows, const u64* begins, Row* numbers) {
    __shared__ u32 words[block_words];
    const u64 first_word = static_cast<u64>(blockIdx.x) * block_words;
    const u64 all_words = (rows + tile::lanes - 1) / tile::lanes;
    for (u32 i = threadIdx.x; i < block_words; i += threads) {
        words[i] = first_word + i < all_words ? bits[first_word + i] : 0;
    }
    __syncthreads();
    u64 place = begins[blockIdx.x];
    u32 done = 0;  // words before the warp's
    for (u32 turn = 0; turn < selected::turns; ++turn) {
        const u32 number = turn * (threads / tile::lanes) + tile::warp();
        for (; done < number; ++done) place += static_cast<u64>(__popc(words[done]));
        const u32 word = words[number];
        if ((word >> tile::lane() & 1) != 0) {
            const u32 before = static_cast<u32>(__popc(word & ((1u << tile::lane()) - 1)));
            numbers[place + before] = static_cast<Row>(selected::row_of_turn(turn));
        }
    }
}
