// Finds the state before each chunk of a tile, for both readings of match.cu.
//
// A chunk's map is the state after it for each state before it. Walks from all states through its first bytes, the
// window, end in few states, and one walk goes on from each of these. So a chunk costs few walks, whatever the number
// of states (Mytkowicz, Musuvathi and Schulte 2014, "Data-parallel finite-state machines"). If one walk is left, its
// states are those of the text, and only the window is read again. Maps of chunks are joined to those of groups and of
// the tile.
//
// A tile whose map is constant needs no other tile. For the others, the state before the tile comes from decoupled
// look-back (Merrill and Garland 2016). Maps do not commute: they are applied in order, from the nearest tile whose
// state is known.
//
// Example: states 0 and 1, and chunks with the maps (1 1), (0 1), (1 0) in a tile that state 0 precedes. The tile's map
// is (0 0), so the state after it is known at once. The states before the chunks are 0, 1 and 1.
#pragma once
#include "gpu/block/block.cuh"
#include "gpu/block/memory_access.cuh"
#include "query/find/gpu/text.cuh"
#include "query/match/automaton/match_rules.hpp"
#include "query/match/gpu/match_task.hpp"

namespace headrace {

constexpr u32 threads = HR_THREADS;
constexpr u32 tile_bytes = HR_TILE;
constexpr u32 window = HR_WINDOW;  // bytes of a chunk that are walked from all states
constexpr u32 chunks_per_group = 16;

constexpr u32 stage_map = 1, stage_known = 2;  // the latter has the state after the tile in the bits from 8 on

// The symbols of a tile in shared memory. Each chunk has a word more, so that threads that walk chunks side by side
// access different banks.
struct TileSymbols {
    u32* words;
    u32* classes;  // a second symbol of each byte, or null
    u32 chunk_bits;
    u32 low, high;  // the bytes of the tile that belong to the text, if steps are not joined

    HR_MEMBER u32 chunk() const { return 1u << chunk_bits; }
    HR_MEMBER u32 chunks() const { return tile_bytes >> chunk_bits; }
    HR_MEMBER u32 word_of(u32 byte) const { return byte / 4 + (byte >> chunk_bits); }
};

// Calls step(index, symbol, class) for bytes `from` to `upto` of a chunk in the order of the reading. Calls done(word)
// after each word, an index of `tile.words`.
template <bool forward, class Step, class Done>
HR_FN void walk(const TileSymbols& tile, u32 chunk, u32 from, u32 upto, const Step& step, const Done& done) {
    const u32 place = forward ? chunk : tile.chunks() - 1 - chunk, words = tile.chunk() / 4;
    const u32 first = place * (words + 1);
#pragma unroll 2
    for (u32 i = from / 4; i < upto / 4; ++i) {
        const u32 word = forward ? i : words - 1 - i, at = place * tile.chunk() + word * 4;
        const u32 symbols = tile.words[first + word];
        const u32 classes = tile.classes != nullptr ? tile.classes[first + word] : 0;
        const bool whole = HR_SYMBOLS != 0 || (at >= tile.low && at + 4 <= tile.high);
#pragma unroll
        for (u32 k = 0; k < 4; ++k) {
            const u32 byte = forward ? k : 3 - k;
            if (whole || (at + byte >= tile.low && at + byte < tile.high))
                step(byte, symbols >> (byte * 8) & 0xFF, classes >> (byte * 8) & 0xFF);
        }
        done(first + word);
    }
}

// Memory of a block for the maps of chunks. A chunk's map is that of its window, followed by that of its rest.
struct MapMemory {
    u8* windows;  // by chunk and state: state after the window
    u8* rests;    // by chunk and state after the window, if one leads there: state after the chunk
    u8* groups;   // maps of groups of chunks, and that of the tile
    u16* walks;   // walks that go on after the window, as an index of `rests`
};

// Returns the number of walks of each chunk that go on after the window. A tile has at most a chunk for each thread. As
// a member of MapMemory, NVRTC 13.0 takes the array for device memory.
HR_FN u32* distinct_walks() {
    __shared__ u32 counts[threads];
    return counts;
}

// A thread's pairs of a chunk and a state: each pair has one thread. An index of both is chunk * states + state.
struct Pair {
    u32 states, chunk, state;

