// Sorts a bucket's keys in shared memory with one atomic addition each. Values are spread evenly over more than 4/3
// bins a key. The addition to a bin's counter gives the rank of a key in its bin. A scan of the counters gives the
// begin of each bin. Few bins have several keys (1 in 7 with uniform values), most of these two. The thread that
// scanned a bin puts its keys in order in place. Source: Knuth, "The Art of Computer Programming", volume 3, section
// 5.2.1, "multiple list insertion". Here it is one pass, with counts in place of lists.
//
// A counter has 16 bits. Bins of the lower half of all values are the low halves of words, those of the upper half
// the high halves. So one addition scans two bins; the begin of the upper bins is added at the end.
#pragma once
#include "arrange/sort/gpu/msd/buckets.hpp"
#include "arrange/sort/sort_key.hpp"
#include "gpu/block/block.cuh"
#include "gpu/block/memory_access.cuh"

namespace headrace {

using Key = HR_KEY;
constexpr bool with_values = HR_VALUES != 0;
constexpr bool with_equals = HR_EQUALS != 0;
constexpr u32 threads = HR_THREADS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 items = HR_ITEMS;
constexpr u32 tile_keys = threads * items;
constexpr u32 vectors = items < 8 ? 1 : 3;  // of a thread's counters: an odd number uses all banks
constexpr u32 thread_words = vectors * 4;
constexpr u32 words = threads * thread_words;
constexpr u32 crowd = with_values ? 32 : 16;  // minimum number of keys of a bin that crowd it: a power of two
constexpr u32 bin_mark = 1u << 15;            // of a bin's begin
static_assert(thread_words <= 16 && tile_keys < 1 << 15 && words * 4 <= 1 << 16);

static __device__ constexpr u32 bits_for(u32 count) {
    u32 bits = 0;
    while ((1u << bits) < count) ++bits;
    return bits;
}
// With values, a word to sort has a key's distance from the lowest key in its high bits and the row in its low bits.
constexpr u32 row_bits = with_values ? bits_for(tile_keys) : 0;
constexpr u32 key_bits = 8 * sizeof(Key);

// Keys of a line of memory. A warp's 32 keys begin at such a line, so a block's first row may begin before its
// bucket.
constexpr u32 line_keys = 128 / sizeof(Key);

// Maps values to bins: an increment of 2^shift advances by scale / 2^32 of all bins.
struct Spread {
    Key base;  // at most the lowest key, and a multiple of 2^shift
    u32 shift;
    u32 scale;
    u32 offset;  // maps the base to 0

    HR_MEMBER static Spread by_scale(Key base, u32 shift, u32 scale) {
        const u32 least = scale == 0 ? 1 : scale;
        const Key from = static_cast<Key>(base >> shift << shift);
        return {from, shift, least, 0 - static_cast<u32>(from >> shift) * least};
    }
    // Returns the map for `span` digits with `below` bits below them.
    HR_MEMBER static Spread of_digits(Key base, u32 below, u32 span) {
        const u32 shift = sizeof(Key) == 8 && below > 16 ? below - 16 : 0;
        const u32 of_one = span == 1 ? 0xFFFFFC00 : static_cast<u32>(4294966272.0f / static_cast<float>(span));
        return by_scale(base, shift, of_one >> (below - shift));
    }
    // Returns the map for keys that exceed the base by at most `most`.
    HR_MEMBER static Spread of_range(Key base, Key most) {
        if (most == 0) return by_scale(base, 0, 1);
        const u32 bits = 64 - static_cast<u32>(leading_zeros(most));
        const u32 shift = sizeof(Key) == 8 && bits > 30 ? bits - 30 : 0;
        const u32 steps = static_cast<u32>(most >> shift);
        if (steps >> 31 != 0) return by_scale(base, shift, 1);
        return by_scale(base, shift, static_cast<u32>(4294966272.0f / static_cast<float>(steps + 2)));
    }
    // Whether all keys of a bin are equal: an increment is at least a bin. Half of 2^32 has `words` bins, rounded up.
    HR_MEMBER bool is_exact() const { return shift == 0 && scale > (0x80000000u - 1) / words; }
    // Whether keys are more than twice as many bins apart as by another map.
    HR_MEMBER bool is_finer_than(const Spread& other) const {
        const u32 more = other.shift - shift;
        const u64 own = shift <= other.shift ? u64{scale} << (more < 31 ? more : 31) : u64{scale} >> (0 - more);
        return own / 2 > other.scale;
    }
    HR_MEMBER u32 steps_of(Key code) const { return static_cast<u32>(code >> shift); }
};

struct BinSortShared {
    u32 totals[warps];
    u32 is_crowded;
    Key least[warps];
    Key most[warps];
};

// Shared memory of a bucket's threads.
struct SortBins {
    u32* counters;  // `words` counters, zero
    Key* staging;
    BinSortShared& shared;

