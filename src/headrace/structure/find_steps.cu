// What each tile of any dialect of at most 8 or 16 states comes to, by its automaton, in two readings. First a thread
// runs a chunk of the tile from every state, and writes the map of states before its chunk, and the last one the
// tile's; scan_maps tells the state of each tile. Then the chunk is run once more from the state that it is in, what
// each byte means takes the byte's place in shared memory, and is counted. No block waits for another. (ParPaRaw,
// sections 3.1 and 3.2.)
//
// Bytes moved: the text twice, 4 or 8 bytes a chunk written and read, 2 or 4 KiB of tables a tile from the cache.
// Operations for each byte, of 8 states: 5 for the map where two states are told apart, else 11; 7 for the second
// reading.
#include "core/tile/block.cuh"
#include "structure/emit.hpp"
#include "structure/step_runs.cuh"
#include "structure/tally.hpp"
#include "structure/tile_text.cuh"

using namespace headrace;
using namespace headrace::structure;

// How maps are joined, and what holds one.
template <u32 count>
struct MapsOf {
    using join = ComposeStates;
    using word = u64;
};
template <>
struct MapsOf<8> {
    using join = ComposeEight;
    using word = u32;
};

constexpr u32 count = HR_STATES;
using Tables = StepTables<count>;
using Join = MapsOf<count>::join;
using Word = MapsOf<count>::word;
constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 tile_bytes = threads * rows * 16;
constexpr u32 tile_rows = threads * rows / tile::lanes;
constexpr u32 row_bytes = tile::lanes * 16;
// The vectors of a chunk lie side by side, and an empty one behind them keeps chunks off each other's banks.
constexpr u32 pitch = rows + 1;
static_assert(rows % 2 == 0 && tile_bytes <= 32768 && rows / 2 <= sizeof(Word));

__device__ __forceinline__ u32 place_of(u32 vector) { return vector / rows * pitch + vector % rows; }

// A tile and the table of steps.
struct Staged {
    uint4 vector[threads * pitch];
    Steps<count> steps;

    // `marks`: lenient quotes that open no field (lenient_runs.cu), or null.
    __device__ __forceinline__ Extent stage(const u8* text, u64 bytes, i64 first, const Tables* tables,
                                            const u16* marks) {
        const i64 left = static_cast<i64>(bytes) - first;
        const Extent extent = {first < 0 ? static_cast<i32>(-first) : 0,
                               left < tile_bytes ? static_cast<i32>(left) : static_cast<i32>(tile_bytes)};
        for (u32 row = 0; row < rows; ++row) {
            const u32 number = row * threads + threadIdx.x;
            if (is_whole(extent)) {
                tile::copy_async(&vector[place_of(number)], reinterpret_cast<const uint4*>(text + first) + number);
            } else {
                vector[place_of(number)] = edge_vector(text, bytes, first + number * 16, 'x', 'x');
            }
        }
        for (u32 i = threadIdx.x; i < no_byte + 1; i += threads)
            steps.of[i] = *reinterpret_cast<const Row<count>*>(tables->steps[i]);
        tile::wait_for_copies();
        for (u32 row = 0; marks != nullptr && row < rows; ++row) {
            const u32 number = row * threads + threadIdx.x;
            uint4& own = vector[place_of(number)];
            own = with_spares(own, marks[u64{blockIdx.x} * (tile_bytes / 16) + number], tables->spare, tables->other);
        }
        __syncthreads();
        return extent;
    }
    static __device__ __forceinline__ bool is_whole(Extent extent) {
        return extent.from == 0 && extent.to == static_cast<i32>(tile_bytes);
    }
};

