// Finds a pattern by Knuth, Morris and Pratt's automaton ("Fast pattern matching in strings", 1977), where verification
// would take more than linear time. A thread searches a chunk of at least twice the pattern's length and reads a
// pattern's length past its end. So a byte is compared about three times, in any text.
//
// Bytes moved per byte of text: up to 1.5, by loads that are not coalesced.
#include "gpu/block/warp.cuh"
#include "query/find/gpu/text.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

// Calls hit(position) for each position of the thread's chunk, until it returns false.
template <class Hit>
HR_FN void search_chunk(const FindTask& task, FindAutomaton automaton, const Hit& hit) {
    const u64 begin = (static_cast<u64>(blockIdx.x) * threads + threadIdx.x) * automaton.chunk;
    const u64 positions = task.size - task.length + 1;
    if (begin >= positions) return;
    const u64 end = positions - begin < automaton.chunk ? positions : begin + automaton.chunk;
    u64 matched = 0;
    u32 word = 0;
    for (u64 i = begin; i < end + task.length - 1; ++i) {
        if ((i - begin) % 4 == 0) word = text_word(task, i);
        const u8 raw = static_cast<u8>(word);
        word >>= 8;
        const u8 byte = task.ignore_case != 0 ? fold_byte(raw) : raw;
        while (matched > 0 && task.pattern[matched] != byte) matched = automaton.borders[matched];
        if (task.pattern[matched] == byte) ++matched;
        if (matched < task.length) continue;
        if (!hit(i + 1 - task.length)) return;
        matched = automaton.borders[matched];
    }
}

extern "C" __global__ void __launch_bounds__(threads)
    count_linearly(FindTask task, FindAutomaton automaton, FindResult* result) {
    u64 count = 0;
    search_chunk(task, automaton, [&](u64) {
        ++count;
        return true;
    });
    if (count != 0) atomicAdd(&result->count, count);
}

extern "C" __global__ void __launch_bounds__(threads)
    first_linearly(FindTask task, FindAutomaton automaton, FindResult* result) {
    search_chunk(task, automaton, [&](u64 position) {
        atomicMin(&result->first, position);
        return false;
    });
}

// Sets the marks of hits, all of which are 0 before. `tile_marks`: marks per item of `counts`.
extern "C" __global__ void __launch_bounds__(threads)
    mark_linearly(FindTask task, FindAutomaton automaton, FindResult* result, u32* marks, u32* counts, u64 tile_marks) {
    const u64 first = task.lead + shift_of(task.text);
    u64 count = 0;
    search_chunk(task, automaton, [&](u64 position) {
        const u64 mark = first + position;
        atomicOr(&marks[mark / 32], 1u << (mark % 32));
        atomicAdd(&counts[mark / tile_marks], 1u);
        ++count;
        return true;
    });
    if (count != 0) atomicAdd(&result->count, count);
}