    HR_MEMBER uint4* own() const { return reinterpret_cast<uint4*>(counters) + threadIdx.x * vectors; }
    HR_MEMBER u16* half_at(u32 byte) const { return reinterpret_cast<u16*>(reinterpret_cast<u8*>(counters) + byte); }
    HR_MEMBER void clear() const {
        const uint4 zero = {0, 0, 0, 0};
#pragma unroll
        for (u32 i = 0; i < vectors; ++i) own()[i] = zero;
    }
    // Begins a count.
    HR_MEMBER void reset() const {
        clear();
        if (threadIdx.x == 0) shared.is_crowded = 0;
    }
};

// The map's fields in registers. An instruction has room for one immediate or uniform register; others would take an
// instruction each. So the values are hidden from the compiler, which would see that they are uniform, and that two
// are constants.
struct Counting {
    const Spread& spread;
    u32 scale, offset, one_below, first_half;

    HR_MEMBER static Counting by(const Spread& spread, u32 count) {
        const u32 none = tile::shuffle(count, 0) >> 16;
        return {spread, spread.scale + none, spread.offset + none, none + 1, none + 0x5410};
    }
    // Returns the position of a key among all bins, in units of 2^-32.
    HR_MEMBER u32 position_of(Key code) const { return spread.steps_of(code) * scale + offset; }
    // Counts a key. Returns the offset of its bin's counter in bytes, and above that the key's rank in its bin.
    HR_MEMBER u32 count(Key code, const SortBins& bins) const {
        const u32 position = position_of(code);
        const u32 upper = static_cast<u32>(static_cast<i32>(position) >> 31);
        const u32 word = __umulhi(position * 2, 4 * words) & ~3u;
        const u32 more = (upper & 0x10000) | (~upper & one_below);
        const u32 seen = atomicAdd(reinterpret_cast<u32*>(bins.half_at(word)), more);
        return __byte_perm(word | (upper & 2), seen, (upper & 0x7610) | (~upper & first_half));
    }
    // Marks the bin of a key, after its counter was replaced by its begin.
    HR_MEMBER void mark(Key code, const SortBins& bins) const {
        const u32 position = position_of(code), word = __umulhi(position * 2, 4 * words) & ~3u;
        atomicOr(reinterpret_cast<u32*>(bins.half_at(word)), position >> 31 == 0 ? bin_mark : bin_mark << 16);
    }
};

// Returns the inclusive sum over lanes. Two instructions a step: the shuffle's predicate says whether its source lane
// exists.
HR_FN u32 sum_upto(u32 sum) {
#if defined(__CUDACC__)
#pragma unroll
    for (u32 distance = 1; distance < tile::lanes; distance *= 2) {
        asm volatile(
            "{ .reg .b32 before; .reg .pred is_there; shfl.sync.up.b32 before|is_there, %0, %1, 0, 0xFFFFFFFF;\n"
            "@is_there add.u32 %0, %0, before; }"
            : "+r"(sum)
            : "r"(distance));
    }
    return sum;
#else
    return tile::scan_warp<Sum<u32> >(sum);
#endif
}

// Returns sums of the preceding warps, and of all; `upto` is that of the last lane. A few sums are added one by one.
HR_FN tile::WarpPrefix<u32> warps_before(u32 upto, BinSortShared& shared) {
    if constexpr (warps > 8) {
        return tile::scan_warps<Sum<u32>, threads>(tile::shuffle(upto, tile::lanes - 1), shared.totals);
    } else {
        if (tile::lane() == tile::lanes - 1) shared.totals[tile::warp()] = upto;
        __syncthreads();
        tile::WarpPrefix<u32> found = {0, 0};
#pragma unroll
        for (u32 w = 0; w < warps; ++w) {
            if (w == tile::warp()) found.before = found.total;
            found.total += shared.totals[w];
        }
        return found;
    }
}

// Bit masks of a thread's bins with two keys or more, and with three or more. Of its n words, word i has bit 16 - n +
// i for its low half, and bit 32 - n + i for its high half.
struct Several {
    u32 two, three;
    u32 past;  // ends of the last word's two bins

