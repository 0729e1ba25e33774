// Scans the tiles' summaries into their start states: one thread a tile, one launch, blocks chained by decoupled
// look-back. The text is not read. This is the exclusive prefix scan of ParPaRaw, section 3.1, whose operator composes
// state maps and does not commute.
//
// scan_tiles: plain dialects have two states. A scan of quote parities first selects, for each tile, one of its two
// summaries (from outside or inside quotes). A second scan (`Follow`) then adds up records, columns and positions.
// | tile        0         1         2
// | text        a,"b      c",d⏎     e,f⏎
// | odd quotes  yes       yes       no
// | begins      outside   inside    outside     exclusive sum of `odd`, modulo 2
// | records     0         0         1           exclusive sum of the selected summaries' records
// scan_maps: for an automaton of up to 16 states, the scan composes maps of 64 bits and gives each tile's state. The
// tiles are summarized afterwards from that state, and scan_tiles runs on the result.
//
// Bytes moved a tile: one summary of 40 bytes and a flag word read (with quotes), or a map of 8 bytes; a start of 32
// bytes written.
#include "gpu/block/block.cuh"
#include "gpu/block/block_look_back.cuh"
#include "structure/gpu/dfa_tables.hpp"
#include "structure/gpu/tile_summary.hpp"
#include "structure/gpu/tile_text.cuh"

using namespace headrace;
using namespace headrace::structure;

constexpr u32 threads = HR_THREADS;
constexpr u32 warps = threads / tile::lanes;

// Return the exclusive prefix of this thread's item over all blocks. `words`, `shared`: scratch in shared memory.
template <class Op, class T>
HR_FN T before_item(T item, u32 block, tile::Chain<T>& look_back, T (&words)[warps], T& shared) {
    const T upto = tile::scan_warp<Op>(item);
    const T lane_before = tile::shuffle_up(upto, 1);
    const tile::WarpPrefix<T> before = tile::scan_warps<Op, threads>(tile::shuffle(upto, tile::lanes - 1), words);
    if (tile::warp() == 0) {
        if (tile::lane() == 0) look_back.template post<Op>(block, before.total);
        const T prefix = look_back.template prefix<Op>(block, before.total);
        if (tile::lane() == 0) shared = prefix;
    }
    __syncthreads();
    const T joined = Op::join(shared, before.before);
    return tile::lane() == 0 ? joined : Op::join(joined, lane_before);
}

HR_FN void add_total(u64* total, u32 mine) {
    const u32 all = __reduce_add_sync(tile::all_lanes, mine);
    if (all != 0 && tile::lane() == 0) atomicAdd(total, u64{all});
}

