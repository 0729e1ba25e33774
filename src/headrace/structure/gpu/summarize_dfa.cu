// Summarizes each tile of any dialect by its automaton of up to 8, 16 or 64 states. This is ParPaRaw's algorithm
// (sections 3.1 and 3.2). A thread owns a chunk of the tile, and the text is read twice:
//   1. map_tiles runs each chunk from every state, which gives its state map: the state after it for each state before
//      it. A scan composes the maps of the block's chunks, and scan_maps those of the tiles. Now the state before every
//      tile, and with the maps before every chunk, is known.
//   2. summarize_dfa runs each chunk once more, from its known state. Each 32 bytes are replaced in shared memory by
//      bit masks of what they mean (separators, record ends, ...). These are counted into the tile's summary, and
//      stored for the conversion, which so needs no automaton.
// No block waits for another. Example, states outside (O) and inside quotes (Q), three chunks, start state O:
// | chunk                 a,"     b⏎c     ",d
// | map (O, Q) ->         (Q, O)  (O, Q)  (Q, O)
// | composed before it    (O, Q)  (Q, O)  (Q, O)
// | state before it       O       Q       Q        so the line end in the second chunk ends no record
// Running every state costs less than it seems, because runs converge. After 16 bytes usually two distinct states are
// left, inside and outside quotes (dfa_runs.cuh). Without quotes, or with lenient ones, the last 32 bytes of a chunk
// usually lead every state to the same one. Then no other bytes of the text are read for the map.
//
// Bytes moved: the text twice; half as many bytes of masks; 4 or 8 bytes a chunk written and read; 2 or 4 KiB of tables
// a tile, from the cache. Operations a byte with 8 states: 5 for the map if two states are left, 6 if three are, else
// 11; 7 for the second reading.
#include "gpu/block/block.cuh"
#include "structure/emit.hpp"
#include "structure/gpu/dfa_runs.cuh"
#include "structure/gpu/reopened_fields.cuh"
#include "structure/gpu/tile_summary.hpp"
#include "structure/gpu/tile_text.cuh"

using namespace headrace;
using namespace headrace::structure;

// The operator that composes maps, and the word that stores one.
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

// With 64 states the word stores the state before a chunk instead of a map.
template <>
struct MapsOf<64> {
    using join = ComposeStates;
    using word = u32;
};

constexpr u32 count = HR_STATES;
using Tables = DfaTables<count>;
using Join = MapsOf<count>::join;
using Word = MapsOf<count>::word;
constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 tile_bytes = threads * rows * 16;
constexpr u32 tile_words = tile_bytes / 32;
constexpr u32 part_bytes = tile::lanes * 32;
constexpr u32 tile_parts = tile_bytes / part_bytes;
// A chunk's vectors are adjacent. One unused vector after each chunk avoids bank conflicts between chunks.
constexpr u32 pitch = rows + 1;
static_assert(rows % 2 == 0 && tile_bytes <= 32768);

HR_FN u32 place_of(u32 vector) { return vector / rows * pitch + vector % rows; }

// A tile and the step table in shared memory.
struct Staged {
    uint4 vector[threads * pitch];
    uint4 marks[tile_bytes / 128];  // a bit for each byte
    Steps<count> steps;

    // Load tile at `first`. `text_marks`: a bit for each lenient quote that opens no field (opening_quotes.cu), or
    // null.
    HR_MEMBER Extent stage(const u8* text, u64 bytes, i64 first, const Tables* tables, const u16* text_marks) {
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
        const uint4* const from = reinterpret_cast<const uint4*>(text_marks) + u64{blockIdx.x} * (tile_bytes / 128);
        for (u32 i = threadIdx.x; text_marks != nullptr && i < tile_bytes / 128; i += threads)
            tile::copy_async(&marks[i], from + i);
        stage_steps(tables);
        tile::wait_for_copies();
        if (text_marks != nullptr) {
            __syncthreads();  // others have copied the marks of this thread's vectors
            for (u32 row = 0; row < rows; ++row) {
                const u32 number = row * threads + threadIdx.x;
                uint4& own = vector[place_of(number)];
                own = with_spares(own, reinterpret_cast<const u16*>(marks)[number], tables->spare, tables->other);
            }
        }
        __syncthreads();
        return extent;
    }
    HR_MEMBER void stage_steps(const Tables* tables) {
        for (u32 i = threadIdx.x; i < sizeof steps / 8; i += threads)
            reinterpret_cast<u64*>(&steps)[i] = reinterpret_cast<const u64*>(tables->group_of)[i];
    }
    // Once the tile has been read: the roles of 32 bytes, and their spaces if padding is dropped.
    HR_MEMBER DfaRoles roles(u32 word) const { return bits_as<DfaRoles>(vector[place_of(2 * word)]); }
    HR_MEMBER u32 spaces(u32 word) const { return vector[place_of(2 * word + 1)].x; }