// `before`: for each thread of all blocks what the tile's bytes before its chunk do to each state, four bits for each;
// `maps`: the same of each tile, 64 bits. `marks` as for Staged::stage, `other` as for tally_plain.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    map_tiles(const u8* text, u64 bytes, const Tables* tables, const u16* marks, Word* before, u64* maps,
              const FindTotals* other) {
    __shared__ Staged staged;
    __shared__ u64 words[warps];
    if (other != nullptr && (tile::load_relaxed(&other->flags) & FIND_REDO) == 0) return;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const Extent extent = staged.stage(text, bytes, static_cast<i64>(blockIdx.x) * tile_bytes - skew, tables, marks);
    const uint4* const chunk = staged.vector + threadIdx.x * pitch;
    const u64 map = Staged::is_whole(extent) ? map_of<true, rows>(chunk, staged.steps, extent)
                                             : map_of<false, rows>(chunk, staged.steps, extent);
    const u64 upto = tile::scan_warp<Join>(map);
    const u64 lane_before = tile::shuffle_up(upto, 1);
    const tile::Before<u64> block = tile::scan_warps<Join, threads>(tile::shuffle(upto, tile::lanes - 1), words);
    const u64 mine = tile::lane() == 0 ? block.before : Join::join(block.before, lane_before);
    before[u64{blockIdx.x} * threads + threadIdx.x] = static_cast<Word>(mine);
    if (threadIdx.x == 0) maps[blockIdx.x] = block.total;
}

struct Counts {
    u32 fields = 0, records = 0;  // 16 and 32 each
    u32 starts = 0, high = 0;
    u32 flags = 0, blanks = 0, comments = 0;
};

// What Emit has to say of the rare bytes among four.
__device__ __forceinline__ void add_rare(Counts& counts, const Tables& tables, u32 bytes, u32 codes, u32 state) {
    for (u32 k = 0; k < 4; ++k) {
        if ((codes >> (k * 8) & STEP_RARE) != 0) {
            const u32 before = k == 0 ? state : codes >> (k * 8 - 8);
            const u32 emit = tables.emits[bytes >> (k * 8) & 0xFF][before & 15];
            if ((emit & EMIT_STRAY) != 0) counts.flags |= FIND_STRAY;
            counts.blanks += (emit & EMIT_BLANK) != 0;
            counts.comments += (emit & EMIT_COMMENT) != 0;
        }
    }
}

// Runs the chunk from its state; each byte's step takes its place. Returns the state before each 32 bytes, a byte each.
template <bool whole>
__device__ __forceinline__ Word run(Counts& counts, uint4* chunk, const Steps<count>& steps, const Tables& tables,
                                    u32 state, Extent extent) {
    Word met = 0;
    const u32 quote = tile::repeated(tables.quote & 0xFF);
    u32 no_quote = tile::top_bits;
    i32 place = static_cast<i32>(threadIdx.x * rows * 16);
#pragma unroll HR_UNROLL
    for (u32 row = 0; row < rows; ++row) {
        const uint4 vector = chunk[row];
        const u32 words[4] = {vector.x, vector.y, vector.z, vector.w};
        u32 codes[4];
        if (row % 2 == 0) met |= static_cast<Word>(state & 15) << (row * 4);
#pragma unroll
        for (u32 word = 0; word < 4; ++word) {
            const u32 before = state;
            u32 step[4];
#pragma unroll
            for (u32 k = 0; k < 4; ++k, ++place) {
                state = steps.template at<whole>(words[word], k, extent, place).from(state);
                step[k] = state;
            }
            codes[word] =
                __byte_perm(__byte_perm(step[0], step[1], 0x0040), __byte_perm(step[2], step[3], 0x0040), 0x5410);
            counts.fields = tile::add_bytes(codes[word] & tile::repeated(STEP_FIELD), counts.fields);
            counts.records = tile::add_bytes(codes[word] & tile::repeated(STEP_RECORD), counts.records);
            counts.starts |= codes[word] & tile::repeated(STEP_START);
            if ((codes[word] & tile::repeated(STEP_RARE)) != 0)
                add_rare(counts, tables, words[word], codes[word], before);
            counts.high |= words[word];
            no_quote &= tile::differs(words[word] & ~tile::top_bits, quote) | words[word];
        }
        chunk[row] = {codes[0], codes[1], codes[2], codes[3]};
    }
    if ((counts.high & tile::top_bits) != 0) counts.flags |= FIND_HIGH;
    if (tables.quote != no_byte && no_quote != tile::top_bits) counts.flags |= FIND_QUOTES;
    return met;
}

// The steps of a row of the tile.
__device__ __forceinline__ Window look(const Staged& staged, u32 row) {
    const uint4 codes = staged.vector[place_of(row * tile::lanes + tile::lane())];
    const u32 words[4] = {codes.x, codes.y, codes.z, codes.w};
    tile::Bits fields, records, starts;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        fields.word[k] = words[k] << 3 & tile::top_bits;
        records.word[k] = words[k] << 2 & tile::top_bits;
        starts.word[k] = words[k] << 1 & tile::top_bits;
    }
    return {tile::gathered(fields), tile::gathered(records), tile::gathered(starts)};
}

