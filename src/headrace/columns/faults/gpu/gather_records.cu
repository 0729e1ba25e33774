// Gathers the texts of some records, so that the host fetches them with one copy.
//
// size_records finds their ends: one thread per record runs the dialect's automaton from its first byte. Records with
// listed faults are few and short, so this costs less than to store the end of every record in the conversion. A byte
// costs a lookup that depends on the one before, about 60 clock cycles. Texts that the automaton has read have roles:
// there, size_records_by_roles looks for the next record end. gather_records copies.
//
// Bytes moved: the records, twice in and once out.
#include "gpu/block/warp.cuh"
#include "structure/gpu/dfa_rows.cuh"

using namespace headrace;
using namespace headrace::structure;

constexpr u32 threads = HR_THREADS;
constexpr u32 record_lanes = 8;  // threads that copy a record; most have fewer than 100 bytes

// The records to size. Those that begin after the text are none.
struct SizedRecords {
    const u64* begins;
    u64 count;
    u64* sizes;
    u64* ungathered;  // receives the number of records without size
};

// Writes the bytes of each record, with its line end, to sizes[i]; 0 if it has no line end or is too long.
template <u32 states>
HR_FN void size_records(const u8* text, u64 size, u64 max_bytes, const DfaTables<states>* tables,
                        const SizedRecords& records) {
    const u64 number = u64{blockIdx.x} * threads + threadIdx.x;
    if (number >= records.count) return;
    const u64 begin = records.begins[number], limit = min(size, begin + max_bytes);
    u32 step = step_to<states>(0);
    u64 at = begin;
    for (; at < limit; ++at) {
        step = tables->steps[tables->group_of[text[at]]][state_of<states>(step)];
        if ((step & STEP_DROP) == STEP_RECORD) break;
    }
    records.sizes[number] = at < limit ? at + 1 - begin : 0;
    if (at >= limit && begin < size) atomicAdd(records.ungathered, u64{1});
}

// A kernel for automata of at most `states` states.
#define HR_SIZE_RECORDS(states)                                                                         \
    extern "C" __global__ void __launch_bounds__(threads)                                               \
        size_records_##states(const u8* text, u64 size, u64 max_bytes, const DfaTables<states>* tables, \
                              const u64* begins, u64 count, u64* sizes, u64* ungathered) {              \
        size_records(text, size, max_bytes, tables, SizedRecords{begins, count, sizes, ungathered});    \
    }

HR_SIZE_RECORDS(8)
HR_SIZE_RECORDS(16)
HR_SIZE_RECORDS(64)

// Does the same for a text that the automaton has read. `roles`: of each 32 bytes, from a 16-byte boundary on.
extern "C" __global__ void __launch_bounds__(threads)
    size_records_by_roles(const u8* text, u64 size, u64 max_bytes, const DfaRoles* roles, const u64* begins, u64 count,
                          u64* sizes, u64* ungathered) {
    const u64 number = u64{blockIdx.x} * threads + threadIdx.x;
    if (number >= count) return;
    const u64 skew = reinterpret_cast<u64>(text) & 15, begin = begins[number];
    const u64 limit = min(size, begin + max_bytes) + skew;
    u64 word = (begin + skew) / 32;
    u32 ends = begin < size ? roles[word].record_ends() & ~0u << ((begin + skew) % 32) : 0;
    while (ends == 0 && ++word * 32 < limit) ends = roles[word].record_ends();
    const u64 end = ends == 0 ? limit : word * 32 + static_cast<u32>(__ffs(static_cast<i32>(ends))) - 1;
    sizes[number] = end < limit ? end + 1 - begin - skew : 0;
    if (end >= limit && begin < size) atomicAdd(ungathered, u64{1});
}

// Copies record i from text[begins[i]] to out[offsets[i] - offsets[0]], up to where the next one begins.
extern "C" __global__ void __launch_bounds__(threads)
    gather_records(const u8* text, const u64* begins, const u64* offsets, u64 count, u8* out) {
    const u64 number = (u64{blockIdx.x} * threads + threadIdx.x) / record_lanes;
    if (number >= count) return;
    const u8* const from = text + begins[number];
    const u64 size = offsets[number + 1] - offsets[number];
    u8* const to = out + (offsets[number] - offsets[0]);
#pragma unroll 4
    for (u64 i = threadIdx.x % record_lanes; i < size; i += record_lanes) to[i] = from[i];
}
