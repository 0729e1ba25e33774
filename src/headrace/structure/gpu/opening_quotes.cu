// Marks lenient quotes that open no field, because no later quote closes it (rules: structure/cpu/lenient.hpp).
//
// The kind of a run of quotes (opens, may close, neutral) depends only on the bytes around it. Whether an opening run
// opens a field depends on the next run that is not neutral (the next decisive run). That run must be able to close.
// mark_quotes looks for it in the thread's own 64 bytes, then in those of later threads of the tile. It also stores the
// kind of the tile's first decisive run. mark_last_quotes then decides on the last runs of each tile, which ask later
// tiles.
// | text        ,"ab,cd⏎"ef",           the quote at byte 1 opens a field only if the next decisive run may close
// | kinds        opens   opens close    the next one (byte 8) opens, so byte 1 is text and is marked; byte 8 is not
//
// Bytes moved: the text once, and one bit a byte; the bytes after the last decisive run of each tile once more. A tile
// searches later tiles only if it has a decisive run itself, so each stored kind is read at most twice.
#include "gpu/block/warp.cuh"
#include "structure/gpu/dfa_rows.cuh"
#include "structure/gpu/tile_text.cuh"

using namespace headrace;
using namespace headrace::structure;

constexpr u32 threads = HR_THREADS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 thread_bytes = 64;
constexpr u32 tile_bytes = threads * thread_bytes;
constexpr u32 look_behind = 64;  // QuoteRuns::LOOK_BEHIND

enum Decides : u8 { neutral, opens, may_close };

// The text, and the rules that classify its runs of quotes. The same rules as QuoteRuns in structure/cpu/lenient.cpp.
struct LookedAt {
    const u8* text;
    u64 size;
    const LenientDialect& dialect;

    __device__ bool escaped(u64 at) const {
        if (!dialect.has_escape) return false;
        u64 count = 0;
        const u64 most = at < look_behind / 2 ? at : look_behind / 2;
        while (count < most && text[at - count - 1] == dialect.escape) ++count;
        return count % 2 == 1;
    }
    __device__ bool is(u64 at, const u8* bytes, u32 length) const {
        for (u32 i = 0; i < length; ++i) {
            if (text[at + i] != bytes[i]) return false;
        }
        return true;
    }
    __device__ bool starts(u64 at, const u8* bytes, u32 length) const {
        return size - at >= length && is(at, bytes, length);
    }
    __device__ bool stops(u64 at, const u8* bytes, u32 length) const {
        return at >= length && is(at - length, bytes, length) && !escaped(at - length);
    }
    __device__ bool delimiter_at(u64 at) const {
        if (at >= size) return true;
        if (starts(at, dialect.separator, dialect.separator_length)) return true;
        if (dialect.universal) return text[at] == '\n' || text[at] == '\r';
        return starts(at, dialect.line_end, dialect.line_end_length);
    }
    __device__ bool delimiter_before(u64 at) const {
        for (u32 i = 0; dialect.skips_spaces && i < look_behind / 4 && at > 0 && text[at - 1] == ' '; ++i) --at;
        if (at == 0 || stops(at, dialect.separator, dialect.separator_length)) return true;
        if (dialect.universal) return (text[at - 1] == '\n' || text[at - 1] == '\r') && !escaped(at - 1);
        return stops(at, dialect.line_end, dialect.line_end_length);
    }
    __device__ u64 run_end(u64 at) const {
        while (at < size && text[at] == dialect.quote) ++at;
        return at;
    }
    // Return a byte, or no_byte outside of the text.
    __device__ u32 byte_at(i64 at) const { return at >= 0 && static_cast<u64>(at) < size ? text[at] : u32{no_byte}; }
    // Return whether a byte is a plain delimiter. Bytes outside of the text are such, too.
    __device__ bool is_delimiter(u32 byte) const {
        const u32 line_end = dialect.universal ? u32{'\n'} : dialect.line_end[0];
        return byte == no_byte || byte == dialect.separator[0] || byte == line_end ||
               (dialect.universal && byte == '\r');
    }
    // Whether byte masks find all delimiters: they have one byte each, and nothing may stand around them.
    __device__ bool has_plain_delimiters() const {
        const u8 line_end = dialect.universal ? u8{'\n'} : dialect.line_end[0];
        const bool are_bytes = dialect.separator_length == 1 && (dialect.universal || dialect.line_end_length == 1);
        return are_bytes && (dialect.separator[0] | line_end) < 128 && !dialect.has_escape && !dialect.skips_spaces;
    }
};

// The bits of 64 bytes of text, 16 of which are in each vector, that are one of these bytes.
template <class... Byte>
HR_FN u64 bits_of(const uint4 (&vectors)[4], Byte... bytes) {
    const auto find = [&](u32 word) { return (tile::equals(word, tile::repeated(bytes)) | ...); };
    u64 result = 0;
#pragma unroll
    for (u32 v = 0; v < 4; ++v) {
        const tile::Bits found = {{find(vectors[v].x), find(vectors[v].y), find(vectors[v].z), find(vectors[v].w)}};
        result |= static_cast<u64>(tile::gather(found)) << (v * 16);
    }
    return result;
}

