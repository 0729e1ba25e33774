// Sorts leaf buckets, each by one block in one pass (bin_sort.cuh). If too many keys share a bin, keys are spread
// again by their true range. If that does not help, keys alone are searched for equal ones (crowded_bins.cuh). Other
// buckets are left to block_radix_sort.cu, which sorts digit by digit.
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v.
#include "arrange/sort/gpu/msd/bin_sort_values.cuh"
#include "arrange/sort/gpu/msd/crowded_bins.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

// List of the buckets that this kernel declines.
struct Leftovers {
    Leaf* leaves;
    u32* number;
};

HR_FN Leaf leaf_of(const uint4& record) { return {record.x, record.y, record.z, record.w}; }

struct Task {
    const List& list;
    u32 number;  // of leaf buckets
    const KeyRule<Key>& rule;
    const SortArrays& arrays;
    Leftovers left;
    u32 writes_keys;
    u16* rows;
    uint4& record;  // of the next leaf bucket
    SortBins bins;

    HR_MEMBER const Key* keys_of(const Leaf& leaf) const {
        return static_cast<const Key*>(arrays.keys.to(leaf.from()));
    }
    // Returns the bits that order a key in its form in passes.
    HR_MEMBER Key code_of(Key moved) const { return with_equals ? rule.equal_code(moved) : moved; }
    HR_MEMBER bool keeps_keys() const { return (rule.fold | rule.toggle | rule.plus) == 0; }
};

HR_FN Spread spread_of(const Leaf& leaf, Key code) {
    const u32 bits = leaf.bits(), shift = leaf.shift();
    const Key prefix = bits < key_bits ? static_cast<Key>(code >> bits << bits) : Key{0};
    if (bits <= shift) return Spread::of_digits(prefix, bits, 1);
    return Spread::of_digits(prefix | static_cast<Key>(Key{leaf.first()} << shift), shift, leaf.span());
}

// Whether the distance of a key from the lowest one and its row fit one word.
HR_FN bool fits_word(const Leaf& leaf) {
    if constexpr (!with_values) return true;
    const u32 bits = leaf.bits(), shift = leaf.shift();
    const u32 of_span = 32 - static_cast<u32>(__clz(static_cast<int>(leaf.span() - 1)));
    return (bits <= shift ? bits : shift + of_span) + row_bits <= key_bits;
}

// The outcome for the keys of a bucket. `crowded`: they are in their bins, of which some have many keys.
enum class LeafOutcome : u32 { sorted, crowded, declined };

template <u32 rounds, u32 sure>
struct LeafSort {
    const Task& task;
    const Leaf leaf;
    Key key[rounds];
    u32 place[rounds];

