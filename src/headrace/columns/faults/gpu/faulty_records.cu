// Finds the records of listed faults, in their order. The conversion lists faults in no order, and there may be several
// of one record. So each fault marks its record in a bitmap. A record's rank is the number of marked records before it.
// | faults of records  7, 2, 7, 5
// | marks              ..1..1.1       ranks 0, 1, 2
// | records            2, 5, 7
//
// Bytes moved: 24 of each fault twice, 16 for each record with faults, 4 bits for each record of the text.
#include "columns/convert/gpu/convert_task.hpp"
#include "columns/faults/gpu/faulty_records.hpp"
#include "gpu/block/block.cuh"
#include "gpu/block/memory_access.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u64 far_begin = u64{1} << 62;

// Adds kinds of faults that the summary does not have yet. Most blocks have the same ones.
HR_FN void add_kinds(u32& kinds, u32 found) {
    if ((found & ~tile::load_relaxed(&kinds)) != 0) atomicOr(&kinds, found);
}

// Returns the number of listed faults; `counted` of all. The list has room for `capacity`.
HR_FN u64 listed_of(u64 capacity, const u64* counted) { return min(capacity, *counted); }

// Marks the records of all faults, and those with faults of their own, in bitmaps of zeros. Summarizes the faults.
extern "C" __global__ void __launch_bounds__(threads)
    mark_records(const FieldFault* faults, u64 capacity, const u64* counted, u32* marks, u32* record_marks,
                 FaultSummary* summary) {
    const u64 number = u64{blockIdx.x} * threads + threadIdx.x;
    const bool is_listed = number < listed_of(capacity, counted);
    u32 record_kinds = 0, field_kinds = 0;
    bool is_new = false;
    if (is_listed) {
        const u64 record = faults[number].record;
        const u32 bit = 1u << (record % 32), kind = 1u << (faults[number].kind % 32);
        const bool is_own = faults[number].column == NO_FIELD;
        atomicOr(&marks[record / 32], bit);
        if (is_own) is_new = (atomicOr(&record_marks[record / 32], bit) & bit) == 0;
        (is_own ? record_kinds : field_kinds) = kind;
    }
    const u32 of_records = __reduce_or_sync(tile::all_lanes, record_kinds);
    const u32 of_fields = __reduce_or_sync(tile::all_lanes, field_kinds);
    if (tile::lane() == 0) add_kinds(summary->record_kinds, of_records);
    if (tile::lane() == 0) add_kinds(summary->field_kinds, of_fields);
    __shared__ u32 totals[threads / tile::lanes];
    const u32 counts = (field_kinds != 0 ? 1 : 0) | (is_new ? 1u << 16 : 0);
    const u32 all = tile::reduce_block<Sum<u32>, threads>(counts, totals);
    if (threadIdx.x != 0) return;
    if ((all & 0xFFFF) != 0) atomicAdd(&summary->of_fields, u64{all & 0xFFFF});
    if (all >> 16 != 0) atomicAdd(&summary->own, u64{all >> 16});
}

// Writes the number of marks of each word. A scan then gives the rank of each word's first mark.
extern "C" __global__ void __launch_bounds__(threads) count_marks(const u32* marks, u64 words, u64* ranks) {
    const u64 word = u64{blockIdx.x} * threads + threadIdx.x;
    if (word < words) ranks[word] = static_cast<u64>(__popc(marks[word]));
}

// Writes the first byte and the index of each marked record, by rank. Both have `capacity` items. Those after the last
// record begin far after the text, so no kernel takes them for records.
extern "C" __global__ void __launch_bounds__(threads)
    list_records(const FieldFault* faults, u64 capacity, const u64* counted, const u32* marks, const u64* ranks,
                 const FaultSummary* summary, u64* begins, u64* records) {
    const u64 number = u64{blockIdx.x} * threads + threadIdx.x;
    if (number >= capacity) return;
    if (number < listed_of(capacity, counted)) {
        const u64 record = faults[number].record;
        const u32 before = marks[record / 32] & ((1u << (record % 32)) - 1);
        const u64 rank = ranks[record / 32] + static_cast<u64>(__popc(before));
        // Several faults of one record store the same values.
        tile::store_relaxed(&begins[rank], faults[number].record_begin);
        tile::store_relaxed(&records[rank], record);
    }
    if (number < summary->records) return;
    begins[number] = far_begin;
    records[number] = far_begin;
}
