// Finds record and field ends in a tile. Compiled once for each instruction set.
//
// `summarize` computes a tile's state map without knowing the state before the tile; the maps are composed in tile
// order; `index` then reads the tile again from its known state (ParPaRaw, sections 3.1 and 3.2).
//
// Plain dialects: 64 bytes become masks of separators, line ends and quotes. A byte is inside quotes if the number of
// quotes up to it is odd, except for quotes that are text. (Langdale and Lemire 2019, "Parsing gigabytes of JSON per
// second".) Structure then takes a few operations on 64-bit words (plain_masks.hpp). Other dialects: masks serve, too,
// except for comments, escapes and malformed quotes (masked_run.hpp). There, vector compares find the special bytes,
// and the automaton steps from one to the next. A run of ordinary bytes is a single step, because a second ordinary
// byte never changes the state (a test proves it for all dialects).
//
// Cost: each byte is read once by summarize and once by index; index writes 4 bytes a field and 8 a record.
#include "structure/cpu/find.hpp"

#include "core/cpu/simd.hpp"
#include "structure/cpu/all_states.hpp"
#include "structure/cpu/any_summary.hpp"
#include "structure/cpu/masked_run.hpp"
#include "structure/cpu/plain_masks.hpp"
#include "structure/cpu/plain_summary.hpp"

HR_BEGIN_NAMESPACE
namespace {

// Line ends in the first n of `size` bytes: LF, and CR without a LF after it, in quotes or not.
u64 count_lines(const u8* text, usize n, usize size) {
    u64 lines = 0;
    for (usize pos = 0; pos < n; pos += BLOCK) {
        const Block block(text + pos);
        const u64 owned = low_bits(n - pos), feeds = block.equals('\n') & low_bits(size - pos);
        const u64 feed_after = size - pos > BLOCK && text[pos + BLOCK] == '\n' ? u64{1} << 63 : 0;
        const u64 returns = block.equals('\r') & ~(feeds >> 1 | feed_after);
        lines += static_cast<u64>(count_ones((feeds | returns) & owned));
    }
    return lines;
}

void count(const Dialect& dialect, const u8* text, usize n, usize size, const QuoteLook& look, StateCounts& to) {
    LiveStates<true> live(dialect.automaton.states);
    AllStatesRun run(dialect, text, look, live);
    run.finish(n);
    for (u32 s = 0; s < dialect.automaton.states; ++s) {
        const u8 slot = live.slot_of[s];
        to.state[s] = live.state[slot];
        to.records[s] = live.ended[slot] + live.offset[s];
    }
    to.lines = count_lines(text, n, size);
}

LineFeeds line_feeds(const u8* text, usize n) {
    u64 count = 0, others = 0;
    u64 feed_before = 0, return_before = 0;  // of the block before: its last byte, as bit 0
    for (usize pos = 0; pos < n; pos += BLOCK) {
        const Block block(text + pos);
        const u64 valid = low_bits(n - pos), feeds = block.equals('\n') & valid, returns = block.equals('\r') & valid;
        const u64 after_feed = feeds << 1 | feed_before, after_return = returns << 1 | return_before;
        others |= (feeds | returns) & after_feed;  // a blank line
        others |= (after_return & ~feeds) & valid;
        count += static_cast<u64>(count_ones(feeds));
        feed_before = feeds >> 63;
        return_before = returns >> 63;
    }
    return {count, others != 0 || (n != 0 && text[n - 1] == '\r')};
}

// Append what a byte (or the first of a run of ordinary bytes) means to the index.
HR_FN void record_emission(u8 emit, usize at, usize limit, TileIndex& index) {
    if ((emit & EMIT_OPEN) && at < limit) index.record_starts[index.start_count++] = static_cast<u32>(at);
    if (emit & (EMIT_FIELD | EMIT_RECORD)) {
        if (emit & EMIT_RECORD) {
            const u32 marks = (emit & EMIT_COMMENT ? COMMENT_RECORD : 0) | (emit & EMIT_BLANK ? BLANK_RECORD : 0);
            index.record_last[index.record_count++] = static_cast<u32>(index.end_count) | marks;
        }
        index.ends[index.end_count++] = static_cast<u32>(at);
    } else if ((emit & EMIT_BLANK) && at < limit) {
        ++index.blank_lines;
    }
    if (emit & EMIT_STRAY) index.strays[index.stray_count++] = static_cast<u32>(at);
}

// Appends what a run finds to an index.
struct IndexSink {
    TileIndex& index;
    usize limit;

