// Whether keys are in order: each is compared with the next. Blocks stop where one has found that they are not.
//
// Bytes moved per key of width w: w, up to the first disorder.
#include "arrange/sort/gpu/common/digit.cuh"
#include "gpu/block/block.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 per = tile::per_vector<Key>;
constexpr u32 tile_keys = threads * rows * per;

using KeyWord = decltype(BitsAs<Key>::of(Key{}));  // what shuffles take

// `disorder`: set where a key comes before a lower one.
extern "C" __global__ void __launch_bounds__(threads)
    sort_check(const Key* keys, u64 count, KeyRule<Key> rule, u32* disorder) {
    for (u64 at = blockIdx.x * u64{tile_keys}; at < count; at += gridDim.x * u64{tile_keys}) {
        if (__syncthreads_or(threadIdx.x == 0 && tile::load_relaxed(disorder) != 0) != 0) return;
        const i64 more = static_cast<i64>(count - at);
        tile::Rows<Key, rows> some;
        tile::load_rows(some, keys + at, more, tile::aligned(keys) && more >= tile_keys, Key{});
        bool falls = false;
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
            const u64 first = at + tile::row_begin<Key, rows>(row);
            Key behind = static_cast<Key>(tile::shuffle_down(static_cast<KeyWord>(some.row[row].item[0]), 1));
            if (tile::lane() == tile::lanes - 1 && first + per < count) behind = keys[first + per];
            Key own = rule.equal_code(some.row[row].item[0]);
#pragma unroll
            for (u32 k = 0; k < per; ++k) {
                const Key next = rule.equal_code(k + 1 < per ? some.row[row].item[k + 1 < per ? k + 1 : 0] : behind);
                falls |= first + k + 1 < count && own > next;
                own = next;
            }
        }
        if (__any_sync(tile::all_lanes, falls) && tile::lane() == 0) tile::store_relaxed(disorder, 1u);
    }
}