    HR_MEMBER static bool is_whole(Extent extent) {
        return extent.from == 0 && extent.to == static_cast<i32>(tile_bytes);
    }
};

#if HR_STATES <= 16
// Compute the maps of a tile's chunks from their last 32 bytes alone. Return whether these are the chunks' maps. So it
// is if each leads all states to one: if lenient quotes open or close a field there.
// | text     ,"one two"⏎7,"three    from inside and outside quotes, ⏎ ends a record, and the last byte is inside
HR_FN bool map_tails(Staged& staged, const u8* text, i64 first, const Tables* tables, const u16* marks, u64& map) {
    constexpr u32 tail = 2;
    const u32 begin = (threadIdx.x + 1) * rows - tail;
    staged.stage_steps(tables);
    uint4 vectors[tail];
#pragma unroll
    for (u32 i = 0; i < tail; ++i) {
        vectors[i] = reinterpret_cast<const uint4*>(text + first)[begin + i];
        if (marks == nullptr) continue;
        const u32 unreal = marks[u64{blockIdx.x} * (tile_bytes / 16) + begin + i];
        vectors[i] = with_spares(vectors[i], unreal, tables->spare, tables->other);
    }
    __syncthreads();
    Map<count> all;
#pragma unroll
    for (u32 i = 0; i < tail; ++i) map_vector<true>(all, vectors[i], staged.steps, {}, 0);
    map = all.nibbles();
    const u64 one_state = (map & 15) * (~u64{0} / 15);
    return __syncthreads_and((map ^ one_state) << (64 - 4 * count) == 0) != 0;
}

// `before`: for each thread of all blocks, the map of the tile's bytes before its chunk, four bits a state. `maps`: the
// map of each tile, 64 bits. `marks`: as in Staged::stage; `other`: as in summarize_plain.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    map_tiles(const u8* text, u64 bytes, const Tables* tables, const u16* marks, Word* before, u64* maps,
              const FindTotals* other) {
    __shared__ Staged staged;
    __shared__ u64 words[warps];
    if (other != nullptr && (tile::load_relaxed(&other->flags) & FIND_REDO) == 0) return;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const i64 first = static_cast<i64>(blockIdx.x) * tile_bytes - skew;
    const bool is_whole = first >= 0 && static_cast<u64>(first) + tile_bytes <= bytes;
    // Without lenient quotes, states inside and outside quotes seldom lead to one.
    const bool converges = marks != nullptr || tables->quote == no_byte;
    u64 map = 0;
    if (!converges || !is_whole || !map_tails(staged, text, first, tables, marks, map)) {
        const Extent extent = staged.stage(text, bytes, first, tables, marks);
        const uint4* const chunk = staged.vector + threadIdx.x * pitch;
        map = is_whole ? map_of<true, rows>(chunk, staged.steps, extent)
                       : map_of<false, rows>(chunk, staged.steps, extent);
    }
    const u64 upto = tile::scan_warp<Join>(map);
    const u64 lane_before = tile::shuffle_up(upto, 1);
    const tile::WarpPrefix<u64> block = tile::scan_warps<Join, threads>(tile::shuffle(upto, tile::lanes - 1), words);
    const u64 mine = tile::lane() == 0 ? block.before : Join::join(block.before, lane_before);
    before[u64{blockIdx.x} * threads + threadIdx.x] = static_cast<Word>(mine);
    if (threadIdx.x == 0) maps[blockIdx.x] = block.total;
}
#else
// The maps of the tile's chunks in shared memory.
struct Maps {
    Staged staged;
    u8 of_chunk[threads][wide_pitch];

