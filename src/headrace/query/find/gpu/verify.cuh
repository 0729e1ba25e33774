// Compares the pattern at the positions that have passed the filter. Vectors without such positions are left out, so
// that each lane has one with some. A lane compares the first bytes of its vector's positions. Then the warp compares
// the rest of each position together (warp-cooperative work sharing: Ashkiani 2017, section 1.3, and the second stage
// of DRK-2S, section 2.4.2).
//
// If a periodic pattern has many such positions, those are checked for runs first (runs.cuh). One period is then left
// to compare. In one run, occurrences are a multiple of the period apart, so one of a vector is compared.
//
// A unit of work is a comparison of up to 32 bytes by each lane, or of 512 bytes by the warp. A warp spends some units
// freely and adds what exceeds them to a total. Once the total is past the budget, no position is compared any more.
// The result is then incomplete, and a linear algorithm must search the text.
#pragma once
#include "query/find/gpu/runs.cuh"

namespace headrace {

constexpr u32 head_bytes = 128;         // compared by one lane
constexpr u32 free_units_per_row = 32;  // of 32 vectors
constexpr u32 few_units = 32;           // after which a warp looks whether the budget is spent
constexpr u64 dense_bytes = 16384;      // bytes to compare for a warp's part from which runs are looked for

// Memory of a warp.
template <u32 rows>
struct VerifierMemory {
    static constexpr u32 vectors = rows * tile::lanes;
    static_assert(vectors <= 256);
    alignas(16) u16 held[vectors];  // positions of each vector
    u8 listed[vectors];             // vectors that have some
    Runs<rows> runs;
};

template <u32 rows>
class Verifier {
public:
    // `begin`: position of bit 0 of lane 0 in row 0.
    HR_MEMBER Verifier(const FindTask& task, i64 begin, u64* spent, VerifierMemory<rows>& memory)
        : task_(task), begin_(begin), total_(spent), memory_(memory), length_(task.length) {}

    // Clears the held bits at which the pattern does not occur. All lanes of a warp call it. `vectors`: number of those
    // that are listed. `runs`: whether the pattern is periodic and the bits are many.
    HR_MEMBER void run(u32 vectors, bool runs) {
        length_ = task_.length;
        if (runs) {
            memory_.runs.fill(task_, begin_);
            length_ = task_.period;
            for (u64 bit = 0; bit < 16; bit += length_) repeats_ |= 1u << bit;
        }
#pragma unroll 1
        for (u32 first = 0; first < vectors; first += tile::lanes) {
            const bool has_vector = first + tile::lane() < vectors;
            vector_ = has_vector ? memory_.listed[first + tile::lane()] : 0;
            u32 hits = has_vector && open_ ? memory_.held[vector_] : 0;
            const bool is_one_run = runs && hits != 0 && memory_.runs.are_in_one_run(vector_ * 16, task_);
            const u32 known = is_one_run ? hits : 0;
            if (runs) hits = known | memory_.runs.in_runs(hits & ~known, vector_ * 16, task_);
            hits = equal_heads(hits, is_one_run && length_ <= head_bytes);
            if (length_ > head_bytes) hits = equal_tails(hits);
            if (has_vector) memory_.held[vector_] = static_cast<u16>(hits);
        }
        __syncwarp();
    }

private:
    HR_MEMBER u64 position(u32 vector, u32 bit) const { return static_cast<u64>(begin_ + vector * 16 + bit); }

    HR_MEMBER bool is_within_budget() const {
        u64 spent = 0;
        if (tile::lane() == 0) spent = tile::load_relaxed(total_);
        return tile::shuffle(spent, 0) <= task_.budget;
    }

    HR_MEMBER void spend(u32 units) {
        const bool was_few = spent_ <= few_units;
        spent_ += units;
        if (was_few && spent_ > few_units) open_ = is_within_budget();
        if (spent_ <= free_units_per_row * rows) return;
        if (tile::lane() == 0) atomicAdd(total_, u64{spent_});
        spent_ = 0;
        open_ = is_within_budget();
    }

    HR_MEMBER bool is_head_equal(u64 at, u64 end) const {
        if (end <= 4) return unlike_word(task_, at, 0, end) == 0;
        if (!VectorStream::has(task_, at, end)) {
            for (u64 offset = 0; offset < end; offset += 16) {
                if (unlike_vector(task_, text_vector(task_, at + offset), offset, end) != 0) return false;
            }
            return true;
        }
        VectorStream text(task_.text + at);
        for (u64 offset = 0; offset < end; offset += 16) {
            if (unlike_vector(task_, text.next(), offset, end) != 0) return false;
        }
        return true;
    }

