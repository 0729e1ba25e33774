// Finds the matches of an automaton in two readings of the text (automaton/tables.py), backward and then forward. Each
// reading is one launch. A block takes a tile of the text by a ticket, in the order of the reading, and copies it to
// shared memory. There, state_maps.cuh finds the state before each chunk of the tile, as in ParPaRaw (section 3.1), and
// one thread walks each chunk from its known state.
//
// The backward reading writes a symbol for each byte of the text. The symbol is the row of the forward reading's steps:
// the class of the byte and the right state after it, equal rows joined. Rows may be too many for that, or steps too
// large for shared memory. Then the symbol is the right state, and the forward reading reads the text again.
//
// The forward reading marks the first and last bytes of matches. The kernel of query/find/gpu/positions.cu makes
// positions of the marks.
//
// In some automata the right state before a byte follows from the byte alone, as in that of [a-z]+. Then the row of a
// byte follows from its class and that of the next byte, and there is no backward reading (FORM_PAIRS).
//
// Example: ab* in "xabb". Symbols are rows for x, for an a with a b after it, and for a b with and without one. They
// lead from the state of no match to that of a match at a, and back at the last b.
//
// Bytes moved per byte of text: 3 if rows are joined, otherwise 4, and 1/4 for the marks. Look-ups in shared memory:
// one for the class, one for the step of each reading, and up to two for walks from all states.
#include "query/match/gpu/state_maps.cuh"

using namespace headrace;

// The symbols of the forward reading. They are right states, or rows of its steps. Rows come from the backward reading,
// or from the classes of two adjacent bytes.
enum SymbolForm : u32 { FORM_RIGHTS = 0, FORM_ROWS = 1, FORM_PAIRS = 2 };
constexpr u32 form = HR_SYMBOLS;
constexpr bool joined = form != FORM_RIGHTS;

// Dynamic shared memory of a block: symbols, maps, classes of bytes, and steps if those are joined.
struct BlockMemory {
    TileSymbols tile;
    MapMemory maps;
    const u8* class_of;
    const u8* pairs;
    const u16* steps;
};

template <class T>
HR_FN const T* copy_table(u8* memory, const T* from, u32 count) {
    T* const to = reinterpret_cast<T*>(memory);
    for (u32 i = threadIdx.x; i < count; i += threads) to[i] = from[i];
    return to;
}

HR_FN BlockMemory block_memory(const MatchTask& task, const MatchReading& reading, const u8* class_of,
                               bool has_classes) {
    HR_DYNAMIC_SHARED(u8, memory);
    u8* at = memory;
    const auto take = [&](u32 bytes) {
        u8* const begin = at;
        at += (bytes + 15) / 16 * 16;
        return begin;
    };
    const u32 chunks = tile_bytes >> reading.chunk_bits, padded = tile_bytes + 4 * chunks;
    BlockMemory block{};
    block.tile.chunk_bits = reading.chunk_bits;
    block.tile.words = reinterpret_cast<u32*>(take(padded));
    block.tile.classes = has_classes ? reinterpret_cast<u32*>(take(padded)) : nullptr;
    block.maps.windows = take(chunks * reading.states);
    block.maps.rests = take(chunks * reading.states);
    block.maps.groups = take((chunks / chunks_per_group + 1) * reading.states);
    block.maps.walks = reinterpret_cast<u16*>(take(2 * chunks * reading.states));
    block.class_of = copy_table(take(256), class_of, 256);
    if (joined) block.steps = copy_table(take(2 * reading.step_count), reading.steps, reading.step_count);
    const u32 pairs = (task.outside + 1) * (task.outside + 1);
    if (form == FORM_PAIRS) block.pairs = copy_table(take(pairs), task.pairs, pairs);
    return block;
}

HR_FN u32 take_tile(const MatchReading& reading) {
    __shared__ u32 number;
    if (threadIdx.x == 0) number = atomicAdd(reading.stages, 1u);
    __syncthreads();
    return number;
}

HR_FN u32 classes_of(u32 word, const u8* class_of) {
    return class_of[word & 0xFF] | class_of[word >> 8 & 0xFF] << 8 | class_of[word >> 16 & 0xFF] << 16 |
           static_cast<u32>(class_of[word >> 24]) << 24;
}

HR_FN void store_vector(const TileSymbols& tile, u32* words, u32 byte, uint4 vector) {
    u32* const to = words + tile.word_of(byte);
    to[0] = vector.x;
    to[1] = vector.y;
    to[2] = vector.z;
    to[3] = vector.w;
}