    HR_MEMBER explicit Pair(u32 count)
        : states(count), chunk(threadIdx.x / count), state(threadIdx.x % count), chunk_step_(threads / count) {}
    HR_MEMBER u32 index() const { return chunk * states + state; }
    HR_MEMBER void advance() {
        chunk += chunk_step_;
        state += threads - chunk_step_ * states;
        if (state < states) return;
        state -= states;
        ++chunk;
    }

private:
    u32 chunk_step_;
};

// Computes the maps of all chunks of a tile. `next(symbol, class, state)`: state after a byte. `read(chunk, from, upto,
// state, is_final)`: walks over bytes of a chunk, writes results if they are final, and returns the state after them.
template <bool forward, class Next, class Read>
HR_FN void map_chunks(const TileSymbols& tile, u32 states, const MapMemory& memory, const Next& next,
                      const Read& read) {
    __shared__ u32 walks;
    if (threadIdx.x == 0) walks = 0;
    for (u32 i = threadIdx.x; i < tile.chunks(); i += threads) distinct_walks()[i] = 0;
    for (Pair pair(states); pair.chunk < tile.chunks(); pair.advance()) {
        u32 state = pair.state;
        walk<forward>(
            tile, pair.chunk, 0, window, [&](u32, u32 symbol, u32 group) { state = next(symbol, group, state); },
            [](u32) {});
        memory.windows[pair.index()] = static_cast<u8>(state);
        memory.rests[pair.chunk * states + state] = static_cast<u8>(pair.state);  // one of those that lead to `state`
    }
    __syncthreads();
    for (Pair pair(states); pair.chunk < tile.chunks(); pair.advance()) {
        const u32 rest = pair.chunk * states + memory.windows[pair.index()];
        if (memory.rests[rest] != pair.state) continue;
        memory.walks[atomicAdd(&walks, 1u)] = static_cast<u16>(rest);
        atomicAdd(&distinct_walks()[pair.chunk], 1u);
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < walks; i += threads) {
        const u32 rest = memory.walks[i], chunk = rest / states;
        const bool is_final = distinct_walks()[chunk] == 1;
        memory.rests[rest] = static_cast<u8>(read(chunk, window, tile.chunk(), rest - chunk * states, is_final));
    }
    __syncthreads();
}

// Applies the maps of `count` adjacent chunks to a state.
HR_FN u32 apply_chunks(const MapMemory& memory, u32 states, u32 chunk, u32 count, u32 state) {
    for (u32 at = chunk * states, end = at + count * states; at < end; at += states)
        state = memory.rests[at + memory.windows[at + state]];
    return state;
}

// Applies `count` adjacent maps to a state.
HR_FN u32 apply(const u8* maps, u32 states, u32 count, u32 state) {
    for (u32 i = 0; i < count; ++i) state = maps[i * states + state];
    return state;
}

// Joins the maps of chunks to those of groups and to that of the tile, and returns the latter. All threads call it.
HR_FN const u8* join_maps(const MapMemory& memory, u32 chunks, u32 states) {
    const u32 groups = chunks / chunks_per_group;
    for (Pair pair(states); pair.chunk < groups; pair.advance())
        memory.groups[pair.index()] =
            static_cast<u8>(apply_chunks(memory, states, pair.chunk * chunks_per_group, chunks_per_group, pair.state));
    __syncthreads();
    u8* const whole = memory.groups + groups * states;
    for (u32 i = threadIdx.x; i < states; i += threads)
        whole[i] = static_cast<u8>(apply(memory.groups, states, groups, i));
    __syncthreads();
    return whole;
}

// Applies `count` adjacent maps of tiles to a state. All lanes of one warp call it.
HR_FN u32 apply_tiles(const u8* maps, u32 states, u64 count, u32 state) {
    constexpr u32 at_once = 8;
    if (states > tile::lanes) {
        for (u64 i = 0; i < count; ++i) state = maps[i * states + state];
        return state;
    }
    for (u64 i = 0; i < count; i += at_once) {
        u32 map[at_once];
#pragma unroll
        for (u32 k = 0; k < at_once; ++k) {
            map[k] = tile::lane();
            if (i + k < count && tile::lane() < states) map[k] = maps[(i + k) * states + tile::lane()];
        }
#pragma unroll
        for (u32 k = 0; k < at_once; ++k) state = tile::shuffle(map[k], state);
    }
    return state;
}

// Returns the state before a tile from preceding ones. All lanes of one warp call it.
HR_FN u32 look_back(const MatchReading& reading, const u32* stages, u32 number) {
    for (i64 mine = static_cast<i64>(number) - 1 - tile::lane();; mine -= tile::lanes) {
        u32 seen, known, missing;
        do {
            seen = mine >= 0 ? tile::load_acquire(stages + mine) : stage_known;
            known = __ballot_sync(tile::all_lanes, (seen & 0xFF) == stage_known);
            missing = __ballot_sync(tile::all_lanes, seen == 0);
            missing &= known == 0 ? ~0u : (known & (0 - known)) - 1;
        } while (missing != 0);
        if (known == 0) continue;
        const u32 nearest = static_cast<u32>(trailing_zeros(known));
        const u64 begin = static_cast<u64>(mine + tile::lane() - nearest) + 1;
        const u32 state = tile::shuffle(seen, nearest) >> 8;
        return apply_tiles(reading.maps + begin * reading.states, reading.states, number - begin, state);
    }
}

// Returns the state before the tile with this number, and posts the one after it. All threads call it. `whole`: the
// tile's map.
HR_FN u32 state_before(const MatchReading& reading, u32 number, const u8* whole) {
    __shared__ u32 before;
    u32* const stages = reading.stages + 1;
    bool alike = true;
    for (u32 i = threadIdx.x; i < reading.states; i += threads) alike &= whole[i] == whole[0];
    const bool is_known = __syncthreads_and(alike) != 0 || number == 0;
    if (!is_known) {
        u8* const map = reading.maps + static_cast<u64>(number) * reading.states;
        for (u32 i = threadIdx.x; i < reading.states; i += threads) map[i] = whole[i];
        __threadfence();
        __syncthreads();
    }
    if (tile::warp() == 0) {
        if (tile::lane() == 0)
            tile::store_release(stages + number, is_known ? stage_known | u32{whole[reading.first]} << 8 : stage_map);
        const u32 state = number == 0 ? reading.first : look_back(reading, stages, number);
        if (tile::lane() == 0) {
            before = state;
            if (!is_known) tile::store_release(stages + number, stage_known | u32{whole[state]} << 8);
        }
    }
    __syncthreads();
    return before;
}

// Reads the parts of chunks whose states were not known yet. `before`: state before the tile.
template <class Read>
HR_FN void read_chunks(const TileSymbols& tile, u32 states, const MapMemory& memory, u32 before, const Read& read) {
    __shared__ u32 left;
    if (threadIdx.x == 0) left = 0;
    __syncthreads();
    for (u32 chunk = threadIdx.x; chunk < tile.chunks(); chunk += threads) {
        const u32 group = chunk / chunks_per_group;
        const u32 first = apply(memory.groups, states, group, before);
        const u32 state = apply_chunks(memory, states, group * chunks_per_group, chunk % chunks_per_group, first);
        if (distinct_walks()[chunk] == 1) {
            read(chunk, 0, window, state, true);
        } else {  // threads side by side take these, as they have more work
            distinct_walks()[chunk] = state;
            memory.walks[atomicAdd(&left, 1u)] = static_cast<u16>(chunk);
        }
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < left; i += threads) {
        const u32 chunk = memory.walks[i];
        read(chunk, 0, tile.chunk(), distinct_walks()[chunk], true);
    }
    __syncthreads();
}

}  // namespace headrace
