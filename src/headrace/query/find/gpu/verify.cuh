// Compares the pattern at the positions that have passed the filter. A lane compares the first bytes of its own
// positions. Then the warp compares the rest of each position together (warp-cooperative work sharing: Ashkiani 2017,
// section 1.3, and the second stage of DRK-2S, section 2.4.2).
//
// A unit of work is a comparison of up to 32 bytes by each lane, or of 512 bytes by the warp. A warp spends some units
// freely and adds what exceeds them to a total. Once the total is past the budget, no position is compared any more.
// The result is then incomplete, and a linear algorithm must search the text.
#pragma once
#include "query/find/gpu/text.cuh"

namespace headrace {

constexpr u32 head_bytes = 128;         // compared by one lane
constexpr u32 words_at_once = 4;        // compared by a lane of a warp before the next vote
constexpr u32 free_units_per_row = 32;  // of 32 vectors

template <u32 rows>
class Verifier {
public:
    // `begin`: position of bit 0 of lane 0 in row 0. `held`: memory of the warp.
    __device__ __forceinline__ Verifier(const FindTask& task, i64 begin, u64* spent, u16 (&held)[rows][tile::lanes])
        : task_(task), begin_(begin), total_(spent), held_(held) {}

    // Clears the bits of the masks at which the pattern does not occur. All lanes of a warp call it.
    __device__ __forceinline__ void run(u32 (&masks)[rows]) {
        u32 some = 0;
#pragma unroll
        for (u32 row = 0; row < rows; ++row) some |= masks[row];
        if (!__any_sync(tile::all_lanes, some != 0)) return;
        open_ = is_within_budget();
#pragma unroll
        for (u32 row = 0; row < rows; ++row) held_[row][tile::lane()] = static_cast<u16>(masks[row]);
#pragma unroll 1
        for (u32 row = 0; row < rows; ++row) {
            u32 hits = open_ ? equal_heads(row, held_[row][tile::lane()]) : 0;
            if (task_.length > head_bytes) hits = equal_tails(row, hits);
            held_[row][tile::lane()] = static_cast<u16>(hits);
        }
#pragma unroll
        for (u32 row = 0; row < rows; ++row) masks[row] = held_[row][tile::lane()];
    }

private:
    __device__ __forceinline__ u64 position(u32 row, u32 lane, u32 bit) const {
        return static_cast<u64>(begin_ + (row * tile::lanes + lane) * 16 + bit);
    }

    __device__ __forceinline__ bool is_within_budget() const {
        u64 spent = 0;
        if (tile::lane() == 0) spent = tile::load_relaxed(total_);
        return tile::shuffle(spent, 0) <= task_.budget;
    }

    __device__ __forceinline__ void spend(u32 units) {
        spent_ += units;
        if (spent_ <= free_units_per_row * rows) return;
        if (tile::lane() == 0) atomicAdd(total_, u64{spent_});
        spent_ = 0;
        open_ = is_within_budget();
    }

    __device__ __forceinline__ u32 equal_heads(u32 row, u32 hits) {
        const u64 end = task_.length < head_bytes ? task_.length : head_bytes;
        const u32 rounds = __reduce_max_sync(tile::all_lanes, static_cast<u32>(__popc(hits)));
        spend(rounds * static_cast<u32>((end + 31) / 32));
        u32 equal = hits;
        for (u32 left = hits; left != 0; left &= left - 1) {
            const u64 at = position(row, tile::lane(), static_cast<u32>(trailing_zeros(left)));
            for (u64 offset = 0; offset < end; offset += 4) {
                if (unlike(task_, at, offset) == 0) continue;
                equal &= ~(left & (0 - left));
                break;
            }
        }
        __syncwarp();
        return equal;
    }

    __device__ __forceinline__ u32 equal_tails(u32 row, u32 hits) {
        u32 left = hits;
        while (open_) {
            const u32 owners = __ballot_sync(tile::all_lanes, left != 0);
            if (owners == 0) break;
            const u32 owner = static_cast<u32>(trailing_zeros(owners));
            const u32 lowest = tile::shuffle(left & (0 - left), owner);
            const bool equal = is_tail_equal(position(row, owner, static_cast<u32>(trailing_zeros(lowest))));
            if (tile::lane() != owner) continue;
            left &= ~lowest;
            if (!equal) hits &= ~lowest;
        }
        return hits;
    }

    __device__ __forceinline__ bool is_tail_equal(u64 at) {
        constexpr u32 step = words_at_once * tile::lanes * 4;
        for (u64 begin = head_bytes; begin < task_.length; begin += step) {
            u32 some = 0;
#pragma unroll
            for (u32 i = 0; i < words_at_once; ++i) {
                const u64 offset = begin + (i * tile::lanes + tile::lane()) * 4;
                if (offset < task_.length) some |= unlike(task_, at, offset);
            }
            spend(1);
            if (__any_sync(tile::all_lanes, some != 0)) return false;
        }
        return true;
    }

    const FindTask& task_;
    const i64 begin_;
    u64* const total_;
    u16 (&held_)[rows][tile::lanes];
    u32 spent_ = 0;
    bool open_ = true;  // the budget is not spent
};

}  // namespace headrace