__device__ __forceinline__ Reached reach(const Staged& staged, i64 first, u32 records, u32 separators, bool starts) {
    Trail trail;
    bool found = records == 0 && separators == 0 && !starts;
    bool start_found = !starts, field_found = separators == 0;
    for (u32 row = tile_rows; row-- > 0 && !found;) {
        const Window window = look(staged, row);
        const bool ended = trail.add(window, first + row * row_bytes);
        start_found |= __any_sync(tile::all_lanes, window.starts != 0) != 0;
        field_found |= __any_sync(tile::all_lanes, window.separators != 0) != 0;
        found = records == 0 ? start_found && field_found : ended;
    }
    return trail.reached(records, separators);
}

// `states`: of each tile, and behind the last. `before`: what map_tiles left; then, of each chunk, the state before
// each 32 bytes, a byte each from the lowest on.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    tally_steps(const u8* text, u64 bytes, const Tables* tables, const u16* marks, Word* before, const u8* states,
                Tally* tallies, FindTotals* totals, const FindTotals* other) {
    __shared__ Staged staged;
    __shared__ u64 words[warps];
    if (other != nullptr && (tile::load_relaxed(&other->flags) & FIND_REDO) == 0) return;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const i64 first = static_cast<i64>(blockIdx.x) * tile_bytes - skew;
    const u32 entry = states[blockIdx.x], behind = states[blockIdx.x + 1];
    Word& own = before[u64{blockIdx.x} * threads + threadIdx.x];
    const u32 state = static_cast<u32>(own >> (entry * 4)) & 15;
    const Extent extent = staged.stage(text, bytes, first, tables, marks);
    uint4* const chunk = staged.vector + threadIdx.x * pitch;
    Counts counts;
    if (Staged::is_whole(extent)) {
        own = run<true>(counts, chunk, staged.steps, *tables, state, extent);
    } else {
        own = run<false>(counts, chunk, staged.steps, *tables, state, extent);
    }
    const u64 mine = static_cast<u64>(counts.fields >> 4) | static_cast<u64>(counts.records >> 5) << 16 |
                     static_cast<u64>(counts.blanks) << 32 | static_cast<u64>(counts.comments) << 48;
    const u64 all = tile::reduce_block<Sum<u64>, threads>(mine, words);
    const u32 flags = __reduce_or_sync(tile::all_lanes, counts.flags);
    if (flags != 0 && tile::lane() == 0) add_flags(totals, flags);
    const u32 starts = __syncthreads_or(counts.starts != 0);
    if (tile::warp() != 0) return;

    const u64 joint = tile::shuffle(all, 0);
    Tally tally = {};
    tally.separators = static_cast<u32>(joint & 0xFFFF);
    tally.records = static_cast<u32>(joint >> 16 & 0xFFFF);
    tally.blanks = static_cast<u32>(joint >> 32 & 0xFFFF);
    tally.comments = static_cast<u32>(joint >> 48);
    const Reached reached = reach(staged, first, tally.records, tally.separators, starts != 0);
    tally.record_begin = reached.record_begin;
    tally.field_begin = reached.field_begin;
    tally.column = reached.column;
    const auto has = [](u64 set, u32 of) { return (set >> of & 1) != 0; };
    u32 ended = has(tables->comment, behind) ? u32{FIND_COMMENT} : has(tables->idle, behind) ? 0u : u32{FIND_OPEN};
    if (has(tables->quoted, behind)) ended |= FIND_UNCLOSED;
    if (has(tables->unfinished, behind)) ended |= FIND_UNFINISHED | FIND_STRAY;
    tally.flags = ended << TALLY_AT_END | (reached.closed != 0 ? u32{TALLY_CLOSED} : 0u) |
                  (has(tables->idle, entry) ? u32{TALLY_IDLE} : 0u) |
                  (has(tables->idle, behind) ? u32{TALLY_IDLE_BEHIND} : 0u);
    if (tile::lane() == 0) tallies[blockIdx.x] = tally;
}
