#include "columns/records/data_start.hpp"

#include <algorithm>

#include "structure/cpu/scan.hpp"

namespace headrace {
namespace {

constexpr usize LOOK_BYTES = 4096;
constexpr usize SHOWN_BYTES = 100;

bool is_data(u32 last) { return (last & ~RECORD_INDEX) == 0; }

u64 first_record(const Source& source, const Dialect& dialect, Isa isa, u64 begin, u64 least) {
    TileScan scan(source, dialect, isa, begin, LOOK_BYTES);
    TileReader reader(scan);
    while (const Tile* tile = reader.next()) {
        for (usize record = 0; record < tile->records; ++record) {
            const u64 at = tile->origin(tile->starts[record]);
            if (at >= least && is_data(tile->last[record])) return at;
        }
    }
    return source.size();
}

}  // namespace

BeforeData find_data(const Source& source, const Dialect& dialect, Isa isa, u64 begin, u64 data_begin, u64 end) {
    BeforeData found;
    found.data = begin;
    if (data_begin <= begin) return found;
    found.data = std::min(first_record(source, dialect, isa, begin, data_begin), end);
    const PrefixSource before(source, found.data);
    TileScan scan(before, dialect, isa, begin, LOOK_BYTES);
    TileReader reader(scan);
    while (const Tile* tile = reader.next()) {
        found.blank += tile->blank_lines;
        for (usize record = 0; record < tile->records; ++record) {
            const u32 last = tile->last[record];
            ++((last & BLANK_RECORD) != 0 ? found.blank : (last & COMMENT_RECORD) != 0 ? found.comment : found.leading);
        }
    }
    return found;
}

std::string shown_field(const Source& source, const Dialect& dialect, u64 at) {
    const Automaton& automaton = dialect.automaton;
    std::string text(std::min<u64>(SHOWN_BYTES + sizeof dialect.separator_text, source.size() - at), '\0');
    source.read(at, text.size(), reinterpret_cast<u8*>(text.data()));
    // Start in the state after a separator, where no comment or blank line can begin.
    u8 state = automaton.next[automaton.class_of['x']][0];
    for (usize i = 0; i < dialect.separator_length; ++i) {
        state = automaton.next[automaton.class_of[dialect.separator_text[i]]][state];
    }
    for (usize i = 0; i < text.size(); ++i) {
        const u8 group = automaton.class_of[static_cast<u8>(text[i])];
        const u8 emit = automaton.emit[group][state];
        if ((emit & (EMIT_FIELD | EMIT_RECORD)) != 0) {
            const u32 delimiter = (emit & EMIT_FIELD) != 0 ? dialect.separator_length : dialect.line_end_length;
            return text.substr(0, std::min<usize>(i + 1 - delimiter, SHOWN_BYTES));
        }
        state = automaton.next[group][state];
    }
    return text.substr(0, SHOWN_BYTES);
}

}  // namespace headrace