    void add(const PlainMasks& masks, usize pos) {
        AppendedMasks appended(index);
        appended.add(masks, pos, limit);
        appended.finish();
    }
    void add(u8 emit, usize at) { record_emission(emit, at, limit, index); }
};

void index_any(const Dialect& dialect, const u8* text, usize from, usize to, usize limit, TileIndex& index) {
    u64 all_quotes = 0;
    HighBytes high;
    KnownStateRun<IndexSink> run(dialect, text, index.look, {index, limit});
    run.begin(from, index.state);
    for (usize pos = from; pos < to; pos += BLOCK) {
        const Block block(text + pos);
        const u64 valid = low_bits(to - pos);
        high.add(block);
        if (dialect.quote >= 0) all_quotes |= block.equals(static_cast<u8>(dialect.quote)) & valid;
        if (run.read_by_masks(pos, valid) != BlockReading::done) run.read_by_automaton(pos, valid);
    }
    index.state = run.finish(to);
    index.has_high_bytes |= high.any();
    index.has_quotes |= all_quotes != 0;
    index.has_escapes |= dialect.escape >= 0;
}

Summary summarize(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, u8* to) {
    if (n != 0 && dialect.plain && !dialect.looks_ahead()) return summarize_plain(dialect, text, n, to);
    bool quotes = true;
    if (n != 0 && dialect.plain && summarize_lenient(dialect, text, n, look, to, quotes)) return {quotes, 0};
    return summarize_any(dialect, text, n, look, to);
}

u8 run(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, u8 state) {
    const bool is_strict = dialect.plain && !dialect.looks_ahead();
    return is_strict ? settle_plain(dialect, text, n, state) : run_any(dialect, text, n, look, state);
}

// Return whether quotes affect the range: it has some, begins inside quotes, or begins right after a closing quote.
bool may_meet_quotes(const Dialect& dialect, const TileIndex& index) {
    if (dialect.quote < 0) return false;
    const bool near = dialect.automaton.is_quoted(index.state) || index.state == PlainStates(dialect).quote_end;
    return near || !index.free_of_quotes;
}

template <class Escaping>
void index_by_masks(const Dialect& dialect, const u8* text, usize from, usize to, usize limit, TileIndex& index) {
    if (may_meet_quotes(dialect, index)) {
        index_plain<Quotes::bytes, Escaping>(dialect, text, from, to, limit, index);
    } else {
        index_plain<Quotes::none, Escaping>(dialect, text, from, to, limit, index);
    }
}

void index(const Dialect& dialect, const u8* text, usize from, usize to, usize limit, TileIndex& index) {
    if (!dialect.plain) {
        index_any(dialect, text, from, to, limit, index);
    } else if (index.marks != nullptr) {
        index_plain<Quotes::marked, NoEscapes>(dialect, text, from, to, limit, index);
    } else if (dialect.escape < 0) {
        index_by_masks<NoEscapes>(dialect, text, from, to, limit, index);
    } else {
        index_by_masks<Escapes>(dialect, text, from, to, limit, index);
    }
}

}  // namespace

const FindKernels& find_kernels() {
    static constexpr FindKernels kernels = {summarize, run, index, count, line_feeds};
    return kernels;
}

HR_END_NAMESPACE
