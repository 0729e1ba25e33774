// Where the records and fields of a plain dialect are, tile by tile: how many records ended before each tile, and where
// the record and the field that are open at its first byte began. Sixteen bytes at a time become masks
// (plain_masks.cuh); what a tile adds is counted, posted, and joined with all tiles before it by look-back.
//
// Two forms. Without quotes a byte means what it and the byte before say. With them, a byte is inside quotes where the
// number of quotes up to it is odd: a first look-back joins the tiles' parities, and then, the tile still in shared
// memory, the masks are exact. (ParPaRaw, section 3.1, with two states told apart by parity, as in Langdale and Lemire,
// "Parsing gigabytes of JSON per second".) Nothing is counted for a state that the tile is not in.
//
// Bytes moved: the text once; a tile writes an entry of 32 bytes and states of 64 (and 8), read by those that look
// back.
#include "core/tile/block.cuh"
#include "core/tile/look_back.cuh"
#include "structure/plain_masks.cuh"
#include "structure/string_sums.cuh"

using namespace headrace;
using namespace headrace::structure;

constexpr bool quoted = HR_QUOTED;
constexpr bool sums_strings = HR_STRINGS;
constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 tile_vectors = threads * rows;
constexpr u32 tile_bytes = tile_vectors * 16;
constexpr u32 unroll = sums_strings ? rows : HR_UNROLL;
constexpr u32 ends_listed = tile_bytes / 4;  // where a tile has more, they are listed in turns
constexpr u32 tile_rows = tile_vectors / tile::lanes;
constexpr u32 row_bytes = tile::lanes * 16;
static_assert(tile_bytes <= 32768);  // two counts share a word

// A tile's text, behind the vector before it.
struct Staged {
    uint4 vector[tile_vectors + 1];

    __device__ __forceinline__ u8 byte(i32 at) const { return reinterpret_cast<const u8*>(vector + 1)[at]; }
    __device__ __forceinline__ Place place(u32 number, bool inside) const {
        const uint4 words = vector[number + 1];
        return {{words.x, words.y, words.z, words.w}, byte(static_cast<i32>(number * 16) - 1), inside};
    }
};

// Which of a vector's bytes are the text's.
__device__ __forceinline__ u32 bytes_there(i64 at, u64 bytes) {
    const i64 left = static_cast<i64>(bytes) - at;
    const u32 behind = left >= 16 ? 0xFFFF : left <= 0 ? 0 : (1u << left) - 1;
    return at >= 0 ? behind : at <= -16 ? 0 : behind & 0xFFFFu << -at & 0xFFFF;
}

// A row is 32 vectors side by side; a warp has `rows` of them.
__device__ __forceinline__ u32 vector_of(u32 row) { return (tile::warp() * rows + row) * tile::lanes + tile::lane(); }

// Before the text stand line ends, so that a record begins at its first byte; behind it a byte that means nothing.
__device__ __forceinline__ void stage(Staged& staged, const u8* text, u64 bytes, i64 first, bool inner,
                                      const PlainDialect& dialect) {
    if (inner) {
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
            const u32 number = vector_of(row);
            tile::copy_async(&staged.vector[number + 1], reinterpret_cast<const uint4*>(text + first) + number);
        }
        tile::commit_copies();
    } else {
#pragma unroll 1
        for (u32 row = 0; row < rows; ++row) {
            const u32 number = vector_of(row);
            staged.vector[number + 1] = edge_vector(text, bytes, first + number * 16, dialect.line_end, dialect.other);
        }
    }
    if (threadIdx.x == 0) {
        const u8 before = first > 0 ? text[first - 1] : dialect.line_end;
        staged.vector[0] = {0, 0, 0, static_cast<u32>(before) << 24};
    }
    tile::wait_for_copies<0>();
}

// Quotes of a row's vectors before this lane's, modulo 2, and of all of them.
struct Parities {
    u32 odd;  // lanes whose vectors hold an odd number

