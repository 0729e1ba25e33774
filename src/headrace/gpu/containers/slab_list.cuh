// Slab lists: linked lists of slabs of 128 bytes, read by groups of lanes (Ashkiani et al. 2018, "A Dynamic Hash Table
// for the GPU", section IV).
//
// The paper's warp reads a slab with 32 lanes of 4 bytes and serves one operation at a time. Here 8 lanes read 16 bytes
// each, so a warp serves four operations at once with the same number of instructions. A 16-byte load is one access, so
// a pair of 8 bytes or a key of 8 bytes is never seen half written.
//
// | key, value bytes | slots | keys at byte | values at byte  |
// | 4, 0             | 30    | 4 i          |                 |
// | 4, 4             | 15    | 8 i          | 8 i + 4         |
// | 8, 0             | 15    | 8 i          |                 |
// | 4, 8             | 10    | 4 i          | 40 + 8 i        |
// | 8, 4             | 10    | 8 i          | 80 + 4 i        |
// | 8, 8             | 7     | 8 i          | 56 + 8 i        |
//
// Bytes 124 to 127 have the number of the next slab. A slot whose key has all bits set is empty. A user may store that
// key as well: it has a bucket of its own, and is another key there (`stored_key`).
#pragma once
#include "gpu/block/memory_access.cuh"
#include "gpu/block/warp.cuh"
#include "gpu/containers/slab_table.hpp"

namespace headrace::slab {

// Bytes of the number of a slot. Programs for tables of one super block and at most 2^26 slabs have 4: the light
// variant.
#ifndef HR_SLOT_BYTES
#define HR_SLOT_BYTES 8
#endif
constexpr bool has_super_blocks = HR_SLOT_BYTES == 8;
constexpr u32 group_lanes = 8;
constexpr u32 mark_offset = 120;
constexpr u32 next_offset = 124;

// The group's first lane in the warp, and this lane's number in the group.
HR_FN u32 first_lane() { return threadIdx.x % tile::lanes / group_lanes * group_lanes; }
HR_FN u32 group_lane() { return threadIdx.x % group_lanes; }

HR_FN u32 low_word(u64 word) { return static_cast<u32>(word); }
HR_FN u32 high_word(u64 word) { return static_cast<u32>(word >> 32); }

// The position of a slot in a slab is p * 8 + lane for the p-th key of a lane's 16 bytes. It has up to 32 values.
template <u32 key_width, u32 value_width>
struct Layout {
    using Key = typename tile::ItemOf<key_width>::type;
    using Value = typename tile::ItemOf<value_width == 0 ? 4 : value_width>::type;
    static constexpr bool has_values = value_width != 0;
    static constexpr bool is_paired = key_width == 4 && value_width == 4;
    static constexpr u32 slots = 120 / (key_width + value_width);
    static constexpr u32 lane_keys = is_paired ? 2 : 16 / key_width;
    static constexpr u32 values_begin = slots * key_width;
    static constexpr Key empty_key = static_cast<Key>(~Key{0});

    HR_MEMBER static constexpr u32 valid_positions() {
        u32 mask = 0;
        for (u32 position = 0; position < lane_keys * group_lanes; ++position) {
            if (position % group_lanes * lane_keys + position / group_lanes < slots) mask |= 1u << position;
        }
        return mask;
    }
    __device__ static u32 number_at(u32 position) {
        return position % group_lanes * lane_keys + position / group_lanes;
    }
    __device__ static u32 key_offset(u32 position) { return number_at(position) * (is_paired ? 8 : key_width); }
    __device__ static u32 value_offset(u32 position) {
        return is_paired ? number_at(position) * 8 + 4 : values_begin + number_at(position) * value_width;
    }

    // Returns the p-th key of a lane's 16 bytes.
    __device__ static Key lane_key(const tile::WordPair& words, u32 p) {
        if constexpr (is_paired) {
            return low_word(p == 0 ? words.low : words.high);
        } else if constexpr (key_width == 8) {
            return p == 0 ? words.low : words.high;
        } else {
            const u64 word = p < 2 ? words.low : words.high;
            return p % 2 == 0 ? low_word(word) : high_word(word);
        }
    }
    __device__ static u32 lane_value(const tile::WordPair& words, u32 p) {
        return high_word(p == 0 ? words.low : words.high);
    }

