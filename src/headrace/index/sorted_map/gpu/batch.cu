// Turns the keys of a batch into codes in reversed order, marks the deleted keys of a sorted batch, and turns codes
// into keys. Items are independent.
//
// Bytes moved per item of width w: 2 w, and 2 for a status.
#include "gpu/block/dependent_launch.cuh"
#include "gpu/block/turns.cuh"
#include "index/sorted_map/level.hpp"

using namespace headrace;

using Code = HR_CODE;
constexpr u32 threads = HR_THREADS;
constexpr u32 turns = HR_TURNS;

// Writes codes, values and statuses from the last item to the first, so that a stable sort has the last of equal keys
// first. `values` is null for deletes alone, `deletes` for a batch of one kind, the outputs if they are not needed.
extern "C" __global__ void __launch_bounds__(threads)
    reverse_batch(const Code* keys, u64 count, KeyRule<Code> rule, const void* values, const u8* deletes,
                  u32 value_width, Code* codes, void* moved, u8* statuses, u32 mixed) {
    tile::wait_for_launch_before();
    Code key[turns];  // all reads are on their way before the first one is stored
    u64 value[turns];
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = tile::item_of_turn<threads, turns>(turn);
        value[turn] = 0;
        if (i >= count) continue;
        key[turn] = keys[i];
        if (values != nullptr && value_width == 4) value[turn] = static_cast<const u32*>(values)[i];
        if (values != nullptr && value_width == 8) value[turn] = static_cast<const u64*>(values)[i];
    }
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = tile::item_of_turn<threads, turns>(turn);
        if (i >= count) continue;
        const u64 place = count - 1 - i;
        codes[place] = rule.equal_code(key[turn]);
        if (moved != nullptr && value_width == 4) static_cast<u32*>(moved)[place] = static_cast<u32>(value[turn]);
        if (moved != nullptr && value_width == 8) static_cast<u64*>(moved)[place] = value[turn];
        if (statuses == nullptr) continue;
        statuses[place] = deletes == nullptr ? 1 : status_of(mixed, deletes[i] != 0 ? 1 : 0);
    }
}

// Marks the items that deletes make tombstones. `tombstones` is zero before. Threads may write one byte several times,
// with the same value.
extern "C" __global__ void __launch_bounds__(threads)
    mark_deleted(const Code* codes, u64 count, const u8* statuses, u8* tombstones) {
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = tile::item_of_turn<threads, turns>(turn);
        if (i >= count || (statuses[i] & 1) == 0) continue;
        const u64 first = statuses[i] > 1 ? begin_of_run(codes, i + 1) : i;
        tombstones[tombstone_of(statuses, first, i)] = 1;
    }
}

extern "C" __global__ void __launch_bounds__(threads)
    keys_of_codes(const Code* codes, u64 count, KeyRule<Code> rule, Code* keys) {
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = tile::item_of_turn<threads, turns>(turn);
        if (i < count) keys[i] = key_of(rule, codes[i]);
    }
}