    // Returns the position of the thread's item j in the bucket. Before the bucket it wraps to a large number.
    HR_MEMBER u32 item_place(u32 j) const { return j * threads + threadIdx.x - leaf.begin % line_keys; }
    HR_MEMBER bool is_there(u32 j) const { return (j != 0 && j + 1 <= sure) || item_place(j) < leaf.count; }
    HR_MEMBER void load() { load_from(task.keys_of(leaf)); }
    HR_MEMBER void load_from(const Key* from) {
        const Key* const in = from + (leaf.begin / line_keys * line_keys + threadIdx.x);
#pragma unroll
        for (u32 j = 0; j < rounds; ++j) key[j] = is_there(j) ? in[j * threads] : Key{0};
    }
    // Counts keys; returns which of the thread's own bins have several.
    HR_MEMBER Several count(const Spread& spread) {
        const Counting counting = Counting::by(spread, leaf.count);
#pragma unroll
        for (u32 j = 0; j < rounds; ++j) {
            if (is_there(j)) place[j] = counting.count(task.code_of(key[j]), task.bins);
        }
        __syncthreads();
        return scan_bins(task.bins, !with_values && spread.is_exact());
    }
    // Finds the bin of each key. Returns whether many keys share one.
    HR_MEMBER bool find_places(Spread& spread, Several& several) {
        several = count(spread);
        const bool is_crowded = task.bins.shared.is_crowded != 0;
        if (with_values || !is_crowded) return is_crowded;
        const Spread found = closer();
        if (!found.is_finer_than(spread)) return true;
        task.bins.reset();
        __syncthreads();
        spread = found;
        several = count(spread);
        return task.bins.shared.is_crowded != 0;
    }
    HR_MEMBER void put(const Spread& spread) {
        __syncthreads();
#pragma unroll
        for (u32 j = 0; j < rounds; ++j) {
            if (is_there(j)) place[j] = *task.bins.half_at(place[j] & 0xFFFF) + (place[j] >> 16);
        }
#pragma unroll
        for (u32 j = 0; j < rounds; ++j) {
            if (!is_there(j)) continue;
            Key word = key[j];
            if constexpr (with_values)
                word = static_cast<Key>((task.code_of(word) - spread.base) << row_bits) + item_place(j);
            task.bins.staging[place[j]] = word;
        }
        __syncthreads();
    }
    HR_MEMBER Spread closer() {
        Key least = ~Key{0}, most = 0;
#pragma unroll
        for (u32 j = 0; j < rounds; ++j) {
            if (!is_there(j)) continue;
            const Key code = task.code_of(key[j]);
            least = code < least ? code : least;
            most = code > most ? code : most;
        }
        return look_closer(least, most, task.bins);
    }
    // Loads values; the loads are in flight while keys are put in order.
    HR_MEMBER void load_values(const MovedColumn& column) {
        load_from(static_cast<const Key*>(column.from(leaf.from())));
    }
    HR_MEMBER void write_rows() {
#pragma unroll
        for (u32 j = 0; j < rounds; ++j) {
            if (is_there(j)) task.rows[item_place(j)] = static_cast<u16>(place[j]);
        }
    }
    HR_MEMBER void move_values(const MovedColumn& column) {
        Key* const out = static_cast<Key*>(column.to(leaf.to())) + (leaf.begin / line_keys * line_keys + threadIdx.x);
        Key* const stage = task.bins.staging;
        __syncthreads();
#pragma unroll
        for (u32 j = 0; j < rounds; ++j) {
            if (is_there(j)) stage[item_place(j)] = key[j];
        }
        __syncthreads();
#pragma unroll
        for (u32 j = 0; j < rounds; ++j) {
            if (is_there(j)) out[j * threads] = stage[place[j]];
        }
    }
    HR_MEMBER void write(const Spread& spread) {
        Key* const out =
            static_cast<Key*>(task.arrays.keys.to(leaf.to())) + (leaf.begin / line_keys * line_keys + threadIdx.x);
        const bool writes = !(with_values && with_equals) && (task.writes_keys != 0 || leaf.are_light());
        if (writes && task.keeps_keys()) {
            write_by(spread, [&](u32 j, Key code) { out[j * threads] = code; });
        } else {
            write_by(spread, [&](u32 j, Key code) {
                if (writes) out[j * threads] = task.rule.key(code);
            });
        }
    }
    template <class Write>
    HR_MEMBER void write_by(const Spread& spread, Write write_key) {
#pragma unroll
        for (u32 j = 0; j < rounds; ++j) {
            if (!is_there(j)) continue;
            const Key word = task.bins.staging[item_place(j)];
            if constexpr (with_values) place[j] = static_cast<u32>(word) & ((1u << row_bits) - 1);
            write_key(j, with_values ? static_cast<Key>((word >> row_bits) + spread.base) : word);
        }
    }
};

// Prefetches an array's items of a bucket into the L2 cache, if the device can: the whole 16-byte units inside it.
HR_FN void ask_for([[maybe_unused]] const void* items_there, [[maybe_unused]] const Leaf& leaf,
                   [[maybe_unused]] u32 width) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
    if (items_there == nullptr) return;
    const u64 first = reinterpret_cast<u64>(items_there) + u64{leaf.begin} * width;
    const u64 begin = (first + 15) / 16 * 16, end = (first + u64{leaf.count} * width) / 16 * 16;
    if (begin >= end) return;
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(begin), "r"(static_cast<u32>(end - begin))
                 : "memory");
#endif
}

// Copies the record of the next bucket to shared memory while this one is sorted, and prefetches its keys into the L2
// cache.
HR_FN void fetch_next(const Task& task, u32 next) {
    if (threadIdx.x != 0 || next >= task.number) return;
    const Leaf* const leaf = task.list.leaves + (task.list.first + next * task.list.stride);
    tile::copy_async(&task.record, reinterpret_cast<const uint4*>(leaf));
}

HR_FN void prefetch_next(const Task& task, u32 next) {
    if (threadIdx.x != 0 || next >= task.number) return;
    tile::wait_for_copies();
    const Leaf leaf = leaf_of(task.record);
    ask_for(task.keys_of(leaf), leaf, sizeof(Key));
    for (u32 c = 0; with_values && c < task.arrays.columns; ++c) {
        const MovedColumn& column = task.arrays.column[c];
        ask_for(column.from(leaf.from()), leaf, column.width);
    }
}

// Whether the first column's items are as wide as keys: they reuse the registers of the keys.
HR_FN bool moves_early(const Task& task, const Leaf& leaf) {
    const MovedColumn& column = task.arrays.column[0];
    return task.arrays.columns != 0 && column.width == sizeof(Key) && column.from(leaf.from()) != nullptr;
}

