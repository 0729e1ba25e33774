// Marks lenient quotes that open no field, because no later quote closes it (rules: structure/cpu/lenient.hpp).
//
// The kind of a run of quotes (opens, may close, neutral) depends only on the bytes around it. Whether an opening run
// opens a field depends on the next run that is not neutral (the next decisive run). That run must be able to close. So
// two kernels suffice. First, find_runs stores the kind of each tile's first decisive run. Then mark_quotes finds the
// next decisive run of every run. It looks in the thread's own 64 bytes, in those of later threads, or in later tiles,
// where it reads the stored kinds.
// | text        ,"ab,cd⏎"ef",           the quote at byte 1 opens a field only if the next decisive run may close
// | kinds        opens   opens close    the next one (byte 8) opens, so byte 1 is text and is marked; byte 8 is not
//
// Bytes moved: the text twice, and one bit a byte. A tile searches later tiles only if it has a decisive run itself, so
// each stored kind is read at most twice.
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
    __device__ Decides kind_of(u64 begin, u64 end) const {
        const bool first_is_text = escaped(begin);
        const u64 quotes = end - begin - (first_is_text ? 1 : 0);
        if (quotes == 0 || (dialect.doubles && quotes % 2 == 0)) return neutral;
        if (delimiter_at(end)) return may_close;
        return !first_is_text && delimiter_before(begin) ? opens : neutral;
    }
};

// A thread's 64 bytes, and the runs of quotes that begin in them.
struct OwnRuns {
    u64 first;   // position of the thread's first byte in the text
    u64 begins;  // bit i: a run begins at byte i

    __device__ explicit OwnRuns(const LookedAt& all) : first(0), begins(0) {
        const i64 skew = static_cast<i64>(reinterpret_cast<u64>(all.text) & 15);
        const i64 at = static_cast<i64>((u64{blockIdx.x} * threads + threadIdx.x) * thread_bytes) - skew;
        first = static_cast<u64>(at);
        const u32 pattern = tile::repeated(all.dialect.quote);
        for (u32 v = 0; v < thread_bytes / 16; ++v) {
            const i64 from = at + v * 16;
            const bool whole = from >= 0 && static_cast<u64>(from) + 16 <= all.size;
            const u8 none = static_cast<u8>(all.dialect.quote ^ 1);
            const uint4 vector = whole ? *reinterpret_cast<const uint4*>(all.text + from)
                                       : edge_vector(all.text, all.size, from, none, none);
            const tile::Bits found = {{tile::equals(vector.x, pattern), tile::equals(vector.y, pattern),
                                       tile::equals(vector.z, pattern), tile::equals(vector.w, pattern)}};
            begins |= static_cast<u64>(tile::gathered(found)) << (v * 16);
        }
        const bool behind_quote = begins != 0 && at > 0 && all.text[at - 1] == all.dialect.quote;
        begins &= ~(begins << 1 | (behind_quote ? 1 : 0));
    }
};

// Return whether the preceding variant could not read the text, or there was none.
__device__ __forceinline__ bool is_asked(const FindTotals* other) {
    return other == nullptr || (tile::load_relaxed(&other->flags) & FIND_REDO) != 0;
}

// Return the kind of the thread's first decisive run.
__device__ __forceinline__ u32 first_kind(const LookedAt& all, const OwnRuns& own) {
    for (u64 left = own.begins; left != 0; left &= left - 1) {
        const u64 at = own.first + static_cast<u64>(trailing_zeros(left));
        const Decides kind = all.kind_of(at, all.run_end(at));
        if (kind != neutral) return kind;
    }
    return neutral;
}

// Shares the kind of the warp's first decisive run. Returns which lanes have one.
__device__ __forceinline__ u32 share_first(u32 kind, u32 (&firsts)[warps]) {
    const u32 some = __ballot_sync(tile::all_lanes, kind != neutral);
    const u32 of_warp = tile::shuffle(kind, some == 0 ? 0 : static_cast<u32>(__ffs(static_cast<i32>(some))) - 1);
    if (tile::lane() == 0) firsts[tile::warp()] = of_warp;
    return some;
}