// Returns the classes of 16 bytes from `at` on, with one for bytes outside the text.
HR_FN uint4 partial_classes(const MatchTask& task, i64 at, const u8* class_of) {
    u32 word[4] = {};
#pragma unroll
    for (u32 i = 0; i < 16; ++i) {
        const i64 byte = at + i;
        const bool inside = byte >= 0 && byte < static_cast<i64>(task.size);
        word[i / 4] |= (inside ? class_of[task.text[byte]] : task.outside) << (i % 4 * 8);
    }
    return {word[0], word[1], word[2], word[3]};
}

// Returns the symbols of four bytes from their classes and the class of the next byte.
HR_FN u32 pair_symbols(const BlockMemory& block, u32 classes, u32 next, u32 row) {
    u32 symbols = 0;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const u32 after = k < 3 ? classes >> (8 * k + 8) & 0xFF : next & 0xFF;
        symbols |= static_cast<u32>(block.pairs[(classes >> 8 * k & 0xFF) * row + after]) << 8 * k;
    }
    return symbols;
}

// Writes the classes of a tile of the text to shared memory, or its symbols if these are those of pairs. `whole`: the
// text has all bytes of the tile and one more.
template <bool pairs, bool whole>
HR_FN void load_text(const MatchTask& task, i64 begin, const BlockMemory& block, u32* words) {
    const u8* const class_of = block.class_of;
    const u32 row = task.outside + 1;
#pragma unroll(whole ? 4 : 1)
    for (u32 byte = threadIdx.x * 16; byte < tile_bytes; byte += threads * 16) {
        const i64 at = begin + byte;
        uint4 found;
        if (whole) {
            const uint4 text = tile::load_streaming(reinterpret_cast<const uint4*>(task.text + at));
            found = {classes_of(text.x, class_of), classes_of(text.y, class_of), classes_of(text.z, class_of),
                     classes_of(text.w, class_of)};
        } else {
            found = partial_classes(task, at, class_of);
        }
        if (pairs) {
            const u32 last =
                whole || at + 16 < static_cast<i64>(task.size) ? class_of[task.text[at + 16]] : task.outside;
            found = {pair_symbols(block, found.x, found.y, row), pair_symbols(block, found.y, found.z, row),
                     pair_symbols(block, found.z, found.w, row), pair_symbols(block, found.w, last, row)};
        }
        store_vector(block.tile, words, byte, found);
    }
}

template <bool pairs>
HR_FN void load_text(const MatchTask& task, u64 number, const BlockMemory& block, u32* words) {
    const i64 begin = static_cast<i64>(number * tile_bytes) - shift_of(task.text);
    if (begin >= 0 && begin + tile_bytes < static_cast<i64>(task.size))
        load_text<pairs, true>(task, begin, block, words);
    else
        load_text<pairs, false>(task, begin, block, words);
}

// Writes the symbols of a tile from the backward reading to shared memory.
HR_FN void load_symbols(const MatchTask& task, u64 number, const BlockMemory& block) {
    const uint4* const from = reinterpret_cast<const uint4*>(task.symbols + number * tile_bytes);
#pragma unroll 4
    for (u32 i = threadIdx.x; i < tile_bytes / 16; i += threads)
        store_vector(block.tile, block.tile.words, i * 16, tile::load_streaming(from + i));
}

HR_FN void set_limits(const MatchTask& task, u64 number, TileSymbols& tile) {
    const u64 shift = shift_of(task.text), begin = number * tile_bytes, end = task.size + shift;
    tile.low = number == 0 ? static_cast<u32>(shift) : 0;
    tile.high = end - begin < tile_bytes ? static_cast<u32>(end - begin) : tile_bytes;
}

// `reading.steps`: by class and right state after a byte. The bits from 8 on are the symbol of the byte.
extern "C" __global__ void __launch_bounds__(threads)
    read_backward(MatchTask task, MatchTables tables, MatchReading reading) {
    const u32 turn = take_tile(reading), states = reading.states;
    const u64 number = task.tiles - 1 - turn;
    BlockMemory block = block_memory(task, reading, tables.class_of, false);
    TileSymbols& tile = block.tile;
    if (!joined) set_limits(task, number, tile);
    __syncthreads();
    load_text<false>(task, number, block, tile.words);
    __syncthreads();
    const u16* const steps = joined ? block.steps : reading.steps;
    const auto next = [=](u32 group, u32, u32 right) { return steps[group * states + right] & STEP_STATE; };
    const auto read = [&](u32 chunk, u32 from, u32 upto, u32 right, bool is_final) {
        u32 written = 0;
        walk<false>(
            tile, chunk, from, upto,
            [&](u32 byte, u32 group, u32) {
                const u32 step = steps[group * states + right];
                right = step & STEP_STATE;
                written |= step >> 8 << (byte * 8);
            },
            [&](u32 word) {
                if (is_final) tile.words[word] = written;
                written = 0;
            });
        return right;
    };
    map_chunks<false>(tile, states, block.maps, next, read);
    const u8* const whole = join_maps(block.maps, tile.chunks(), states);
    read_chunks(tile, states, block.maps, state_before(reading, turn, whole), read);
    uint4* const out = reinterpret_cast<uint4*>(task.symbols + number * tile_bytes);
    for (u32 i = threadIdx.x; i < tile_bytes / 16; i += threads) {
        const u32* const from = tile.words + tile.word_of(i * 16);
        out[i] = {from[0], from[1], from[2], from[3]};
    }
}

