// Keys, and values with them, in the order of their digits: what a block does with a tile, again and again.
//
// A tile's keys are in registers, a warp's side by side. Each warp counts its digits in shared memory; a scan over the
// digits and the warps tells where in the tile each warp's keys of a digit begin; ballots tell the rest
// (split_rank.cuh). Keys go to their places in shared memory, so that those of a digit lie side by side, and from there
// to the result, while the next tile's keys are on their way. (Dissertation of Ashkiani 2017, section 3.5, block-level
// multisplit. What is counted before it is ranked: Adinets and Merrill 2022, "Onesweep", section 4.)
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v.
#include "arrange/split_columns.cuh"
#include "arrange/split_place.cuh"
#include "arrange/split_rank.cuh"
#include "core/tile/block.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 items = HR_ITEMS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 tile_keys = threads * items;
constexpr bool with_values = HR_VALUES != 0;
constexpr u32 value_bytes = 4;  // of shared memory for each key
static_assert(threads >= digits && (HR_VALUES == 0 || HR_PLACES != by_reserving) && items % 2 == 0 &&
              tile_keys <= 1 << 16);

struct Shared {
    u64 to[digits];           // where place 0 of the tile would go, were it of this digit
    u64 base[digits];         // where the chunk's next key of a digit goes in the result
    u32 next[warps][digits];  // where a warp's next key of a digit goes in the tile
    u32 totals[warps];
    u32 tile;
};

struct Work {
    const Key* in;
    Key* out;
    u64 count;
    const Digit& digit;
    const Places& places;
    const Columns& columns;
    Shared& shared;
    Key* room;
};

// What the compiler knows of a word is forgotten, so that it computes anew what it would otherwise keep in a register:
// each key's digit, say.
static __device__ __forceinline__ void forget(u32& key) {
#if defined(__CUDACC__)
    asm volatile("" : "+r"(key));
#else
    static_cast<void>(key);
#endif
}
static __device__ __forceinline__ void forget(u64& key) {
#if defined(__CUDACC__)
    asm volatile("" : "+l"(key));
#else
    static_cast<void>(key);
#endif
}
template <class Other>
static __device__ __forceinline__ void forget(Other&) {}

struct Tile {
    u64 begin;
    u32 count;  // of its keys
};

// Item j of a lane, from the tile's first.
static __device__ __forceinline__ u32 item_place(u32 j) {
    return (tile::warp() * items + j) * tile::lanes + tile::lane();
}

// One item of each lane's, those that are not there left as they are.
template <bool whole, class Item>
static __device__ __forceinline__ void load_items(Item (&item)[items], const Item* in, const Tile& tile) {
    const Item* const mine = in + tile.begin + item_place(0);
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (whole || item_place(j) < tile.count) item[j] = mine[j * tile::lanes];
    }
}

// Of a whole tile; the last one has its own code, which loads them itself.
static __device__ __forceinline__ void load_keys(Key (&key)[items], const Key* in, const Tile& tile) {
    if (tile.count == tile_keys) load_items<true>(key, in, tile);
}

// Of keys that are not there the last, so they go behind all.
template <bool whole>
static __device__ __forceinline__ u32 digit_at(const Key (&key)[items], u32 j, const Digit& digit, const Tile& tile) {
    if (!whole && item_place(j) >= tile.count) return digits - 1;
    return digit.of(key[j]);
}

struct Found {
    u32 start;  // of the thread's digit in the tile
    u32 count;
};

// Where a thread's digit begins, of which there are `count`.
static __device__ __forceinline__ u32 start_of(u32 count, Shared& shared) {
    const u32 upto = tile::scan_warp<Sum<u32>>(count);
    const u32 warp_total = tile::shuffle(upto, tile::lanes - 1);
    return tile::scan_warps<Sum<u32>, threads>(warp_total, shared.totals).before + upto - count;
}

