// Scatters the keys of each block to the sub-buckets of their digits, in no order within one, for keys alone. A
// block's keys are a tile of arrange/multisplit/gpu/reserve_tile.cuh; the next block's keys are loaded while these
// are written. (Stehle and Jacobsen 2017, section 4.4, without the counts of blocks: the addition that counts also
// ranks.)
//
// Bytes moved per key of width w: 2 w.
#pragma once
#include "arrange/sort/gpu/common/digit.cuh"
#include "arrange/sort/gpu/common/range_digit.cuh"
#include "arrange/sort/gpu/common/splitter_tree.cuh"
#include "arrange/sort/gpu/msd/buckets.hpp"
// After the digit that it uses.
#include "arrange/multisplit/gpu/reserve_tile.cuh"
#include "gpu/block/byte_masks.cuh"

namespace headrace {

static_assert(!with_equals);

// Extracts the digit of a key in its form in passes. A byte of a 4-byte key takes one instruction.
struct ScatterDigit {
    u32 shift, mask, byte;
    HR_MEMBER u32 operator()(Key key) const {
        if constexpr (bits == 8 && sizeof(Key) == 4) return tile::permute(static_cast<u32>(key), 0, byte);
        return static_cast<u32>(key >> shift) & mask;
    }
};

// Finds the digit of a key by splitters, in the first pass.
struct SplitterDigit {
    const SplitterTree* tree;
    HR_MEMBER u32 operator()(Key key) const { return tree->digit_of(key); }
};

template <class DigitOf>
struct Scatter {
    const Lists& lists;
    const KeyRule<Key>& rule;
    u32 number;
    const Key* in;
    Key* out;
    bool makes_codes, makes_keys;  // whether keys become codes, and codes become keys, if that changes them
    DigitBins<u32, DigitOf>& bins;
    Key* staging;  // shared memory of the bins
};

template <class DigitOf>
HR_FN void load_block(Key (&key)[items], const Scatter<DigitOf>& task, const KeyBlock& block) {
    const Key* const in = task.in + block.begin;
    if (block.count == tile_keys) {
        load_keys<true>(key, in, tile_keys);
    } else {
        load_keys<false>(key, in, block.count);
    }
}

// Scatters one loaded block, then loads `next`.
template <class DigitOf>
HR_FN void scatter_block(Key (&key)[items], const Scatter<DigitOf>& task, const DigitOf& digit_of,
                         const KeyBlock& block, const KeyBlock& next) {
    DigitBins<u32, DigitOf>& bins = task.bins;
    const Left left = bin_keys(key, block.count, digit_of, bins, task.staging);
    const bool are_left = __syncthreads_or((left.full | left.alike) != 0) != 0;
    if (!are_left) load_block(key, task, next);
    u32* const cursors = cursors_of(task.lists, task.number) + static_cast<u64>(block.bucket) * digits;
    const OutputRange<u32> run = reserve_runs(bins, [&](u32 d, u32 count) { return atomicAdd(&cursors[d], count); });
    const auto given = [&](Key code) { return task.makes_keys ? task.rule.key(code) : code; };
    if (!task.makes_keys) {
        write_bins<warp_digits>(task.staging, run, task.out, [](Key code) { return code; });
    } else {
        write_bins<1>(task.staging, run, task.out, given);
    }
    __syncthreads();
    if (are_left) {
        write_left(key, left, bins, task.out, given);
        load_block(key, task, next);
        __syncthreads();
    }
}

struct Scattering {
    const Lists& lists;
    const KeyRule<Key>& rule;
    const SortArrays& arrays;
    Key* staging;  // shared memory of the bins
};

// Scatters the blocks of pass `number`. `digit_of_bucket` returns the digit of a bucket's keys. In the first pass, keys
// become codes.
template <class DigitOf, class OfBucket>
HR_FN void scatter_by(const OfBucket& digit_of_bucket, const Scattering& given, u32 number, bool is_first,
                      void* memory) {
    const Lists& lists = given.lists;
    const KeyRule<Key>& rule = given.rule;
    const u32 blocks = lists.counts[number].blocks;
    const PassStep step = lists.plan->step[number];
    const bool changes = (rule.fold | rule.toggle | rule.plus) != 0;
    DigitBins<u32, DigitOf>& bins = *static_cast<DigitBins<u32, DigitOf>*>(memory);
    const Scatter<DigitOf> task{lists,
                                rule,
                                number,
                                static_cast<const Key*>(given.arrays.keys.from(step.from)),
                                static_cast<Key*>(given.arrays.keys.to(step.to)),
                                changes && is_first,
                                changes && number + 1 == lists.plan->steps,
                                bins,
                                given.staging};
    const KeyBlock* const all = blocks_of(lists, number);
    Key key[items] = {};
    KeyBlock block = all[blockIdx.x];
    DigitOf digit_of = digit_of_bucket(block.bucket);
    bins.begin(digit_of);
    load_block(key, task, block);
    __syncthreads();
    for (u32 i = blockIdx.x; i < blocks; i += gridDim.x) {
        const KeyBlock none = {};
        const KeyBlock next = i + gridDim.x < blocks ? all[i + gridDim.x] : none;
        if (task.makes_codes) {
#pragma unroll
            for (u32 j = 0; j < items; ++j) key[j] = rule.code(key[j]);
        }
        scatter_block(key, task, digit_of, block, next);
        if (next.bucket != block.bucket) {
            digit_of = digit_of_bucket(next.bucket);
            if (threadIdx.x == 0) bins.digit_of = digit_of;  // read after barriers of the next block
        }
        block = next;
    }
}

template <class Ranks>
HR_FN void scatter_by_ranks(const Scattering& given, u32 number, bool is_first, void* memory) {
    const RankDigit<Ranks> digit_of(given.lists.rank_map, number);
    scatter_by<RankDigit<Ranks>>([&](u32) { return digit_of; }, given, number, is_first, memory);
}

// Scatters keys of 8 bytes by splitters.
HR_FN void scatter_by_splitters(const Scattering& given, u32 number, bool is_first, void* memory) {
    __shared__ SplitterTree tree;
    tree.load(given.lists.splitters);
    __syncthreads();
    const SplitterDigit digit_of = {&tree};
    scatter_by<SplitterDigit>([&](u32) { return digit_of; }, given, number, is_first, memory);
}

// Runs pass `number` of the plan by digits or by the highest bits.
HR_FN void scatter_by_bits(const Scattering& given, u32 number, bool is_first, void* memory) {
    const DevicePlan& plan = *given.lists.plan;
    const u32 digit = plan.step[number].digit;
    const u32 shift = plan.division == Division::top_bits ? key_bits - bits : digit * bits;
    const ScatterDigit digit_of = {shift, digits - 1, 0x4440 | digit};
    scatter_by<ScatterDigit>([&](u32) { return digit_of; }, given, number, is_first, memory);
}

// Runs pass `number` of the plan: by splitters or estimated ranks and then by ranges, or by bits.
HR_FN void scatter_blocks(const Scattering& given, u32 number, bool is_first) {
    constexpr u32 bins_bytes = sizeof(DigitBins<u32, ScatterDigit>) + sizeof(RankDigit<CellRanks>);
    __shared__ uint4 bins[(bins_bytes + 15) / 16];
    const Lists& lists = given.lists;
    if (blockIdx.x >= lists.counts[number].blocks) return;
    if (!has_ranges(*lists.plan)) return scatter_by_bits(given, number, is_first, bins);
    if constexpr (can_have_splitters) {
        if (number == 0) return scatter_by_splitters(given, number, is_first, bins);
    } else if (number < 2) {
        if (lists.rank_map->cell_bits == 0) return scatter_by_ranks<EvenRanks>(given, number, is_first, bins);
        return scatter_by_ranks<CellRanks>(given, number, is_first, bins);
    }
    const Bucket* const buckets = buckets_of(lists, number);
    scatter_by<RangeDigit>([&](u32 bucket) { return RangeDigit(buckets[bucket].range); }, given, number, is_first,
                           bins);
}

}  // namespace headrace