    HR_MEMBER void make(const u8* text, u64 bytes, const Tables* tables, const u16* marks) {
        const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
        const i64 first = static_cast<i64>(blockIdx.x) * tile_bytes - skew;
        const Extent extent = staged.stage(text, bytes, first, tables, marks);
        map_chunk(staged.vector + threadIdx.x * pitch, rows, staged.steps, extent, of_chunk[threadIdx.x]);
        __syncthreads();
    }
};

// `maps`: the map of each tile, a byte a state. Chunks' maps are not stored; start_chunks computes them again.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    map_tiles(const u8* text, u64 bytes, const Tables* tables, const u16* marks, Word*, u8* maps,
              const FindTotals* other) {
    __shared__ Maps own;
    if (other != nullptr && (tile::load_relaxed(&other->flags) & FIND_REDO) == 0) return;
    own.make(text, bytes, tables, marks);
    for (u32 state = threadIdx.x; state < wide_states; state += threads) {
        u32 reached = state;
        for (u32 chunk = 0; chunk < threads; ++chunk) reached = own.of_chunk[chunk][reached];
        maps[u64{blockIdx.x} * wide_states + state] = static_cast<u8>(reached);
    }
}

// Compute the state before each tile and after the last one, in one block whose threads own adjacent tiles.
extern "C" __global__ void __launch_bounds__(threads)
    chain_maps(const u8* maps, u32 tiles, u8* states, const FindTotals* other) {
    __shared__ u8 maps_of[threads][wide_pitch];
    __shared__ u8 entries[threads];
    if (other != nullptr && (tile::load_relaxed(&other->flags) & FIND_REDO) == 0) return;
    const u32 each = (tiles + threads - 1) / threads;
    const u32 begin = min(threadIdx.x * each, tiles), end = min(begin + each, tiles);
    u8* const mine = maps_of[threadIdx.x];
    for (u32 state = 0; state < wide_states; ++state) mine[state] = static_cast<u8>(state);
    for (u32 tile = begin; tile < end; ++tile) {
        for (u32 state = 0; state < wide_states; ++state) mine[state] = maps[u64{tile} * wide_states + mine[state]];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        u8 state = 0;
        for (u32 thread = 0; thread < threads; ++thread) {
            entries[thread] = state;
            state = maps_of[thread][state];
        }
        states[tiles] = state;
    }
    __syncthreads();
    u8 state = entries[threadIdx.x];
    for (u32 tile = begin; tile < end; ++tile) {
        states[tile] = state;
        state = maps[u64{tile} * wide_states + state];
    }
}

// Compute the state before each chunk (`before`) from that before each tile.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    start_chunks(const u8* text, u64 bytes, const Tables* tables, const u16* marks, Word* before, const u8* states,
                 const FindTotals* other) {
    __shared__ Maps own;
    __shared__ u8 entries[threads];
    if (other != nullptr && (tile::load_relaxed(&other->flags) & FIND_REDO) == 0) return;
    own.make(text, bytes, tables, marks);
    if (threadIdx.x == 0) {
        u8 state = states[blockIdx.x];
        for (u32 chunk = 0; chunk < threads; ++chunk) {
            entries[chunk] = state;
            state = own.of_chunk[chunk][state];
        }
    }
    __syncthreads();
    before[u64{blockIdx.x} * threads + threadIdx.x] = entries[threadIdx.x];
}
#endif

struct DfaCounts {
    u32 fields = 0, records = 0;
    u32 starts = 0, high = 0;
    u32 flags = 0, blanks = 0, comments = 0;
    bool reopens_before = false;  // a byte reopens a field whose last dropped byte is in an earlier chunk
};

// Malformed bytes of a word, and those of them that reopen their field.
struct MalformedBytes {
    u32 all = 0, reopening = 0;
};