// For each thread below `digits`, its digit. Then `next` is where each warp's keys begin in the tile.
template <bool whole>
static __device__ __forceinline__ Found count_digits(const Key (&key)[items], const Work& work, const Tile& tile) {
    Shared& shared = work.shared;
    u32* const own = shared.next[tile::warp()];
    for (u32 d = tile::lane(); d < digits; d += tile::lanes) own[d] = 0;
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < items; ++j) atomicAdd(&own[digit_at<whole>(key, j, work.digit, tile)], 1u);
    __syncthreads();
    const u32 d = threadIdx.x;
    u32 count = 0;
    if (d < digits) {
#pragma unroll
        for (u32 w = 0; w < warps; ++w) count += shared.next[w][d];
    }
    const u32 start = start_of(count, shared);
    if (d < digits) {
        u32 at = start;
#pragma unroll
        for (u32 w = 0; w < warps; ++w) {
            const u32 some = shared.next[w][d];
            shared.next[w][d] = at;
            at += some;
        }
    }
    return {start, d == digits - 1 ? count - (tile_keys - tile.count) : count};
}

// What lies at the places [first, end) of the tile to where the keys there belong; `items_there` is for place `first`.
template <bool whole, bool all, class Item>
static __device__ __forceinline__ void write_out(const Work& work, const Item* items_there, Item* out, const Tile& tile,
                                                 u32 first, u32 end) {
    Item* const mine = out + threadIdx.x;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 at = j * threads + threadIdx.x;
        if ((whole || at < tile.count) && (all || (at >= first && at < end))) {
            const u64 to = work.shared.to[work.digit.of(work.room[at])];
            (mine + to)[j * threads] = items_there[at - first];
        }
    }
}

// The same where order does not matter: an addition a key tells its rank in its digit, and one for all of a warp's if
// they are alike. (Stehle and Jacobsen 2017, "A memory bandwidth-efficient hybrid radix sort on GPUs", section 4.)
template <bool whole>
static __device__ __forceinline__ Found rank_anyhow(const Key (&key)[items], const Work& work, const Tile& tile,
                                                    u32 (&rank)[items / 2]) {
    u32* const counters = work.shared.next[0];
    const u32 d = threadIdx.x;
    if (d < digits) counters[d] = 0;
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 digit = digit_at<whole>(key, j, work.digit, tile);
        u32 own = 0;
        if (whole && __all_sync(tile::all_lanes, digit == tile::shuffle(digit, 0))) {
            if (tile::lane() == 0) own = atomicAdd(&counters[digit], tile::lanes);
            own = tile::shuffle(own, 0) + tile::lane();
        } else if (whole || item_place(j) < tile.count) {
            own = atomicAdd(&counters[digit], 1u);
        }
        rank[j / 2] |= own << (j % 2 * 16);
    }
    __syncthreads();
    const u32 count = d < digits ? counters[d] : 0;
    const u32 start = start_of(count, work.shared);
    if (d < digits) counters[d] = start;
    return {start, count};
}

static __device__ __forceinline__ u32 half_of(const u32 (&halves)[items / 2], u32 j) {
    return halves[j / 2] >> (j % 2 * 16) & 0xFFFF;
}

