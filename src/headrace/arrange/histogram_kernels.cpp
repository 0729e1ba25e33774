// Counting one piece of keys, compiled once for each instruction set.
//
// A block of keys becomes a block of buckets, vector by vector; then the buckets are counted one by one, which is a
// load, an addition and a store each. (Lanes that scatter to counters of their own are slower: 16 stores as well, and
// 16 loads that wait for each other.) Between edges, a key's bucket is one look at the word of its cell and one
// addition (cells.hpp); keys of cells that are crowded are searched one by one afterwards.
// Cost per key: its bytes read, and one store to L1, of which a core does one a cycle.
#include "arrange/histogram_kernels.hpp"

#include "arrange/bucket_lanes.hpp"

HR_BEGIN_NAMESPACE
namespace {

constexpr u32 block = 64;

template <class Key>
constexpr bool has_lanes = false;
template <>
constexpr bool has_lanes<u32> = true;
template <>
constexpr bool has_lanes<float> = true;

template <u32 copies>
HR_HOT void tally(const u32* buckets, u32 n, const Counters& counters) {
    u32* at[copies];
    for (u32 copy = 0; copy < copies; ++copy) at[copy] = counters.at + copy * counters.stride;
    u32 i = 0;
    for (; i + copies <= n; i += copies) {
        for (u32 copy = 0; copy < copies; ++copy) ++at[copy][buckets[i + copy]];
    }
    for (; i < n; ++i) ++at[0][buckets[i]];
}

// Calls find(keys, buckets) for one block of keys after the other.
template <u32 copies, class Key, class Find>
HR_HOT void count_blocks(const Key* keys, u64 n, const Counters& counters, const Find& find) {
    u32 buckets[block];
    for (; n >= block; n -= block, keys += block) {
        for (u32 i = 0; i < block; i += 64 / sizeof(Key)) read_ahead(keys + i);
        find(keys, buckets);
        tally<copies>(buckets, block, counters);
    }
    Key last[block] = {};
    __builtin_memcpy(last, keys, n * sizeof(Key));
    find(last, buckets);
    tally<copies>(buckets, static_cast<u32>(n), counters);
}

template <u32 copies, bool by_shift, class Key>
void count_even(const Key* keys, u64 n, const BucketSearch& search, const Counters& counters) {
    const Even<Key> even = *static_cast<const Even<Key>*>(search.description);
    if constexpr (has_lanes<Key>) {
        const EvenLanes<Key> vectors(even);
        const Vector<u32> count = broadcast(search.buckets);
        count_blocks<copies>(keys, n, counters, [&](const Key* in, u32* out) {
            for (u32 i = 0; i < block; i += lanes<Key>) {
                store(out + i, vectors.template parts<by_shift>(load(in + i), count));
            }
        });
    } else {
        const u32 count = search.buckets;
        count_blocks<copies>(keys, n, counters, [&](const Key* in, u32* out) {
            for (u32 i = 0; i < block; ++i) out[i] = Even<Key>::template part<by_shift>(even, item_at(in + i), count);
        });
    }
}

template <u32 copies, class Key>
void count_between(const Key* keys, u64 n, const BucketSearch& search, const Counters& counters) {
    const Cells<Key> cells = *static_cast<const Cells<Key>*>(search.description);
    const auto* const edges = static_cast<const typename Cells<Key>::Wide*>(search.edges);
    const u32* const words = search.words;
    // Sums of crowded cells are greater than any bucket.
    const auto search_crowds = [&](const Key* in, u32* out) {
        for (u32 i = 0; i < block; ++i) {
            if (out[i] <= cells.buckets) continue;
            const auto key = Widened<Key>::of(item_at(in + i), cells.low);
            const u32 cell = spot(cells, place(cells, key)).cell;
            out[i] = bucket_in_crowd(words[cell], words[cell + 1], cells.fraction, edges, key);
        }
    };
    if constexpr (has_lanes<Key>) {
        const CellLanes<Key> vectors(cells);
        count_blocks<copies>(keys, n, counters, [&](const Key* in, u32* out) {
            Vector<u32> crowd = {};
            for (u32 i = 0; i < block; i += lanes<Key>) store(out + i, vectors.buckets(load(in + i), words, crowd));
            if (any(crowd & crowded)) search_crowds(in, out);
        });
    } else {
        count_blocks<copies>(keys, n, counters, [&](const Key* in, u32* out) {
            u32 crowd = 0;
            for (u32 i = 0; i < block; ++i) {
                const Spot at = spot(cells, place(cells, Widened<Key>::of(item_at(in + i), cells.low)));
                crowd |= words[at.cell];
                out[i] = (words[at.cell] + at.within) >> cells.fraction;
            }
            if ((crowd & crowded) != 0) search_crowds(in, out);
        });
    }
}

template <class Key>
u32 number_of_cells(const void* description) {
    return static_cast<const Cells<Key>*>(description)->count;
}

template <class Key>
void describe_cells(const BucketSearch& search) {
    const Cells<Key> cells = *static_cast<const Cells<Key>*>(search.description);
    const auto* const edges = static_cast<const typename Cells<Key>::Wide*>(search.edges);
    u32 before = 0;
    for (u32 cell = 0; cell <= cells.count; ++cell) {
        u32 after = before;
        while (after < cells.buckets && spot(cells, place(cells, edges[after + 1])).cell == cell) ++after;
        search.words[cell] = word_of_edges(cells, edges, before, after - before);
        before = after;
    }
}

template <u32 copies, class Key>
void count_into(const Key* keys, u64 n, const BucketSearch& search, const Counters& counters) {
    if (search.edges != nullptr) return count_between<copies>(keys, n, search, counters);
    if (Even<Key>::by_shift(*static_cast<const Even<Key>*>(search.description))) {
        return count_even<copies, true>(keys, n, search, counters);
    }
    return count_even<copies, false>(keys, n, search, counters);
}

template <class Key>
void count(const void* source, u64 n, const BucketSearch& search, const Counters& counters) {
    const Key* keys = static_cast<const Key*>(source);
    switch (counters.copies) {
        case 8:
            return count_into<8>(keys, n, search, counters);
        case 4:
            return count_into<4>(keys, n, search, counters);
        default:
            return count_into<1>(keys, n, search, counters);
    }
}

template <class Key>
constexpr HistogramKernels kernels = {sizeof(Key),          sizeof(Even<Key>),   sizeof(Cells<Key>),
                                      number_of_cells<Key>, describe_cells<Key>, count<Key>};

}  // namespace

const HistogramKernels& histogram_kernels(KeyType key) {
    switch (key) {
        case KeyType::u8:
            return kernels<u8>;
        case KeyType::u16:
            return kernels<u16>;
        case KeyType::u64:
            return kernels<u64>;
        case KeyType::f32:
            return kernels<float>;
        case KeyType::f64:
            return kernels<double>;
        default:
            return kernels<u32>;
    }
}

HR_END_NAMESPACE