    // Returns a bit for each position of the group's slab that has the key. All lanes of the warp take part.
    __device__ static u32 positions_of(const tile::WordPair& words, Key key) {
        u32 mask = 0;
#pragma unroll
        for (u32 p = 0; p < lane_keys; ++p) {
            const u32 lanes = __ballot_sync(tile::all_lanes, lane_key(words, p) == key);
            mask |= (lanes >> first_lane() & 0xFF) << (group_lanes * p);
        }
        constexpr u32 valid = valid_positions();
        return mask & valid;
    }
};

// Number of a slot: slab and position. `fresh` marks a slot that was empty before the operation.
using Slot = Either<HR_SLOT_BYTES == 8, u64, u32>;
constexpr Slot no_slot = static_cast<Slot>(~Slot{0});  // no slot, or an operation without memory
constexpr Slot skipped = no_slot - 1;                  // the operation has nothing to do
constexpr Slot fresh = Slot{1} << (8 * HR_SLOT_BYTES - 1);

HR_FN Slot slot_number(u32 slab, u32 position) { return Slot{slab} << 5 | position; }
HR_FN u32 slab_number(Slot slot) { return static_cast<u32>((slot & ~fresh) >> 5); }
HR_FN u32 position_of(Slot slot) { return static_cast<u32>(slot & 31); }
HR_FN bool has_slot(Slot slot) { return slot < skipped; }

// Returns the first slab of a bucket.
HR_FN u8* first_slab_at(const SlabTable& table, u32 bucket) {
    return table.slabs + static_cast<u64>(bucket) * slab_bytes;
}
HR_FN u8* slab_at(const SlabTable& table, u32 slab) {
    if (!has_super_blocks || slab < table.first_slabs) return first_slab_at(table, slab);
    const u32 after = slab - table.first_slabs;
    const u32 place = after & low_mask(table.super_log);
    return table.supers[after >> table.super_log] + static_cast<u64>(place) * slab_bytes;
}
HR_FN u8* slab_of_slot(const SlabTable& table, Slot slot) { return slab_at(table, slab_number(slot)); }

template <class L>
HR_FN typename L::Key* key_in(u8* slab, u32 position) {
    return reinterpret_cast<typename L::Key*>(slab + L::key_offset(position));
}
template <class L>
HR_FN typename L::Value* value_in(u8* slab, u32 position) {
    return reinterpret_cast<typename L::Value*>(slab + L::value_offset(position));
}
HR_FN u32* mark_in(u8* slab) { return reinterpret_cast<u32*>(slab + mark_offset); }
HR_FN u32* next_in(u8* slab) { return reinterpret_cast<u32*>(slab + next_offset); }

// Returns the number of the next slab, from the group's words.
HR_FN u32 next_of(const tile::WordPair& words) {
    return tile::shuffle(high_word(words.high), first_lane() + group_lanes - 1);
}

// Returns the mark of the slab, from the group's words.
HR_FN u32 mark_of(const tile::WordPair& words) {
    return tile::shuffle(low_word(words.high), first_lane() + group_lanes - 1);
}

// Address of this lane's 16 bytes of the first slab of a bucket, and of any slab.
HR_FN const u8* first_bytes(const SlabTable& table, u32 bucket) {
    return first_slab_at(table, bucket) + 16 * group_lane();
}
HR_FN const u8* lane_bytes(const SlabTable& table, u32 slab) { return slab_at(table, slab) + 16 * group_lane(); }

// Loads 16 bytes of a slab that no thread changes during the kernel.
HR_FN tile::WordPair load_constant(const u8* p) {
    return bits_as<tile::WordPair>(tile::load_streaming(reinterpret_cast<const uint4*>(p)));
}
// Loads 16 bytes of a slab that other threads change.
HR_FN tile::WordPair load_shared(const u8* p) { return tile::load_relaxed(reinterpret_cast<const tile::WordPair*>(p)); }

// The operation that a group of lanes serves next: that of lane `source`.
struct Turn {
    u32 source;
    bool is_busy;  // whether the group has an operation
    bool is_own;   // whether it is that of this lane
};

// Selects an operation for each group of lanes. Returns false if no lane has one. All lanes of the warp take part.
HR_FN bool next_turn(bool is_active, Turn& turn) {
    const u32 queue = __ballot_sync(tile::all_lanes, is_active);
    const u32 group_queue = queue >> first_lane() & 0xFF;
    turn.is_busy = group_queue != 0;
    turn.source = first_lane() + (turn.is_busy ? __ffs(group_queue) - 1 : 0);
    turn.is_own = turn.is_busy && tile::lane() == turn.source;
    return queue != 0;
}

// Loads a slab for a group that has an operation.
template <tile::WordPair (*load)(const u8*)>
HR_FN tile::WordPair load_slab(const SlabTable& table, u32 slab, const Turn& turn) {
    return turn.is_busy ? load(lane_bytes(table, slab)) : tile::WordPair{0, 0};
}

}  // namespace headrace::slab
