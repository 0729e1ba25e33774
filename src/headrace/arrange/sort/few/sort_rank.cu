// Few keys, each compared with all others: how many are lower, or equal and before it, is where it goes. Every block
// ranks its own few keys against all, which it reads from the second cache: no block waits for another, nothing is
// scanned, and the order of equal keys stays. Only what is sorted in place needs a meeting, before anything is written.
//
// n = 4096: 16.8 M comparisons of two instructions, one of each kind of pipe, over all multiprocessors: 1 to 2 us.
// Bytes moved: n w a block from the second cache, 2 (w + v) an item beyond.
#include "arrange/sort/few/meeting.cuh"
#include "arrange/sort/moved_item.cuh"
#include "arrange/sort/sort_key.hpp"
#include "core/tile/rows.cuh"

using namespace headrace;

using Key = HR_KEY;
constexpr bool with_equals = HR_EQUALS != 0;
constexpr u32 threads = HR_THREADS;
constexpr u32 own = HR_OWN;  // keys of a lane, the same in all warps
constexpr u32 lanes = tile::lanes;
constexpr u32 warps = threads / lanes;
constexpr u32 block_keys = own * lanes;

using Code = Either<sizeof(Key) == 8, u64, u32>;  // what is compared

constexpr u32 per = tile::per_vector<Code>;
constexpr u32 groups_at_once = 4;  // of a key a lane
constexpr u32 held = groups_at_once * lanes;
static_assert(block_keys <= threads && block_keys * 4 <= held * sizeof(Code));

struct Ranks {
    Code code[own];
    u32 row[own];
    float below[own];  // counted as floats, by another pipe than compares
};

// One more where `other` is below, or where it is at most `code`: a predicate and an addition, of which the compiler
// would make three instructions.
template <bool upto, class Word>
static __device__ __forceinline__ void count_one(float& below, Word other, Word code) {
#if defined(__CUDACC__)
#define HR_COUNT(compare, kind)                                                                       \
    asm("{ .reg .pred counts; setp." compare " counts, %1, %2; @counts add.f32 %0, %0, 0f3F800000; }" \
        : "+f"(below)                                                                                 \
        : kind(other), kind(code))
    if constexpr (sizeof(Word) == 8 && upto) HR_COUNT("le.u64", "l");
    if constexpr (sizeof(Word) == 8 && !upto) HR_COUNT("lt.u64", "l");
    if constexpr (sizeof(Word) == 4 && upto) HR_COUNT("le.u32", "r");
    if constexpr (sizeof(Word) == 4 && !upto) HR_COUNT("lt.u32", "r");
#undef HR_COUNT
#else
    below += (upto ? other <= code : other < code) ? 1.0f : 0.0f;
#endif
}

// Calls count(o, other, i) for own key o and each of 32 others, of which `other` is number i.
template <class Count>
static __device__ __forceinline__ void for_each_of_group(const Code* others, const Count& count) {
    const auto* const vectors = reinterpret_cast<const tile::Vector<Code>*>(others);
#pragma unroll
    for (u32 v = 0; v < lanes / per; ++v) {
        const tile::Vector<Code> some = vectors[v];
#pragma unroll
        for (u32 k = 0; k < per; ++k) {
#pragma unroll
            for (u32 o = 0; o < own; ++o) count(o, some.item[k], v * per + k);
        }
    }
}

// All others before a block's own keys, or all behind.
template <bool upto>
static __device__ __forceinline__ void count_group(Ranks& ranks, const Code* others) {
    for_each_of_group(others, [&](u32 o, Code other, u32) { count_one<upto>(ranks.below[o], other, ranks.code[o]); });
}

// Others among which own keys are: the first of them is key `row`.
static __device__ __forceinline__ void count_among(Ranks& ranks, const Code* others, u32 row) {
    for_each_of_group(others, [&](u32 o, Code other, u32 i) {
        const bool is_before = row + i < ranks.row[o];
        if (other < ranks.code[o] || (is_before && other == ranks.code[o])) ranks.below[o] += 1.0f;
    });
}

struct Given {
    const Key* keys;
    u32 count;
    const KeyRule<Key>& rule;