// Sorts the keys of a bucket, and their rows. `spread`: the map of its keys to bins.
template <u32 rounds, u32 sure>
HR_FN LeafOutcome sort_keys(const Task& task, const Leaf& leaf, u32 next, Spread& spread) {
    LeafSort<rounds, sure> run = {task, leaf, {}, {}};
    run.load();
    spread = leaf.is_range() ? run.closer() : spread_of(leaf, task.code_of(task.keys_of(leaf)[leaf.begin]));
    Several several;
    const bool fits = fits_word(leaf), is_crowded = fits && run.find_places(spread, several);
    const bool is_declined = !fits || (with_values && is_crowded);
    if (is_declined) __syncthreads();
    fetch_next(task, next);
    if (is_declined) return LeafOutcome::declined;
    run.put(spread);
    prefetch_next(task, next);
    if (!with_values && is_crowded) return LeafOutcome::crowded;
    const bool is_early = with_values && moves_early(task, leaf);
    if (is_early) run.load_values(task.arrays.column[0]);
    order_bins(task.bins, several);
    if constexpr (!with_values) task.bins.clear();
    __syncthreads();
    run.write(spread);
    if constexpr (with_values) {
        if (with_equals || task.arrays.columns > (is_early ? 1 : 0)) run.write_rows();
        if (is_early) run.move_values(task.arrays.column[0]);
    }
    return LeafOutcome::sorted;
}

// Selects code for about as many keys of a thread as the bucket has. All but a thread's first and last two keys exist
// in every thread, so they need no test.
template <u32 rounds>
HR_FN LeafOutcome sort_rounds(const Task& task, const Leaf& leaf, u32 next, Spread& spread) {
    if constexpr (rounds <= items / 2 + 1 || rounds <= 2) {
        return sort_keys<rounds, 0>(task, leaf, next, spread);
    } else {
        if (leaf.begin % line_keys + leaf.count <= (rounds - 2) * threads)
            return sort_rounds<rounds - 2>(task, leaf, next, spread);
        return sort_keys<rounds, rounds - 2>(task, leaf, next, spread);
    }
}

// Writes the keys of a bucket that are in order in shared memory.
HR_FN void write_staged(const Task& task, const Leaf& leaf) {
    if (task.writes_keys == 0 && !leaf.are_light()) return;
    Key* const out = static_cast<Key*>(task.arrays.keys.to(leaf.to())) + leaf.begin;
#pragma unroll 4
    for (u32 i = threadIdx.x; i < leaf.count; i += threads) out[i] = task.rule.key(task.bins.staging[i]);
}

HR_FN void move_values(const Task& task, const Leaf& leaf, void* stage) {
    const RowOrder rows = {task.rows, stage, leaf.begin, leaf.count};
    __syncthreads();
    if (with_equals && (task.writes_keys != 0 || leaf.are_light())) move_column(task.arrays.keys, leaf, rows);
#pragma unroll 1
    for (u32 c = moves_early(task, leaf) ? 1 : 0; c < task.arrays.columns; ++c)
        move_column(task.arrays.column[c], leaf, rows);
    __syncthreads();
}

HR_FN void sort_leaf(const Task& task, const Leaf& leaf, u32 next, void* memory) {
    Spread spread;
    const LeafOutcome outcome = sort_rounds<items>(task, leaf, next, spread);
    bool is_sorted = outcome == LeafOutcome::sorted;
    if constexpr (with_values) {
        if (is_sorted) move_values(task, leaf, memory);
    } else if (outcome == LeafOutcome::crowded && order_crowded(task.bins, spread, leaf.count)) {
        write_staged(task, leaf);
        is_sorted = true;
    }
    if (with_values || outcome != LeafOutcome::sorted) {
        task.bins.reset();
        if (threadIdx.x == 0 && !is_sorted) {
            task.left.leaves[atomicAdd(task.left.number, 1u)] = leaf;
            tile::wait_for_copies();
        }
        __syncthreads();
    }
}

// Dynamic shared memory: a tile's keys and the counters. With values, keys and counters take at least 8 bytes a key,
// and rows 2 more.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    bin_sort(List list, KeyRule<Key> rule, SortArrays arrays, u32 writes_keys, Leaf* left, u32* left_number) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ BinSortShared shared;
    __shared__ uint4 record;
    const u32 number = *list.number;
    if (blockIdx.x >= number) return;
    u8* const bytes = reinterpret_cast<u8*>(memory);
    constexpr u32 own = tile_keys * sizeof(Key) + words * 4;
    constexpr u32 before_rows = own > tile_keys * stage_bytes ? own : tile_keys * stage_bytes;
    const SortBins bins = {reinterpret_cast<u32*>(bytes + tile_keys * sizeof(Key)), reinterpret_cast<Key*>(bytes),
                           shared};
    u16* const rows = reinterpret_cast<u16*>(bytes + before_rows);
    const Task task = {list, number, rule, arrays, {left, left_number}, writes_keys, rows, record, bins};
    bins.reset();
    fetch_next(task, blockIdx.x);
    tile::wait_for_copies();
    __syncthreads();
    for (u32 i = blockIdx.x; i < number; i += gridDim.x) sort_leaf(task, leaf_of(record), i + gridDim.x, memory);
}
