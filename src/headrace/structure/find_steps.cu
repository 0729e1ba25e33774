// Where the records and fields of any dialect of at most eight states are, tile by tile, by its automaton. A thread
// runs a chunk of the tile from every state at once, the map of states in two registers of four selectors each; scans
// of maps, in the block and by look-back, tell each thread the state that its chunk begins in; then it runs the chunk
// once more from there, and what each byte means takes the byte's place in shared memory. (ParPaRaw, sections 3.1 and
// 3.2; the map composed by byte permutations, as PRMT does four lookups in a table of eight.)
//
// Bytes moved: the text once, 2 KiB of tables a tile from the cache; a tile writes an entry of 32 bytes and states of
// 64 and 16. Operations for each byte: 5 for the map, where two states are told apart, or 11; and 7 for the
// second run.
#include "core/tile/block.cuh"
#include "core/tile/look_back.cuh"
#include "structure/emit.hpp"
#include "structure/step_tables.hpp"
#include "structure/tile_text.cuh"

using namespace headrace;
using namespace headrace::structure;

constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 chunk_bytes = rows * 16;
constexpr u32 tile_bytes = threads * chunk_bytes;
constexpr u32 tile_rows = threads * rows / tile::lanes;
constexpr u32 row_bytes = tile::lanes * 16;
constexpr u32 no_byte = 256;
// The vectors of a chunk lie side by side, and an empty one behind them keeps chunks off each other's banks.
constexpr u32 pitch = rows + 1;
static_assert(rows % 2 == 0 && tile_bytes <= 32768);

__device__ __forceinline__ u32 place_of(u32 vector) { return vector / rows * pitch + vector % rows; }

// Four of the eight bytes.
__device__ __forceinline__ u32 pick(u64 bytes, u32 selectors) {
    return tile::permute(static_cast<u32>(bytes), static_cast<u32>(bytes >> 32), selectors);
}

// Bytes of the tile that are the text's.
struct Extent {
    i32 from, to;
};

// The step table in shared memory.
struct Steps {
    u64 of[257];

    // Of byte k of a word, which stands at `place` of the tile.
    template <bool whole>
    __device__ __forceinline__ u64 at(u32 word, u32 k, Extent extent, i32 place) const {
        const u32 offset = (k == 0 ? word << 3 : word >> (k * 8 - 3)) & 0x7F8;
        if (!whole && (place < extent.from || place >= extent.to)) return of[no_byte];
        return *reinterpret_cast<const u64*>(reinterpret_cast<const u8*>(of) + offset);
    }
};

struct Staged {
    uint4 vector[threads * pitch];
};

// A map of states while it is made: four selectors a register, or, once no more than two states are told apart, those
// two and which states are in the second.
struct Map {
    u32 low = 0x3210, high = 0x7654;

    __device__ __forceinline__ u64 states() const {
        constexpr u64 all = 0x0706050403020100;
        return pick(all, low) | static_cast<u64>(pick(all, high)) << 32;
    }
};

struct Pair {
    u32 first, second;
    u64 in_second;  // bytes of ones
    bool enough;

    __device__ __forceinline__ explicit Pair(u64 states) {
        const u64 others = states ^ static_cast<u64>(states & 7) * 0x0101010101010101;
        const u32 shift = others == 0 ? 0 : static_cast<u32>(trailing_zeros(others)) / 8 * 8;
        first = static_cast<u32>(states & 7);
        second = static_cast<u32>(states >> shift & 7);
        in_second = bytes_set(others);
        enough = (in_second & bytes_set(states ^ static_cast<u64>(second) * 0x0101010101010101)) == 0;
    }
    __device__ __forceinline__ u64 states() const {
        const u64 all_first = static_cast<u64>(first & 7) * 0x0101010101010101;
        const u64 all_second = static_cast<u64>(second & 7) * 0x0101010101010101;
        return (all_first & ~in_second) | (all_second & in_second);
    }
    // Ones in each byte that is not 0; all are below 8.
    static __device__ __forceinline__ u64 bytes_set(u64 bytes) {
        const u64 set = (bytes | bytes >> 1 | bytes >> 2) & 0x0101010101010101;
        return set * 255;
    }
};

