// Fuzzes the kernels that find structure, called as a tile is. Summaries from every state, and the index of a text that
// comes in ranges, are compared with steps of the automaton. No memory is allocated, so this is the fast sibling of
// fuzz_find.
#include <cstring>

#include "dialects.hpp"
#include "fuzz.hpp"
#include "structure/cpu/scan.hpp"

using namespace headrace;

namespace {

constexpr usize LONGEST = 600;
constexpr usize ROOM = LONGEST + 64;

struct Index {
    u32 ends[ROOM], starts[ROOM], last[ROOM], strays[ROOM];
    TileIndex tile;

    void begin(u8 state) {
        tile = TileIndex{};
        tile.ends = ends;
        tile.record_starts = starts;
        tile.record_last = last;
        tile.strays = strays;
        tile.state = state;
    }
};

// Computes the result of index() from the automaton alone.
void step_through(const Dialect& dialect, const u8* text, usize size, usize limit, Index& index) {
    const Automaton& a = dialect.automaton;
    TileIndex& tile = index.tile;
    for (usize at = 0; at < size; ++at) {
        const u32 group = a.class_of[text[at]];
        const u8 emit = a.emit[group][tile.state];
        tile.state = a.next[group][tile.state];
        if (emit & EMIT_STRAY) index.strays[tile.stray_count++] = static_cast<u32>(at);
        tile.has_quotes |= text[at] == dialect.quote;
        tile.has_high_bytes |= text[at] >= 0x80;
        if ((emit & EMIT_OPEN) && at < limit) index.starts[tile.start_count++] = static_cast<u32>(at);
        if ((emit & EMIT_BLANK) && !(emit & EMIT_RECORD) && at < limit) ++tile.blank_lines;
        if (emit & EMIT_RECORD) {
            const u32 comment = emit & EMIT_COMMENT ? COMMENT_RECORD : 0, blank = emit & EMIT_BLANK ? BLANK_RECORD : 0;
            index.last[tile.record_count++] = static_cast<u32>(tile.end_count) | comment | blank;
        }
        if (emit & (EMIT_FIELD | EMIT_RECORD)) index.ends[tile.end_count++] = static_cast<u32>(at);
    }
}

void compare(const Index& found, const Index& expected) {
    const TileIndex &a = found.tile, &b = expected.tile;
    REQUIRE(a.state == b.state);
    REQUIRE(a.end_count == b.end_count && std::memcmp(found.ends, expected.ends, a.end_count * 4) == 0);
    REQUIRE(a.start_count == b.start_count && std::memcmp(found.starts, expected.starts, a.start_count * 4) == 0);
    REQUIRE(a.record_count == b.record_count && std::memcmp(found.last, expected.last, a.record_count * 4) == 0);
    REQUIRE(a.blank_lines == b.blank_lines);
    REQUIRE(a.stray_count == b.stray_count && std::memcmp(found.strays, expected.strays, a.stray_count * 4) == 0);
    REQUIRE(a.has_quotes == b.has_quotes);
    REQUIRE(a.has_high_bytes || !b.has_high_bytes);  // the next block may have some
}

u8 state_after(const Automaton& a, const u8* text, usize size, u8 state) {
    for (usize at = 0; at < size; ++at) state = a.next[a.class_of[text[at]]][state];
    return state;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const Dialect dialect = fuzz::dialect_of(input.take());
    if (dialect.lenient_quotes) return 0;  // what a quote means is then no longer for the kernel alone to say
    const Automaton& a = dialect.automaton;
    const u8 state = static_cast<u8>(input.below(a.states));
    const usize cut_choice = input.take(), limit_choice = input.take();
    const u8 padding = input.take();
    if (input.size() == 0 || input.size() > LONGEST) return 0;
    const usize n = input.size();
    // Kernels may read 64 bytes after the text. Their values must not matter.
    static u8 text[ROOM];
    std::memcpy(text, input.data(), n);
    std::memset(text + n, padding, 64);
    const usize cut = cut_choice % (n + 1), limit = limit_choice % 4 == 0 ? limit_choice % (n + 1) : n;

    static Index expected, found;
    expected.begin(state);
    step_through(dialect, text, n, limit, expected);
    for (const Isa isa : available_isas()) {
        const FindKernels& kernels = find_kernels(isa);
        u8 map[MAX_STATES];
        const Summary summary = kernels.summarize(dialect, text, n, QuoteLook{}, map);
        REQUIRE(summary.has_quotes || !expected.tile.has_quotes);
        for (u8 s = 0; s < a.states; ++s) {
            if (summary.unresolved >> s & 1) map[s] = kernels.run(dialect, text, n, QuoteLook{}, s);
            REQUIRE(map[s] == state_after(a, text, n, s));
        }
        found.begin(state);
        found.tile.free_of_quotes = !summary.has_quotes;
        kernels.index(dialect, text, 0, cut, limit, found.tile);
        kernels.index(dialect, text, cut, n, limit, found.tile);
        compare(found, expected);
    }
    return 0;
}