// A thread's 64 bytes, and the runs of quotes that begin in them: bit i stands for the run that begins at byte i.
struct OwnRuns {
    u64 first;             // position of the thread's first byte in the text
    u64 begins;            // all runs
    u64 odd;               // runs of which one quote is left if two in quotes mean one
    u64 own;               // a field that consists of quotes alone, if the run begins it
    u64 opening, closing;  // decisive runs: those that open a field, and those that may close one

    __device__ OwnRuns(const LookedAt& all, u64 number) : first(0), begins(0), odd(0), own(0), opening(0), closing(0) {
        const i64 skew = static_cast<i64>(reinterpret_cast<u64>(all.text) & 15);
        const i64 at = static_cast<i64>(number * thread_bytes) - skew;
        first = static_cast<u64>(at);
        const u8 none = static_cast<u8>(all.dialect.quote ^ 1);
        const u32 before = all.byte_at(at - 1), after = all.byte_at(at + i64{thread_bytes});
        const bool whole = at >= 0 && static_cast<u64>(at) + thread_bytes <= all.size;
        uint4 vectors[4];
#pragma unroll
        for (u32 v = 0; v < 4; ++v) {
            const i64 from = at + v * 16;
            vectors[v] = whole ? *reinterpret_cast<const uint4*>(all.text + from)
                               : edge_vector(all.text, all.size, from, none, none);
        }
        const u64 quotes = bits_of(vectors, all.dialect.quote);
        if (quotes == 0) return;
        begins = quotes & ~(quotes << 1 | (before == all.dialect.quote ? 1 : 0));
        const bool plain = all.has_plain_delimiters();
        const u64 delimiters = plain ? delimiters_of(all, vectors, at) : 0;
        // Most runs have one quote.
        const u64 single = plain ? begins & ~(quotes >> 1 | last_if(after == all.dialect.quote)) : 0;
        odd = single;
        closing = single & (delimiters >> 1 | last_if(all.is_delimiter(after)));
        opening = single & ~closing & (delimiters << 1 | (all.is_delimiter(before) ? 1 : 0));
        for (u64 left = begins & ~single; left != 0; left &= left - 1)
            classify(all, quotes, delimiters, plain, left & (0 - left));
    }

    __device__ u64 decisive() const { return opening | closing; }

    // Return the odd runs that no decisive one follows, and the last decisive one.
    __device__ u64 last_odd() const {
        const u64 all = decisive();
        return all == 0 ? odd : odd & ~u64{0} << (63 - leading_zeros(all));
    }

    // Return the runs that open a field if they begin it. `next`: kind of the next decisive run after the thread's
    // bytes.
    __device__ u64 real(u32 next) const {
        const u64 first = decisive() & (0 - decisive());
        return own | (next == may_close ? last_odd() : 0) |
               (odd & (closing - before_closing() - (first & closing ? 1 : 0)));
    }

    // Return the kind of the first decisive run.
    __device__ u32 first_kind() const {
        const u64 all = decisive();
        return all == 0 ? neutral : (closing & all & (0 - all)) != 0 ? may_close : opens;
    }

private:
    // Return the decisive runs directly before one that may close. In a reversed word, a carry that begins after a
    // closing run ends at the next decisive one. `closing` minus these runs has the bits from each of them up to the
    // closing one.
    __device__ u64 before_closing() const {
        const u64 all = __brevll(decisive());
        return __brevll(((__brevll(closing) << 1) + ~all) & all);
    }

    static __device__ u64 last_if(bool is_set) { return static_cast<u64>(is_set) << (thread_bytes - 1); }

    // Return the delimiters, of one byte each. Bytes outside of the text are such, too.
    static __device__ u64 delimiters_of(const LookedAt& all, const uint4 (&vectors)[4], i64 at) {
        const bool universal = all.dialect.universal;
        const u8 line_end = universal ? u8{'\n'} : all.dialect.line_end[0];
        u64 found = bits_of(vectors, all.dialect.separator[0], line_end, universal ? u8{'\r'} : line_end);
        if (at < 0) found |= ~(~u64{0} << static_cast<u32>(-at));
        const u64 left = all.size - static_cast<u64>(at);
        return left < thread_bytes ? found | ~u64{0} << left : found;
    }

    // Add the run of quotes that begins at a bit.
    __device__ void classify(const LookedAt& all, u64 quotes, u64 delimiters, bool plain, u64 run) {
        const u32 bit = static_cast<u32>(trailing_zeros(run));
        const u64 at = first + bit, others = ~(quotes >> bit);
        u64 length = others == 0 ? thread_bytes : static_cast<u64>(trailing_zeros(others));
        const bool is_inside = bit + length < thread_bytes;
        if (!is_inside) length = all.run_end(first + thread_bytes) - at;
        const bool ends = plain && is_inside ? (delimiters >> (bit + length) & 1) != 0 : all.delimiter_at(at + length);
        const bool doubles = all.dialect.doubles, is_odd = !doubles || length % 2 != 0;
        if (is_odd) odd |= run;
        if (ends && (doubles ? length % 2 == 0 : length > 1)) own |= run;
        const bool first_is_text = all.escaped(at);
        const u64 counted = length - (first_is_text ? 1 : 0);
        if (counted == 0 || (doubles && counted % 2 == 0)) return;
        const bool begins_field = plain && bit != 0 ? (delimiters >> (bit - 1) & 1) != 0 : all.delimiter_before(at);
        if (ends) {
            closing |= run;
        } else if (!first_is_text && begins_field) {
            opening |= run;
        }
    }
};

