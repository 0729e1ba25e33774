// Decides between LSD and MSD by estimated costs, and writes the passes of a plan.
#pragma once
#include "arrange/sort/gpu/common/device_plan.cuh"
#include "arrange/sort/gpu/common/digit.cuh"

namespace headrace {

// Passes of an MSD sort by splitters or by estimated ranks. The shares of a range are narrower by 255 at least, so a
// range of all codes takes one pass more than a key has digits. Ranks take two passes before. The number is even, so
// that the first pass does not write where it reads.
constexpr u32 range_passes = sizeof(Key) == 8 ? (key_digits + 3) / 2 * 2 : (key_digits + 5) / 2 * 2;
static_assert(range_passes <= max_passes);

// Costs of a key without values in picoseconds, measured on an H200 with 2^27 to 2^29 keys (docs/decisions/0023).
//
// | prefixes, digits, again  count its 16-bit prefix, all its digits, or one digit in its bucket
// | pass                     an LSD pass
// | scatter                  an MSD pass; twice that for keys alone if buckets are small or digits skewed
// | local                    the local sort of its bucket, if one pass is enough
// | extract, copy            count it as heavy hitter and write it at the end; copy it
//
// The kernel that counts all digits has become faster since (1.0 and 2.3), but the thresholds were chosen with these
// values.
struct Costs {
    float prefixes, digits, again, pass, scatter, local, extract, copy;
};
constexpr Costs costs = sizeof(Key) == 4 ? Costs{1.1f, 1.8f, 1.2f, 3.7f, 2.8f, 3.5f, 2.5f, 1.9f}
                                         : Costs{2.0f, 3.9f, 2.0f, 5.8f, 5.3f, 5.5f, 5.0f, 3.8f};

HR_FN float moved_with(const PlanInputs& task) { return 1 + static_cast<float>(task.value_bytes) / sizeof(Key); }
HR_FN float lsd_cost(const PlanInputs& task, u32 differing) {
    return costs.pass * moved_with(task) * static_cast<float>(differing);
}
// Returns the extra cost of unevenly spread keys. A bucket takes one local pass if the rest of its keys is spread
// evenly. Otherwise it is sorted digit by digit, which takes as long with values. `crowding`: how many times more pairs
// of keys share their third digit than with an even spread. It is 1 for uniform words and most floats, and 6 for two
// words ANDed, which took 5 more passes.
HR_FN float cost_of_crowding(float crowding) {
    const float more = (crowding < 6 ? crowding : 6) - 1;
    return more < 0 ? 0 : costs.local * more;
}
// Estimates the cost of MSD. `splits`: mean number of splits of a key after its first digit. Prefix counts save one
// count.
HR_FN float msd_cost(const PlanInputs& task, float splits, bool has_prefixes, float crowding) {
    const float second = splits < 1 ? splits : 1, later = splits - second;
    const float counting = costs.again * (has_prefixes ? later : splits);
    const float of_later = task.value_bytes == 0 ? 2 : 1.3f;  // times the cost of a scatter
    const float moving = costs.scatter * (1 + second + of_later * later) + costs.local;
    return moved_with(task) * moving + cost_of_crowding(crowding) + counting;
}
// MSD must be cheaper by a seventh: its estimate assumes that buckets divide as the preceding digits did.
HR_FN bool is_cheaper(float msd, float lsd) { return msd < 0.85f * lsd; }

// Returns whether a typical value has too many keys for MSD. `equal`: pairs of equal keys of a sample, among `pairs`.
// Their share estimates how many of `count` keys have a key's value. With values, bin_sort.cuh sorts about 16 equal
// keys in one pass. Keys alone of 8 bytes may fill half of a leaf bucket. Those of 4 bytes have half as many LSD
// passes, and additions to one counter serialise.
HR_FN bool are_repeated(u32 equal, float pairs, u64 count, const PlanInputs& task) {
    const float of_leaf = static_cast<float>(task.max_leaf_keys) / (sizeof(Key) == 4 ? 32 : 2);
    const float few = task.value_bytes == 0 ? of_leaf : 16;
    return equal > 1 && static_cast<float>(equal) * static_cast<float>(count) > few * pairs;
}
static __device__ constexpr float pairs_among(float some) { return 0.5f * some * some; }

// Estimates the cost if only a share of the keys remains and heavy hitters are extracted. Heavy keys alone are
// counted, and written at the end. Heavy pairs move twice: once as in a pass, once as a copy.
HR_FN float heavy_cost(const PlanInputs& task, float light, u32 differing) {
    const float extract =
        task.value_bytes == 0 ? costs.extract : costs.prefixes + moved_with(task) * (costs.pass + costs.copy);
    return extract + light * (costs.digits + lsd_cost(task, differing));
}

// Writes a pass for each digit that differs between keys. In place, their number must be even: then a pass by a digit
// that all keys share copies the data. Keys that remain after extraction also end in the buffer where they began.
HR_FN void write_passes(DevicePlan& plan, u32 differ, const PlanInputs& task, SortMethod method) {
    const u32 own = static_cast<u32>(__popc(differ)), others = ~differ & ((1u << key_digits) - 1);
    const bool is_remainder = plan.heavy != 0;  // read once, since passes are written to the same memory
    const bool is_even = task.in_place != 0 || is_remainder;
    const bool copies = is_even && own % 2 != 0 && others != 0;
    const u32 steps = own + (copies ? 1 : 0);
    u32 s = 0;
    const auto add = [&](u32 digit) {
        const bool to_last = (steps - 1 - s) % 2 == 0;
        const BufferRole to = to_last != is_remainder ? BufferRole::target : BufferRole::between;
        const BufferRole other = to == BufferRole::target ? BufferRole::between : BufferRole::target;
        const BufferRole from = s == 0 && !is_remainder ? BufferRole::source : other;
        plan.step[s++] = {digit, from, to, 0};
    };
    for (u32 d = 0; d < key_digits; ++d) {
        const u32 digit = method == SortMethod::msd ? key_digits - 1 - d : d;
        if ((differ >> digit & 1) != 0) add(digit);
    }
    if (copies) add(static_cast<u32>(trailing_zeros(others)));
    plan.method = method;
    plan.steps = steps;
}

// Writes the passes of an MSD sort that does not go by digits. Counts of the first are those of the highest digit, or
// begin the table if they are of the highest bits.
HR_FN void write_range_passes(DevicePlan& plan, Division division) {
    const u32 digit = division == Division::top_bits ? 0 : key_digits - 1;
    for (u32 s = 0; s < range_passes; ++s) {
        const BufferRole even = s == 0 ? BufferRole::source : BufferRole::target;
        plan.step[s] = s % 2 == 0 ? PassStep{digit, even, BufferRole::between, 0}
                                  : PassStep{digit, BufferRole::between, BufferRole::target, 0};
    }
    plan.division = division;
    plan.method = SortMethod::msd;
    plan.steps = range_passes;
}

}  // namespace headrace
