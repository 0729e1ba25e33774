// Orders bins with many keys each, of keys alone, after they were put into their bins. Most of these hold one value: a
// bucket of 1,000 keys with ten values has ten bins of 100 equal keys. Such bins have no key that precedes a lower one,
// and need no work. Other bins of many keys have few values: a warp finds these one by one, with their numbers, and
// writes them.
#pragma once
#include "arrange/sort/gpu/msd/bin_sort.cuh"

namespace headrace {

// Maximum number of keys of a bin that one thread sorts, if many of its bucket's keys are equal, or if most are
// distinct.
constexpr u32 few_equal = 8, few_distinct = 32;

HR_FN Key warp_min(Key own) {
    const u32 high = static_cast<u32>(u64{own} >> 32);
    const u32 least = sizeof(Key) == 4 ? 0 : __reduce_min_sync(tile::all_lanes, high);
    const u32 low = __reduce_min_sync(tile::all_lanes, high == least ? static_cast<u32>(own) : ~0u);
    return static_cast<Key>(u64{least} << 32 | low);
}

// Sorts adjacent keys by a warp. Returns false if they have more values than a warp has lanes, or the four lowest ones
// have so few keys that this is likely. Then no key has moved.
HR_FN bool order_values(Key* run, u32 count) {
    Key value = 0;  // of the lane's number, in ascending order
    u32 begin = count;
    u32 values = 0, found = 0;  // values, and keys that have them
    Key before = 0;
    while (found < count) {
        if (values == tile::lanes || (values == 4 && found < count / 8)) return false;
        Key least = ~Key{0};
        for (u32 i = tile::lane(); i < count; i += tile::lanes) {
            const Key key = run[i];
            if ((values == 0 || key > before) && key < least) least = key;
        }
        before = warp_min(least);
        u32 alike = 0;
        for (u32 i = tile::lane(); i < count; i += tile::lanes) alike += run[i] == before ? 1 : 0;
        if (tile::lane() == values) {
            value = before;
            begin = found;
        }
        found += __reduce_add_sync(tile::all_lanes, alike);
        ++values;
    }
    __syncwarp();
    for (u32 v = 0; v < values; ++v) {
        const Key own = tile::shuffle(value, v);
        const u32 first = tile::shuffle(begin, v), end = v + 1 < values ? tile::shuffle(begin, v + 1) : count;
        for (u32 i = first + tile::lane(); i < end; i += tile::lanes) run[i] = own;
    }
    return true;
}

// Returns the end of a bin. `at`: the offset of its counter in bytes.
HR_FN u32 end_of_bin(const SortBins& bins, u32 at, u32 count) {
    if (at + 4 < 4 * words) return *bins.half_at(at + 4) & ~bin_mark;
    return at % 4 == 0 ? *bins.half_at(2) & ~bin_mark : count;
}

// Returns a bit for each marked bin of the thread, as in a mask of Several.
HR_FN u32 marked_bins(const SortBins& bins) {
    u32 marked = 0;
#pragma unroll
    for (u32 i = 0; i < vectors; ++i) {
        const uint4 some = bins.own()[i];
        const u32 word[4] = {some.x, some.y, some.z, some.w};
#pragma unroll
        for (u32 k = 0; k < 4; ++k) marked = marked >> 1 | (word[k] & bin_mark * 0x10001u);
    }
    return marked;
}

// Sorts the keys of marked bins. Returns false if a bin has too many values.
HR_FN bool order_marked_bins(const SortBins& bins, u32 count, bool are_distinct) {
    const u32 few = are_distinct ? few_distinct : few_equal;
    bool is_ordered = true;
    u32 left = marked_bins(bins);
    while (__any_sync(tile::all_lanes, left != 0)) {
        u32 range = 0;  // begin and end of a bin with many keys
        if (left != 0) {
            const u32 at = threadIdx.x * (4 * thread_words) + Several::take(left);
            const u32 begin = *bins.half_at(at) ^ bin_mark, end = end_of_bin(bins, at, count);
            Key* const run = bins.staging + begin;
            if (end - begin > few) {
                range = begin << 16 | end;
            } else if (end - begin > 2) {
                order_run(run, end - begin);
            } else {
                exchange(run[0], run[1]);
            }
        }
        for (u32 lanes = __ballot_sync(tile::all_lanes, range != 0); lanes != 0; lanes &= lanes - 1) {
            const u32 its = tile::shuffle(range, static_cast<u32>(trailing_zeros(lanes)));
            is_ordered &= order_values(bins.staging + (its >> 16), (its & 0xFFFF) - (its >> 16));
        }
    }
    return is_ordered;
}

// Sorts a bucket of `count` keys that are in their bins. Returns false if it cannot. If an eighth of the keys precede a
// lower one, most are distinct. All threads call it.
HR_FN bool order_crowded(const SortBins& bins, const Spread& spread, u32 count) {
    const Counting counting = Counting::by(spread, count);
    u32 falls = 0;
#pragma unroll 4
    for (u32 i = threadIdx.x; i < count; i += threads) {
        const Key code = bins.staging[i];
        if (i == 0 || bins.staging[i - 1] <= code) continue;
        counting.mark(code, bins);
        ++falls;
    }
    const bool are_distinct = 2 * static_cast<u32>(__syncthreads_count(8 * falls * threads > count)) > threads;
    return __syncthreads_and(order_marked_bins(bins, count, are_distinct)) != 0;
}

}  // namespace headrace
