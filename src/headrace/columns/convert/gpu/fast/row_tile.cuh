// Stages a tile's text in shared memory and finds its field ends, as bits, and its record begins, for convert_rows.cu.
//
// The search has counted the records that end in the tile. If the text has as many line ends outside quotes, each ends
// a record, except those of blank lines. A tile with lone carriage returns has another number and is declined.
//
// If only the DFA reads the text (HR_QUOTES 2), the search has stored the roles of all bytes. So escapes, comments,
// lenient quotes, padding and delimiters of several bytes are read here too. Malformed quotes are listed as faults.
//
// Bytes moved: the text once, and HR_HEAD more per tile; by the DFA half as many bytes of roles.
#pragma once

#include "columns/convert/gpu/dfa_roles.cuh"
#include "columns/convert/gpu/digits.cuh"
#include "columns/convert/gpu/fast/row_task.hpp"
#include "columns/convert/gpu/wide_tiles.cuh"
#include "gpu/block/block.cuh"
#include "structure/gpu/tile_text.cuh"

namespace headrace {

constexpr u32 threads = HR_THREADS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 per_lane = HR_RECORDS;              // records that a lane reads side by side
constexpr u32 per_warp = per_lane * tile::lanes;  // records per warp
constexpr u32 per_round = per_lane * threads;     // records per block
constexpr bool may_quote = HR_QUOTES != 0;
constexpr bool by_dfa = HR_QUOTES == 2;
constexpr bool stages_text = HR_WRITES;  // otherwise strings are only measured, from the bit masks
constexpr u32 tile_bytes = HR_TILE;
constexpr u32 halo_bytes = HR_HEAD;  // bytes staged before the tile, for the record that is open there
constexpr u32 staged_bytes = halo_bytes + tile_bytes;
constexpr u32 chunks = staged_bytes / 32;  // 32-bit words of a mask
constexpr u32 head_chunks = halo_bytes / 32;
constexpr u32 tile_chunks = tile_bytes / 32;
constexpr u32 thread_chunks =
    (tile_chunks + threads - 1) / threads;  // consecutive words of a thread; the last threads may have fewer
constexpr u32 max_records = tile_bytes / HR_RECORD_BYTES;
constexpr i64 window_reach = 32;  // bytes before a field that are loaded with it
constexpr u32 pad_vectors = 5;    // vectors after the tile that loads may reach, and 32 bytes
constexpr u32 pad_chunks = 3;
constexpr u32 stream_bytes = may_quote ? 512 : 1360;
constexpr u32 tiny_string = 4;
constexpr u32 kept_chunk = 8;      // staged bytes that a lane copies at a time if some strings have dropped bytes
constexpr u32 long_string = 1024;  // from this size on a warp or a block copies a string, instead of a lane
constexpr u32 long_strings = 128 * tile::lanes;  // bytes of 32 strings; from this size on all warps copy them together
constexpr u32 string_head = STRING_HEAD;
constexpr u32 max_malformed = 256;  // tiles with more malformed quotes are declined
constexpr bool leaves_fields = HR_WRITES && !by_dfa;
// Tiles with more fields that are left to the rules are declined. With more places, eight blocks of numbers would need
// more than 196 KB of shared memory, and the L1 cache would lose half of its own.
constexpr u32 max_left = 108;
static_assert(tile_bytes % 32 == 0 && halo_bytes >= string_head && staged_bytes < 0xFF00);
static_assert(head_chunks <= threads);

// A field that is left to the rules: its first staged byte, the lowest bits of its row, and its column
// (RowColumn::number).
struct LeftPlace {
    u16 begin, row, column;
};

// Records of which a tile has a part.
struct SplitRecords {
    u32 enters;     // entry of the column table from which on the fields of the first record are in the tile
    u32 skipped;    // fields in the tile that precede those of this entry
    u16 last_end;   // the last field end that is staged: a later field goes on after the tile
    u16 is_staged;  // not 0 if all is staged that the tile owns of the field in which it begins
};

// One past the end of each record, after the first record's begin. If each thread stores those of 64 records of two
// bytes, their addresses differ by multiples of 128 bytes, which are in one bank. So a word follows each 64 of them.
struct RecordStarts {
    static constexpr bool skips = HR_RECORD_BYTES < 4;
    HR_MEMBER u16& operator[](u32 record) { return items[skips ? record + record / 64 * 2 : record]; }
    HR_MEMBER u16 operator[](u32 record) const { return items[skips ? record + record / 64 * 2 : record]; }
    u16 items[max_records + 2 + (skips ? (max_records + 1) / 64 * 2 : 0)];
};

struct RowMemory {
    uint4 text[stages_text ? staged_bytes / 16 + pad_vectors : 1];
    u32 ends[chunks + pad_chunks];                        // field ends; all ones after the tile, so that searches stop
    alignas(16) u32 dropped[may_quote ? chunks + 2 : 1];  // quotes that are not part of their field's text
    u16 dropped_before[may_quote ? chunks + 2 : 2];       // number of dropped bytes in all preceding words
    union {
        alignas(16) u32 lines[tile_chunks];  // line ends of the tile, inside and outside quotes; then
        RecordStarts starts;
    };
    u64 totals[warps];
    union {
        struct {
            u32 odd[may_quote ? warps : 1];       // parity of the quotes in a warp's words of the tile
            u32 head_odd[may_quote ? warps : 1];  // bit mask of the warp's words of the head with odd numbers of quotes
            u32 head_dropped[may_quote ? warps : 1];  // number of dropped quotes in these words
        };
        SplitRecords split;  // after quotes are resolved
    };
    u32 sums[MAX_ROW_STRINGS];        // bytes that the tile owns, for each measured column of strings
    u32 has_kinds;                    // not 0 if a column of kind `empty` has values
    u32 begins[by_dfa ? chunks : 1];  // first bytes of records, by the DFA
    union {
        u32 malformed_count;  // by the DFA
        u32 has_doubled;      // by masks: not 0 if two quotes in quotes mean one somewhere
    };
    u16 malformed[by_dfa ? max_malformed : 2];  // bytes of malformed quotes in the tile
    u32 left_count;
    u32 left_first;  // index of the tile's first field in the list of all
    LeftPlace left[leaves_fields ? max_left : 1];
};

// The strings of 32 rows that all warps copy together. For each row: the staged bytes, of which some may be dropped,
// and the number of string bytes up to its end.
struct LongStrings {
    u8* to;
    u16 begin[tile::lanes], raw[tile::lanes], until[tile::lanes];
};
constexpr u32 max_long = staged_bytes / long_strings + 1;

// Follows RowMemory in shared memory if strings are written.
struct RowStrings {
    u32 long_count;
    alignas(8) u8 streams[warps][stream_bytes + 4];
    LongStrings longs[max_long];
};
static_assert(sizeof(RowMemory) % 4 == 0);
HR_FN RowStrings& row_strings(RowMemory& memory) {
    constexpr usize at = (sizeof(RowMemory) + 15) / 16 * 16;
    return *reinterpret_cast<RowStrings*>(reinterpret_cast<u8*>(&memory) + at);
}

// Properties of the tile, the same in every thread.
struct RowTile {
    const TileStart* entries;  // `entry` and `next` in device memory
    TileStart entry, next;
    const u8* text;
    i64 origin;  // staged byte s is the text's byte s + origin
    u32 begin;   // staged bytes [begin, end) are the tile's part of the text
    u32 end;
    u32 first_chunk;  // earlier words contain no record that ends here: their bits are zero
    u32 records;      // number of records that end in the tile
    bool far;         // the record that is open at the tile's begin began before what is staged: it is read in parts
    bool far_after;   // the same of the record that is open at its end, for the next tile
    bool returns;     // a carriage return may end a field
    bool blanks;      // blank lines may precede a record; they consist of `line_end`
    u8 line_end;
    bool inside;  // the tile begins inside quotes
    // Bytes for which the tile is declined: any quotes, watched bytes, quotes that are text.
    bool quotes, watches, text_quotes;
};

// Returns the position in the text of a staged byte.
HR_FN u64 tile_position(const RowTile& tile, u32 staged) { return static_cast<u64>(tile.origin + staged); }

HR_FN const u32* staged_words(const RowMemory& memory) { return reinterpret_cast<const u32*>(memory.text); }
HR_FN const u8* staged_text(const RowMemory& memory) { return reinterpret_cast<const u8*>(memory.text); }

// Returns a byte of the tile's records, from shared memory if the text is staged.
HR_FN u8 byte_at(const RowMemory& memory, const RowTile& tile, u32 staged) {
    if constexpr (stages_text) return staged_text(memory)[staged];
    return tile.text[tile.origin + staged];
}

// Returns whether the tile has this word of bits.
HR_FN bool has_chunk(u32 number) { return tile_chunks % threads == 0 || number < tile_chunks; }

// Bytes with a meaning, each repeated in all bytes of a word. A byte that the dialect does not have is replaced by the
// line end.
struct RowBytes {
    u32 separator, line_end, carriage, quote;
};

HR_FN void stage_vector(RowMemory& memory, const RowBytes& bytes, u32 v, uint4 text) {
    if constexpr (stages_text) memory.text[v] = text;
    if constexpr (by_dfa) return;
    const u32 words[4] = {text.x, text.y, text.z, text.w};
    tile::Bits ends, lines, quotes;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const u32 low = words[k] & ~tile::top_bits;
        const u32 no_line = tile::differs(low, bytes.line_end);
        const u32 no_end = tile::differs(low, bytes.separator) & no_line & tile::differs(low, bytes.carriage);
        ends.word[k] = ~(no_end | words[k]) & tile::top_bits;
        lines.word[k] = ~(no_line | words[k]) & tile::top_bits;
        if constexpr (may_quote) quotes.word[k] = tile::equals(words[k], bytes.quote);
    }
    reinterpret_cast<u16*>(memory.ends)[v] = static_cast<u16>(tile::gather(ends));
    constexpr u32 head = halo_bytes / 16;
    if (v >= head) reinterpret_cast<u16*>(memory.lines)[v - head] = static_cast<u16>(tile::gather(lines));
    if constexpr (may_quote) reinterpret_cast<u16*>(memory.dropped)[v] = static_cast<u16>(tile::gather(quotes));
}

