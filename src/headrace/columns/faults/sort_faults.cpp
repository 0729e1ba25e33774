// Sorts listed faults in parallel: by ranges of records first, then each range. Faults of a usual text are spread over
// its records, so ranges have few faults.
#include "columns/faults/sort_faults.hpp"

#include <algorithm>
#include <mutex>
#include <tuple>
#include <vector>

#include "core/cpu/threads/thread_pool.hpp"

namespace headrace {
namespace {

constexpr usize PIECE_FAULTS = 8192, RANGE_FAULTS = 64, MAX_RANGES = usize{1} << 14;

ListedKinds kinds_of(std::span<const FieldFault> sorted, usize from, usize to) {
    ListedKinds kinds;
    for (usize i = from; i < to; ++i) {
        const FieldFault& fault = sorted[i];
        const bool of_field = fault.column != NO_FIELD;
        (of_field ? kinds.of_fields : kinds.of_records) |= u32{1} << fault.kind % 32;
        kinds.has_repeats |= !of_field && i != 0 && sorted[i - 1].record == fault.record;
    }
    return kinds;
}

}  // namespace

ListedKinds sort_faults(std::span<const FieldFault> faults, std::span<FieldFault> sorted, const FaultRanks& ranks,
                        u64 records, unsigned threads) {
    const auto key = [&](const FieldFault& fault) {
        const bool of_field = fault.column != NO_FIELD;
        const u64 column = of_field ? u64{fault.column} + 1 : 0, rank = of_field ? 0 : ranks[fault.kind & 0xFF];
        return std::tuple(column, rank, fault.at, fault.kind);
    };
    const auto is_before = [&](const FieldFault& a, const FieldFault& b) {
        return a.record != b.record ? a.record < b.record : key(a) < key(b);
    };
    const usize ranges = std::clamp<usize>(faults.size() / RANGE_FAULTS, 1, MAX_RANGES);
    const u64 range_records = records / ranges + 1;
    const usize pieces = std::max<usize>(1, std::min<usize>(faults.size() / PIECE_FAULTS, 4 * usize{threads}));
    const auto piece = [&](usize i) {
        const usize from = faults.size() * i / pieces;
        return faults.subspan(from, faults.size() * (i + 1) / pieces - from);
    };
    const auto range_of = [&](const FieldFault& fault) {
        return std::min<usize>(fault.record / range_records, ranges - 1);
    };
    // For each piece and range: the number of faults, then the place of the next one.
    std::vector<usize> places(pieces * ranges);
    run_each(pieces, threads, [&](usize i) {
        for (const FieldFault& fault : piece(i)) ++places[i * ranges + range_of(fault)];
    });
    std::vector<usize> begins(ranges + 1);
    usize total = 0;
    for (usize range = 0; range < ranges; ++range) {
        begins[range] = total;
        for (usize i = 0; i < pieces; ++i) {
            const usize count = places[i * ranges + range];
            places[i * ranges + range] = total;
            total += count;
        }
    }
    begins[ranges] = total;
    run_each(pieces, threads, [&](usize i) {
        for (const FieldFault& fault : piece(i)) sorted[places[i * ranges + range_of(fault)]++] = fault;
    });
    // Few ranges a turn would make threads wait for each other's counter.
    constexpr usize TURN_RANGES = 16;
    run_each((ranges + TURN_RANGES - 1) / TURN_RANGES, threads, [&](usize turn) {
        for (usize range = turn * TURN_RANGES; range < std::min(ranges, (turn + 1) * TURN_RANGES); ++range) {
            const std::span<FieldFault> part = sorted.subspan(begins[range], begins[range + 1] - begins[range]);
            std::sort(part.begin(), part.end(), is_before);
        }
    });
    ListedKinds kinds;
    std::mutex mutex;
    run_each(pieces, threads, [&](usize i) {
        const ListedKinds found = kinds_of(sorted, faults.size() * i / pieces, faults.size() * (i + 1) / pieces);
        const std::lock_guard lock(mutex);
        kinds.of_records |= found.of_records;
        kinds.of_fields |= found.of_fields;
        kinds.has_repeats |= found.has_repeats;
    });
    return kinds;
}

}  // namespace headrace
