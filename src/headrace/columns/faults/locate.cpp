#include "columns/faults/locate.hpp"

#include <algorithm>

#include "columns/faults/rejected_records.hpp"
#include "columns/records/tile_rows.hpp"
#include "structure/cpu/scan.hpp"

namespace headrace {
namespace {

struct Wanted {
    u64 record;
    usize column;
};

std::vector<Wanted> wanted_records(const std::vector<u64>& deciding_rows,
                                   const std::vector<RejectedRecords>& rejected) {
    std::vector<Wanted> wanted;
    for (usize c = 0; c < deciding_rows.size(); ++c) {
        if (deciding_rows[c] == NO_ROW) continue;
        wanted.push_back({record_of_row(rejected, deciding_rows[c]) + 1, c});
    }
    std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) { return a.record < b.record; });
    return wanted;
}

}  // namespace

void locate_evidence(const Source& source, const Dialect& dialect, const LoadPlan& plan,
                     const std::vector<u64>& deciding_rows, LoadResult& result) {
    const std::vector<Wanted> wanted = wanted_records(deciding_rows, result.rejected_records);
    constexpr usize SHOWN = 100;
    TileScan scan(source, dialect, plan.isa, plan.begin, plan.tile_bytes);
    TileReader reader(scan);
    TileRowsFinder finder(dialect, plan);
    u64 records = 0;  // of the preceding tiles
    auto next = wanted.begin();
    while (next != wanted.end()) {
        const Tile* tile = reader.next();
        if (tile == nullptr) return;
        const TileRows& rows = finder.find(*tile, tile->has_strays ? reader.strays() : std::vector<u32>{});
        usize row = 0;
        for (; next != wanted.end() && next->record <= records + finder.counts().records; ++next) {
            while (records + finder.record_of(row) + 1 < next->record) ++row;
            const auto [begin, end] = finder.field(row, next->column);
            const std::string text(reinterpret_cast<const char*>(rows.text) + begin,
                                   std::min<usize>(end - begin, SHOWN));
            result.columns[next->column].evidence = Evidence{next->record, tile->origin(begin), text};
        }
        records += finder.counts().records;
    }
}

}  // namespace headrace