// `tallies`: summaries of all tiles from outside quotes; with `quoted`, then those from inside.
// `quoted`: 0: no quotes, or an automaton; 1: quotes; 2: lenient quotes, where a malformed one sets FIND_REDO so that
// the next variant reads the text.
// `states`: start state of each tile if an automaton read it, else null.
// `other`: totals of the preceding variant, or null: nothing is done unless that one set FIND_REDO.
// `marks`: null, or a word a tile, set to 1 if the tile was measured from the wrong side of quotes
// (columns/convert/gpu/fast/measure_rows.cu).
// `memory`: zeros: a ticket and a state for each block of the scan, then the same for the scan of parities.
extern "C" __global__ void __launch_bounds__(threads)
    scan_tiles(const TileSummary* tallies, u32 quoted, const u8* states, u64 bytes, u32 tile_bytes, u32 skew,
               TileStart* entries, FindTotals* totals, const FindTotals* other, u32* marks,
               tile::Chain<Reached>::Word* memory) {
    __shared__ Reached words[warps];
    __shared__ u32 parity_words[warps];
    __shared__ Reached reached_before;
    __shared__ u32 odd_before;
    __shared__ u32 block_ticket;
    if (other != nullptr && (tile::load_relaxed(&other->flags) & FIND_REDO) == 0) return;
    const u32 tiles = static_cast<u32>(tile_count(bytes, tile_bytes, skew));
    const u32 blocks = (tiles + threads - 1) / threads;
    tile::Chain<Reached> look_back(memory);
    tile::Chain<u32> parities(reinterpret_cast<u64*>(memory + blocks + 1));
    if (threadIdx.x == 0) {  // one thread decides for all: another block of this launch may set FIND_REDO meanwhile
        const bool is_incomplete = (tile::load_relaxed(&totals->flags) & FIND_REDO) != 0;
        block_ticket = is_incomplete ? ~0u : look_back.take_tile();
    }
    __syncthreads();
    const u32 block = block_ticket;
    if (block == ~0u) return;  // the summaries are incomplete
    const u32 number = block * threads + threadIdx.x;
    const bool there = number < tiles;
    u32 state = there && states != nullptr ? states[number] : 0;
    if (quoted != 0) {
        const u32 odd = there && (tallies[number].flags & SUMMARY_ODD_QUOTES) != 0;
        state = before_item<Sum<u32>>(odd, block, parities, parity_words, odd_before) & 1;
    }
    TileSummary tally = {};
    if (there) tally = tallies[quoted != 0 && state != 0 ? tiles + number : number];
    if (there && quoted != 0) {  // from the wrong side, lines in quotes are records or blank lines
        const TileSummary& other_side = tallies[state != 0 ? number : tiles + number];
        if (other_side.records + other_side.blanks != 0) add_flags(totals, FIND_BREAK);
    }
    const Reached reached = there ? reached_by(tally) : Follow::identity();
    const Reached before = before_item<Follow>(reached, block, look_back, words, reached_before);

    add_total(&totals->fields, tally.separators + tally.records);
    add_total(&totals->blank_lines, tally.blanks);
    add_total(&totals->comments, tally.comments);
    u32 flags = __reduce_or_sync(tile::all_lanes, tally.flags & 0xFF);
    if (quoted == 2 && (flags & FIND_STRAY) != 0) flags |= FIND_REDO;
    if (flags != 0 && tile::lane() == 0) add_flags(totals, flags);
    if (there) {
        entries[number] = start_at(before, tile_begin(number, tile_bytes, skew), (tally.flags & SUMMARY_IDLE) != 0,
                                   static_cast<u8>(state));
        if (marks != nullptr && (state != 0) != ((tally.flags & SUMMARY_GUESSED_QUOTED) != 0)) marks[number] = 1;
    }
    if (there && number + 1 == tiles) {
        const u32 state_after = states != nullptr ? states[tiles] : state ^ ((tally.flags & SUMMARY_ODD_QUOTES) != 0);
        const bool idle = (tally.flags & SUMMARY_IDLE_AFTER) != 0;
        entries[tiles] = start_at(Follow::join(before, reached), bytes, idle, static_cast<u8>(state_after));
        const u32 ended = tally.flags >> SUMMARY_AT_END & 0xFF;
        const u32 open = (ended & FIND_OPEN) != 0;
        add_flags(totals, quoted == 2 && (ended & FIND_UNCLOSED) != 0 ? ended | FIND_REDO : ended);
        totals->records = before.records + tally.records + open;
        totals->bytes = bytes;
        if (open != 0) atomicAdd(&totals->fields, u64{1});
        if ((ended & FIND_COMMENT) != 0) atomicAdd(&totals->comments, u64{1});
    }
    if (tiles == 0 && threadIdx.x == 0) entries[0] = {};
}

// Compute the state before each tile, and after the last one, from the tiles' maps.
extern "C" __global__ void __launch_bounds__(threads)
    scan_maps(const u64* maps, u32 tiles, u8* states, const FindTotals* other, tile::WordPair* memory) {
    __shared__ u64 words[warps];
    __shared__ u64 map_before;
    __shared__ u32 block_ticket;
    if (other != nullptr && (tile::load_relaxed(&other->flags) & FIND_REDO) == 0) return;
    tile::Chain<u64> look_back(memory);
    if (threadIdx.x == 0) block_ticket = look_back.take_tile();
    __syncthreads();
    const u32 number = block_ticket * threads + threadIdx.x;
    const u64 map = number < tiles ? maps[number] : ComposeStates::identity();
    const u64 before = before_item<ComposeStates>(map, block_ticket, look_back, words, map_before);
    if (number <= tiles) states[number] = static_cast<u8>(before & 15);
}