// Marks of a word of the text: bit i if a match begins at its byte i, and bit 4 + i if a match ends there.
constexpr u32 word_mark = (STEP_BEGINS | STEP_ENDS) >> 8;
static_assert(word_mark == 0x11);

// Writes and counts the marks of a tile. Those of each word are in shared memory, in place of its symbols.
HR_FN void write_marks(const TileSymbols& tile, u32 number, const MatchMarks& marks) {
    __shared__ u32 begin_count, end_count;
    if (threadIdx.x == 0) begin_count = end_count = 0;
    __syncthreads();
    u32 begins_found = 0, ends_found = 0;
    for (u32 i = threadIdx.x; i < tile_bytes / 32; i += threads) {
        const u32* const words = tile.words + tile.word_of(i * 32);
        u32 begins = 0, ends = 0;
#pragma unroll
        for (u32 k = 0; k < 8; ++k) {
            begins |= (words[k] & 0xF) << (4 * k);
            ends |= words[k] >> 4 << (4 * k);
        }
        begins_found += static_cast<u32>(__popc(begins));
        ends_found += static_cast<u32>(__popc(ends));
        if (marks.begins == nullptr) continue;
        marks.begins[static_cast<u64>(number) * (tile_bytes / 32) + i] = begins;
        marks.ends[static_cast<u64>(number) * (tile_bytes / 32) + i] = ends;
    }
    begins_found = __reduce_add_sync(tile::all_lanes, begins_found);
    ends_found = __reduce_add_sync(tile::all_lanes, ends_found);
    if (tile::lane() == 0) {
        atomicAdd(&begin_count, begins_found);
        atomicAdd(&end_count, ends_found);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (marks.begins != nullptr) {
        marks.begin_counts[number] = begin_count;
        marks.end_counts[number] = end_count;
    }
    if (end_count != 0) atomicAdd(marks.total, u64{end_count});
}

extern "C" __global__ void __launch_bounds__(threads)
    read_forward(MatchTask task, MatchTables tables, MatchReading reading, MatchMarks marks) {
    const u32 number = take_tile(reading), states = reading.states;
    BlockMemory block = block_memory(task, reading, tables.class_of, !joined);
    TileSymbols& tile = block.tile;
    if (!joined) set_limits(task, number, tile);
    __syncthreads();
    if (form == FORM_PAIRS)
        load_text<true>(task, number, block, tile.words);
    else
        load_symbols(task, number, block);
    if (!joined) load_text<false>(task, number, block, tile.classes);
    __syncthreads();
    const u16* const steps = joined ? block.steps : reading.steps;
    const auto step_of = [&, steps](u32 symbol, u32 group, u32 state) -> u32 {
        return joined ? steps[symbol * states + state] : match_step(tables, group, symbol, state);
    };
    const auto next = [&](u32 symbol, u32 group, u32 state) { return step_of(symbol, group, state) & STEP_STATE; };
    const auto read = [&](u32 chunk, u32 from, u32 upto, u32 state, bool is_final) {
        u32 found = 0;
        walk<true>(
            tile, chunk, from, upto,
            [&](u32 byte, u32 symbol, u32 group) {
                const u32 step = step_of(symbol, group, state);
                state = step & STEP_STATE;
                found |= step >> (8 - byte) & word_mark << byte;
            },
            [&](u32 word) {
                if (is_final) tile.words[word] = found;
                found = 0;
            });
        return state;
    };
    map_chunks<true>(tile, states, block.maps, next, read);
    const u8* const whole = join_maps(block.maps, tile.chunks(), states);
    read_chunks(tile, states, block.maps, state_before(reading, number, whole), read);
    write_marks(tile, number, marks);
}
