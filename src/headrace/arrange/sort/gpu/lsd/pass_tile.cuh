// Sorts tiles stably by one digit: they are counted, ranked and written as in a multisplit
// (arrange/multisplit/gpu/split.cu), with look-back. The includer may define the digit (HR_RULE).
#pragma once
#include "arrange/sort/gpu/common/arrays.cuh"
#include "arrange/sort/gpu/common/device_plan.cuh"
#include "arrange/sort/gpu/common/digit.cuh"

namespace headrace {

struct Pass {
    const SplitWork& work;
    const Portion& portion;
    LookBack& look_back;
    u64* next_starts;  // of the pass's digit; null: not needed
    const DevicePlan* plan;
    u32 number;  // number of the pass
    const KeyRule<Key>& rule;
    bool is_first, is_last;  // whether keys become codes, and codes become keys
};

HR_FN SplitTile tile_of(u32 number, u64 count) {
    const u64 at = static_cast<u64>(number) * tile_keys;
    const u64 left = at < count ? count - at : 0;
    return {at, left < tile_keys ? static_cast<u32>(left) : tile_keys};
}

template <bool whole>
HR_FN void load(Loaded& loaded, const Pass& pass, const SplitTile& tile) {
    load_moved<whole>(loaded, pass.work, tile, pass.portion.begin + tile.begin);
}

// Whether each thread computes the address of the next portion's starts only when the last tile needs it. With 8-byte
// keys the precomputed address would be spilled and reloaded for each tile: 2 to 3 % of a pass. With 4-byte keys,
// which leave registers free, the late form makes other code worse: 2 to 6 % (docs/decisions/0023).
constexpr bool finds_starts_late = sizeof(Key) == 8;

// Returns the index of a digit's starts, with the integer width that the measured program of each key width has.
HR_FN auto starts_of(u32 digit) {
    if constexpr (finds_starts_late) {
        return digit * digits;
    } else {
        return static_cast<u64>(digit) * digits;
    }
}

// Finds the target positions of the tile's keys of each digit.
HR_FN void find_places(const Pass& pass, u32 number, const SplitTile& tile, const DigitRun& found) {
    const u32 d = threadIdx.x;
    if (d >= digits) return;
    SplitShared& shared = pass.work.shared;
    const u64 at = shared.base[d] + pass.look_back.before(number, d, found.count);
    shared.to[d] = target(at, found.start);
    const bool is_end = tile.begin + tile.count == pass.work.count;
    if constexpr (finds_starts_late) {
        if (pass.portion.next_starts == nullptr || !is_end) return;
        const u32 own = starts_of(pass.plan->step[pass.number].digit) + d;
        pass.portion.next_starts[own] = at + found.count;
    } else {
        if (pass.next_starts != nullptr && is_end) pass.next_starts[d] = at + found.count;
    }
}

// Sorts one loaded tile. `number` becomes that of the next tile, which is loaded while this one is written, unless
// values follow their keys.
template <bool whole>
HR_FN void sort_tile(Loaded& loaded, const Pass& pass, u32& number) {
    const SplitWork& work = pass.work;
    const u32 own = number;
    const SplitTile tile = tile_of(own, work.count);
    Key(&key)[items] = loaded.key;
    const u32 ticket = threadIdx.x == 0 ? pass.look_back.take_tile() : 0;
    make_codes(key, pass.rule, pass.is_first);
    const DigitRun found = count_digits<whole>(key, work, tile);
    if (threadIdx.x < digits) pass.look_back.post(own, threadIdx.x, found.count);
    if (threadIdx.x == 0) work.shared.tile = ticket;
    __syncthreads();
    u32 place[items / 2] = {};
    put_items<whole>(loaded, work, tile, place);
    number = work.shared.tile;
    const SplitTile next = tile_of(number, work.count);
    if (whole && loads_ahead && next.count == tile_keys) load<true>(loaded, pass, next);
    Following following;
    if constexpr (follows_early) following.load<whole>(work, tile, pass.portion.begin + tile.begin);
    find_places(pass, own, tile, found);
    __syncthreads();
    write_moved<whole>(work, tile, pass.rule, pass.is_last);
    if constexpr (follows_early) {
        following.write_out<whole>(work, tile, place);
    } else if constexpr (with_values && !together) {
        move_all<whole>(work, tile, place, pass.portion.begin);
    }
}

template <bool whole>
HR_FN void load_and_sort(const Pass& pass, u32& number) {
    Loaded loaded = {};
    load<whole>(loaded, pass, tile_of(number, pass.work.count));
    sort_tile<whole>(loaded, pass, number);
}

HR_FN void sort_tiles(const Pass& pass, u32 number) {
    const u64 count = pass.work.count;
    if constexpr (loads_ahead) {
        Loaded loaded = {};
        if (tile_of(number, count).count == tile_keys) load<true>(loaded, pass, tile_of(number, count));
        while (tile_of(number, count).count == tile_keys) sort_tile<true>(loaded, pass, number);
    } else {
        while (tile_of(number, count).count == tile_keys) load_and_sort<true>(pass, number);
    }
    if (tile_of(number, count).count != 0) load_and_sort<false>(pass, number);
}

}  // namespace headrace