// Runs 16 bytes from every state, or from two.
template <bool whole>
__device__ __forceinline__ void run_all(Map& map, uint4 vector, const Steps& steps, Extent extent, i32 place) {
    const u32 words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (u32 k = 0; k < 16; ++k) {
        const u64 step = steps.at<whole>(words[k / 4], k % 4, extent, place + static_cast<i32>(k));
        map.low = tile::selectors_of(pick(step, map.low));
        map.high = tile::selectors_of(pick(step, map.high));
    }
}
template <bool whole>
__device__ __forceinline__ void run_two(Pair& pair, uint4 vector, const Steps& steps, Extent extent, i32 place) {
    const u32 words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (u32 k = 0; k < 16; ++k) {
        const u64 step = steps.at<whole>(words[k / 4], k % 4, extent, place + static_cast<i32>(k));
        pair.first = pick(step, pair.first);
        pair.second = pick(step, pair.second);
    }
}

// The chunk's map of states. After a few bytes the states that are told apart are mostly two, inside quotes and
// outside.
template <bool whole>
__device__ __forceinline__ u64 map_of(const uint4* chunk, const Steps& steps, Extent extent) {
    Map map;
    i32 place = static_cast<i32>(threadIdx.x * chunk_bytes);
    run_all<whole>(map, chunk[0], steps, extent, place);
    Pair pair(map.states());
    if (__all_sync(tile::all_lanes, pair.enough)) {
#pragma unroll HR_UNROLL
        for (u32 row = 1; row < rows; ++row) run_two<whole>(pair, chunk[row], steps, extent, place += 16);
        return pair.states();
    }
#pragma unroll 1
    for (u32 row = 1; row < rows; ++row) run_all<whole>(map, chunk[row], steps, extent, place += 16);
    return map.states();
}

struct Counts {
    u32 fields = 0, records = 0;  // 16 and 32 each
    u32 starts = 0, high = 0;
    u32 flags = 0, blanks = 0, comments = 0;
};

// What Emit has to say of the rare bytes among four.
__device__ __forceinline__ void add_rare(Counts& counts, const StepTables& tables, u32 bytes, u32 codes, u32 state) {
    for (u32 k = 0; k < 4; ++k) {
        if ((codes >> (k * 8) & STEP_RARE) != 0) {
            const u32 before = k == 0 ? state : codes >> (k * 8 - 8);
            const u32 emit = static_cast<u32>(tables.emits[bytes >> (k * 8) & 0xFF] >> ((before & 7) * 8));
            if ((emit & EMIT_STRAY) != 0) counts.flags |= FIND_STRAY;
            counts.blanks += (emit & EMIT_BLANK) != 0;
            counts.comments += (emit & EMIT_COMMENT) != 0;
        }
    }
}

