// Partitions keys by digit, without an order inside a digit. Each tile reserves its output range for each digit by an
// atomic addition (reserve_tile.cuh). The keys of the next tile are loaded while this tile is written.
//
// Bytes moved per key of width w: 2 w.
#include "arrange/multisplit/gpu/split_rule.cuh"
// Must be included after split_rule.cuh, which defines Key and digits.
#include "arrange/multisplit/gpu/reserve_tile.cuh"

using namespace headrace;

// Output positions: 32 bits for fewer than 2^32 keys.
using To = HR_TO;

struct ReserveDigit {
    Digit digit;
    HR_MEMBER u32 operator()(Key key) const { return digit.of(key); }
};

struct ReserveWork {
    const Key* in;
    Key* out;
    u64 count;
    ReserveDigit digit_of;
    u64* next;

    // Returns the number of keys of the tile that starts at `at`.
    HR_MEMBER u32 keys_at(u64 at) const {
        const u64 left = at < count ? count - at : 0;
        return left < tile_keys ? static_cast<u32>(left) : tile_keys;
    }
};

HR_FN void load_tile(Key (&key)[items], const ReserveWork& work, u64 at) {
    const u32 count = work.keys_at(at);
    if (count == tile_keys) {
        load_keys<true>(key, work.in + at, tile_keys);
    } else if (count != 0) {
        load_keys<false>(key, work.in + at, count);
    }
}

// Writes the tile at `at`, whose keys are loaded, and loads the tile at `next`.
HR_FN void split_tile(Key (&key)[items], const ReserveWork& work, u64 at, u64 next, DigitBins<To, ReserveDigit>& bins,
                      Key* staging) {
    const Left left = bin_keys(key, work.keys_at(at), work.digit_of, bins, staging);
    const bool are_left = __syncthreads_or((left.full | left.alike) != 0) != 0;
    if (!are_left) load_tile(key, work, next);
    const OutputRange<To> run =
        reserve_runs(bins, [&](u32 d, u32 count) { return atomicAdd(&work.next[d], u64{count}); });
    const auto moved = [](Key own) { return own; };
    write_bins<warp_digits>(staging, run, work.out, moved);
    __syncthreads();
    if (are_left) {
        write_left(key, left, bins, work.out, moved);
        load_tile(key, work, next);
        __syncthreads();
    }
}

// `next`: output position of each digit's next key. Dynamic shared memory: the bins.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    split_reserve(const Key* in, Key* out, u64 count, Digit digit, u64* next) {
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ DigitBins<To, ReserveDigit> bins;
    const ReserveWork work{in, out, count, {digit}, next};
    bins.begin(work.digit_of);
    Key* const staging = reinterpret_cast<Key*>(memory);
    Key key[items] = {};
    const u64 step = static_cast<u64>(gridDim.x) * tile_keys;
    u64 at = static_cast<u64>(blockIdx.x) * tile_keys;
    load_tile(key, work, at);
    __syncthreads();
    for (; at < count; at += step) split_tile(key, work, at, at + step, bins, staging);
}