    HR_MEMBER void add(u32 count) {
        two = two >> 1 | ((count + 0x7FFE7FFE) & 0x80008000);
        three = three >> 1 | ((count + 0x7FFD7FFD) & 0x80008000);
    }
    // Removes one bit of a mask. Returns the offset of its bin among the thread's counters, in bytes.
    HR_MEMBER static u32 take(u32& left) {
        const u32 bit = 31 - static_cast<u32>(__clz(static_cast<int>(left)));
        left ^= 1u << bit;
        return bit * 4 - (bit >> 4) * 62 - 4 * (16 - thread_words);
    }
};

// Replaces counts by the begin of each bin.
HR_FN Several scan_bins(const SortBins& bins, bool is_exact) {
    u32 own[thread_words];
#pragma unroll
    for (u32 i = 0; i < vectors; ++i) {
        const uint4 some = bins.own()[i];
        own[4 * i] = some.x, own[4 * i + 1] = some.y, own[4 * i + 2] = some.z, own[4 * i + 3] = some.w;
    }
    Several several = {};
    u32 sum = 0, seen = 0;
#pragma unroll
    for (u32 i = 0; i < thread_words; ++i) {
        const u32 some = own[i];
        own[i] = sum;
        sum += some;
        seen |= some;
        several.add(some);
    }
    constexpr u32 crowded = (0x10000u - crowd) * 0x10001u;
    if ((seen & crowded) != 0 && !is_exact) bins.shared.is_crowded = 1;
    const u32 upto = sum_upto(sum);
    const tile::WarpPrefix<u32> before = warps_before(upto, bins.shared);
    const u32 begin = before.before + upto - sum + (before.total << 16);
#pragma unroll
    for (u32 i = 0; i < vectors; ++i) {
        bins.own()[i] = {begin + own[4 * i], begin + own[4 * i + 1], begin + own[4 * i + 2], begin + own[4 * i + 3]};
    }
    several.past = begin + sum;
    if (is_exact) several.two = several.three = 0;
    return several;
}

HR_FN void exchange(Key& low, Key& high) {
    const Key least = low < high ? low : high;
    high = low < high ? high : low;
    low = least;
}

// Sorts adjacent keys: three or four by a network. More are very rare.
HR_FN void order_run(Key* run, u32 count) {
    Key first = run[0], second = run[1], third = run[2], fourth = count > 3 ? run[3] : ~Key{0};
    exchange(first, second);
    exchange(third, fourth);
    exchange(first, third);
    exchange(second, fourth);
    exchange(second, third);
    run[0] = first;
    run[1] = second;
    run[2] = third;
    if (count > 3) run[3] = fourth;
    for (u32 i = 4; i < count; ++i) {
        const Key key = run[i];
        u32 at = i;
        for (; at != 0; --at) {
            const Key other = run[at - 1];
            if (other <= key) break;
            run[at] = other;
        }
        if (at != i) run[at] = key;
    }
}

// Sorts the keys of bins with several. A thread reads no counters but its own.
HR_FN void order_bins(const SortBins& bins, const Several& several) {
    const u32 own = threadIdx.x * (4 * thread_words);
    for (u32 left = several.two & ~several.three; left != 0;) {
        Key* const pair = bins.staging + *bins.half_at(own + Several::take(left));
        const Key first = pair[0], second = pair[1];
        if (second < first) {
            pair[0] = second;
            pair[1] = first;
        }
    }
    for (u32 left = several.three; left != 0;) {
        const u32 at = Several::take(left), high = at & 2;
        const u32 past = high == 0 ? several.past & 0xFFFF : several.past >> 16;
        const u32 begin = *bins.half_at(own + at);
        order_run(bins.staging + begin, (at >= 4 * thread_words - 4 ? past : *bins.half_at(own + at + 4)) - begin);
    }
}

// Returns the map for the true range of keys if many share a bin. `least`, `most`: the thread's lowest and highest
// key.
HR_FN Spread look_closer(Key least, Key most, const SortBins& bins) {
#pragma unroll
    for (u32 distance = 16; distance != 0; distance /= 2) {
        const Key low = tile::shuffle_down(least, distance), high = tile::shuffle_down(most, distance);
        least = low < least ? low : least;
        most = high > most ? high : most;
    }
    if (tile::lane() == 0) {
        bins.shared.least[tile::warp()] = least;
        bins.shared.most[tile::warp()] = most;
    }
    __syncthreads();
    for (u32 w = 0; w < warps; ++w) {
        least = w == 0 || bins.shared.least[w] < least ? bins.shared.least[w] : least;
        most = w == 0 || bins.shared.most[w] > most ? bins.shared.most[w] : most;
    }
    return Spread::of_range(least, most - least);
}

}  // namespace headrace