    __device__ __forceinline__ explicit Parities(const tile::Bits& quotes) {
        const u32 folded = quotes.word[0] ^ quotes.word[1] ^ quotes.word[2] ^ quotes.word[3];
        odd = __ballot_sync(tile::all_lanes, (__popc(folded) & 1) != 0);
    }
    __device__ __forceinline__ bool before() const { return (__popc(odd & ((1u << tile::lane()) - 1)) & 1) != 0; }
    __device__ __forceinline__ bool all() const { return (__popc(odd) & 1) != 0; }
};

// What a thread has counted.
struct Counts {
    u32 separators = 0, records = 0, blanks = 0;  // 128 each
    u32 unwatched = ~0u;                          // bit 7 of a byte: no watched byte so far
    u32 high = 0, quotes = 0, strays = 0;
};

// Adds a vector's. `there`: which of its bytes are the text's.
__device__ __forceinline__ Marks count(Counts& counts, const Place& place, const Patterns& patterns,
                                       const tile::Bits* quotes, u32 there) {
    Masks masks;
    tile::Bits within, dropped = {};
    if constexpr (quoted) within = find_inside(*quotes, place.inside);
    const bool runs = find_ends(masks, place, patterns, quoted ? &within : nullptr);
    if (__any_sync(tile::all_lanes, runs)) {
        settle_runs(masks, place, patterns);
#pragma unroll
        for (u32 k = 0; k < 4; ++k) {
            counts.blanks = tile::add_bytes(masks.blanks.word[k], counts.blanks);
            dropped.word[k] = masks.blanks.word[k] | masks.completing.word[k];
        }
    }
    if constexpr (quoted) {
        const QuoteMasks read = read_quotes(masks, place, patterns, *quotes, within);
        // Behind a quote at the text's end stands what is not there.
        if (tile::any(read.strays) != 0) counts.strays |= tile::gathered(read.strays) & there;
        counts.quotes |= tile::any(*quotes);
#pragma unroll
        for (u32 k = 0; k < 4; ++k) dropped.word[k] |= quotes->word[k] & ~read.doubled.word[k];
    }
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        counts.separators = tile::add_bytes(masks.separators.word[k], counts.separators);
        counts.records = tile::add_bytes(masks.records.word[k], counts.records);
        counts.high |= place.word[k];
    }
    if constexpr (!sums_strings) return {};
    const u32 ends = tile::gathered(masks.separators) | (tile::gathered(masks.records) & there) << 16;
    return {ends, tile::gathered(dropped) | (~there & 0xFFFF)};
}

__device__ __forceinline__ void watch(Counts& counts, const Place& place, const PlainDialect& dialect) {
    const u32 first = tile::repeated(dialect.watched[0]);
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const u32 low = place.word[k] & ~tile::top_bits;
        counts.unwatched &= tile::differs(low, first) | place.word[k];
    }
    if (dialect.watched[1] != dialect.watched[0] || dialect.watched[2] != dialect.watched[0]) {
        const u32 second = tile::repeated(dialect.watched[1]), third = tile::repeated(dialect.watched[2]);
#pragma unroll
        for (u32 k = 0; k < 4; ++k) {
            const u32 low = place.word[k] & ~tile::top_bits;
            counts.unwatched &= (tile::differs(low, second) & tile::differs(low, third)) | place.word[k];
        }
    }
}

// Row `row` of the tile. `inside`: whether the text is inside quotes at the end of it that is looked at first; it
// becomes the same of the other end.
__device__ __forceinline__ Window look(const Staged& staged, u32 row, bool& inside, bool backwards,
                                       const Patterns& patterns) {
    const u32 number = row * tile::lanes + tile::lane();
    Place place = staged.place(number, false);
    Masks masks;
    tile::Bits within;
    if constexpr (quoted) {
        const tile::Bits quotes = find_byte(place, patterns.quote);
        const Parities parities(quotes);
        const bool other_end = inside != parities.all();
        place.inside = (backwards ? other_end : inside) != parities.before();
        inside = other_end;
        within = find_inside(quotes, place.inside);
    }
    if (find_ends(masks, place, patterns, quoted ? &within : nullptr)) settle_runs(masks, place, patterns);
    return {tile::gathered(masks.separators), tile::gathered(masks.records),
            tile::gathered(find_starts(masks, patterns))};
}

