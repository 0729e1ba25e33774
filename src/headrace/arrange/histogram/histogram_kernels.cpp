// Counts one piece of keys; compiled once per instruction set.
//
// Blocks of keys are converted to blocks of buckets, vector by vector. The buckets are then counted one by one, with a
// load, an addition and a store each. Scattering lanes to separate counters is slower: it also takes 16 stores, and 16
// dependent loads. Between edges, one lookup in the table of cells gives the bucket of nearly every key. If a block has
// keys in crowded cells, all of its keys search in step: each round halves the rest of each key's cell. Keys of 8 bytes
// are looked up one by one. Keys of 1 byte are counted by value, and the 256 values are then looked up. Cost per key:
// its bytes read, and one store to L1, of which a core executes one per cycle.
#include "arrange/histogram/histogram_kernels.hpp"

#include "arrange/bucket/bucket_lanes.hpp"

HR_BEGIN_NAMESPACE
namespace {

constexpr u32 block = 64;

template <u32 copies, class Bucket>
HR_HOT void tally(const Bucket* buckets, u64 n, const BucketCounters& counters) {
    u32* at[copies];
    for (u32 copy = 0; copy < copies; ++copy) at[copy] = counters.at + copy * counters.stride;
    u64 i = 0;
    for (; i + copies <= n; i += copies) {
        for (u32 copy = 0; copy < copies; ++copy) ++at[copy][buckets[i + copy]];
    }
    for (; i < n; ++i) ++at[0][buckets[i]];
}

// Calls find(keys, buckets) for each block of keys.
template <u32 copies, class Key, class Find>
HR_HOT void count_blocks(const Key* keys, u64 n, const BucketCounters& counters, const Find& find) {
    u32 buckets[block];
    for (; n >= block; n -= block, keys += block) {
        for (u32 i = 0; i < block; i += 64 / sizeof(Key)) read_ahead(keys + i);
        find(keys, buckets);
        tally<copies>(buckets, block, counters);
    }
    Key last[block] = {};
    __builtin_memcpy(last, keys, n * sizeof(Key));
    find(last, buckets);
    tally<copies>(buckets, n, counters);
}

template <u32 copies, bool by_shift, class Key>
void count_even(const Key* keys, u64 n, const BucketSearch& search, const BucketCounters& counters) {
    const Even<Key> even = *static_cast<const Even<Key>*>(search.description);
    const u32 count = search.buckets;
    if constexpr (sizeof(Key) == 8) {
        count_blocks<copies>(keys, n, counters, [&](const Key* in, u32* out) {
            for (u32 i = 0; i < block; ++i) out[i] = Even<Key>::template part<by_shift>(even, item_at(in + i), count);
        });
    } else {
        const EvenLanes<Key> parts(even, count);
        count_blocks<copies>(keys, n, counters, [&](const Key* in, u32* out) {
            for (u32 i = 0; i < block; i += lanes<u32>) store(out + i, parts.template parts<by_shift>(in + i));
        });
    }
}

// Runs a round of bucket_in_crowd (cells.hpp) in each lane, without branches: a lane that is done reads some edge and
// changes nothing. `edges`: starts at edge 1.
template <class Wide>
HR_HOT void halve(Vector<Wide> keys, const Wide* edges, Vector<u32>& buckets, Vector<u32>& left) {
    const Vector<u32> half = (left + 1) >> 1, none = {};
    const Vector<Wide> edge = gather_words(edges, buckets + half - 1);
    const auto above = edge <= keys;
    left = above ? left - half : half > none ? half - 1 : none;
    buckets += above ? half : none;
}

// Searches the crowded cells of a block: `words` are its keys' words, and become the buckets.
template <class Key, u32 vectors>
[[gnu::noinline]] void search_crowds(const Key* keys, const CellLanes<Key>& cells, const BucketSearch& search,
                                     u32 fraction, Vector<u32> (&words)[vectors]) {
    using Wide = typename Cells<Key>::Wide;
    const Wide* const edges = static_cast<const Wide*>(search.edges) + 1;
    Vector<u32> left[vectors], most = {};
    for (u32 v = 0; v < vectors; ++v) {
        const Spots at = cells.spots(cells.wide(keys + v * lanes<u32>));
        const Vector<u32> next = gather_words(search.words, cells.next(at.cell)), none = {};
        const Vector<u32> high = (next & crowded) != none ? next & ~crowded : next >> fraction;
        const auto crowd = (words[v] & crowded) != none;
        const Vector<u32> low = words[v] & ~crowded;
        left[v] = crowd ? high - low : none;
        words[v] = crowd ? low : (words[v] + at.within) >> fraction;
        most |= left[v];
    }
    while (any(most)) {
        for (u32 v = 0; v < vectors; ++v) halve(cells.wide(keys + v * lanes<u32>), edges, words[v], left[v]);
        most >>= 1;
    }
}

template <u32 copies, class Key>
void count_between(const Key* keys, u64 n, const BucketSearch& search, const BucketCounters& counters) {
    constexpr u32 vectors = block / lanes<u32>;
    const Cells<Key> described = *static_cast<const Cells<Key>*>(search.description);
    const u32 fraction = described.fraction;
    const CellLanes<Key> cells(described);
    count_blocks<copies>(keys, n, counters, [&](const Key* in, u32* out) {
        Vector<u32> words[vectors], seen = {};
        for (u32 v = 0; v < vectors; ++v) {
            const Spots at = cells.spots(cells.wide(in + v * lanes<u32>));
            words[v] = gather_words(search.words, at.cell);
            seen |= words[v];
            store(out + v * lanes<u32>, (words[v] + at.within) >> fraction);
        }
        if (any(seen & crowded)) {
            search_crowds(in, cells, search, fraction, words);
            for (u32 v = 0; v < vectors; ++v) store(out + v * lanes<u32>, words[v]);
        }
    });
}

template <class Key, class Wide>
u32 bucket_between(Key key, const Cells<Key>& cells, const u32* words, const Wide* edges) {
    const Wide wide = Widened<Key>::of(key, cells.low);
    const Spot at = spot(cells, place(cells, wide));
    const u32 word = words[at.cell];
    if ((word & crowded) == 0) return (word + at.within) >> cells.fraction;
    return bucket_in_crowd(word, words[at.cell + 1], cells.fraction, edges, wide);
}

// The same for keys of 8 bytes. Keys in crowded cells are searched last: their sums are greater than any bucket.
template <u32 copies, class Key>
void count_between_long(const Key* keys, u64 n, const BucketSearch& search, const BucketCounters& counters) {
    const Cells<Key> cells = *static_cast<const Cells<Key>*>(search.description);
    const Key* const edges = static_cast<const Key*>(search.edges);
    const u32* const words = search.words;
    count_blocks<copies>(keys, n, counters, [&](const Key* in, u32* out) {
        u32 seen = 0;
        for (u32 i = 0; i < block; ++i) {
            const Spot at = spot(cells, place(cells, Widened<Key>::of(item_at(in + i), cells.low)));
            seen |= words[at.cell];
            out[i] = (words[at.cell] + at.within) >> cells.fraction;
        }
        if ((seen & crowded) == 0) return;
        for (u32 i = 0; i < block; ++i) {
            if (out[i] > cells.buckets) out[i] = bucket_between(item_at(in + i), cells, words, edges);
        }
    });
}

// Counts bytes by value, then adds each of the 256 counts to its bucket.
void count_bytes(const void* keys, u64 n, const BucketSearch& search, const BucketCounters& counters) {
    constexpr u32 copies = 8, stride = 272;
    u32 counted[copies * stride] = {};
    tally<copies>(static_cast<const u8*>(keys), n, {counted, copies, stride});
    for (u32 key = 0; key < 256; ++key) {
        u32 bucket;
        if (search.edges != nullptr) {
            const auto& cells = *static_cast<const Cells<u8>*>(search.description);
            bucket = bucket_between(static_cast<u8>(key), cells, search.words, static_cast<const u32*>(search.edges));
        } else {
            const auto& even = *static_cast<const Even<u8>*>(search.description);
            bucket = Even<u8>::by_shift(even) ? Even<u8>::part<true>(even, static_cast<u8>(key), search.buckets)
                                              : Even<u8>::part<false>(even, static_cast<u8>(key), search.buckets);
        }
        for (u32 copy = 0; copy < copies; ++copy) counters.at[bucket] += counted[copy * stride + key];
    }
}

template <u32 copies, class Key>
void count_into(const Key* keys, u64 n, const BucketSearch& search, const BucketCounters& counters) {
    if (search.edges != nullptr) {
        if constexpr (sizeof(Key) == 8)
            return count_between_long<copies>(keys, n, search, counters);
        else
            return count_between<copies>(keys, n, search, counters);
    }
    if constexpr (Widened<Key>::whole) {
        if (Even<Key>::by_shift(*static_cast<const Even<Key>*>(search.description))) {
            return count_even<copies, true>(keys, n, search, counters);
        }
    }
    return count_even<copies, false>(keys, n, search, counters);
}

template <class Key>
void count(const void* source, u64 n, const BucketSearch& search, const BucketCounters& counters) {
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

}  // namespace

CountKeys count_keys(KeyType key) {
    switch (key) {
        case KeyType::u8:
            return count_bytes;
        case KeyType::u16:
            return count<u16>;
        case KeyType::u32:
            return count<u32>;
        case KeyType::u64:
            return count<u64>;
        case KeyType::f32:
            return count<float>;
        default:
            return count<double>;
    }
}

HR_END_NAMESPACE