// A column's values, as many at a time as there is room for; each thread holds a few at a time.
template <bool whole, class Value>
static __device__ __forceinline__ void move_values(const Work& work, u32 column, const Tile& tile,
                                                   const u32 (&place)[items / 2]) {
    constexpr bool all = sizeof(Value) <= value_bytes;
    constexpr u32 held = all ? tile_keys : tile_keys * value_bytes / sizeof(Value);
    constexpr u32 group = all ? items : 2;
    u32 own[items / 2];  // made anew for each column: what the compiler would keep of all columns has no room
#pragma unroll
    for (u32 i = 0; i < items / 2; ++i) forget(own[i] = place[i]);
    const Value* const in = static_cast<const Value*>(work.columns.from[column]) + tile.begin + item_place(0);
    Value* const there = reinterpret_cast<Value*>(work.room + tile_keys);
#pragma unroll 1
    for (u32 first = 0; first < tile_keys; first += held) {
        if (!all || column != 0) __syncthreads();  // the values before are read
#pragma unroll
        for (u32 j = 0; j < items; j += group) {
            Value value[group];
#pragma unroll
            for (u32 k = 0; k < group; ++k) {
                const bool is_there = all || half_of(own, j + k) - first < held;
                if (is_there && (whole || item_place(j + k) < tile.count)) value[k] = in[(j + k) * tile::lanes];
            }
#pragma unroll
            for (u32 k = 0; k < group; ++k) {
                const u32 at = half_of(own, j + k) - first;
                if ((all || at < held) && (whole || item_place(j + k) < tile.count)) there[at] = value[k];
            }
        }
        __syncthreads();
        write_out<whole, all>(work, there, static_cast<Value*>(work.columns.to[column]), tile, first, first + held);
    }
}

template <bool whole>
static __device__ __forceinline__ void move_columns(const Work& work, const Tile& tile, const u32 (&place)[items / 2]) {
#pragma unroll 1
    for (u32 column = 0; column < work.columns.count; ++column) {
        const u32 width = work.columns.width[column];
        if (width == 4) move_values<whole, u32>(work, column, tile, place);
        if (width == 8) move_values<whole, u64>(work, column, tile, place);
        if (width == 1) move_values<whole, u8>(work, column, tile, place);
        if (width == 2) move_values<whole, u16>(work, column, tile, place);
        if (width == 16) move_values<whole, uint4>(work, column, tile, place);
    }
}

// The tiles of a block, one after the other.
class Tiles {
public:
    __device__ __forceinline__ explicit Tiles(const Work& work) : work_(work), look_back_(work.places) {
        const u32 d = threadIdx.x;
        Shared& shared = work.shared;
        if constexpr (HR_PLACES == by_chunks) {
            at_ = blockIdx.x * work.places.chunk;
            end_ = at_ + work.places.chunk < work.count ? at_ + work.places.chunk : work.count;
            if (d < digits) shared.base[d] = base_of_chunk(work.places, d);
        } else {
            end_ = work.count;
            if (HR_PLACES == by_look_back && d < digits) shared.base[d] = work.places.starts[d];
            take();
            __syncthreads();
            step();
        }
    }

    __device__ __forceinline__ Tile current() const {
        const u64 left = at_ < end_ ? end_ - at_ : 0;
        return {at_, left < tile_keys ? static_cast<u32>(left) : tile_keys};
    }
    // Asks for the next one, which `step` goes to behind a barrier.
    __device__ __forceinline__ void take() {
        if (HR_PLACES != by_chunks && threadIdx.x == 0) work_.shared.tile = look_back_.take_tile();
    }
    __device__ __forceinline__ void step() {
        at_ = HR_PLACES == by_chunks ? at_ + tile_keys : static_cast<u64>(work_.shared.tile) * tile_keys;
    }
    __device__ __forceinline__ void end() {
        if (HR_PLACES != by_chunks && threadIdx.x == 0) look_back_.end();
    }