    // `repeats`: whether an equal position decides on the others of the vector, which lie in one run.
    HR_MEMBER u32 equal_heads(u32 hits, bool repeats) {
        const u64 end = length_ < head_bytes ? length_ : head_bytes;
        const u32 rounds = __reduce_max_sync(tile::all_lanes, static_cast<u32>(__popc(hits)));
        spend(rounds * static_cast<u32>((end + 31) / 32));
        u32 equal = hits;
        for (u32 left = hits; left != 0; left &= left - 1) {
            const u32 bit = static_cast<u32>(trailing_zeros(left));
            if (!is_head_equal(position(vector_, bit), end)) {
                equal &= ~(1u << bit);
            } else if (repeats) {
                equal &= repeats_ << bit;
                break;
            }
        }
        __syncwarp();
        return equal;
    }

    HR_MEMBER u32 equal_tails(u32 hits) {
        u32 left = hits;
        while (open_) {
            const u32 owners = __ballot_sync(tile::all_lanes, left != 0);
            if (owners == 0) break;
            const u32 owner = static_cast<u32>(trailing_zeros(owners));
            const u32 lowest = tile::shuffle(left & (0 - left), owner);
            const bool equal = is_part_equal(
                position(tile::shuffle(vector_, owner), static_cast<u32>(trailing_zeros(lowest))), head_bytes);
            if (tile::lane() != owner) continue;
            left &= ~lowest;
            if (!equal) hits &= ~lowest;
        }
        return hits;
    }

    // Compares the bytes of the pattern from `from` on by all lanes.
    HR_MEMBER bool is_part_equal(u64 at, u64 from) {
        constexpr u32 step = tile::lanes * 16;
        for (u64 begin = from; begin < length_; begin += step) {
            const u64 offset = begin + tile::lane() * 16;
            const bool some =
                offset < length_ && unlike_vector(task_, text_vector(task_, at + offset), offset, length_) != 0;
            spend(1);
            if (__any_sync(tile::all_lanes, some)) return false;
        }
        return true;
    }

    const FindTask& task_;
    const i64 begin_;
    u64* const total_;
    VerifierMemory<rows>& memory_;
    u64 length_;       // bytes of the pattern to compare
    u32 vector_ = 0;   // of the lane
    u32 repeats_ = 0;  // bits of a vector that are multiples of the period
    u32 spent_ = 0;
    bool open_ = true;  // the budget is not spent
};

// Stores the masks, lists those that are not 0 and returns their number.
template <u32 rows>
HR_FN u32 list_vectors(const u32 (&masks)[rows], VerifierMemory<rows>& memory) {
    u32 count = 0;
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        const u32 vector = row * tile::lanes + tile::lane();
        const u32 some = __ballot_sync(tile::all_lanes, masks[row] != 0);
        memory.held[vector] = static_cast<u16>(masks[row]);
        if (masks[row] != 0)
            memory.listed[count + static_cast<u32>(__popc(some & low_mask(tile::lane())))] = static_cast<u8>(vector);
        count += static_cast<u32>(__popc(some));
    }
    __syncwarp();
    return count;
}

// Clears the bits of the masks at which the pattern does not occur. All lanes of a warp call it. `begin`: position of
// bit 0 of lane 0 in row 0.
template <u32 rows>
HR_FN void verify(const FindTask& task, i64 begin, u64* spent, VerifierMemory<rows>& memory, u32 (&masks)[rows]) {
    u32 own = 0;
#pragma unroll
    for (u32 row = 0; row < rows; ++row) own += static_cast<u32>(__popc(masks[row]));
    if (!__any_sync(tile::all_lanes, own != 0)) return;
    Verifier<rows> verifier(task, begin, spent, memory);
    const u32 positions = __reduce_add_sync(tile::all_lanes, own);
    const u64 bytes = positions * task.length;
    verifier.run(list_vectors(masks, memory), bytes >= dense_bytes && task.period != 0);
#pragma unroll
    for (u32 row = 0; row < rows; ++row) masks[row] = memory.held[row * tile::lanes + tile::lane()];
}

}  // namespace headrace
