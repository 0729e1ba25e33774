// Moves a tile of keys to the output ranges of their digits, without an order inside a digit, for MSD radix sorts and
// unordered partitions.
//
// Each digit has a bin in shared memory. One atomic addition per key gives its position in the bin, and the key is
// stored at once. Then each warp reserves output ranges for its digits, by one addition in device memory per digit, and
// writes the bins. (Stehle and Jacobsen 2017, "A memory bandwidth-efficient hybrid radix sort on GPUs", sections 4.3
// and 4.4. Their bins have exact sizes, which takes a scan, two barriers, and two more accesses to shared memory and
// ten instructions per key.)
//
// A key whose bin is full stays in its register and is written to device memory directly, after the bin. With uniformly
// distributed digits this happens to one key in some tiles. If many lanes of a warp have the same digit, all keys of
// that digit are written this way, side by side.
//
// A tile takes two barriers: bin_keys | write_bins | bin_keys of the next tile ..
//
// Bytes moved per key of width w: 2 w.
#pragma once
#include "core/operators.hpp"
#include "gpu/block/block.cuh"

namespace headrace {

constexpr u32 threads = HR_THREADS;
constexpr u32 items = HR_ITEMS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 tile_keys = threads * items;
constexpr u32 key_bytes = sizeof(Key);
// Keys per bin: odd, so that bins of equal fill are in different banks.
constexpr u32 bin_keys_most = HR_BIN;
constexpr u32 bin_bytes = bin_keys_most * key_bytes;
constexpr u32 warp_digits = digits / warps;
constexpr u32 group = items % 4 == 0 ? 4 : items % 3 == 0 ? 3 : 2;  // additions in flight at a time
// Stores of a warp start at multiples of this many keys in the result, except a bin's first store. So each store covers
// whole sectors of memory, which two stores would otherwise share.
constexpr u32 aligned_keys = 32 / key_bytes;
static_assert(items % group == 0);
static_assert(warp_digits * warps == digits && warp_digits <= tile::lanes && items <= 32 && bin_keys_most % 2 == 1);

// Six of 32 lanes with uniform digits from 256 are equal in one of 40,000 warps.
constexpr u32 few_alike = 5;
constexpr u32 no_digit = ~0u;

// State of a block's bins. `DigitOf` computes a key's digit. It is in shared memory so that digits are recomputed: the
// compiler would otherwise keep them in registers, which are short.
template <class To, class DigitOf>
struct DigitBins {
    u32 next[digits];      // position of a bin's next key, in bytes from the first bin
    u32 bypassed[digits];  // keys that bypass their bins
    u32 placed[digits];    // keys of the bin, plus the remaining keys that already have an output position
    To to[digits];         // output position of the bin's first key
    DigitOf digit_of;

    // A barrier must follow.
    HR_MEMBER void begin(const DigitOf& own) {
        for (u32 d = threadIdx.x; d < digits; d += threads) {
            next[d] = d * bin_bytes;
            bypassed[d] = 0;
        }
        if (threadIdx.x == 0) digit_of = own;
    }
};

// Returns the position in the tile of item j of this lane.
HR_FN u32 item_place(u32 j) { return (tile::warp() * items + j) * tile::lanes + tile::lane(); }

// Loads the first `count` keys of a tile.
template <bool whole>
HR_FN void load_keys(Key (&key)[items], const Key* in, u32 count) {
    const Key* const mine = in + item_place(0);
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (whole || item_place(j) < count) key[j] = mine[j * tile::lanes];
    }
}

// Returns the most frequent digit of the warp if more than `few_alike` lanes have it, else `no_digit`.
HR_FN u32 common_digit(u32 digit) {
    const u32 alike = static_cast<u32>(__popc(__match_any_sync(tile::all_lanes, digit)));
    const u32 most = __reduce_max_sync(tile::all_lanes, alike << 16 | digit);
    return most >> 16 > few_alike ? most & 0xFFFF : no_digit;
}

// Keys of a lane that are in no bin, one bit per key: `full`, keys whose bins were full; `alike`, keys of the warp's
// most frequent digit `common`.
struct Left {
    u32 full;
    u32 alike;
    u32 common;
};

