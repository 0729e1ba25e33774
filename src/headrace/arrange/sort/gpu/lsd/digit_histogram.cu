// Counts all digits of all keys and checks the order of neighbours in one pass over the data (Adinets and Merrill 2022,
// "Onesweep", section 4.1). Then one block chooses the plan (choose_plan.cuh). Counters are in shared memory, with
// replicas against contention, as in arrange/histogram/count.cuh.
//
// Of some sorts, the highest bits are counted too, one more than a digit has. MSD takes one pass by them if each of
// its buckets is a leaf bucket.
//
// Bytes moved per key of width w: w.
#include "arrange/sort/gpu/lsd/choose_plan.cuh"
#include "arrange/sort/gpu/lsd/order_check.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

constexpr u32 counters = key_digits * digits;
// At most 128 bytes of counters a thread, and at most one replica a lane, so that each lane adds in its own bank. A
// power of two, so that the replica is a bit field of the address.
constexpr u32 fitting = threads * 32 / counters;
constexpr u32 replicas = fitting >= 32   ? 32
                         : fitting >= 16 ? 16
                         : fitting >= 8  ? 8
                         : fitting >= 4  ? 4
                         : fitting >= 2  ? 2
                                         : 1;
static_assert(threads >= digits);

// Addresses are in bytes, so that a counter's address is a shift and an OR with the replica's.
HR_FN void count_key(Key code, u32* shared, u32 replica) {
    u8* const all = reinterpret_cast<u8*>(shared);
#pragma unroll
    for (u32 d = 0; d < key_digits; ++d) {
        const u32 value = static_cast<u32>(code >> d * bits) & (digits - 1);
        const u32 at = value * replicas * 4 | replica;
        atomicAdd(reinterpret_cast<u32*>(all + d * digits * replicas * 4 + at), 1u);
    }
}

template <bool whole>
HR_FN void count_tile(const Codes& codes, u64 left, u32* shared, u32 replica) {
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
#pragma unroll
        for (u32 k = 0; k < per; ++k) {
            if (whole || tile::row_begin<Key, rows>(row) + k < left)
                count_key(codes.some.row[row].item[k], shared, replica);
        }
    }
}

constexpr bool can_have_top_bits = !with_equals && sizeof(Key) >= 4;
constexpr u32 top_bits = bits + 1, top_values = 2 * digits;
constexpr u32 top_shift = can_have_top_bits ? key_bits - top_bits : 0;
constexpr u32 top_replicas = threads >= 4 * digits ? 4 : 1;

// Counts the highest bits of a tile's keys.
HR_FN void count_top_bits(const Codes& codes, u64 left, u32* counts) {
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
#pragma unroll
        for (u32 k = 0; k < per; ++k) {
            if (tile::row_begin<Key, rows>(row) + k < left)
                atomicAdd(&counts[static_cast<u32>(codes.some.row[row].item[k] >> top_shift)], 1u);
        }
    }
}

// `totals`: counts for each digit and value, added to. `disorder`: order of all neighbours. `remainder`: the keys to
// count if heavy hitters are extracted. `top_counts`: of the highest bits, added to; null: not counted. It does nothing
// if the plan is already made.
extern "C" __global__ void __launch_bounds__(threads)
    count_digits(const Key* keys, u64 count, KeyRule<Key> rule, u32 equal_rises, u64* totals, Disorder* disorder,
                 const Key* remainder, u64* top_counts, const DevicePlan* plan) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(u32, shared);
    if (plan->method != SortMethod::undecided) return;
    if (plan->heavy != 0) {
        keys = remainder;
        count = plan->remainder;
    }
    __shared__ u32 of_top[can_have_top_bits ? top_replicas * top_values : 1];
    const bool has_top = can_have_top_bits && top_counts != nullptr;
    for (u32 i = threadIdx.x; i < counters * replicas; i += threads) shared[i] = 0;
    if (has_top) {
        for (u32 i = threadIdx.x; i < top_replicas * top_values; i += threads) of_top[i] = 0;
    }
    __syncthreads();
    const Input input(keys, count, rule);
    const u32 replica = threadIdx.x % replicas * 4;
    Disorder found = {};
    bool is_complete = false;
    for (u64 at = blockIdx.x * u64{tile_keys}; at < count; at += gridDim.x * u64{tile_keys}) {
        Codes codes;
        codes.load(input, at);
        if (!is_complete) {
            codes.compare_neighbours(input, at, found, equal_rises != 0);
            is_complete = has_both(found);
        }
        if (count - at >= tile_keys) {
            count_tile<true>(codes, tile_keys, shared, replica);
        } else {
            count_tile<false>(codes, count - at, shared, replica);
        }
        if constexpr (can_have_top_bits) {
            if (has_top) count_top_bits(codes, count - at, &of_top[tile::warp() % top_replicas * top_values]);
        }
    }
    merge_disorder(found, disorder);
    __syncthreads();
    // blocks begin at different counters, so few add to the same one
    for (u32 k = threadIdx.x; k < counters; k += threads) {
        const u32 i = (k + blockIdx.x * threads) % counters;
        u32 sum = 0;
#pragma unroll
        for (u32 r = 0; r < replicas; ++r) sum += shared[i * replicas + (r + i) % replicas];
        if (sum != 0) atomicAdd(&totals[i], static_cast<u64>(sum));
    }
    if (has_top) {
        for (u32 i = threadIdx.x; i < top_values; i += threads) {
            u32 sum = 0;
            for (u32 r = 0; r < top_replicas; ++r) sum += of_top[r * top_values + i];
            if (sum != 0) atomicAdd(&top_counts[i], static_cast<u64>(sum));
        }
    }
}