// Returns whether the vector has bytes for which the tile is declined.
HR_FN bool has_watched(const PlainDialect& dialect, const RowTile& tile, uint4 v) {
    bool found = tile.quotes && tile::has_byte(v, tile::repeated(dialect.quote));
    if (tile.watches) {
#pragma unroll
        for (u32 i = 0; i < 3; ++i) found |= tile::has_byte(v, tile::repeated(dialect.watched[i]));
    }
    return found;
}

// Returns the first word of the tile that is staged: that of `window_reach` bytes before its first record.
HR_FN u32 first_chunk_of(const RowTile& tile) {
    const i64 open = static_cast<i64>(tile.entry.record_begin) - tile.origin - window_reach;
    if (!tile.entry.open) return head_chunks - 1;
    if (tile.far) return head_chunks - (string_head + window_reach) / 32;
    return open > 0 ? static_cast<u32>(open) / 32 : 0;
}

// Lists the malformed quotes of a word of the tile.
HR_COLD void list_malformed(RowMemory& memory, u32 word, u32 malformed) {
    u32 slot = atomicAdd(&memory.malformed_count, static_cast<u32>(__popc(malformed)));
    for (; malformed != 0 && slot < max_malformed; malformed &= malformed - 1)
        memory.malformed[slot++] = static_cast<u16>(32 * word + first_bit(malformed));
}