// Count the rare bytes among four by their Emit bits, and add the malformed ones. `steps`: the step before them and
// their own four. `shift`: the first byte's place in its word.
HR_FN void add_rare(DfaCounts& counts, MalformedBytes& malformed, const Tables& tables, u32 bytes,
                    const u32 (&steps)[5], u32 shift) {
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        if ((steps[k + 1] & STEP_RARE) != 0) {
            const u32 byte = bytes >> (k * 8) & 0xFF;
            const u32 emit = tables.emits[tables.group_of[byte]][state_of<count>(steps[k])];
            const u32 stray = (emit & EMIT_STRAY) != 0 ? 1u << (shift + k) : 0;
            malformed.all |= stray;
            if (reopens_field(tables, byte, steps[k + 1])) malformed.reopening |= stray;
            counts.blanks += (emit & EMIT_BLANK) != 0;
            counts.comments += (emit & EMIT_COMMENT) != 0;
            if ((emit & EMIT_BREAK) != 0) counts.flags |= FIND_BREAK;
        }
    }
}

// Pack one bit of each of 16 bytes. `bit`: 1 to 128.
HR_FN u32 plane_of(const u32 (&codes)[4], u32 bit) {
    const u32 mask = tile::repeated(bit);
    const u32 low = tile::dot4(codes[1] & mask, 0x80402010, tile::dot4(codes[0] & mask, 0x08040201, 0));
    const u32 high = tile::dot4(codes[3] & mask, 0x80402010, tile::dot4(codes[2] & mask, 0x08040201, 0));
    return (low | high << 8) / bit;
}

// Return the spaces among 16 bytes.
HR_FN u32 spaces_of(const u32 (&words)[4]) {
    tile::Bits found;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) found.word[k] = tile::equals(words[k], tile::repeated(' '));
    return tile::gather(found);
}

// Run the chunk from `state` and replace each 32 bytes by their roles and, if padding is dropped, their spaces.
// `lenient`: quotes are lenient.
template <bool whole>
HR_FN void run(DfaCounts& counts, uint4* chunk, const Steps<count>& steps, const Tables& tables, u32 state,
               Extent extent, bool lenient) {
    u32 step = step_to<count>(state);
    const u32 quote = tile::repeated(tables.quote & 0xFF);
    u32 no_quote = tile::top_bits;
    i32 place = static_cast<i32>(threadIdx.x * rows * 16);
    DfaRoles roles{};
    MalformedBytes malformed;
    u32 spaces = 0;
#pragma unroll HR_UNROLL
    for (u32 row = 0; row < rows; ++row) {
        const uint4 vector = chunk[row];
        const u32 words[4] = {vector.x, vector.y, vector.z, vector.w}, shift = row % 2 * 16;
        u32 codes[4];
#pragma unroll
        for (u32 word = 0; word < 4; ++word) {
            u32 steps_taken[5] = {step};
#pragma unroll
            for (u32 k = 0; k < 4; ++k, ++place) {
                step = steps.template at<whole>(words[word], k, extent, place).from(step);
                steps_taken[k + 1] = step;
            }
            codes[word] = __byte_perm(__byte_perm(steps_taken[1], steps_taken[2], 0x0040),
                                      __byte_perm(steps_taken[3], steps_taken[4], 0x0040), 0x5410);
            if ((codes[word] & tile::repeated(STEP_RARE)) != 0)
                add_rare(counts, malformed, tables, words[word], steps_taken, shift + 4 * word);
            counts.high |= words[word];
            no_quote &= tile::differs(words[word] & ~tile::top_bits, quote) | words[word];
        }
        roles.fields |= plane_of(codes, STEP_FIELD) << shift;
        roles.records |= plane_of(codes, STEP_RECORD) << shift;
        roles.starts |= plane_of(codes, STEP_START) << shift;
        if (tables.padding.strips) spaces |= spaces_of(words) << shift;
        if (row % 2 == 0) continue;
        roles.malformed = malformed.all;
        if (lenient && malformed.reopening != 0)
            counts.reopens_before |= keep_quotes(roles, row == 1 ? nullptr : chunk + row - 3, malformed.reopening);
        chunk[row - 1] = bits_as<uint4>(roles);
        chunk[row].x = spaces;
        counts.fields += static_cast<u32>(__popc(roles.fields & ~roles.records));
        counts.records += static_cast<u32>(__popc(roles.record_ends()));
        counts.starts |= roles.starts;
        if (roles.malformed != 0) counts.flags |= FIND_STRAY;
        roles = {};
        malformed = {};
        spaces = 0;
    }
    if ((counts.high & tile::top_bits) != 0) counts.flags |= FIND_HIGH;
    if (tables.quote != no_byte && no_quote != tile::top_bits) counts.flags |= FIND_QUOTES;
}