// Whether one pass by the highest bits leaves leaf buckets alone. All threads call it.
HR_FN bool leaves_leaf_buckets(const u64* top_counts, const PlanInputs& task) {
    bool is_large = false;
    for (u32 i = threadIdx.x; i < top_values; i += plan_threads) is_large |= top_counts[i] > task.max_leaf_keys;
    return __syncthreads_or(is_large) == 0;
}

// `totals`, `starts`: a table for each digit and value. It does nothing if the plan is already made.
extern "C" __global__ void __launch_bounds__(plan_threads)
    choose_plan(const u64* totals, const Disorder* disorder, PlanInputs task, u64* starts, const u64* top_counts,
                DevicePlan* plan) {
    tile::wait_for_launch_before();
    __shared__ PlanShared shared;
    u64 count[each];  // these loads and the next ones are all in flight before the first wait
    load_counts(tile::warp(), totals, count);
    const Disorder found = {load_now(disorder->falls), load_now(disorder->rises)};
    const SortMethod decided = load_now(plan->method);
    const u32 heavy = load_now(plan->heavy), remainder = load_now(plan->remainder);
    const bool is_msd_dear = (load_now(plan->repeats) | load_now(plan->is_skewed)) != 0;
    if (decided != SortMethod::undecided) return;
    if (heavy != 0) task.count = remainder;
    if (threadIdx.x == 0) shared.alike = 0;
    __syncthreads();
    for (u32 digit = tile::warp(); digit < key_digits; digit += plan_warps) {
        if (digit >= plan_warps) load_counts(digit, totals, count);
        start_digit(digit, task.count, count, starts, shared);
    }
    __syncthreads();
    const u32 differ = ~shared.alike & ((1u << key_digits) - 1), differing = static_cast<u32>(__popc(differ));
    if (threadIdx.x == 0) {
        for (u32 left = differ, i = 0; left != 0 && i < 3; ++i) {
            shared.highest[i] = 31 - static_cast<u32>(__clz(static_cast<int>(left)));
            left &= ~(1u << shared.highest[i]);
        }
    }
    __syncthreads();
    SortMethod method = SortMethod::lsd;
    const bool has_top = can_have_top_bits && top_counts != nullptr;
    const bool by_top = has_top && differing > 2 && leaves_leaf_buckets(top_counts, task);
    const bool may_be_cheaper = task.msd_use == MsdUse::if_cheaper || task.msd_use == MsdUse::if_one_pass;
    const bool may_go = may_be_cheaper && !is_msd_dear && !has_top;
    if (by_top || task.msd_use == MsdUse::always || (may_go && msd_is_cheaper(task, shared, differing)))
        method = SortMethod::msd;
    const bool may_be_copied = heavy == 0;  // the remaining keys are not in the target buffer
    if (may_be_copied && found.falls == 0)
        method = SortMethod::copy;
    else if (may_be_copied && found.rises == 0)
        method = SortMethod::reverse;
    if (threadIdx.x != 0) return;
    if (by_top && method == SortMethod::msd) {
        write_range_passes(*plan, Division::top_bits);
    } else {
        write_passes(*plan, differ, task, method);
    }
}
