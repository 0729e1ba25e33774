#include "columns/load/peek.hpp"

#include <algorithm>

#include "columns/convert/cpu/convert.hpp"
#include "columns/rules/utf8.hpp"
#include "structure/cpu/scan.hpp"

namespace headrace {

std::vector<PeekedRecord> peek_records(const Source& source, const Dialect& dialect, Isa isa, std::uint64_t begin,
                                       usize count) {
    const ConvertKernels& kernels = convert_kernels(isa);
    TileScan scan(source, dialect, isa, begin, 4096);
    TileReader reader(scan);
    std::vector<PeekedRecord> records;
    std::vector<u8> text;
    while (const Tile* tile = reader.next()) {
        const std::vector<u32> strays = tile->has_strays ? reader.strays() : std::vector<u32>{};
        TileRows rows{};
        rows.text = tile->text;
        rows.dialect = &dialect;
        usize field = 0;
        for (usize record = 0; record < tile->records; ++record) {
            const usize last = tile->last[record] & RECORD_INDEX;
            const bool data = (tile->last[record] & ~RECORD_INDEX) == 0;
            u32 start = tile->starts[record];
            PeekedRecord peeked{tile->origin(start), {}, std::nullopt, {}, std::nullopt};
            auto stray = std::lower_bound(strays.begin(), strays.end(), start);
            const bool is_stray = stray != strays.end() && *stray <= tile->ends[last];
            if (is_stray && !dialect.keeps_strays()) peeked.malformed = tile->origin(*stray);
            if (tile->unclosed_quote && record + 1 == tile->records) peeked.malformed = peeked.begin;
            const u32 record_end = tile->ends[last] - (dialect.line_end_length - 1);
            peeked.text.assign(reinterpret_cast<const char*>(tile->text) + start, record_end - start);
            for (; field <= last; ++field) {
                const u32 back = (field == last ? dialect.line_end_length : dialect.separator_length) - 1;
                const u32 end = tile->ends[field] - back;
                const usize valid = find_invalid_utf8(tile->text + start, end - start);
                if (valid < end - start && !peeked.undecodable) peeked.undecodable = tile->origin(start + valid);
                while (stray != strays.end() && *stray < start) ++stray;
                if (!dialect.keeps_strays() && stray != strays.end() && *stray < end) {  // "a"x has no parsed form
                    peeked.fields.emplace_back(reinterpret_cast<const char*>(tile->text) + start, end - start);
                } else {
                    bool quoted;
                    text.resize(end - start + 2 * 64);
                    const usize size = kernels.field_text(rows, start, end, text.data(), quoted);
                    peeked.fields.emplace_back(reinterpret_cast<const char*>(text.data()), size);
                }
                start = tile->ends[field] + 1;
            }
            if (data) records.push_back(std::move(peeked));
            if (records.size() == count) return records;
        }
    }
    return records;
}

}  // namespace headrace
