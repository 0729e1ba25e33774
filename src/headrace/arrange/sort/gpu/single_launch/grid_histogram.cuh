// Exchanges the digit counts of all blocks of one launch. Two counts and the number of the pass share one word. So a
// block waits for words and not for a barrier, and ranks its keys meanwhile.
//
// Bytes moved: 512 a block for each of the others, from the L2 cache.
#pragma once
#include "arrange/sort/gpu/common/block_sort.cuh"
#include "arrange/sort/gpu/common/grid_barrier.cuh"

namespace headrace {

// A packed word. Two bits identify its pass. A place holds words of every other pass, and each block has read all of
// one pass before any block publishes the next.
struct PackedCounts {
    static constexpr u32 bits_of_one = 15, mask = (1u << bits_of_one) - 1;

    HR_MEMBER static u32 pack(u32 low, u32 high, u32 turn) {
        return low | high << bits_of_one | (turn + 1) / 2 << 2 * bits_of_one;
    }
    HR_MEMBER static u32 low(u32 word) { return word & mask; }
    HR_MEMBER static u32 high(u32 word) { return word >> bits_of_one & mask; }
    HR_MEMBER static bool is_of(u32 word, u32 turn) { return word >> 2 * bits_of_one == ((turn + 1) / 2 & 3); }
};

constexpr u32 count_words = digits / 2;  // of a block
constexpr u32 readers = threads / count_words;
constexpr u32 at_once = threads < 1024 && items > 2 ? 16 : 8;  // loads of a thread in flight together
static_assert(threads % count_words == 0);

// Counts of each digit value: in all blocks, and in the preceding ones.
struct Sums {
    u32 total[digits], before[digits];
};

// Whether the columns move in place of rows: there is one, as wide as a row.
HR_FN bool moves_as_rows(const SortArrays& arrays) {
    return with_values && arrays.columns == 1 && arrays.column[0].width == 4;
}

class AllCounts {
public:
    // `memory`: two words for each block and two digits; a block may be one digit ahead.
    HR_MEMBER AllCounts(u32* memory, GridBarrier& barrier, Sums& sums)
        : memory_(memory), barrier_(barrier), sums_(sums) {}

    // Publishes counts; thread d that of digit d. All threads call it. In turn 0 the memory is uninitialised, so a
    // barrier protects its first half, and the second half is marked as empty.
    HR_MEMBER void post(u32 turn, u32 count) {
        const u32 half = gridDim.x * count_words;
        const u32 next = tile::shuffle_down(count, 1);
        const u32 d = threadIdx.x, own = blockIdx.x * count_words + d / 2;
        if (d < digits) sums_.total[d] = sums_.before[d] = 0;
        if (d < digits && d % 2 == 0) {
            tile::store_relaxed(&memory_[turn % 2 * half + own], PackedCounts::pack(count, next, turn));
            if (turn == 0) tile::store_relaxed(&memory_[half + own], 0u);
        }
        if (turn == 0) {
            barrier_.arrive();
        } else {
            __syncthreads();
        }
    }

    // Waits for all counts; all threads call it after `post`. Returns true if one digit has all `count` keys. If not,
    // `sums` are set.
    HR_MEMBER bool wait(u32 turn, u32 count) {
        if (turn == 0) barrier_.wait();
        add_up(memory_ + turn % 2 * gridDim.x * count_words, turn);
        __syncthreads();
        return __syncthreads_or(threadIdx.x < digits && sums_.total[threadIdx.x % digits] == count) != 0;
    }

private:
    // Loads words of several blocks from `first` on, and repeats the loads of those that are missing.
    HR_MEMBER static void load(u32 (&some)[at_once], const u32* mine, u32 left, u32 turn) {
        const u32 nothing = PackedCounts::pack(0, 0, turn);
#pragma unroll
        for (u32 k = 0; k < at_once; ++k) some[k] = k * readers < left ? ~nothing : nothing;
        bool missing = true;
        while (missing) {
            missing = false;
            forget(mine);  // otherwise the compiler keeps an address for each k
#pragma unroll
            for (u32 k = 0; k < at_once; ++k) {
                if (!PackedCounts::is_of(some[k], turn)) some[k] = tile::load_relaxed(mine + k * readers * count_words);
            }
#pragma unroll
            for (u32 k = 0; k < at_once; ++k) missing |= !PackedCounts::is_of(some[k], turn);
        }
    }

    // Adds counts of two digits. Each reader handles every `readers`-th block.
    HR_MEMBER void add_up(const u32* counts, u32 turn) {
        const u32 word = threadIdx.x % count_words, reader = threadIdx.x / count_words;
        u32 total[2] = {}, before[2] = {};
#pragma unroll 1
        for (u32 first = reader; first < gridDim.x; first += readers * at_once) {
            u32 some[at_once];
            load(some, counts + u64{first} * count_words + word, gridDim.x - first, turn);
#pragma unroll
            for (u32 k = 0; k < at_once; ++k) {
                const u32 low = PackedCounts::low(some[k]), high = PackedCounts::high(some[k]);
                total[0] += low;
                total[1] += high;
                if (first + k * readers >= blockIdx.x) continue;
                before[0] += low;
                before[1] += high;
            }
        }
#pragma unroll
        for (u32 i = 0; i < 2; ++i) {
            atomicAdd(&sums_.total[2 * word + i], total[i]);
            atomicAdd(&sums_.before[2 * word + i], before[i]);
        }
    }

    u32* memory_;
    GridBarrier& barrier_;
    Sums& sums_;
};

}  // namespace headrace
