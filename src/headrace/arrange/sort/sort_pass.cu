// Keys, and what goes with them, in the order of one digit, stable, in one reading: a step of a sort from the lowest
// digit up. (Adinets and Merrill 2022, "Onesweep: A faster least significant digit radix sort for GPUs", sections 3 and
// 4: all digits' counts known beforehand, places of tiles by decoupled look-back.) Tiles are counted, ranked and
// written as a multisplit's are (arrange/multisplit/split.cu).
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v.
#include "arrange/sort/digit.cuh"
#include "arrange/sort/plan.cuh"
#define HR_PLACES by_look_back
#include "arrange/sort/move_arrays.cuh"

using namespace headrace;

// Keys that a launch sorts: a part of all, since counts of look-back are below 2^31.
struct Portion {
    u64 begin;
    u64 count;
    u64* starts;       // where each digit's keys of this portion go, for each digit of a key
    u64* next_starts;  // of the next portion; null: there is none
    void* memory;      // tile::Counters and a state for each tile and value of a digit, in which `epoch` was never
    u32 epoch;
    u32 writes_keys;  // also in the last step
};

struct Pass {
    const Work& work;
    const Portion& portion;
    LookBack& look_back;
    u64* next_starts;
    const KeyRule<Key>&in_rule, &out_rule;  // in shared memory; which change keys in the first step, and in the last
};

template <bool whole>
static __device__ __forceinline__ void load_codes(Key (&key)[items], const Pass& pass, const Tile& tile) {
    load_items<whole>(key, pass.work.in, tile);
#pragma unroll
    for (u32 j = 0; j < items && !with_equals; ++j) key[j] = pass.in_rule.code(key[j]);
}

static __device__ __forceinline__ Tile tile_of(u32 number, u64 count) {
    const u64 at = static_cast<u64>(number) * tile_keys;
    const u64 left = at < count ? count - at : 0;
    return {at, left < tile_keys ? static_cast<u32>(left) : tile_keys};
}

// Where the tile's keys of each digit go.
static __device__ __forceinline__ void find_places(const Pass& pass, u32 number, const Tile& tile, const Found& found) {
    const u32 d = threadIdx.x;
    if (d >= digits) return;
    Shared& shared = pass.work.shared;
    const u64 at = shared.base[d] + pass.look_back.before(number, d, found.count);
    shared.to[d] = at - found.start;
    if (pass.next_starts != nullptr && tile.begin + tile.count == pass.work.count)
        pass.next_starts[d] = at + found.count;
}

// One tile; `number` becomes the next one's, whose keys are loaded where there are no values.
template <bool whole>
static __device__ __forceinline__ void sort_tile(Key (&key)[items], const Pass& pass, u32& number) {
    const Work& work = pass.work;
    const u32 own = number;
    const Tile tile = tile_of(own, work.count);
    const Found found = count_digits<whole>(key, work, tile);
    if (threadIdx.x < digits) pass.look_back.post(own, threadIdx.x, found.count);
    if (threadIdx.x == 0) work.shared.tile = pass.look_back.take_tile();
    __syncthreads();
    u32 place[items / 2] = {};
#pragma unroll
    for (u32 j = 0; j < items; ++j) forget(key[j]);
    rank_items<items>(
        work.shared.next[tile::warp()], [&](u32 j) { return digit_at<whole>(key, j, work.digit, tile); },
        [&](u32 j, u32 at) {
            work.room[at] = key[j];
            if constexpr (with_values) place[j / 2] |= at << (j % 2 * 16);
        });
    number = work.shared.tile;
    const Tile next = tile_of(number, work.count);
    if (whole && !with_values && next.count == tile_keys) load_codes<true>(key, pass, next);
    find_places(pass, own, tile, found);
    __syncthreads();
    write_keys<whole>(work, tile, pass.out_rule);
    if constexpr (with_values) move_all<whole>(work, tile, place, pass.portion.begin);
    __syncthreads();
}

template <bool whole>
static __device__ __forceinline__ void load_and_sort(const Pass& pass, u32& number) {
    Key key[items] = {};
    load_codes<whole>(key, pass, tile_of(number, pass.work.count));
    sort_tile<whole>(key, pass, number);
}

static __device__ __forceinline__ void sort_tiles(const Pass& pass, u32 number) {
    const u64 count = pass.work.count;
    if constexpr (with_values) {
        while (tile_of(number, count).count == tile_keys) load_and_sort<true>(pass, number);
    } else {
        Key key[items] = {};
        if (tile_of(number, count).count == tile_keys) load_codes<true>(key, pass, tile_of(number, count));
        while (tile_of(number, count).count == tile_keys) sort_tile<true>(key, pass, number);
    }
    if (tile_of(number, count).count != 0) load_and_sort<false>(pass, number);
}

// Step `number` of the plan. Dynamic shared memory: a tile's keys, `digit_bytes` for each, and Shared.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    sort_pass(const Plan* plan, u32 number, KeyRule<Key> rule, Arrays arrays, Portion portion) {
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ Columns columns;
    __shared__ KeyRule<Key> rules[2];
    if (plan->how != How::by_digits || number >= plan->steps) return;
    const Step step = plan->step[number];
    const bool is_last = number + 1 == plan->steps;
    Key* const room = reinterpret_cast<Key*>(memory);
    Shared& shared =
        *reinterpret_cast<Shared*>(reinterpret_cast<u8*>(memory) + tile_keys * (sizeof(Key) + digit_bytes));
    const Places places = {nullptr, nullptr, 0, portion.memory, portion.epoch, 0};
    LookBack look_back(places);
    choose_columns(columns, arrays, step, portion.begin);
    const u64 own = static_cast<u64>(step.digit) * digits;
    if (threadIdx.x < digits) shared.base[threadIdx.x] = portion.starts[own + threadIdx.x];
    if (threadIdx.x == 0) {
        shared.tile = look_back.take_tile();
        rules[0] = rule_or_none(rule, number == 0);
        rules[1] = rule_or_none(rule, is_last);
    }
    __syncthreads();
    const u32 first = shared.tile;
    const Digit digit = digit_by_number(rule, step.digit);
    const Key* const in = static_cast<const Key*>(arrays.keys.from(step.from)) + portion.begin;
    Key* const out = is_last && portion.writes_keys == 0 ? nullptr : static_cast<Key*>(arrays.keys.to(step.to));
    const Work work{in, out, portion.count, digit, places, columns, shared, room};
    u64* const next_starts = portion.next_starts == nullptr ? nullptr : portion.next_starts + own;
    sort_tiles({work, portion, look_back, next_starts, rules[0], rules[1]}, first);
    if (threadIdx.x == 0) look_back.end();
}
