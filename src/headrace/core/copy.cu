// Fill, copy and read of device memory by the width of an item: the limit that every other kernel is measured against.
//
// A block moves one tile of 16 KiB: each thread has four 16-byte loads in flight before its first store, neighbours
// side by side, and nothing is kept between tiles, so a plain grid hides the latency (Volkov, "Better performance at
// lower occupancy", GTC 2010: bytes in flight, not threads, fill the memory pipe). Items before the first and behind
// the last 16-byte boundary are moved one by one.
//
// Bytes moved per item of width w: fill w, copy 2 w, read w (and 8 for each block).
#include "core/portable.hpp"

namespace headrace {

constexpr u32 block_threads = 256;
constexpr u32 vectors_per_thread = 4;
constexpr i64 tile_vectors = block_threads * vectors_per_thread;

struct alignas(16) Vector {
    u64 low;
    u64 high;
};

template <int width>
struct ItemOf;
template <>
struct ItemOf<1> {
    using type = u8;
};
template <>
struct ItemOf<2> {
    using type = u16;
};
template <>
struct ItemOf<4> {
    using type = u32;
};
template <>
struct ItemOf<8> {
    using type = u64;
};
template <>
struct ItemOf<16> {
    using type = Vector;
};
using Item = ItemOf<HR_WIDTH>::type;
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
    return item;
#else
    u64 word = static_cast<u64>(item);
    for (int bits = 8 * HR_WIDTH; bits < 64; bits *= 2) word |= word << bits;
    return {word, word};
#endif
}

}  // namespace headrace

using namespace headrace;

// Every item of `out` becomes `value`. Blocks: one for each tile of count items, and one at least.
extern "C" __global__ void __launch_bounds__(256) fill_items(Item* out, i64 count, Item value) {
    const Parts parts = parts_of(out, count);
    Vector* vectors = reinterpret_cast<Vector*>(out + parts.head);
    const Vector wide = repeated(value);
    const i64 first = blockIdx.x * tile_vectors + threadIdx.x;
#pragma unroll
    for (u32 i = 0; i < vectors_per_thread; ++i) {
        const i64 at = first + i * block_threads;
        if (at < parts.vectors) vectors[at] = wide;
    }
    const i64 tail = parts.head + parts.vectors * items_per_vector;
    if (blockIdx.x == 0 && threadIdx.x < parts.head) out[threadIdx.x] = value;
    if (blockIdx.x == 0 && tail + threadIdx.x < count) out[tail + threadIdx.x] = value;
}

// The items of `in` to `out`, which must not overlap. Blocks as for fill_items. Where in and out lie differently within
// 16 bytes, items go one by one.
extern "C" __global__ void __launch_bounds__(256) copy_items(const Item* in, Item* out, i64 count) {
    const bool alike = (reinterpret_cast<u64>(in) - reinterpret_cast<u64>(out)) % 16 == 0;
    if (!alike) {
        const i64 tile_items = tile_vectors * items_per_vector;
        for (i64 i = threadIdx.x; i < tile_items; i += block_threads) {
            const i64 at = blockIdx.x * tile_items + i;
            if (at < count) out[at] = in[at];
        }
        return;
    }
    const Parts parts = parts_of(out, count);
    const Vector* from = reinterpret_cast<const Vector*>(in + parts.head);
    Vector* to = reinterpret_cast<Vector*>(out + parts.head);
    const i64 first = blockIdx.x * tile_vectors + threadIdx.x;
    Vector held[vectors_per_thread];
#pragma unroll
    for (u32 i = 0; i < vectors_per_thread; ++i) {
        const i64 at = first + i * block_threads;
        if (at < parts.vectors) held[i] = from[at];
    }
#pragma unroll
    for (u32 i = 0; i < vectors_per_thread; ++i) {
        const i64 at = first + i * block_threads;
        if (at < parts.vectors) to[at] = held[i];
    }
    const i64 tail = parts.head + parts.vectors * items_per_vector;
    if (blockIdx.x == 0 && threadIdx.x < parts.head) out[threadIdx.x] = in[threadIdx.x];
    if (blockIdx.x == 0 && tail + threadIdx.x < count) out[tail + threadIdx.x] = in[tail + threadIdx.x];
}

// Exclusive or of all bytes of `in`, folded to 8 bytes that repeat every 8 bytes of memory from address 0 on, into
// `*out`, which is 0 before: what must be read to know it is every item. Blocks as for fill_items.
extern "C" __global__ void __launch_bounds__(256) read_items(const Item* in, u64* out, i64 count) {
    const Parts parts = parts_of(in, count);
    const Vector* vectors = reinterpret_cast<const Vector*>(in + parts.head);
    const i64 first = blockIdx.x * tile_vectors + threadIdx.x;
    Vector held[vectors_per_thread] = {};
#pragma unroll
    for (u32 i = 0; i < vectors_per_thread; ++i) {
        const i64 at = first + i * block_threads;
        if (at < parts.vectors) held[i] = vectors[at];
    }
    u64 folded = 0;
#pragma unroll
    for (u32 i = 0; i < vectors_per_thread; ++i) folded ^= held[i].low ^ held[i].high;
#if HR_WIDTH < 16  // an item of 16 bytes lies on a boundary: neither head nor tail
    const i64 tail = parts.head + parts.vectors * items_per_vector;
    if (blockIdx.x == 0 && threadIdx.x < parts.head)
        folded ^= static_cast<u64>(in[threadIdx.x]) << (reinterpret_cast<u64>(in + threadIdx.x) % 8 * 8);
    if (blockIdx.x == 0 && tail + threadIdx.x < count)
        folded ^= static_cast<u64>(in[tail + threadIdx.x]) << (reinterpret_cast<u64>(in + tail + threadIdx.x) % 8 * 8);
#endif
    for (u32 lanes = 16; lanes != 0; lanes /= 2) folded ^= __shfl_xor_sync(0xFFFFFFFFu, folded, lanes);
    if (threadIdx.x % 32 == 0 && folded != 0) atomicXor(out, folded);
}
