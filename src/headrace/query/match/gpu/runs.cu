// Finds the matches of automata such as [a-z]+: runs of bytes of one class. A lane looks up the bytes of its vectors in
// a table in shared memory, of which two words are in each bank. The bits of neighbouring vectors come by shuffles
// (query/find/gpu/rows.cuh).
//
// Example: [a-z]+ in "a bc.": the bits of the class are 1 0 1 1 0, of the first bytes 1 0 1 0 0, of the last ones
// 1 0 0 1 0.
//
// Bytes moved per byte of text: 1, and 1/4 for the marks.
#include "gpu/block/block.cuh"
#include "query/find/gpu/rows.cuh"
#include "query/match/gpu/match_task.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 class_words = 256 / 4;

using Part = WarpRows<rows>;

// Bit i: whether byte i of the vector is in the class.
HR_FN u32 class_bits(uint4 vector, const u8* has) {
    const u32 words[4] = {vector.x, vector.y, vector.z, vector.w};
    u32 bits = 0;
#pragma unroll
    for (u32 i = 0; i < 16; ++i) bits = __funnelshift_r(bits, has[words[i / 4] >> i % 4 * 8 & 0xFF], 1);
    return bits >> 16;
}

HR_FN u32 class_bit(const MatchTask& task, i64 at, const u8* has) {
    return at >= 0 && static_cast<u64>(at) < task.size ? has[task.text[at]] : 0;
}

// Clears the bits of bytes outside the text. Bit 0 is byte `at` of the text.
HR_FN u32 inside(u32 bits, i64 at, i64 size) {
    if (at < 0) bits &= at <= -16 ? 0 : ~0u << static_cast<u32>(-at);
    return size - at >= 16 ? bits : size <= at ? 0 : bits & low_mask(static_cast<u32>(size - at));
}

// Byte b of `class_bytes` is 1 if b is in the class, otherwise 0.
extern "C" __global__ void __launch_bounds__(threads)
    mark_runs(MatchTask task, const u32* class_bytes, MatchMarks marks) {
    __shared__ u32 class_table[class_words];
    __shared__ u32 begin_count, end_count;
    if (threadIdx.x == 0) begin_count = end_count = 0;
    for (u32 i = threadIdx.x; i < class_words; i += threads) class_table[i] = class_bytes[i];
    const u64 first = first_vector<rows, threads>();
    Part text;
    load_text<0>(text, task.text, task.size, first);
    __syncthreads();
    const u8* const has = reinterpret_cast<const u8*>(class_table);
    const i64 begin = static_cast<i64>(first * 16) - shift_of(task.text), size = static_cast<i64>(task.size);
    u32 bits[rows];
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        bits[row] = class_bits(text.row[row], has);
        if (begin < 0 || begin + Part::vectors * 16 > size)
            bits[row] = inside(bits[row], begin + (row * tile::lanes + tile::lane()) * 16, size);
    }
    // Lane 31 has the bit before the warp's part, lane 0 the one after it.
    const bool is_last = tile::lane() == tile::lanes - 1, is_first = tile::lane() == 0;
    const u32 before = is_last ? class_bit(task, begin - 1, has) << 15 : 0;
    const u32 after = is_first ? class_bit(task, begin + Part::vectors * 16, has) : 0;
    u32 begins_found = 0, ends_found = 0;
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        const u32 own = bits[row], above = row == 0 ? before : bits[row == 0 ? 0 : row - 1],
                  below = row + 1 == rows ? after : bits[row + 1 == rows ? 0 : row + 1];
        const u32 left = tile::shuffle(is_last ? above : own, (tile::lane() + 31) % tile::lanes) >> 15;
        const u32 right = tile::shuffle(is_first ? below : own, (tile::lane() + 1) % tile::lanes) & 1;
        const u32 begins = own & ~(own << 1 | left), ends = own & ~(own >> 1 | right << 15);
        begins_found += static_cast<u32>(__popc(begins));
        ends_found += static_cast<u32>(__popc(ends));
        if (marks.begins == nullptr) continue;
        const u64 vector = first + row * tile::lanes + tile::lane();
        reinterpret_cast<u16*>(marks.begins)[vector] = static_cast<u16>(begins);
        reinterpret_cast<u16*>(marks.ends)[vector] = static_cast<u16>(ends);
    }
    begins_found = __reduce_add_sync(tile::all_lanes, begins_found);
    ends_found = __reduce_add_sync(tile::all_lanes, ends_found);
    if (is_first) {
        atomicAdd(&begin_count, begins_found);
        atomicAdd(&end_count, ends_found);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (marks.begins != nullptr) {
        marks.begin_counts[blockIdx.x] = begin_count;
        marks.end_counts[blockIdx.x] = end_count;
    }
    if (end_count != 0) atomicAdd(marks.total, u64{end_count});
}