// Stores keys in their bins in `staging`. A barrier must follow.
template <class To, class DigitOf>
HR_FN Left bin_keys(const Key (&key)[items], u32 count, const DigitOf& digit_of, DigitBins<To, DigitOf>& bins,
                    Key* staging) {
    u8* const bytes = reinterpret_cast<u8*>(staging);
    Left left = {0, 0, common_digit(item_place(0) < count ? digit_of(key[0]) : digits + tile::lane())};
    const auto put = [&](u32 j, u32 digit, u32 at) {
        if (at - digit * bin_bytes < bin_bytes) {
            *reinterpret_cast<Key*>(bytes + at) = key[j];
        } else {
            left.full |= 1u << j;
        }
    };
    if (count == tile_keys && left.common == no_digit) {
#pragma unroll
        for (u32 first = 0; first < items; first += group) {
            u32 digit[group], at[group];
#pragma unroll
            for (u32 k = 0; k < group; ++k) {
                digit[k] = digit_of(key[first + k]);
                at[k] = atomicAdd(&bins.next[digit[k]], key_bytes);
            }
#pragma unroll
            for (u32 k = 0; k < group; ++k) put(first + k, digit[k], at[k]);
        }
        return left;
    }
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 digit = digit_of(key[j]);
        if (item_place(j) >= count) continue;
        if (digit == left.common) {
            left.alike |= 1u << j;
        } else {
            put(j, digit, atomicAdd(&bins.next[digit], key_bytes));
        }
    }
    const u32 alike = __reduce_add_sync(tile::all_lanes, static_cast<u32>(__popc(left.alike)));
    if (alike != 0 && tile::lane() == 0) atomicAdd(&bins.bypassed[left.common], alike);
    return left;
}

// Output range of the digit with the lane's number in the warp: it starts `lead` keys after `to`, which is aligned.
template <class To>
struct OutputRange {
    To to;
    u32 lead;
    u32 count;
};

// Reserves output ranges for the warp's digits by `take(digit, count)`, and empties the bins.
template <class To, class DigitOf, class Take>
HR_FN OutputRange<To> reserve_runs(DigitBins<To, DigitOf>& bins, const Take& take) {
    OutputRange<To> run = {};
    if (tile::lane() >= warp_digits) return run;
    const u32 d = tile::warp() * warp_digits + tile::lane();
    const u32 all = (bins.next[d] - d * bin_bytes) / key_bytes, others = bins.bypassed[d];
    bins.next[d] = d * bin_bytes;
    bins.bypassed[d] = 0;
    run.count = all < bin_keys_most ? all : bin_keys_most;
    if (all + others != 0) run.to = static_cast<To>(take(d, all + others));
    bins.to[d] = run.to;
    bins.placed[d] = run.count;
    run.lead = static_cast<u32>(run.to % aligned_keys);
    run.to -= run.lead;
    return run;
}

// Writes the warp's bins to the output; `given` converts a key. `together`: number of digits to unroll.
template <u32 together, class To, class Given>
HR_FN void write_bins(const Key* staging, const OutputRange<To>& run, Key* out, const Given& given) {
    const Key* const own = staging + tile::warp() * warp_digits * bin_keys_most + tile::lane();
    const u32 bounds = run.lead << 16 | (run.lead + run.count);
#pragma unroll together
    for (u32 q = 0; q < warp_digits; ++q) {
        const u32 its_bounds = tile::shuffle(bounds, q), lead = its_bounds >> 16, end = its_bounds & 0xFFFF;
        Key* const to = out + static_cast<To>(tile::shuffle(run.to, q) + tile::lane());
        const Key* const from = own + q * bin_keys_most - lead;
#pragma unroll
        for (u32 first = 0; first < bin_keys_most + aligned_keys - 1; first += tile::lanes) {
            const u32 at = first + tile::lane();
            if ((first >= aligned_keys - 1 || at >= lead) && at < end) to[first] = given(from[first]);
        }
    }
}

// Writes the remaining keys after their bins. A barrier must precede.
template <class To, class DigitOf, class Given>
HR_FN void write_left(const Key (&key)[items], const Left& left, DigitBins<To, DigitOf>& bins, Key* out,
                      const Given& given) {
    const DigitOf digit_of = bins.digit_of;
    const u32 before = (1u << tile::lane()) - 1;
    const u32 alike = __reduce_add_sync(tile::all_lanes, static_cast<u32>(__popc(left.alike)));
    u32 first = 0;
    if (alike != 0 && tile::lane() == 0) first = atomicAdd(&bins.placed[left.common], alike);
    first = tile::shuffle(first, 0);
    To next = alike == 0 ? 0 : static_cast<To>(bins.to[left.common] + first);  // output position of the next key
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const bool is_alike = (left.alike >> j & 1) != 0;
        const u32 lanes = __ballot_sync(tile::all_lanes, is_alike);
        if (is_alike) out[static_cast<To>(next + static_cast<u32>(__popc(lanes & before)))] = given(key[j]);
        next += static_cast<u32>(__popc(lanes));
        if ((left.full >> j & 1) != 0) {
            const u32 digit = digit_of(key[j]);
            out[static_cast<To>(bins.to[digit] + atomicAdd(&bins.placed[digit], 1u))] = given(key[j]);
        }
    }
}

}  // namespace headrace