extern "C" __global__ void __launch_bounds__(threads)
    find_runs(const u8* text, u64 bytes, const __grid_constant__ LenientDialect dialect, u8* kinds,
              const FindTotals* other) {
    __shared__ u32 firsts[warps];
    if (!is_asked(other)) return;
    const LookedAt all = {text, bytes, dialect};
    const OwnRuns own(all);
    share_first(first_kind(all, own), firsts);
    __syncthreads();
    if (threadIdx.x != 0) return;
    u32 of_tile = neutral;
    for (u32 warp = 0; warp < warps && of_tile == neutral; ++warp) of_tile = firsts[warp];
    kinds[blockIdx.x] = static_cast<u8>(of_tile);
}

// Return whether a run at a field's start is a whole field of quotes alone; and whether it can open a field.
__device__ __forceinline__ bool is_own_field(const LookedAt& all, u64 at, u64 end) {
    const bool even = all.dialect.doubles ? (end - at) % 2 == 0 : end - at > 1;
    return even && all.delimiter_at(end);
}
__device__ __forceinline__ bool is_odd(const LenientDialect& dialect, u64 at, u64 end) {
    return !dialect.doubles || (end - at) % 2 != 0;
}

// All threads: return the kind of the first decisive run in later tiles.
__device__ __forceinline__ u32 kind_behind(const u8* kinds, u32& shared) {
    for (u64 tile = u64{blockIdx.x} + 1; tile < gridDim.x; tile += threads) {
        if (threadIdx.x == 0) shared = ~0u;
        __syncthreads();
        const u64 mine = tile + threadIdx.x;
        const u32 kind = mine < gridDim.x ? kinds[mine] : neutral;
        if (kind != neutral) atomicMin(&shared, threadIdx.x << 2 | kind);
        __syncthreads();
        const u32 found = shared;
        __syncthreads();
        if (found != ~0u) return found & 3;
    }
    return neutral;
}

// `marks`: bit i is set if byte i is a quote that begins a run and opens no field. Bytes count from the 16-byte
// boundary at or before the text. `kinds`: the output of find_runs.
extern "C" __global__ void __launch_bounds__(threads)
    mark_quotes(const u8* text, u64 bytes, const __grid_constant__ LenientDialect dialect, const u8* kinds, u64* marks,
                const FindTotals* other) {
    __shared__ u32 firsts[warps], shared;
    if (!is_asked(other)) return;
    const LookedAt all = {text, bytes, dialect};
    const OwnRuns own(all);
    const u32 kind = first_kind(all, own);
    const u32 some = share_first(kind, firsts);
    // An opening run depends on later runs. So may one after more spaces than `delimiter_before` inspects.
    const bool asks = own.begins != 0 && (kind != neutral || dialect.skips_spaces);
    u32 next = neutral;
    if (__syncthreads_or(asks)) {
        next = kind_behind(kinds, shared);
        for (u32 warp = warps - 1; warp > tile::warp(); --warp) {
            if (firsts[warp] != neutral) next = firsts[warp];
        }
        const u32 later = some & ~((2u << tile::lane()) - 1);
        const u32 nearest = tile::shuffle(kind, later == 0 ? 0 : static_cast<u32>(__ffs(static_cast<i32>(later))) - 1);
        if (later != 0) next = nearest;
    }
    u64 found = 0;
    for (u64 left = own.begins; left != 0;) {
        const u32 bit = 63 - static_cast<u32>(leading_zeros(left));
        left ^= u64{1} << bit;
        const u64 at = own.first + bit, end = all.run_end(at);
        const bool real = is_own_field(all, at, end) || (is_odd(dialect, at, end) && next == may_close);
        if (!real) found |= u64{1} << bit;
        const Decides mine = all.kind_of(at, end);
        if (mine != neutral) next = mine;
    }
    marks[u64{blockIdx.x} * threads + threadIdx.x] = found;
}
