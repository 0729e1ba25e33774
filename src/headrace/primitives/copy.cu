// Fill, copy and read of device memory by the width of an item: the limit that every other kernel is measured against.
//
// What hides the latency of memory is the number of blocks and the bytes that each has under way; nothing is kept
// between blocks. (Volkov, "Better performance at lower occupancy", GTC 2010, is the usual advice of few blocks with
// much work: a copy does not want it.) Neighbouring threads have neighbouring vectors of 16 bytes, and the cache is
// told that nothing is used twice (.cs).
//
// Copy: one vector a thread, 2 KiB a block of 128. On an H200 4296 GB/s (4 GiB), the driver's own copy 4285.
// Fill: two vectors a thread, 4678 GB/s; with one, 3382 whatever the store: blocks of 2 KiB cannot begin as fast, it
// seems. Read: eight vectors a thread, added up within the block, and one atomic operation a block: 4585 GB/s. With one
// for each warp of four vectors a thread it was 1350: operations on one address go one by one.
// bench/results/h200/2026-11-21-limits.md has what is shipped, *-copy-shapes.md and *-fill-and-read-shapes.md the rest.
//
// Items before the first and behind the last 16-byte boundary are moved one by one, by the first block.
//
// Bytes moved per item of width w: fill w, copy 2 w, read w (and 8 for each block).
#include "gpu/block/block.cuh"
#include "gpu/block/memory_access.cuh"

namespace headrace {

// primitives/copy.py has these numbers too.
constexpr u32 copy_threads = 128;  // of a fill, too
constexpr u32 fill_vectors = 2;    // of a thread
constexpr u32 read_threads = 256;
constexpr u32 read_vectors = 8;

struct ExclusiveOr {
    HR_FN u64 identity() { return 0; }
    HR_FN u64 join(u64 a, u64 b) { return a ^ b; }
};

struct alignas(16) Vector {
    u64 low;
    u64 high;
};

// Load and store of what is touched once.
HR_FN Vector load_once(const Vector* from) {
#ifdef __CUDACC__
    const ulonglong2 loaded = __ldcs(reinterpret_cast<const ulonglong2*>(from));
    return {loaded.x, loaded.y};
#else
    return *from;
#endif
}

HR_FN void store_once(Vector* to, Vector value) {
#ifdef __CUDACC__
    __stcs(reinterpret_cast<ulonglong2*>(to), ulonglong2{value.low, value.high});
#else
    *to = value;
#endif
}

using Item = tile::ItemOf<HR_WIDTH>::type;
constexpr i64 items_per_vector = 16 / HR_WIDTH;

// How `count` items from `address` on fall apart: items before the first 16-byte boundary, whole vectors, items behind
// the last. Three items of 4 bytes at address 12, for example, are 1 + 0 + 2; seven are 1 + 1 + 2.
struct Parts {
    i64 head;
    i64 vectors;
};

HR_FN Parts parts_of(const Item* address, i64 count) {
    const i64 past = static_cast<i64>(reinterpret_cast<u64>(address) % 16) / HR_WIDTH;
    const i64 to_boundary = past == 0 ? 0 : items_per_vector - past;
    const i64 head = to_boundary < count ? to_boundary : count;
    return {head, (count - head) / items_per_vector};
}

// Value of type `Item` in every place of a vector.
HR_FN Vector repeated(Item item) {
#if HR_WIDTH == 16
    return bits_as<Vector>(item);
#else
    u64 word = static_cast<u64>(item);
    for (int bits = 8 * HR_WIDTH; bits < 64; bits *= 2) word |= word << bits;
    return {word, word};
#endif
}

}  // namespace headrace

using namespace headrace;

// Every item of `out` becomes `value`. Blocks: one for each 4 KiB of the items, and one at least.
extern "C" __global__ void __launch_bounds__(128) fill_items(Item* out, i64 count, Item value) {
    const Parts parts = parts_of(out, count);
    const i64 at = static_cast<i64>(blockIdx.x) * copy_threads * fill_vectors + threadIdx.x;
    Vector* const vectors = reinterpret_cast<Vector*>(out + parts.head);
#pragma unroll
    for (u32 i = 0; i < fill_vectors; ++i) {
        if (at + i * copy_threads < parts.vectors) store_once(vectors + at + i * copy_threads, repeated(value));
    }
    const i64 tail = parts.head + parts.vectors * items_per_vector;
    if (at < parts.head) out[at] = value;
    if (tail + at < count && at < items_per_vector) out[tail + at] = value;
}

// The items of `in` to `out`, which must not overlap. Blocks: one for each 2 KiB, and one at least. Where in and out
// lie differently within 16 bytes, items go one by one.
extern "C" __global__ void __launch_bounds__(128) copy_items(const Item* in, Item* out, i64 count) {
    const bool alike = (reinterpret_cast<u64>(in) - reinterpret_cast<u64>(out)) % 16 == 0;
    const i64 at = static_cast<i64>(blockIdx.x) * copy_threads + threadIdx.x;
    if (!alike) {
        const i64 tile_items = copy_threads * items_per_vector;
        const i64 first = static_cast<i64>(blockIdx.x) * tile_items;
        for (i64 i = threadIdx.x; i < tile_items && first + i < count; i += copy_threads)
            out[first + i] = in[first + i];
        return;
    }
    const Parts parts = parts_of(out, count);
    const Vector* from = reinterpret_cast<const Vector*>(in + parts.head);
    if (at < parts.vectors) store_once(reinterpret_cast<Vector*>(out + parts.head) + at, load_once(from + at));
    const i64 tail = parts.head + parts.vectors * items_per_vector;
    if (at < parts.head) out[at] = in[at];
    if (tail + at < count && at < items_per_vector) out[tail + at] = in[tail + at];
}

// Exclusive or of all bytes of `in`, folded to 8 bytes that repeat every 8 bytes of memory from address 0 on, into
// `*out`, which is 0 before: what must be read to know it is every item. Blocks: one for each 32 KiB, and one at least.
extern "C" __global__ void __launch_bounds__(256) read_items(const Item* in, u64* out, i64 count) {
    const Parts parts = parts_of(in, count);
    const Vector* vectors = reinterpret_cast<const Vector*>(in + parts.head);
    const i64 first = static_cast<i64>(blockIdx.x) * read_threads * read_vectors + threadIdx.x;
    Vector held[read_vectors] = {};
#pragma unroll
    for (u32 i = 0; i < read_vectors; ++i) {
        const i64 at = first + i * read_threads;
        if (at < parts.vectors) held[i] = load_once(vectors + at);
    }
    u64 folded = 0;
#pragma unroll
    for (u32 i = 0; i < read_vectors; ++i) folded ^= held[i].low ^ held[i].high;
#if HR_WIDTH < 16  // an item of 16 bytes lies on a boundary: neither head nor tail
    const i64 tail = parts.head + parts.vectors * items_per_vector;
    if (blockIdx.x == 0 && threadIdx.x < parts.head)
        folded ^= static_cast<u64>(in[threadIdx.x]) << (reinterpret_cast<u64>(in + threadIdx.x) % 8 * 8);
    if (blockIdx.x == 0 && tail + threadIdx.x < count)
        folded ^= static_cast<u64>(in[tail + threadIdx.x]) << (reinterpret_cast<u64>(in + tail + threadIdx.x) % 8 * 8);
#endif
    __shared__ u64 totals[read_threads / tile::lanes];
    folded = tile::reduce_block<ExclusiveOr, read_threads>(folded, totals);
    if (threadIdx.x == 0 && folded != 0) atomicXor(out, folded);
}