// By one warp: what the tile comes to, once its records and separators are counted. A tile in which no record ends can
// begin one only behind line ends at its first byte.
__device__ __forceinline__ Reached reach(const Staged& staged, i64 first, u32 records, u32 separators, bool idle,
                                         bool inside_at_end, const Patterns& patterns) {
    Trail trail;
    bool inside = inside_at_end;
    bool found = records == 0 && separators == 0;
    for (u32 row = tile_rows; row-- > 0 && !found;) {
        const bool ended = trail.add(look(staged, row, inside, true, patterns), first + row * row_bytes);
        found = records == 0 ? trail.field_begin > 0 : ended;
    }
    inside = false;
    found = records != 0 || !idle;
    for (u32 row = 0; row < tile_rows && !found; ++row) {
        const Window window = look(staged, row, inside, false, patterns);
        const u32 some = __ballot_sync(tile::all_lanes, window.starts != 0);
        if (some == 0) continue;
        const u32 lane = static_cast<u32>(__ffs(static_cast<i32>(some))) - 1;
        const u32 bit = static_cast<u32>(__ffs(static_cast<i32>(tile::shuffle(window.starts, lane)))) - 1;
        const i64 at = first + row * row_bytes + lane * 16 + bit;
        if (at > trail.record_begin) trail.record_begin = at;
        found = true;
    }
    return trail.reached(records, separators);
}

