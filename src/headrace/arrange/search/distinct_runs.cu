// Writes the first key of each run of equal sorted keys, in one pass, and counts the runs. A tile's first keys are
// gathered in shared memory, while a decoupled look-back counts the runs of all preceding tiles. For example:
//
//   sorted keys 1 3 3 7: distinct keys 1 3 7
//
// Bytes moved per key of width w: w, and w for each distinct key.
#include "arrange/search/search.hpp"
#include "gpu/block/block.cuh"
#include "gpu/block/block_look_back.cuh"
#include "gpu/block/tile_rows.cuh"

using namespace headrace;

using Key = HR_KEY;
using Code = tile::ItemOf<sizeof(Key) == 8 ? 8 : 4>::type;  // of a size that lanes exchange
constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 vector_keys = tile::per_vector<Key>;
constexpr u32 tile_keys = threads * rows * vector_keys;

// The keys of a thread's rows that begin a run. `flags`: a bit for each key of a row. `before`: their number in
// preceding lanes and rows of the warp.
struct RunBegins {
    u32 flags[rows];
    u32 before[rows];
    u32 total;  // of the warp
};

// `previous`: code of the key before the warp's part. `left`: keys from the begin of the tile on, `is_first` if no tile
// precedes it.
HR_FN RunBegins run_begins(const tile::Rows<Key, rows>& keys, const KeyRule<Key>& rule, Code previous, i64 left,
                           bool is_first) {
    RunBegins found;
    found.total = 0;
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        const u32 begin = tile::row_begin<Key, rows>(row);
        const Code last = rule.equal_code(keys.row[row].item[vector_keys - 1]);
        const Code before = tile::shuffle_up(last, 1);
        Code code = tile::lane() == 0 ? previous : before;
        previous = tile::shuffle(last, tile::lanes - 1);
        u32 flags = 0;
#pragma unroll
        for (u32 k = 0; k < vector_keys; ++k) {
            const Code next = rule.equal_code(keys.row[row].item[k]);
            const bool begins = next != code || (is_first && begin + k == 0);
            flags |= (begins && static_cast<i64>(begin + k) < left ? 1u : 0u) << k;
            code = next;
        }
        const u32 own = static_cast<u32>(__popc(flags)), upto = tile::scan_warp<Sum<u32>>(own);
        found.flags[row] = flags;
        found.before[row] = found.total + upto - own;
        found.total += tile::shuffle(upto, tile::lanes - 1);
    }
    return found;
}

// `memory`: of the look-back, zero; a word, and one for each tile. `found`: number of runs.
extern "C" __global__ void __launch_bounds__(threads)
    take_runs(const Key* sorted, u64 count, KeyRule<Key> rule, tile::Chain<u64>::Word* memory, Key* distinct,
              u64* found) {
    __shared__ Key staged[tile_keys];
    __shared__ u32 totals[threads / tile::lanes];
    __shared__ u32 ticket;
    __shared__ u64 preceding;
    tile::Chain<u64> chain(memory);
    if (threadIdx.x == 0) ticket = chain.take_tile();
    __syncthreads();
    const u32 number = ticket;
    const Key* const from = sorted + u64{number} * tile_keys;
    const i64 left = static_cast<i64>(count - u64{number} * tile_keys);
    tile::Rows<Key, rows> keys;
    tile::load_rows(keys, from, left, left >= tile_keys && tile::aligned(from), Key{0});
    const i64 part = tile::warp() * (tile_keys / (threads / tile::lanes));  // begin of the warp's keys
    const bool has_previous = part < left && (number > 0 || part > 0);
    const Code previous = has_previous ? rule.equal_code(from[part - 1]) : Code{0};
    const RunBegins runs = run_begins(keys, rule, previous, left, number == 0);
    const tile::WarpPrefix<u32> warps = tile::scan_warps<Sum<u32>, threads>(runs.total, totals);
    if (threadIdx.x == 0) chain.post<Sum<u64>>(number, warps.total);
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        u32 at = warps.before + runs.before[row];
#pragma unroll
        for (u32 k = 0; k < vector_keys; ++k) {
            if ((runs.flags[row] >> k & 1) != 0) staged[at++] = keys.row[row].item[k];
        }
    }
    if (tile::warp() == 0) {
        const u64 sum = chain.prefix<Sum<u64>>(number, warps.total);
        if (tile::lane() == 0) preceding = sum;
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < warps.total; i += threads) distinct[preceding + i] = staged[i];
    if (left <= tile_keys && threadIdx.x == 0) *found = preceding + warps.total;
}
