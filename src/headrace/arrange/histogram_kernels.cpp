// Counting one piece of keys, compiled once for each instruction set.
//
// A block of keys becomes a block of buckets, vector by vector; then the buckets are counted one by one, which is a
// load, an addition and a store each. (Lanes that scatter to counters of their own are slower: 16 stores as well, and
// 16 loads that wait for each other.) Between edges, all keys of a block search in step: a round halves what is left of
// each key's cell, and there are as many rounds as the fullest cell needs, most often one.
// Cost per key: 4 bytes read, and one store to L1, of which a core does one a cycle.
#include "arrange/histogram_kernels.hpp"

#include "arrange/bucket_lanes.hpp"

HR_BEGIN_NAMESPACE
namespace {

constexpr u32 block = 64;

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

template <u32 copies, bool short_product, class Key>
void count_even(const Key* keys, u64 n, const BucketSearch& search, const Counters& counters) {
    const EvenLanes<Key> even(*static_cast<const Even<Key>*>(search.even));
    const Vector<u32> count = broadcast(search.buckets);
    count_blocks<copies>(keys, n, counters, [&](const Key* in, u32* out) {
        for (u32 i = 0; i < block; i += lanes<Key>) {
            store(out + i, even.template parts<short_product>(load(in + i), count));
        }
    });
}

// A round of bucket_in_cell (bucket.hpp) in each lane, without branches: where nothing is left, an edge is read, edge 0
// or another, and nothing changes.
template <class Key>
HR_HOT void halve(Vector<Key> keys, const Key* edges, Vector<u32>& buckets, Vector<u32>& left) {
    const Vector<u32> half = (left + 1) >> 1, none = {};
    const Vector<Key> edge = gather_words(edges, buckets + half - 1);
    const auto above = edge <= keys;
    left = above ? left - half : half > none ? half - 1 : none;
    buckets += above ? half : none;
}

template <u32 copies, class Key>
void count_between(const Key* keys, u64 n, const BucketSearch& search, const Counters& counters) {
    constexpr u32 vectors = block / lanes<Key>;
    const EvenLanes<Key> even(*static_cast<const Even<Key>*>(search.even));
    const Key* const edges = static_cast<const Key*>(search.edges) + 1;
    const Vector<u32> last = broadcast(search.cells - 1), none = broadcast(search.buckets);
    count_blocks<copies>(keys, n, counters, [&](const Key* in, u32* out) {
        Vector<u32> bucket[vectors], left[vectors], most = {};
        for (u32 v = 0; v < vectors; ++v) {
            const Vector<u32> word = gather_words(search.words, even.cells(load(in + v * lanes<Key>), last));
            bucket[v] = word & 0xFFFF;
            left[v] = word >> 16;
            most |= left[v];
        }
        while (any(most)) {
            for (u32 v = 0; v < vectors; ++v) halve(load(in + v * lanes<Key>), edges, bucket[v], left[v]);
            most >>= 1;
        }
        for (u32 v = 0; v < vectors; ++v) {
            store(out + v * lanes<Key>, even.contains(load(in + v * lanes<Key>)) ? bucket[v] : none);
        }
    });
}

template <class Key>
void describe_cells(const BucketSearch& search) {
    const Even<Key> even = *static_cast<const Even<Key>*>(search.even);
    const Key* const edges = static_cast<const Key*>(search.edges) + 1;
    u32 before = 0;
    for (u32 cell = 0; cell < search.cells; ++cell) {
        const u32 after = edges_before_cell(even, cell + 1, search.cells, edges, search.buckets - 1);
        search.words[cell] = cell_word(before, after - before);
        before = after;
    }
}

template <u32 copies, class Key>
void count_into(const Key* keys, u64 n, const BucketSearch& search, const Counters& counters) {
    if (search.edges != nullptr) return count_between<copies>(keys, n, search, counters);
    if (has_short_product(*static_cast<const Even<Key>*>(search.even))) {
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
constexpr HistogramKernels kernels = {describe_cells<Key>, count<Key>};

}  // namespace

const HistogramKernels& histogram_kernels(KeyType key) {
    switch (key) {
        case KeyType::i32:
            return kernels<i32>;
        case KeyType::f32:
            return kernels<float>;
        default:
            return kernels<u32>;
    }
}

HR_END_NAMESPACE
