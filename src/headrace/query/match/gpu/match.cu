// Finds the matches of an automaton in two readings of the text (automaton/tables.py), backward and then forward. Each
// reading runs over all chunks in parallel, as in ParPaRaw (section 3.1).
//
// map_backward walks each chunk from every right state, one state a thread, which gives the chunk's state map. The
// kernel join_maps composes the maps of groups of chunks, then of groups of groups, up to one map. The kernel
// enter_maps goes down again. It gives the state before each group, and at last before each chunk. Maps do not commute.
// Then write_rights walks each chunk from its known state, and writes the right state after each byte.
//
// The forward reading is the same: map_forward, join_maps, enter_maps. At last mark_matches walks each chunk from its
// known state and marks the first and last bytes of matches. The kernel of query/find/gpu/positions.cu makes positions
// of the marks.
//
// Example: ab* in the chunks "xa", "bb", "ya". In state 0 no match is open, in state 1 one is. The maps from states 0
// and 1 are (1 1), (0 0) and (0 0): the first match goes on in the second chunk and ends there. The last "a" begins and
// ends a match, since nothing follows. So the states before the chunks are 0, 1 and 0.
//
// Bytes moved per byte of text: 4 for the readings, 3 for the right states and 1/4 for the marks. Each chunk has two
// maps in addition, with a byte a state.
#include "gpu/block/warp.cuh"
#include "query/find/gpu/text.cuh"
#include "query/match/automaton/match_rules.hpp"
#include "query/match/gpu/match_task.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

static __device__ __forceinline__ u64 item_number() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }

// Calls step(number, byte) for the bytes of a chunk in order, or from the last one to the first one. Numbers count from
// the first byte of chunk 0, which may be before the text.
template <bool forward, class Step>
static __device__ __forceinline__ void walk(const MatchTask& task, u64 chunk, const Step& step) {
    const u32 shift = shift_of(task.text), vectors = static_cast<u32>(task.chunk / 16);
    const u64 begin = chunk * task.chunk;
#pragma unroll 1
    for (u32 i = 0; i < vectors; ++i) {
        const u64 first = begin + (forward ? i : vectors - 1 - i) * 16;
        const i64 at = static_cast<i64>(first) - shift;
        const bool whole = at >= 0 && at + 16 <= static_cast<i64>(task.size);
        const uint4 bytes = whole ? *reinterpret_cast<const uint4*>(task.text + at)
                                  : partial_vector(task.text, static_cast<i64>(task.size), at);
        const u32 words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
#pragma unroll
        for (u32 k = 0; k < 16; ++k) {
            const u32 byte = forward ? k : 15 - k;
            const i64 position = at + byte;
            if (whole || (position >= 0 && position < static_cast<i64>(task.size)))
                step(first + byte, static_cast<u8>(words[byte / 4] >> (byte % 4 * 8)));
        }
    }
}

// Writes the maps of the backward reading, those of the last chunk first.
extern "C" __global__ void __launch_bounds__(threads) map_backward(MatchTask task, MatchTables tables, u8* maps) {
    const u64 number = item_number(), turn = number / tables.rights;
    if (turn >= task.chunks) return;
    u32 right = static_cast<u32>(number % tables.rights);
    walk<false>(task, task.chunks - 1 - turn, [&](u64, u8 byte) { right = right_before(tables, byte, right); });
    maps[number] = static_cast<u8>(right);
}

// Composes the maps of each group of `group` adjacent ones.
extern "C" __global__ void __launch_bounds__(threads)
    join_maps(const u8* maps, u64 count, u32 states, u32 group, u8* joined) {
    const u64 number = item_number(), begin = number / states * group;
    if (begin >= count) return;
    const u64 end = count - begin < group ? count : begin + group;
    u32 state = static_cast<u32>(number % states);
    for (u64 i = begin; i < end; ++i) state = maps[i * states + state];
    joined[number] = static_cast<u8>(state);
}

// Writes the state before each map from that before each group.
extern "C" __global__ void __launch_bounds__(threads)
    enter_maps(const u8* maps, u64 count, u32 states, u32 group, const u8* before_groups, u8* before) {
    const u64 number = item_number(), begin = number * group;
    if (begin >= count) return;
    const u64 end = count - begin < group ? count : begin + group;
    u32 state = before_groups[number];
    for (u64 i = begin; i < end; ++i) {
        before[i] = static_cast<u8>(state);
        state = maps[i * states + state];
    }
}

// Writes the right state after each byte. `before`: right state at the end of each chunk, the last one first.
extern "C" __global__ void __launch_bounds__(threads)
    write_rights(MatchTask task, MatchTables tables, const u8* before, u8* rights) {
    const u64 turn = item_number();
    if (turn >= task.chunks) return;
    u32 right = before[turn];
    walk<false>(task, task.chunks - 1 - turn, [&](u64 number, u8 byte) {
        rights[number] = static_cast<u8>(right);
        right = right_before(tables, byte, right);
    });
}

extern "C" __global__ void __launch_bounds__(threads)
    map_forward(MatchTask task, MatchTables tables, const u8* rights, u8* maps) {
    const u64 number = item_number(), chunk = number / tables.states;
    if (chunk >= task.chunks) return;
    u32 state = static_cast<u32>(number % tables.states);
    walk<true>(task, chunk, [&](u64 at, u8 byte) {
        state = match_step(tables, tables.class_of[byte], rights[at], state) & STEP_STATE;
    });
    maps[number] = static_cast<u8>(state);
}

// Collects the marks of one chunk, whose words no other thread writes.
struct MarkWriter {
    u32* words;
    u32 count = 0;
    u32 bits = 0;
    u64 word = 0;

    __device__ __forceinline__ explicit MarkWriter(u32* to) : words(to) {}
    __device__ __forceinline__ void add(u64 number) {
        if (number / 32 != word) write();
        word = number / 32;
        bits |= 1u << (number % 32);
        ++count;
    }
    __device__ __forceinline__ void write() {
        if (words != nullptr && bits != 0) words[word] = bits;
        bits = 0;
    }
};

// Marks are 0 before. `before`: state before each chunk.
extern "C" __global__ void __launch_bounds__(threads)
    mark_matches(MatchTask task, MatchTables tables, const u8* rights, const u8* before, MatchMarks marks) {
    const u64 chunk = item_number();
    MarkWriter begins(marks.begins), ends(marks.ends);
    if (chunk < task.chunks) {
        u32 state = before[chunk];
        walk<true>(task, chunk, [&](u64 at, u8 byte) {
            const u32 step = match_step(tables, tables.class_of[byte], rights[at], state);
            state = step & STEP_STATE;
            if ((step & STEP_BEGINS) != 0) begins.add(at);
            if ((step & STEP_ENDS) != 0) ends.add(at);
        });
        begins.write();
        ends.write();
        const u64 tile = chunk * task.chunk / marks.tile;
        if (marks.begins != nullptr && begins.count != 0) atomicAdd(&marks.begin_counts[tile], begins.count);
        if (marks.begins != nullptr && ends.count != 0) atomicAdd(&marks.end_counts[tile], ends.count);
    }
    const u32 total = __reduce_add_sync(tile::all_lanes, ends.count);
    if (total != 0 && tile::lane() == 0) atomicAdd(marks.total, u64{total});
}
