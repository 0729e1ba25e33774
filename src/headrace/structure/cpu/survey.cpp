#include "structure/cpu/survey.hpp"

#include <algorithm>
#include <cstring>

#include "structure/cpu/scan.hpp"

namespace headrace {
namespace {

// Call each(first byte, fields) for the tile's data records.
template <class Each>
void for_each_record(const Tile& tile, Each each) {
    usize first_end = 0;
    for (usize i = 0; i < tile.records; ++i) {
        const usize last = tile.last[i] & RECORD_INDEX;
        if (tile.last[i] <= RECORD_INDEX) each(tile.origin(tile.starts[i]), last - first_end + 1);
        first_end = last + 1;
    }
}

Survey survey_tile(const Tile& tile, usize wanted) {
    Survey found;
    found.blank_lines = tile.blank_lines;
    for (usize i = 0; i < tile.records; ++i) {
        found.comments += tile.last[i] & COMMENT_RECORD ? 1 : 0;
        found.blank_lines += tile.last[i] & BLANK_RECORD ? 1 : 0;
    }
    for_each_record(tile, [&](u64 begin, usize fields) {
        ++found.records;
        found.max_fields = std::max<u64>(found.max_fields, fields);
        if (wanted != 0) found.last.push_back(begin);
    });
    if (found.last.size() > wanted) found.last.erase(found.last.begin(), found.last.end() - static_cast<i64>(wanted));
    return found;
}

// Return the bytes of the line at `from`, including its end; 0 if the window does not contain its end.
usize line_length(const Dialect& dialect, const Window& window, usize from) {
    const u8* const text = window.data();
    const usize size = window.size(), length = dialect.line_end_length;
    for (usize at = from; at < size; ++at) {
        if (!dialect.universal_line_end) {
            if (at + length <= size && std::memcmp(text + at, dialect.line_end_text, length) == 0)
                return at + length - from;
        } else if (text[at] == '\n') {
            return at + 1 - from;
        } else if (text[at] == '\r' && (at + 1 < size || window.at_end())) {
            return at + (at + 1 < size && text[at + 1] == '\n' ? 2 : 1) - from;
        }
    }
    return window.at_end() ? size - from : 0;
}

}  // namespace

Survey survey(const Source& source, const Dialect& dialect, const SurveyPlan& plan) {
    const PrefixSource text(source, plan.end);
    TileScan scan(text, dialect, plan.isa, plan.begin, plan.tile_bytes);
    std::vector<Survey> parts(scan.tile_count());
    run_gated({&scan.gate}, plan.threads, [&](unsigned) {
        TileReader reader(scan);
        while (const Tile* tile = reader.next()) parts[tile->number] = survey_tile(*tile, plan.last);
    });
    Survey whole;
    for (const Survey& part : parts) {
        whole.records += part.records;
        whole.comments += part.comments;
        whole.blank_lines += part.blank_lines;
        whole.max_fields = std::max(whole.max_fields, part.max_fields);
    }
    for (auto part = parts.rbegin(); part != parts.rend() && whole.last.size() < plan.last; ++part) {
        const usize missing = std::min(plan.last - whole.last.size(), part->last.size());
        whole.last.insert(whole.last.begin(), part->last.end() - static_cast<i64>(missing), part->last.end());
    }
    return whole;
}

std::uint64_t record_begin(const Source& source, const Dialect& dialect, const SurveyPlan& plan, u64 index) {
    TileScan scan(source, dialect, plan.isa, plan.begin, plan.tile_bytes);
    TileReader reader(scan);
    std::uint64_t found = source.size();
    u64 seen = 0;
    while (const Tile* tile = reader.next()) {
        for_each_record(*tile, [&](u64 begin, usize) {
            if (seen++ == index) found = begin;
        });
        if (seen > index) break;
    }
    return found;
}

std::uint64_t skip_lines(const Source& source, const Dialect& dialect, std::uint64_t begin, u64& lines) {
    const u64 wanted = lines;
    Window window(source);
    usize size = usize{64} << 10;
    std::uint64_t line = begin;  // first byte of the current line
    for (lines = 0; lines < wanted && line < source.size(); size *= 2) {
        window.open(line, size);
        usize at = 0;
        for (usize length = 1; lines < wanted && length != 0; at += length) {
            length = line_length(dialect, window, at);
            lines += length != 0 ? 1 : 0;
        }
        line = window.origin(at);
    }
    return line;
}

}  // namespace headrace