// Runs the chunk from its state; each byte's step takes its place.
template <bool whole>
__device__ __forceinline__ void run(Counts& counts, uint4* chunk, const Steps& steps, const StepTables& tables,
                                    u32 state, Extent extent) {
    const u32 quote = tile::repeated(tables.quote & 0xFF);
    u32 no_quote = tile::top_bits;
    i32 place = static_cast<i32>(threadIdx.x * chunk_bytes);
#pragma unroll HR_UNROLL
    for (u32 row = 0; row < rows; ++row) {
        const uint4 vector = chunk[row];
        const u32 words[4] = {vector.x, vector.y, vector.z, vector.w};
        u32 codes[4];
#pragma unroll
        for (u32 word = 0; word < 4; ++word) {
            const u32 before = state;
            u32 step[4];
#pragma unroll
            for (u32 k = 0; k < 4; ++k, ++place) {
                state = pick(steps.at<whole>(words[word], k, extent, place), state);
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

// As find_plain; the states of `memory` are those of counts, and then those of maps.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    find_steps(const u8* text, u64 bytes, const StepTables* tables, TileEntry* entries, FindTotals* totals,
               const FindTotals* other, tile::LookBack<Reached>::Word* memory) {
    __shared__ Staged staged;
    __shared__ Steps steps;
    __shared__ u64 counted[warps];
    __shared__ u32 taken;
    __shared__ u64 map_before;
    if (other != nullptr && (tile::load_relaxed(&other->flags) & FIND_REDO) == 0) return;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const u32 tiles = static_cast<u32>(tile_count(bytes, tile_bytes, skew));
    tile::LookBack<Reached> look_back(memory);
    tile::LookBack<u64> maps(reinterpret_cast<tile::Wide*>(memory + tiles + 1));
    if (threadIdx.x == 0) taken = look_back.take_tile();
    for (u32 i = threadIdx.x; i < 257; i += threads) steps.of[i] = tables->steps[i];
    __syncthreads();
    const u32 number = taken;
    if (number >= tiles) {
        if (number == 0 && threadIdx.x == 0) entries[0] = {};
        return;
    }
    const i64 first = static_cast<i64>(number) * tile_bytes - skew;
    const u64 begin = first < 0 ? 0 : static_cast<u64>(first);
    const u64 left = bytes - begin + (first < 0 ? skew : 0);
    const Extent extent = {first < 0 ? static_cast<i32>(skew) : 0,
                           static_cast<i32>(left < tile_bytes ? left : tile_bytes)};
    const bool whole = extent.from == 0 && extent.to == static_cast<i32>(tile_bytes);
    for (u32 row = 0; row < rows; ++row) {
        const u32 vector = row * threads + threadIdx.x;
        if (whole) {
            tile::copy_async(&staged.vector[place_of(vector)], reinterpret_cast<const uint4*>(text + first) + vector);
        } else {
            staged.vector[place_of(vector)] = edge_vector(text, bytes, first + vector * 16, 'x', 'x');
        }
    }
    tile::commit_copies();
    tile::wait_for_copies<0>();
    __syncthreads();

    uint4* const chunk = staged.vector + threadIdx.x * pitch;
    const u64 map = whole ? map_of<true>(chunk, steps, extent) : map_of<false>(chunk, steps, extent);
    const u64 upto = tile::scan_warp<ComposeStates>(map);
    const u64 lane_before = tile::shuffle_up(upto, 1);
    const u64 lanes_before = tile::lane() == 0 ? ComposeStates::identity() : lane_before;
    const tile::Before<u64> block =
        tile::scan_warps<ComposeStates, threads>(tile::shuffle(upto, tile::lanes - 1), counted);
    if (tile::warp() == 0) {
        if (tile::lane() == 0) maps.post<ComposeStates>(number, block.total);
        const u64 before = maps.prefix<ComposeStates>(number, block.total);
        if (tile::lane() == 0) map_before = before;
    }
    __syncthreads();
    const u32 entry = static_cast<u32>(map_before & 7);
    const u32 last = static_cast<u32>(block.total >> (entry * 8) & 7);
    const u32 state = static_cast<u32>(lanes_before >> ((block.before >> (entry * 8) & 7) * 8) & 7);

    Counts counts;
    if (whole) {
        run<true>(counts, chunk, steps, *tables, state, extent);
    } else {
        run<false>(counts, chunk, steps, *tables, state, extent);
    }
    const u64 mine = static_cast<u64>(counts.fields >> 4) | static_cast<u64>(counts.records >> 5) << 20 |
                     static_cast<u64>(counts.starts != 0) << 40;
    const u64 all = tile::reduce_block<Sum<u64>, threads>(mine, counted);
    const u32 flags = __reduce_or_sync(tile::all_lanes, counts.flags);
    if (flags != 0 && tile::lane() == 0) add_flags(totals, flags);
    if (counts.blanks != 0) atomicAdd(&totals->blank_lines, u64{counts.blanks});
    if (counts.comments != 0) atomicAdd(&totals->comments, u64{counts.comments});
    if (tile::warp() != 0) return;

    const u64 joint = tile::shuffle(all, 0);
    const u32 separators = static_cast<u32>(joint & 0xFFFFF), records = static_cast<u32>(joint >> 20 & 0xFFFFF);
    const Reached total = reach(staged, first, records, separators, joint >> 40 != 0);
    if (tile::lane() == 0) look_back.post<Follow>(number, total);
    const Reached before = look_back.prefix<Follow>(number, total);
    if (tile::lane() != 0) return;
    entries[number] = entry_at(before, begin, (tables->idle >> entry & 1) != 0, static_cast<u8>(entry));
    u64 fields = u64{separators} + records;
    if (number + 1 == tiles) {
        const bool idle = (tables->idle >> last & 1) != 0, comment = (tables->comment >> last & 1) != 0;
        entries[tiles] = entry_at(Follow::join(before, total), bytes, idle, static_cast<u8>(last));
        const bool open = !idle && !comment;
        u32 ended = (open ? u32{FIND_OPEN} : 0u) | (comment ? u32{FIND_COMMENT} : 0u);
        if ((tables->quoted >> last & 1) != 0) ended |= FIND_UNCLOSED;
        if ((tables->unfinished >> last & 1) != 0) ended |= FIND_UNFINISHED | FIND_STRAY;
        atomicOr(&totals->flags, ended);
        if (comment) atomicAdd(&totals->comments, u64{1});
        totals->records = before.records + records + open;
        totals->bytes = bytes;
        fields += open;
    }
    if (fields != 0) atomicAdd(&totals->fields, fields);
}