// Stores the roles that the DFA search has found. All loads are in flight at once.
HR_FN void stage_roles(RowMemory& memory, const RowTask& task, const RowTile& tile) {
    constexpr u32 rounds = (chunks + threads - 1) / threads;
    const i64 first = i64{blockIdx.x} * tile_chunks - head_chunks;
    DfaRoles own[rounds]{};
#pragma unroll
    for (u32 i = 0; i < rounds; ++i) {
        const u32 word = i * threads + threadIdx.x;
        if (word >= tile.first_chunk && word < chunks) own[i] = roles_of(task.dfa, first + word);
    }
    if (threadIdx.x == 0) memory.malformed_count = 0;
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < rounds; ++i) {
        const u32 word = i * threads + threadIdx.x;
        if (word >= chunks) break;
        const DfaRoles& roles = own[i];
        if (roles.malformed != 0 && word >= head_chunks) list_malformed(memory, word, roles.malformed);
        memory.ends[word] = roles.ends();
        memory.dropped[word] = roles.dropped();
        memory.begins[word] = roles.starts;
        if (word >= head_chunks) memory.lines[word - head_chunks] = roles.record_ends();
    }
}

// Stages the tile. Returns whether its bytes allow the fast path.
HR_FN bool stage_rows(RowMemory& memory, const u8* text, const RowTask& task, const RowTile& tile) {
    const u32 line_end = tile::repeated(task.dialect.line_end), quote = tile::repeated(task.dialect.quote);
    const RowBytes bytes{tile::repeated(task.dialect.separator), line_end,
                         tile.returns ? tile::repeated('\r') : line_end, quote};
    constexpr u32 vectors = staged_bytes / 16;
    const bool watches = tile.quotes || tile.watches;
    bool odd = false;
    if constexpr (by_dfa) stage_roles(memory, task, tile);
    if (by_dfa && !stages_text) {
        // The roles suffice to measure strings.
    } else if (tile.origin >= 0 && static_cast<u64>(tile.origin) + staged_bytes <= task.size) {
        const uint4* const from = reinterpret_cast<const uint4*>(text + tile.origin);
        if (may_quote && !by_dfa && threadIdx.x < tile.first_chunk)
            memory.ends[threadIdx.x] = memory.dropped[threadIdx.x] = 0;
        tile::use_streamed(from, 2 * tile.first_chunk + threadIdx.x, vectors, threads, [&](u32 v, const uint4& own) {
            stage_vector(memory, bytes, v, own);
            if (watches) odd |= has_watched(task.dialect, tile, own);
        });
    } else {
        const u8 other = task.dialect.other;
#pragma unroll 1
        for (u32 v = threadIdx.x; v < vectors; v += threads) {
            const uint4 own = structure::edge_vector(text, task.size, tile.origin + 16 * i64{v}, other, other);
            stage_vector(memory, bytes, v, own);
            odd |= watches && has_watched(task.dialect, tile, own);
        }
    }
    if (stages_text && threadIdx.x < pad_vectors) {
        const u32 other = tile::repeated(task.dialect.other);
        memory.text[vectors + threadIdx.x] = {other, other, other, other};
    }
    if (threadIdx.x < pad_chunks) memory.ends[chunks + threadIdx.x] = ~0u;
    if (may_quote && threadIdx.x < 2) memory.dropped[chunks + threadIdx.x] = 0;
    odd = __syncthreads_or(odd);
    return !odd && !(by_dfa && memory.malformed_count > max_malformed);
}

