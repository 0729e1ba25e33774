// All digits of all keys, counted in one reading, and whether neighbours are in order; then what is to be done.
// (Adinets and Merrill 2022, "Onesweep", section 4.1: one histogram kernel for all passes.) Counters are in shared
// memory, in replicas against contention, as in arrange/histogram/count.cuh.
//
// Bytes moved per key of width w: w.
#include "arrange/sort/digit.cuh"
#include "arrange/sort/plan.cuh"
#include "core/tile/block.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 per = tile::per_vector<Key>;
constexpr u32 tile_keys = threads * rows * per;
constexpr u32 counters = key_digits * digits;
constexpr u32 replicas = counters <= 256 ? 32 : counters <= 512 ? 16 : counters <= 1024 ? 8 : 4;
static_assert(threads >= digits);

// What shuffles take.
using KeyWord = decltype(BitsAs<Key>::of(Key{}));

// The key behind each lane's vector of a row; of the last lane's it is read.
static __device__ __forceinline__ Key key_behind(const tile::Vector<Key>& row, const Key* keys, u64 after, u64 count) {
    Key behind = static_cast<Key>(tile::shuffle_down(static_cast<KeyWord>(row.item[0]), 1));
    if (tile::lane() == tile::lanes - 1 && after < count) behind = keys[after];
    return behind;
}

static __device__ __forceinline__ Key code_of(const Digit& digit, Key key) {
    return digit.rule.bits_of(digit.rule.moved(key));
}

static __device__ __forceinline__ void count_tile(const Key* keys, u64 at, u64 count, const Digit& digit, u32* mine,
                                                  Disorder& found, bool equal_rises) {
    const i64 more = static_cast<i64>(count - at);
    tile::Rows<Key, rows> some;
    tile::load_rows(some, keys + at, more, tile::aligned(keys) && more >= tile_keys, Key{});
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        const u64 first = at + tile::row_begin<Key, rows>(row);
        const Key behind = key_behind(some.row[row], keys, first + per, count);
#pragma unroll
        for (u32 k = 0; k < per; ++k) {
            if (first + k >= count) continue;
            const Key own = code_of(digit, some.row[row].item[k]);
#pragma unroll
            for (u32 d = 0; d < key_digits; ++d) {
                const u32 value = static_cast<u32>(own >> d * bits) & (digits - 1);
                atomicAdd(&mine[(d * digits + value) * replicas], 1u);
            }
            if (first + k + 1 >= count) continue;
            const Key next = code_of(digit, k + 1 < per ? some.row[row].item[k + 1 < per ? k + 1 : 0] : behind);
            found.falls |= own > next;
            found.rises |= own < next || (equal_rises && own == next);
        }
    }
}

// `totals`: for each digit and value, added to. `disorder`: of all neighbours.
extern "C" __global__ void __launch_bounds__(threads)
    sort_count(const Key* keys, u64 count, KeyRule<Key> rule, u32 equal_rises, u64* totals, Disorder* disorder) {
    HR_DYNAMIC_SHARED(u32, shared);
    for (u32 i = threadIdx.x; i < counters * replicas; i += threads) shared[i] = 0;
    __syncthreads();
    const Digit digit = digit_by_number(rule, 0);
    Disorder found = {};
    for (u64 at = blockIdx.x * u64{tile_keys}; at < count; at += gridDim.x * u64{tile_keys}) {
        count_tile(keys, at, count, digit, shared + threadIdx.x % replicas, found, equal_rises != 0);
    }
    const bool falls = __any_sync(tile::all_lanes, found.falls), rises = __any_sync(tile::all_lanes, found.rises);
    if (tile::lane() == 0) {
        if (falls) tile::store_relaxed(&disorder->falls, 1u);
        if (rises) tile::store_relaxed(&disorder->rises, 1u);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < counters; i += threads) {
        u32 sum = 0;
#pragma unroll
        for (u32 r = 0; r < replicas; ++r) sum += shared[i * replicas + (r + i) % replicas];
        if (sum != 0) atomicAdd(&totals[i], static_cast<u64>(sum));
    }
}
