// Counting one piece of keys, compiled once for each instruction set.
//
// A block of keys becomes a block of buckets, in loops without branches that the compiler turns into vectors; then the
// buckets are counted one by one, which is a load, an addition and a store each. Between edges, all keys of a block
// search in step: a round halves what is left of each key's cell, and there are as many rounds as the fullest cell
// needs, most often one.
// Cost per key: 4 bytes read, and about one store.
#include "arrange/histogram_kernels.hpp"

#include "arrange/bucket.hpp"

HR_BEGIN_NAMESPACE
namespace {

constexpr u32 block = 512;

HR_HOT u32 smaller(u32 a, u32 b) { return a < b ? a : b; }

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

void tally(const u32* buckets, u32 n, const Counters& counters) {
    switch (counters.copies) {
        case 8:
            return tally<8>(buckets, n, counters);
        case 4:
            return tally<4>(buckets, n, counters);
        case 2:
            return tally<2>(buckets, n, counters);
        default:
            return tally<1>(buckets, n, counters);
    }
}

// Calls find(keys, n, buckets) for one block of keys after the other.
template <class Key, class Find>
HR_HOT void count_blocks(const void* source, u64 n, const Counters& counters, const Find& find) {
    const Key* keys = static_cast<const Key*>(source);
    Key copied[block];
    u32 buckets[block];
    for (; n != 0;) {
        const u32 now = n < block ? static_cast<u32>(n) : block;
        __builtin_memcpy(copied, keys, now * sizeof(Key));
        find(copied, now, buckets);
        tally(buckets, now, counters);
        keys += now;
        n -= now;
    }
}

template <class Key, bool short_product>
void count_even(const void* keys, u64 n, const BucketSearch& search, const Counters& counters) {
    const Even<Key> even = *static_cast<const Even<Key>*>(search.even);
    const u32 count = search.buckets;
    count_blocks<Key>(keys, n, counters, [&](const Key* in, u32 now, u32* out) {
        for (u32 i = 0; i < now; ++i) {
            out[i] = smaller(Even<Key>::template part<short_product>(even, in[i], count), count);
        }
    });
}

// One round of bucket_in_cell (bucket.hpp) for each key, no branches: where nothing is left, edge 0 or another is read
// and nothing changes.
template <class Key>
HR_HOT void halve(const Key* keys, u32 n, const Key* edges, u32* buckets, u32* left) {
    for (u32 i = 0; i < n; ++i) {
        const u32 half = (left[i] + 1) >> 1;
        const Key edge = edges[static_cast<i32>(buckets[i] + half) - 1];
        const u32 rest = half - (half != 0);
        const bool above = edge <= keys[i];
        left[i] = above ? left[i] - half : rest;
        buckets[i] += above ? half : 0;
    }
}

template <class Key>
void count_between(const void* keys, u64 n, const BucketSearch& search, const Counters& counters) {
    const Even<Key> even = *static_cast<const Even<Key>*>(search.even);
    const Key* const edges = static_cast<const Key*>(search.edges) + 1;
    const u32* const words = search.words;
    const u32 cells = search.cells, none = search.buckets;
    u32 left[block];
    count_blocks<Key>(keys, n, counters, [&](const Key* in, u32 now, u32* out) {
        u32 most = 0;
        for (u32 i = 0; i < now; ++i) {
            const u32 word = words[static_cast<i32>(Even<Key>::cell(even, in[i], cells))];
            out[i] = word & 0xFFFF;
            left[i] = word >> 16;
            most |= word;
        }
        for (most >>= 16; most != 0; most >>= 1) halve(in, now, edges, out, left);
        for (u32 i = 0; i < now; ++i) out[i] = Even<Key>::contains(even, in[i]) ? out[i] : none;
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

template <class Key>
void count(const void* keys, u64 n, const BucketSearch& search, const Counters& counters) {
    if (search.edges != nullptr) return count_between<Key>(keys, n, search, counters);
    if (has_short_product(*static_cast<const Even<Key>*>(search.even))) {
        return count_even<Key, true>(keys, n, search, counters);
    }
    return count_even<Key, false>(keys, n, search, counters);
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