// Returns whether the record that is open at a tile's begin began before what is staged from `origin` on.
HR_FN bool is_far(const TileStart& entry, i64 origin) {
    return entry.open && static_cast<i64>(entry.record_begin) < origin + window_reach;
}

// Returns whether the tile's entries allow the fast path. A tile of few long records would leave most lanes idle; there
// the general path reads columns side by side. The last of several tiles is not worth its launch.
HR_FN bool is_readable(const RowTask& task, const RowTile& tile) {
    const bool staged = tile.far || !is_far(tile.entry, tile.origin);
    const bool is_rest = blockIdx.x != 0 && blockIdx.x + 1 == task.tiles;
    const bool wide = tile.records < few_rows && task.columns >= declined_columns && !is_rest;
    return tile.records <= max_records && staged && !wide && (may_quote || !tile.inside);
}

HR_FN bool ends_text(const RowTask& task, const RowTile& tile) {
    return blockIdx.x + 1 == task.tiles && tile.next.open;
}

// Loads a thread's words of the tile.
HR_FN void load_thread_words(const u32* from, u32 (&words)[thread_chunks]) {
    tile::load_part<tile_chunks>(from, threadIdx.x * thread_chunks, words);
}
HR_FN void store_thread_words(u32* to, const u32 (&words)[thread_chunks]) {
    tile::store_part<tile_chunks>(to, threadIdx.x * thread_chunks, words);
}

// Returns whether the tile begins with the LF of a CR LF. The record ended with the CR, in the tile before.
HR_FN bool begins_within_line_end(const RowMemory& memory, const RowTile& tile) {
    return tile.returns && blockIdx.x != 0 && byte_at(memory, tile, tile.begin) == '\n' &&
           byte_at(memory, tile, tile.begin - 1) == '\r';
}