// `text` has `bytes` bytes. `entries` has room for one more than there are tiles, and `totals` is all zero, as is
// `memory`: a ticket and a state for each tile of the counts, and then the same of the parities. `other`, where not
// null, is the totals of the form before: this one does nothing unless that one asked for it. `sums`: for each column
// of strings the bytes of each tile, and a 0; right where no quote is a stray.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    find_plain(const u8* text, u64 bytes, PlainDialect dialect, TileEntry* entries, FindTotals* totals,
               const FindTotals* other, tile::LookBack<Reached>::Word* memory, StringColumns strings, u64* sums) {
    __shared__ Staged staged;
    __shared__ u32 counted[warps];
    __shared__ u32 taken;
    __shared__ u32 inside_before;
    __shared__ u32 column_before;
    if (other != nullptr && (tile::load_relaxed(&other->flags) & FIND_REDO) == 0) return;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const u32 tiles = static_cast<u32>(tile_count(bytes, tile_bytes, skew));
    tile::LookBack<Reached> look_back(memory);
    tile::LookBack<u32> parities_before(reinterpret_cast<u64*>(memory + tiles + 1));
    if (threadIdx.x == 0) taken = look_back.take_tile();
    __syncthreads();
    const u32 number = taken;
    if (number >= tiles) {
        if (number == 0 && threadIdx.x == 0) entries[0] = {};
        return;
    }
    const i64 first = static_cast<i64>(number) * tile_bytes - skew;
    const u64 begin = first < 0 ? 0 : static_cast<u64>(first);
    const bool inner = first >= 0 && static_cast<u64>(first) + tile_bytes <= bytes;
    const Patterns patterns(dialect);
    stage(staged, text, bytes, first, inner, dialect);
    __syncthreads();

    Counts counts;
    bool inside = false, inside_at_begin = false, inside_at_end = false;
    if constexpr (quoted) {
        bool odd = false;
#pragma unroll unroll
        for (u32 row = 0; row < rows; ++row) {
            odd ^= Parities(find_byte(staged.place(vector_of(row), false), patterns.quote)).all();
        }
        const tile::Before<u32> block = tile::scan_warps<Sum<u32>, threads>(static_cast<u32>(odd), counted);
        if (tile::warp() == 0) {
            if (tile::lane() == 0) parities_before.post<Sum<u32>>(number, block.total & 1);
            const u32 before = parities_before.prefix<Sum<u32>>(number, block.total & 1);
            if (tile::lane() == 0) inside_before = before & 1;
        }
        __syncthreads();
        inside_at_begin = inside_before != 0;
        inside_at_end = inside_at_begin != ((block.total & 1) != 0);
        inside = inside_at_begin != ((block.before & 1) != 0);
    }
    Marks marks[rows];
#pragma unroll unroll
    for (u32 row = 0; row < rows; ++row) {
        const u32 vector = vector_of(row);
        Place place = staged.place(vector, false);
        const u32 there = inner ? 0xFFFF : bytes_there(first + vector * 16, bytes);
        if constexpr (quoted) {
            const tile::Bits quotes = find_byte(place, patterns.quote);
            const Parities parities(quotes);
            place.inside = inside != parities.before();
            inside = inside != parities.all();
            marks[row] = count(counts, place, patterns, &quotes, there);
        } else {
            marks[row] = count(counts, place, patterns, nullptr, there);
        }
        if (dialect.flags & PLAIN_WATCHES) watch(counts, place, dialect);
    }
    const u32 own = __reduce_add_sync(tile::all_lanes, (counts.separators >> 7) << 16 | counts.records >> 7);
    const tile::Before<u32> both = tile::scan_warps<Sum<u32>, threads>(own, counted);
    u32 flags = (counts.high & tile::top_bits) != 0 ? u32{FIND_HIGH} : 0u;
    if ((dialect.flags & PLAIN_WATCHES) && (~counts.unwatched & tile::top_bits) != 0) flags |= FIND_REDO;
    if (counts.quotes != 0) flags |= FIND_QUOTES;
    if (counts.strays != 0) flags |= FIND_STRAY;
    flags = __reduce_or_sync(tile::all_lanes, flags);
    if (flags != 0 && tile::lane() == 0) add_flags(totals, flags);
    u32 blanks = __reduce_add_sync(tile::all_lanes, counts.blanks >> 7);
    if (number == 0 && tile::warp() == 0 && patterns.skip_blank) blanks -= skew;  // the line ends before the text
    if (blanks != 0 && tile::lane() == 0) atomicAdd(&totals->blank_lines, u64{blanks});
    if (!sums_strings && tile::warp() != 0) return;

    const u32 not_there = number == 0 && !patterns.skip_blank ? skew : 0;
    const u32 records = (both.total & 0xFFFF) - not_there, separators = both.total >> 16;
    if (tile::warp() == 0) {
        const bool idle = patterns.ends_line(staged.byte(-1)) && !inside_at_begin;
        const Reached total = reach(staged, first, records, separators, idle, inside_at_end, patterns);
        if (tile::lane() == 0) look_back.post<Follow>(number, total);
        const Reached before = look_back.prefix<Follow>(number, total);
        if (tile::lane() == 0) {
            const TileEntry entry = entry_at(before, begin, idle, inside_at_begin);
            entries[number] = entry;
            column_before = entry.column;
            u64 fields = u64{separators} + records;
            if (number + 1 == tiles) {
                const bool ended =
                    patterns.ends_line(staged.byte(static_cast<i32>(bytes - 1 - first))) && !inside_at_end;
                entries[tiles] = entry_at(Follow::join(before, total), bytes, ended, inside_at_end);
                atomicOr(&totals->flags, (ended ? 0u : u32{FIND_OPEN}) | (inside_at_end ? u32{FIND_UNCLOSED} : 0u));
                totals->records = before.records + records + !ended;
                totals->bytes = bytes;
                fields += !ended;
            }
            if (fields != 0) atomicAdd(&totals->fields, fields);
        }
    }
    if constexpr (sums_strings) {
        __shared__ EndList<ends_listed, threads> list;
        __syncthreads();
        const u32 before = (both.before >> 16) + (both.before & 0xFFFF) - (tile::warp() == 0 ? 0 : not_there);
        sum_strings(list, marks, {before, separators + records, records, column_before, tile_bytes, sums + number},
                    strings);
        if (number + 1 == tiles) {
            for (u32 slot = threadIdx.x; slot < strings.strings; slot += threads)
                sums[u64{slot} * strings.stride + tiles] = 0;
        }
    }
}