// Return the delimiters of a part of the tile, 32 bytes a lane.
HR_FN DelimiterMasks look(const Staged& staged, u32 part) {
    const DfaRoles own = staged.roles(part * tile::lanes + tile::lane());
    return {own.fields & ~own.records, own.record_ends(), own.starts};
}

HR_FN Reached reach(const Staged& staged, i64 first, u32 records, u32 separators, bool starts) {
    Trail trail;
    bool found = records == 0 && separators == 0 && !starts;
    bool start_found = !starts, field_found = separators == 0;
    for (u32 part = tile_parts; part-- > 0 && !found;) {
        const DelimiterMasks window = look(staged, part);
        const bool ended = trail.add(window, first + part * part_bytes);
        start_found |= __any_sync(tile::all_lanes, window.starts != 0) != 0;
        field_found |= __any_sync(tile::all_lanes, window.separators != 0) != 0;
        found = records == 0 ? start_found && field_found : ended;
    }
    return trail.reached(records, separators);
}

// Return the end of the text in this tile, or of the tile if it is within the padding of a field, whose end follows. It
// counts as the end of a field. Return no_end if there is none.
constexpr u32 no_end = ~0u;
HR_FN u32 end_of_padding(const u8* text, u64 bytes, i64 first, Extent extent, const Tables& tables, u32 state_after) {
    if ((tables.quoted >> state_after & 1) != 0) return no_end;
    u64 at = static_cast<u64>(first + extent.to);
    while (at < bytes && text[at] == ' ') ++at;
    const DfaPadding& ends = tables.padding;
    const bool is_end =
        at == bytes || text[at] == ends.separator || text[at] == ends.line_end || (ends.universal && text[at] == '\r');
    return is_end ? static_cast<u32>(extent.to) : no_end;
}

// Drop the spaces before the ends of fields, after a barrier. Ends with one. `end`: as end_of_padding returns it. In a
// reversed word a run of spaces follows the end of its field. Adding the run's first bit clears the run:
// | text       ab␣␣,c    last byte first: c,␣␣ba
// | spaces     001100    the end 010000, so the run begins at 001000; 001100 + 001000 = 000010, with the first bit left
HR_FN void drop_padding(Staged& staged, u32 end) {
    const auto ends_of = [&](u32 word) {
        return staged.roles(word).ends() | (end / 32 == word ? 1u << (end % 32) : 0);
    };
    u32 padding[rows / 2];
#pragma unroll
    for (u32 i = 0; i < rows / 2; ++i) {
        const u32 word = threadIdx.x * (rows / 2) + i, spaces = staged.spaces(word);
        u32 ended = 0;  // the word's last spaces precede the end of a field
        if (spaces >> 31 != 0) {
            u32 next = word + 1;
            while (next < tile_words && staged.spaces(next) == ~0u) ++next;
            if (next < tile_words) {
                ended = ends_of(next) >> trailing_zeros(u64{~staged.spaces(next)}) & 1;
            } else {
                ended = end == tile_bytes ? 1 : 0;
            }
        }
        const u32 run = __brev(spaces), begins = __brev(ends_of(word)) << 1 | ended;
        padding[i] = __brev(run & ~(run + (begins & run)));
    }
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < rows / 2; ++i) {
        if (padding[i] == 0) continue;
        uint4& own = staged.vector[place_of(2 * (threadIdx.x * (rows / 2) + i))];
        own.x |= padding[i];
        own.y |= padding[i];
    }
    __syncthreads();
}

// Make text of quotes whose fields are reopened in later chunks, after a barrier. Ends with one.
HR_FN void keep_last_quotes(Staged& staged, bool reopens_before, bool is_last_text) {
    if (reopens_before && threadIdx.x != 0) keep_last(staged.vector[place_of(2 * (threadIdx.x * (rows / 2) - 1))]);
    if (is_last_text) keep_last(staged.vector[place_of(2 * (tile_words - 1))]);
    __syncthreads();
}