    // Tells others what the tile has of a digit, or takes room for it in the result.
    __device__ __forceinline__ u64 announce(const Tile& tile, const Found& found) {
        const u32 d = threadIdx.x;
        if (d >= digits) return 0;
        if constexpr (HR_PLACES == by_look_back) look_back_.post(number(tile), d, found.count);
        if constexpr (HR_PLACES == by_reserving) {
            if (found.count != 0) return atomicAdd(&work_.places.starts[d], static_cast<u64>(found.count));
        }
        return 0;
    }
    // Where the tile's keys of a digit go; `taken` is what announce gave.
    __device__ __forceinline__ void find(const Tile& tile, const Found& found, u64 taken) {
        const u32 d = threadIdx.x;
        if (d >= digits) return;
        if constexpr (HR_PLACES == by_chunks) {
            taken = work_.shared.base[d];
            work_.shared.base[d] = taken + found.count;
        } else if constexpr (HR_PLACES == by_look_back) {
            taken = work_.shared.base[d] + look_back_.before(number(tile), d, found.count);
        }
        work_.shared.to[d] = taken - found.start;
    }

private:
    static __device__ __forceinline__ u64 base_of_chunk(const Places& places, u32 d) {
        const u32 group = blockIdx.x / places.group;
        u64 base = places.starts[static_cast<u64>(group) * digits + d];
        for (u32 chunk = group * places.group; chunk < blockIdx.x; ++chunk) {
            base += places.counts[static_cast<u64>(chunk) * digits + d];
        }
        return base;
    }
    static __device__ __forceinline__ u32 number(const Tile& tile) { return static_cast<u32>(tile.begin / tile_keys); }

    const Work& work_;
    LookBack look_back_;
    u64 at_ = 0, end_ = 0;
};

// One tile. Where there are no values its keys are loaded, and the next one's follow while these go out.
template <bool whole>
static __device__ __forceinline__ void split_tile(Key (&key)[items], const Work& work, Tiles& tiles) {
    const Tile tile = tiles.current();
    u32 place[items / 2] = {};
    const Found found =
        HR_PLACES == by_reserving ? rank_anyhow<whole>(key, work, tile, place) : count_digits<whole>(key, work, tile);
    const u64 taken = tiles.announce(tile, found);
    tiles.take();
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) forget(key[j]);
    if constexpr (HR_PLACES == by_reserving) {
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (!whole && item_place(j) >= tile.count) continue;
            work.room[work.shared.next[0][work.digit.of(key[j])] + half_of(place, j)] = key[j];
        }
    } else {
        rank_items<items>(
            work.shared.next[tile::warp()], [&](u32 j) { return digit_at<whole>(key, j, work.digit, tile); },
            [&](u32 j, u32 at) {
                work.room[at] = key[j];
                if constexpr (with_values) place[j / 2] |= at << (j % 2 * 16);
            });
    }
    tiles.step();
    if constexpr (whole && !with_values) load_keys(key, work.in, tiles.current());
    tiles.find(tile, found, taken);
    __syncthreads();
    write_out<whole, true>(work, work.room, work.out, tile, 0, tile_keys);
    if constexpr (with_values) move_columns<whole>(work, tile, place);
    __syncthreads();
}

template <bool whole>
static __device__ __forceinline__ void load_and_split(const Work& work, Tiles& tiles) {
    Key key[items] = {};
    load_items<whole>(key, work.in, tiles.current());
    split_tile<whole>(key, work, tiles);
}

// Blocks of `threads`; dynamic shared memory: a tile's keys, `value_bytes` for each where there are values, and Shared.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    split(const Key* in, Key* out, u64 count, Digit digit, Places places, Columns columns) {
    HR_DYNAMIC_SHARED(uint4, memory);
    Key* const room = reinterpret_cast<Key*>(memory);
    constexpr u32 bytes = tile_keys * (sizeof(Key) + (with_values ? value_bytes : 0));
    Shared& shared = *reinterpret_cast<Shared*>(reinterpret_cast<u8*>(memory) + bytes);
    const Work work{in, out, count, digit, places, columns, shared, room};
    Tiles tiles(work);
    if constexpr (with_values) {
        while (tiles.current().count == tile_keys) load_and_split<true>(work, tiles);
    } else {
        Key key[items] = {};
        load_keys(key, in, tiles.current());
        while (tiles.current().count == tile_keys) split_tile<true>(key, work, tiles);
    }
    if (tiles.current().count != 0) load_and_split<false>(work, tiles);
    tiles.end();
}
