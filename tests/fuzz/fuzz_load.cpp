// Fuzzes a whole load. The columns and rejects are the same for any instruction set, tile size, number of threads and
// kind of source. Buffers are as Arrow requires.
#include <algorithm>
#include <string>

#include "arrow_checks.hpp"
#include "columns/faults/faults.hpp"
#include "columns/load/load.hpp"
#include "columns/load/peek.hpp"
#include "plans.hpp"
#include "structure/cpu/survey.hpp"

using namespace headrace;

namespace {

void append(std::string& to, const LoadedColumn& column) {
    to += type_name(column.type) + ' ' + std::to_string(column.null_count) + ' ';
    for (const Region* region : {&column.values, &column.offsets, &column.validity}) {
        to.append(reinterpret_cast<const char*>(region->data()), region->size());
        to += '|';
    }
    if (!column.evidence) return;
    const Evidence& e = *column.evidence;
    to += std::to_string(e.record) + ' ' + std::to_string(e.at) + ' ' + e.text;
}

// Numbers of records that are rows: each once, in order.
void check_row_index(const LoadPlan& plan, const LoadResult& result) {
    REQUIRE(plan.row_index.has_value() == result.row_index.has_value());
    if (!plan.row_index) return;
    fuzz::check_column(*result.row_index, result.counts.rows);
    const i64* const numbers = result.row_index->values.as<i64>();
    i64 least = *plan.row_index;
    for (u64 row = 0; row < result.counts.rows; ++row) {
        REQUIRE(numbers[row] >= least);
        least = numbers[row] + 1;
    }
    REQUIRE(least <= *plan.row_index + static_cast<i64>(result.counts.records));
}

// All that a load gives, as bytes, once its buffers are checked.
std::string picture_of(const Source& source, const Dialect& dialect, const LoadPlan& plan) {
    LoadResult result = load(source, dialect, plan);
    const usize faults = rows_of(result.faults);
    for (const FaultBlock& block : result.faults) {
        for (const FaultRow& fault : block.faults) REQUIRE((fault.outcome == Outcome::raise) == result.raised);
    }
    REQUIRE(result.raised ? faults == 1 : faults == std::min(result.fault_count, plan.max_rejects));
    std::string picture = std::to_string(result.fault_count) + ' ';
    const BlockVector<u64> lines = lines_of_faults(source, plan, result);
    std::vector<u64> counted;  // lines may follow from the numbers of records
    for (const FaultBlock& block : result.faults) {
        for (const FaultRow& fault : block.faults) counted.push_back(fault.record_begin);
    }
    number_lines(source, counted, 1, plan.before.line_begin);
    for (u64& line : counted) line += plan.before.lines;
    REQUIRE(std::ranges::equal(lines, counted));
    for (const NamedColumn& column : rejects_table(plan, result, lines)) {
        fuzz::check_column(column.column, faults);
        append(picture, column.column);
    }
    if (result.raised) return picture;
    const LoadCounts& counts = result.counts;
    REQUIRE(counts.records == counts.rows + result.rejected);
    for (const u64 count :
         {counts.records, result.rejected, counts.leading, counts.blank, counts.comment, counts.filled})
        picture += std::to_string(count) + ' ';
    check_row_index(plan, result);
    if (result.row_index) append(picture, *result.row_index);
    for (usize c = 0; c < plan.columns.size(); ++c) {
        if (!plan.columns[c].wanted) continue;
        fuzz::check_column(result.columns[c], counts.rows);
        append(picture, result.columns[c]);
    }
    return picture;
}

// Sets the bytes skipped at the begin, and where the data begins and ends, as columns/records/data_range.py does.
void set_extent(const Source& source, const Dialect& dialect, u8 choice, u8 rows, LoadPlan& plan) {
    const u64 mark = source.encoding().is_utf16() ? 2 : 3;
    SurveyPlan look;
    look.tile_bytes = 64;
    look.begin = plan.begin = source.size() >= mark && choice % 4 == 0 ? mark : 0;
    if (choice % 8 == 5) {
        u64 lines = 1 + rows % 3;
        look.begin = plan.begin = skip_lines(source, dialect, plan.begin, lines);
    }
    if (choice % 3 == 0) {
        const auto first = peek_records(source, dialect, Isa::scalar, plan.begin, 1);
        if (!first.empty() && !first[0].malformed) plan.data_begin = first[0].begin + 1;
    } else if (choice % 3 == 1 && choice % 5 == 0) {
        plan.data_begin = record_begin(source, dialect, look, rows % 3);
    }
    if (choice % 7 == 0) plan.end = record_begin(source, dialect, look, rows / 16);
}

// Without enough memory a load ends, and leaves no memory allocated.
void load_in_little_memory(const Source& source, const Dialect& dialect, LoadPlan plan, usize limit) {
    plan.memory_limit = limit;
    try {
        load(source, dialect, plan);
    } catch (const MemoryLimitExceeded&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const Dialect dialect = fuzz::dialect_of(input.take());
    LoadPlan plan = fuzz::plan_of(input);
    const usize wanted = 1 + input.below(200);
    const u8 choice = input.take(), rows = input.take();
    const fuzz::SourceMaker make_source = input.one_of(fuzz::SOURCES);
    const unsigned threads = choice < 240 ? 1 : 2 + choice % 2;
    const usize tile = std::max(wanted, input.size() / 16);  // each tile costs much more than its bytes
    const auto source = make_source(input.data(), input.size());
    set_extent(*source, dialect, choice, rows, plan);
    std::string expected;
    for (const Isa isa : available_isas()) {
        plan.isa = isa;
        for (const usize tile_bytes : {usize{1} << 18, tile}) {
            plan.tile_bytes = tile_bytes;
            plan.threads = tile_bytes == tile ? threads : 1;
            const std::string picture = picture_of(*source, dialect, plan);
            if (expected.empty()) expected = picture;
            REQUIRE(picture == expected);
        }
    }
    if (choice % 16 == 7) load_in_little_memory(*source, dialect, plan, 1 + rows * usize{64});
    return 0;
}