// `states`: the state before each tile and after the last one. `before`: the output of map_tiles (or start_chunks).
// `roles`: receives those of each 32 bytes, for the conversion.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    summarize_dfa(const u8* text, u64 bytes, const Tables* tables, const u16* marks, const Word* before,
                  const u8* states, DfaRoles* roles, TileSummary* tallies, FindTotals* totals,
                  const FindTotals* other) {
    __shared__ Staged staged;
    __shared__ u64 words[warps];
    __shared__ u32 padding_end;
    if (other != nullptr && (tile::load_relaxed(&other->flags) & FIND_REDO) == 0) return;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const i64 first = static_cast<i64>(blockIdx.x) * tile_bytes - skew;
    const u32 entry = states[blockIdx.x], state_after = states[blockIdx.x + 1];
    const Word own = before[u64{blockIdx.x} * threads + threadIdx.x];
    const u32 state = count > 16 ? static_cast<u32>(own) : static_cast<u32>(own >> (entry * 4)) & 15;
    const Extent extent = staged.stage(text, bytes, first, tables, marks);
    uint4* const chunk = staged.vector + threadIdx.x * pitch;
    const bool lenient = marks != nullptr;
    DfaCounts counts;
    if (Staged::is_whole(extent)) {
        run<true>(counts, chunk, staged.steps, *tables, state, extent, lenient);
    } else {
        run<false>(counts, chunk, staged.steps, *tables, state, extent, lenient);
    }
    const u64 end = static_cast<u64>(first + static_cast<i64>(tile_bytes));
    const bool is_last_text =
        lenient && threadIdx.x == 0 && is_reopened(text, bytes, end, marks, staged.steps, *tables, state_after);
    if (tables->padding.strips && threadIdx.x == 0)
        padding_end = end_of_padding(text, bytes, first, extent, *tables, state_after);
    const u64 mine = static_cast<u64>(counts.fields) | static_cast<u64>(counts.records) << 16 |
                     static_cast<u64>(counts.blanks) << 32 | static_cast<u64>(counts.comments) << 48;
    const u64 all = tile::reduce_block<Sum<u64>, threads>(mine, words);
    const u32 flags = __reduce_or_sync(tile::all_lanes, counts.flags);
    if (flags != 0 && tile::lane() == 0) add_flags(totals, flags);
    const u32 starts = __syncthreads_or(counts.starts != 0);
    if (tables->padding.strips) drop_padding(staged, padding_end);
    if (lenient) keep_last_quotes(staged, counts.reopens_before, is_last_text);
    for (u32 word = threadIdx.x; word < tile_words; word += threads)
        roles[u64{blockIdx.x} * tile_words + word] = staged.roles(word);
    if (tile::warp() != 0) return;

    const u64 joint = tile::shuffle(all, 0);
    TileSummary tally = {};
    tally.separators = static_cast<u32>(joint & 0xFFFF);
    tally.records = static_cast<u32>(joint >> 16 & 0xFFFF);
    tally.blanks = static_cast<u32>(joint >> 32 & 0xFFFF);
    tally.comments = static_cast<u32>(joint >> 48);
    const Reached reached = reach(staged, first, tally.records, tally.separators, starts != 0);
    tally.record_begin = reached.record_begin;
    tally.field_begin = reached.field_begin;
    tally.column = reached.column;
    const auto has = [](u64 set, u32 of) { return (set >> of & 1) != 0; };
    u32 ended = has(tables->comment, state_after) ? u32{FIND_COMMENT}
                : has(tables->idle, state_after)  ? 0u
                                                  : u32{FIND_OPEN};
    if (has(tables->quoted, state_after)) ended |= FIND_UNCLOSED;
    if (has(tables->unfinished, state_after)) ended |= FIND_UNFINISHED | FIND_STRAY;
    tally.flags = ended << SUMMARY_AT_END | (reached.closed != 0 ? u32{SUMMARY_CLOSED} : 0u) |
                  (has(tables->idle, entry) ? u32{SUMMARY_IDLE} : 0u) |
                  (has(tables->idle, state_after) ? u32{SUMMARY_IDLE_AFTER} : 0u);
    if (tile::lane() == 0) tallies[blockIdx.x] = tally;
}