// Return whether the preceding variant could not read the text, or there was none.
HR_FN bool is_asked(const FindTotals* other) {
    return other == nullptr || (tile::load_relaxed(&other->flags) & FIND_REDO) != 0;
}

// Shares the kind of the warp's first decisive run. Returns which lanes have one.
HR_FN u32 share_first(u32 kind, u32 (&firsts)[warps]) {
    const u32 some = __ballot_sync(tile::all_lanes, kind != neutral);
    const u32 of_warp = tile::shuffle(kind, some == 0 ? 0 : static_cast<u32>(__ffs(static_cast<i32>(some))) - 1);
    if (tile::lane() == 0) firsts[tile::warp()] = of_warp;
    return some;
}

// A tile stores for mark_last_quotes the kind of its first decisive run. Then whether some of its runs ask later tiles,
// and the first thread with such runs.
constexpr u32 asks_later = 4, thread_shift = 3;

// `marks`: bit i is set if byte i is a quote that begins a run and opens no field. Bytes count from the 16-byte
// boundary at or before the text. Quotes of which mark_last_quotes decides are marked.
extern "C" __global__ void __launch_bounds__(threads)
    mark_quotes(const u8* text, u64 bytes, const __grid_constant__ LenientDialect dialect, u16* tiles, u64* marks,
                const FindTotals* other) {
    __shared__ u32 firsts[warps], last;
    if (!is_asked(other)) return;
    const LookedAt all = {text, bytes, dialect};
    const u64 number = u64{blockIdx.x} * threads + threadIdx.x;
    const OwnRuns own(all, number);
    const u32 kind = own.first_kind();
    if (threadIdx.x == 0) last = 0;
    const u32 some = share_first(kind, firsts);
    const bool has_runs = __syncthreads_or(own.begins != 0);
    // An opening run depends on later runs. So may one after more spaces than `delimiter_before` inspects.
    if (some != 0 && tile::lane() == 0)
        atomicMax(&last, threadIdx.x + 31 - static_cast<u32>(__clz(static_cast<i32>(some))));
    u32 next = neutral, of_tile = neutral;
    for (u32 warp = warps; warp-- > 0;) {
        if (firsts[warp] == neutral) continue;
        of_tile = firsts[warp];
        if (warp > tile::warp()) next = of_tile;
    }
    const u32 later = some & ~((2u << tile::lane()) - 1);
    const u32 nearest = tile::shuffle(kind, later == 0 ? 0 : static_cast<u32>(__ffs(static_cast<i32>(later))) - 1);
    if (later != 0) next = nearest;
    marks[number] = own.begins & ~own.real(next);
    __syncthreads();
    if (threadIdx.x != 0) return;
    const bool asks = of_tile != neutral || (has_runs && dialect.skips_spaces);
    tiles[blockIdx.x] = static_cast<u16>(of_tile | (asks ? asks_later | last << thread_shift : 0));
}

// All lanes of a warp: return the kind of the first decisive run in later tiles than `tile`.
HR_FN u32 kind_after(const u16* tiles, u32 count, u32 tile) {
    for (u32 first = tile + 1; first < count; first += tile::lanes) {
        const u32 mine = first + tile::lane();
        const u32 kind = mine < count ? tiles[mine] & 3 : u32{neutral};
        const u32 some = __ballot_sync(tile::all_lanes, kind != neutral);
        if (some != 0) return tile::shuffle(kind, static_cast<u32>(__ffs(static_cast<i32>(some))) - 1);
    }
    return neutral;
}

// Clears the marks of quotes after which a later tile has the quote that closes their field. One warp per tile.
// `tiles`, `marks`: the output of mark_quotes for `count` tiles.
extern "C" __global__ void __launch_bounds__(threads)
    mark_last_quotes(const u8* text, u64 bytes, const __grid_constant__ LenientDialect dialect, const u16* tiles,
                     u32 count, u64* marks, const FindTotals* other) {
    const u32 tile = blockIdx.x * warps + tile::warp();
    if (tile >= count || !is_asked(other)) return;
    const u32 own = tiles[tile];
    if ((own & asks_later) == 0 || kind_after(tiles, count, tile) != may_close) return;
    const LookedAt all = {text, bytes, dialect};
    for (u32 thread = (own >> thread_shift) + tile::lane(); thread < threads; thread += tile::lanes) {
        const u64 number = u64{tile} * threads + thread;
        marks[number] &= ~OwnRuns(all, number).last_odd();
    }
}
