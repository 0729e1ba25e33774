// Gathers the texts of some records, so that the host fetches them with one copy.
//
// size_records finds their ends: one thread per record runs the dialect's automaton from its first byte. Records with
// listed faults are few and short, so this costs less than to store the end of every record in the conversion. A byte
// costs a lookup that depends on the one before, about 60 clock cycles. gather_records copies: eight lanes per record.
//
// Bytes moved: the records, twice in and once out.
#include "gpu/block/warp.cuh"
#include "structure/gpu/dfa_rows.cuh"

using namespace headrace;
using namespace headrace::structure;

constexpr u32 threads = HR_THREADS;
constexpr u32 copy_lanes = 8;  // lanes that copy a record: most are short

// The records to size. Those that begin after the text are none.
struct SizedRecords {
    const u64* begins;
    u64 count;
    u64* sizes;
    u64* ungathered;  // receives the number of records without size
};

// Writes the bytes of each record, with its line end, to sizes[i]; 0 if it has no line end or is too long. `marks`: a
// bit for each lenient quote that opens no field (lenient_quotes.cu), or null.
template <u32 states>
HR_FN void size_records(const u8* text, u64 size, u64 max_bytes, const DfaTables<states>* tables, const u32* marks,
                        const SizedRecords& records) {
    const u64 number = u64{blockIdx.x} * threads + threadIdx.x;
    if (number >= records.count) return;
    const u64 begin = records.begins[number], limit = min(size, begin + max_bytes);
    const u64 skew = reinterpret_cast<u64>(text) & 15;  // marks count from a 16-byte boundary
    u32 step = step_to<states>(0);
    u64 at = begin;
    for (; at < limit; ++at) {
        u32 byte = text[at];
        if (marks != nullptr) {
            const bool is_marked = (marks[(at + skew) / 32] >> ((at + skew) % 32) & 1) != 0;
            byte = is_marked ? tables->spare : byte == tables->spare ? tables->other : byte;
        }
        step = tables->steps[tables->group_of[byte]][state_of<states>(step)];
        if ((step & STEP_DROP) == STEP_RECORD) break;
    }
    records.sizes[number] = at < limit ? at + 1 - begin : 0;
    if (at >= limit && begin < size) atomicAdd(records.ungathered, u64{1});
}

// A kernel for automata of at most `states` states.
#define HR_SIZE_RECORDS(states)                                                                              \
    extern "C" __global__ void __launch_bounds__(threads)                                                    \
        size_records_##states(const u8* text, u64 size, u64 max_bytes, const DfaTables<states>* tables,      \
                              const u32* marks, const u64* begins, u64 count, u64* sizes, u64* ungathered) { \
        size_records(text, size, max_bytes, tables, marks, SizedRecords{begins, count, sizes, ungathered});  \
    }

HR_SIZE_RECORDS(8)
HR_SIZE_RECORDS(16)
HR_SIZE_RECORDS(64)

// Copies record i from text[begins[i]] to out[offsets[i] - offsets[0]], up to where the next one begins.
extern "C" __global__ void __launch_bounds__(threads)
    gather_records(const u8* text, const u64* begins, const u64* offsets, u64 count, u8* out) {
    const u64 number = (u64{blockIdx.x} * threads + threadIdx.x) / copy_lanes;
    if (number >= count) return;
    const u8* const from = text + begins[number];
    const u64 size = offsets[number + 1] - offsets[number];
    u8* const to = out + (offsets[number] - offsets[0]);
    for (u64 i = threadIdx.x % copy_lanes; i < size; i += copy_lanes) to[i] = from[i];
}
