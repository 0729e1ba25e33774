// Keys alone in the order of their digits, in no order within one: each tile takes room for its keys of a digit where
// the next ones go (reserve_tile.cuh), and the next tile's keys are loaded while these go out.
//
// Bytes moved per key of width w: 2 w.
#include "arrange/multisplit/split_rule.cuh"
// Behind the digit that it is made for.
#include "arrange/multisplit/reserve_tile.cuh"

using namespace headrace;

// Numbers of keys: of 32 bits where there are fewer than 2^32.
using To = HR_TO;

struct DigitOf {
    Digit digit;
    __device__ __forceinline__ u32 operator()(Key key) const { return digit.of(key); }
};

struct Work {
    const Key* in;
    Key* out;
    u64 count;
    DigitOf digit_of;
    u64* next;

    // Keys of the tile that begins at `at`.
    __device__ __forceinline__ u32 keys_at(u64 at) const {
        const u64 left = at < count ? count - at : 0;
        return left < tile_keys ? static_cast<u32>(left) : tile_keys;
    }
};

static __device__ __forceinline__ void load_tile(Key (&key)[items], const Work& work, u64 at) {
    const u32 count = work.keys_at(at);
    if (count == tile_keys) {
        load_keys<true>(key, work.in + at, tile_keys);
    } else if (count != 0) {
        load_keys<false>(key, work.in + at, count);
    }
}

// The tile at `at`, whose keys are loaded; then the one at `next` is.
template <bool whole>
static __device__ __forceinline__ void split_tile(Key (&key)[items], const Work& work, u64 at, u64 next,
                                                  Runs<To, DigitOf>& runs, Key* room) {
    const u32 d = threadIdx.x, count = whole ? tile_keys : work.keys_at(at);
    u32 place[items];
    rank_keys<whole>(key, count, work.digit_of, runs.taken, place);
    __syncthreads();
    const Found found = take_starts(runs);
    u64 taken = 0;
    if (d < digits && found.count != 0) taken = atomicAdd(&work.next[d], static_cast<u64>(found.count));
    __syncthreads();
    put_keys<whole>(key, count, runs, place, room);
    load_tile(key, work, next);
    if (d < digits) runs.to[d] = static_cast<To>(taken - found.start);
    __syncthreads();
    write_keys<whole>(room, count, work.digit_of, runs.to, work.out, [](Key own) { return own; });
}

// `next`: where each digit's next key goes. Dynamic shared memory: the keys of a tile.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    split_reserve(const Key* in, Key* out, u64 count, Digit digit, u64* next) {
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ Runs<To, DigitOf> runs;
    const Work work{in, out, count, {digit}, next};
    for (u32 d = threadIdx.x; d <= digits; d += threads) runs.taken[d] = 0;
    if (threadIdx.x == 0) runs.digit_of = work.digit_of;
    Key* const room = reinterpret_cast<Key*>(memory);
    Key key[items] = {};
    const u64 step = static_cast<u64>(gridDim.x) * tile_keys;
    u64 at = static_cast<u64>(blockIdx.x) * tile_keys;
    load_tile(key, work, at);
    __syncthreads();
    for (; at + tile_keys <= count; at += step) split_tile<true>(key, work, at, at + step, runs, room);
    if (at < count) split_tile<false>(key, work, at, count, runs, room);
}