    __device__ __forceinline__ Code code(u32 at) const {
        const Key key = keys[at];
        return with_equals ? rule.equal_code(key) : rule.code(key);
    }
    // Groups from number `first` on; what is not there is above all, and behind them.
    __device__ __forceinline__ void load(Code (&some)[groups_at_once], u32 first) const {
#pragma unroll
        for (u32 j = 0; j < groups_at_once; ++j) {
            const u32 at = (first + j) * lanes + tile::lane();
            some[j] = ~Code{0};
            if (at < count) some[j] = code(at);
        }
    }
};

// Against the keys of a warp's groups, `first` up to before `last`; `others` is the warp's.
static __device__ __forceinline__ void count_groups(Ranks& ranks, const Given& given, u32 first, u32 last,
                                                    Code* others) {
    const u32 own_first = blockIdx.x * own;
    Code ahead[groups_at_once];
    given.load(ahead, first);
#pragma unroll 1
    for (; first < last; first += groups_at_once) {
#pragma unroll
        for (u32 j = 0; j < groups_at_once; ++j) others[j * lanes + tile::lane()] = ahead[j];
        __syncwarp();
        given.load(ahead, first + groups_at_once);
        const u32 some = last - first < groups_at_once ? last - first : groups_at_once;
#pragma unroll 1
        for (u32 j = 0; j < some; ++j) {
            const u32 group = first + j;
            if (group < own_first) {
                count_group<true>(ranks, others + j * lanes);
            } else if (group >= own_first + own) {
                count_group<false>(ranks, others + j * lanes);
            } else {
                count_among(ranks, others + j * lanes, group * lanes);
            }
        }
        __syncwarp();
    }
}

extern "C" __global__ void __launch_bounds__(threads, 1)
    sort_rank(u32 count, KeyRule<Key> rule, Arrays arrays, u32 writes_keys, tile::Counters* counters) {
    __shared__ tile::Vector<Code> room[warps][held / per];
    const Given given = {static_cast<const Key*>(arrays.keys.source), count, rule};
    const u32 warp = tile::warp(), row = blockIdx.x * block_keys + threadIdx.x;
    const bool has_row = threadIdx.x < block_keys && row < count;
    Ranks ranks = {};
#pragma unroll
    for (u32 o = 0; o < own; ++o) {
        ranks.row[o] = blockIdx.x * block_keys + o * lanes + tile::lane();
        if (ranks.row[o] < count) ranks.code[o] = given.code(ranks.row[o]);
    }
    Key key = {};
    uint4 item = {};
    if (has_row && writes_keys != 0) key = given.keys[row];
    if (has_row && arrays.columns != 0) item = item_of(arrays.column[0], row);

    const u32 groups = (count + lanes - 1) / lanes, share = (groups + warps - 1) / warps;
    const u32 first = warp * share, last = first + share < groups ? first + share : groups;
    count_groups(ranks, given, first, last, room[warp]->item);
    u32* const counted = reinterpret_cast<u32*>(room);
    constexpr u32 stride = held * sizeof(Code) / 4;
#pragma unroll
    for (u32 o = 0; o < own; ++o) counted[warp * stride + o * lanes + tile::lane()] = static_cast<u32>(ranks.below[o]);
    __syncthreads();
    u32 at = 0;
#pragma unroll
    for (u32 w = 0; w < warps && threadIdx.x < block_keys; ++w) at += counted[w * stride + threadIdx.x];

    Blocks blocks(counters);
    bool has_met = writes_keys != 0 && in_place(arrays.keys);
    has_met |= arrays.columns != 0 && in_place(arrays.column[0]);
    if (has_met) blocks.meet();
    if (has_row && writes_keys != 0) static_cast<Key*>(arrays.keys.target)[at] = key;
#pragma unroll 1
    for (u32 c = 0; c < arrays.columns; ++c) {
        if (c != 0) {
            if (has_row) item = item_of(arrays.column[c], row);
            if (in_place(arrays.column[c])) blocks.meet();
            has_met |= in_place(arrays.column[c]);
        }
        if (has_row) put_item(arrays.column[c], at, item);
    }
    if (has_met) blocks.end();
}