// Corrects the line ends at the edges of a tile that begins or ends between CR and LF. Ends with a barrier.
HR_FN void correct_edges(RowMemory& memory, const RowTile& tile) {
    if (threadIdx.x == 0) {
        const u32 last = tile.end - 1 - halo_bytes;
        if (begins_within_line_end(memory, tile)) memory.lines[0] &= ~1u;
        if (byte_at(memory, tile, tile.end - 1) == '\r') memory.lines[last / 32] |= 1u << (last % 32);
    }
    __syncthreads();
}

// Line ends in a thread's words, and their number before these words and in the tile.
struct LineEnds {
    u32 words[thread_chunks];
    u32 before, total;
};

// Sets how many line ends precede those of this thread, which has `count`, and how many the tile has. Has a barrier.
HR_FN void number_lines(RowMemory& memory, LineEnds& lines, u32 count) {
    auto& totals = reinterpret_cast<u32(&)[warps]>(memory.totals);
    const u32 joined = tile::scan_warp<Sum<u32>>(count);
    const tile::WarpPrefix<u32> block =
        tile::scan_warps<Sum<u32>, threads>(tile::shuffle(joined, tile::lanes - 1), totals);
    lines.before = block.before + joined - count;
    lines.total = block.total;
}

// Finds the line ends. Has a barrier; after it all threads have read their words.
HR_FN LineEnds find_lines(RowMemory& memory) {
    LineEnds lines{};
    u32 count = 0;
    load_thread_words(memory.lines, lines.words);
#pragma unroll
    for (u32 i = 0; i < thread_chunks; ++i) count += static_cast<u32>(__popc(lines.words[i]));
    number_lines(memory, lines, count);
    return lines;
}

// Removes the line ends of blank lines, which follow another line end. Has a barrier.
HR_FN LineEnds without_blanks(RowMemory& memory, const RowTile& tile, const LineEnds& lines) {
    const u32 first = threadIdx.x * thread_chunks, text_begin = tile.begin - halo_bytes;
    u32 carry = tile.entry.open ? 0 : 1u << text_begin;  // not bit 0 if the text begins inside the tile
    if (first != 0 && has_chunk(first)) carry = memory.lines[first - 1] >> 31;
    LineEnds records{};
    u32 count = 0;
#pragma unroll
    for (u32 i = 0; i < thread_chunks; ++i) {
        records.words[i] = lines.words[i] & ~(lines.words[i] << 1 | carry);
        carry = lines.words[i] >> 31;
        count += static_cast<u32>(__popc(records.words[i]));
    }
    __syncthreads();  // `totals` may still be read
    number_lines(memory, records, count);
    return records;
}

// Stores the begins of the tile's records, each after a line end. Blank lines may follow there. Ends with a barrier.
HR_FN void put_starts(RowMemory& memory, const RowTask& task, const RowTile& tile, const LineEnds& lines) {
    u32 slot = lines.before + 1;
#pragma unroll
    for (u32 i = 0; i < thread_chunks; ++i) {
        const u32 first = halo_bytes + 32 * (threadIdx.x * thread_chunks + i);
        for (u32 left = lines.words[i]; left != 0; left &= left - 1) {
            memory.starts[slot++] = static_cast<u16>(first + first_bit(left) + 1);
        }
    }
    if (threadIdx.x == 0) {
        const i64 from = static_cast<i64>(tile.far ? tile.entry.field_begin : tile.entry.record_begin) - tile.origin;
        const i64 open = tile.far ? max(from, i64{halo_bytes - string_head}) : from;
        const u32 begin = tile.begin + (begins_within_line_end(memory, tile) ? 1 : 0);
        memory.starts[0] = static_cast<u16>(tile.entry.open ? open : begin);
        if (ends_text(task, tile)) {
            const u32 end = tile.end + (by_dfa ? task.dfa.line_end_more : 0);  // as if a line end followed
            memory.starts[tile.records] = static_cast<u16>(end + 1);
            memory.ends[end / 32] |= 1u << (end % 32);
        }
    }
    __syncthreads();
}

}  // namespace headrace
