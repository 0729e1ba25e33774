// Fills, copies and reads device memory by items of one width: the limit that every other kernel is compared with.
//
// The latency of memory is hidden by the number of blocks and the bytes that each has in flight. Blocks share no state.
// The usual advice of few blocks with much work (Volkov, "Better performance at lower occupancy", GTC 2010) does not
// apply to copies. Adjacent threads have adjacent vectors of 16 bytes, and accesses are marked as streaming (.cs).
//
// Rates on an H200.
//   Copy of 4 GiB, one vector per thread, 2 KiB per block of 128: 4296 GB/s. The driver's copy: 4285 GB/s.
//   Fill, two vectors per thread: 4678 GB/s. With one vector it reaches 3382 GB/s for every kind of store, probably
//   because blocks of 2 KiB cannot start faster.
//   Read, eight vectors per thread, combined in the block, one atomic operation per block: 4585 GB/s. With four vectors
//   per thread and one atomic operation per warp it reaches 1350 GB/s, since operations on one address are serialised.
// The chosen sizes are in bench/results/h200/2026-11-21-limits.md, the others in *-copy-shapes.md and
// *-fill-and-read-shapes.md.
//
// Items before the first and after the last 16-byte boundary are moved one by one, by the first block.
//
// Bytes moved per item of width w: fill w, copy 2 w, read w (and 8 for each block).
#include "gpu/block/block.cuh"
#include "gpu/block/memory_access.cuh"

namespace headrace {

// primitives/copy.py repeats these numbers.
constexpr u32 copy_threads = 128;  // also for fills
constexpr u32 fill_vectors = 2;    // vectors per thread
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

// Streaming loads and stores, for memory that is accessed once.
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

// Divides `count` items at `address` into items before the first 16-byte boundary, whole vectors, and items after the
// last boundary. Three items of 4 bytes at address 12, for example, are 1 + 0 + 2; seven are 1 + 1 + 2.
struct VectorParts {
    i64 head;
    i64 vectors;
};

HR_FN VectorParts parts_of(const Item* address, i64 count) {
    const i64 past = static_cast<i64>(reinterpret_cast<u64>(address) % 16) / HR_WIDTH;
    const i64 to_boundary = past == 0 ? 0 : items_per_vector - past;
    const i64 head = to_boundary < count ? to_boundary : count;
    return {head, (count - head) / items_per_vector};
}

// Returns a vector with `value` in every item.
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

// Sets every item of `out` to `value`. Blocks: one per 4 KiB of items, at least one.
extern "C" __global__ void __launch_bounds__(128) fill_items(Item* out, i64 count, Item value) {
    const VectorParts parts = parts_of(out, count);
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

// Copies the items of `in` to `out`, which must not overlap. Blocks: one per 2 KiB, at least one. If the addresses
// differ modulo 16, items are copied one by one.
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
    const VectorParts parts = parts_of(out, count);
    const Vector* from = reinterpret_cast<const Vector*>(in + parts.head);
    if (at < parts.vectors) store_once(reinterpret_cast<Vector*>(out + parts.head) + at, load_once(from + at));
    const i64 tail = parts.head + parts.vectors * items_per_vector;
    if (at < parts.head) out[at] = in[at];
    if (tail + at < count && at < items_per_vector) out[tail + at] = in[tail + at];
}

// Combines all bytes of `in` by exclusive or into the 8 bytes of `*out`, each byte at its address modulo 8. So every
// item must be read. `*out` must be 0 before. Blocks: one per 32 KiB, at least one.
extern "C" __global__ void __launch_bounds__(256) read_items(const Item* in, u64* out, i64 count) {
    const VectorParts parts = parts_of(in, count);
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
#if HR_WIDTH < 16  // items of 16 bytes are aligned, so they have neither head nor tail
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
