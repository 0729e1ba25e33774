// A whole load: whatever the instruction set, tile size and number of threads, the same columns and rejects, and
// buffers as Arrow wants them.
#include <algorithm>
#include <string>

#include "columns/faults.hpp"
#include "columns/load.hpp"
#include "columns/pass.hpp"
#include "columns/rules/utf8.hpp"
#include "dialects.hpp"
#include "fuzz.hpp"

using namespace headrace;

namespace {

constexpr TypeId TYPES[] = {
#define HR_TYPE(id, name, bits) TypeId::id,
#include "core/types.def"
#undef HR_TYPE
};

PlannedColumn column_of(fuzz::Input& input, usize number) {
    PlannedColumn column;
    column.name = "c" + std::to_string(number);
    const u8 choice = input.take();
    column.inferred = choice & 0x80;
    if (column.inferred) return column;
    column.type.id = TYPES[(choice & 0x7F) % std::size(TYPES)];
    if (column.type.id != TypeId::timestamp) return column;
    static constexpr i64 UNITS[] = {1, 1'000, 1'000'000, 1'000'000'000};
    const u8 unit = input.take();
    column.type.units_per_second = UNITS[unit & 3];
    column.type.utc = unit & 4;
    return column;
}

LoadPlan plan_of(fuzz::Input& input) {
    LoadPlan plan;
    const u8 options = input.take();
    plan.on_error = static_cast<OnError>((options & 3) % 3);
    plan.shrink = options & 4;
    plan.exact_memory = options & 8;
    plan.quoted_null = options & 16;
    const std::string nulls[] = {"", "NA", "0", "-", "2019-01-31"};
    for (usize i = 0; i <= static_cast<usize>(options >> 5) && i < std::size(nulls); ++i)
        plan.null_texts.push_back(nulls[i]);
    plan.true_words = {"true", "1"};
    plan.false_words = {"false", "no"};
    const usize columns = 1 + input.below(4);
    for (usize c = 0; c < columns; ++c) plan.columns.push_back(column_of(input, c));
    return plan;
}

bool bit(const Region& region, u64 at) { return region.as<u8>()[at / 8] >> (at % 8) & 1; }

// Bits behind the last are zero.
void check_bits(const Region& region, u64 rows) {
    REQUIRE(region.size() >= (rows + 7) / 8);
    for (u64 at = rows; at < region.size() * 8; ++at) REQUIRE(!bit(region, at));
}

template <class Offset>
void check_strings(const LoadedColumn& column, u64 rows) {
    const Offset* const offsets = column.offsets.as<Offset>();
    const u8* const bytes = column.values.as<u8>();
    REQUIRE(column.offsets.size() >= (rows + 1) * sizeof(Offset));
    REQUIRE(offsets[0] == 0);
    for (u64 row = 0; row < rows; ++row) {
        REQUIRE(offsets[row] <= offsets[row + 1]);
        const usize size = static_cast<usize>(offsets[row + 1] - offsets[row]);
        REQUIRE(find_invalid_utf8(bytes + offsets[row], size) == size);
        if (column.validity.data() != nullptr && !bit(column.validity, row)) REQUIRE(size == 0);
    }
    REQUIRE(static_cast<usize>(offsets[rows]) <= column.values.size());
}

void check_column(const LoadedColumn& column, u64 rows) {
    u64 nulls = 0;
    if (column.validity.data() != nullptr) {
        check_bits(column.validity, rows);
        for (u64 row = 0; row < rows; ++row) nulls += !bit(column.validity, row);
    }
    REQUIRE(nulls == column.null_count);
    const usize bits = value_bits(column.type);
    if (is_string(column.type)) {
        if (bits == 32) {
            check_strings<i32>(column, rows);
        } else {
            check_strings<i64>(column, rows);
        }
    } else if (bits == 1) {
        check_bits(column.values, rows);
    } else {
        REQUIRE(column.values.size() >= rows * bits / 8);
    }
}

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

// All that a load gives, as bytes, once its buffers are checked. Who asked for faults to be raised gets the first.
std::string picture_of(const Source& source, const Dialect& dialect, const LoadPlan& plan) {
    LoadResult result = load(source, dialect, plan);
    const bool raised = plan.on_error == OnError::raise && !result.faults.empty();
    if (raised) result.faults.resize(1);
    std::string picture;
    const usize faults = result.faults.size();
    for (const NamedColumn& column : rejects_table(source, plan, result)) {
        check_column(column.column, faults);
        append(picture, column.column);
    }
    if (raised) return picture;
    REQUIRE(result.counts.records == result.counts.rows + result.rejected);
    picture += std::to_string(result.counts.records) + ' ' + std::to_string(result.rejected) + ' ' +
               std::to_string(result.counts.blank) + ' ' + std::to_string(result.counts.comment);
    for (const LoadedColumn& column : result.columns) {
        check_column(column, result.counts.rows);
        append(picture, column);
    }
    return picture;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const Dialect dialect = fuzz::dialect_of(input.take());
    LoadPlan plan = plan_of(input);
    const usize wanted = 1 + input.below(200);
    const u8 choice = input.take();
    const unsigned threads = choice < 240 ? 1 : 2 + choice % 2;
    const bool has_mark = input.size() >= 3 && choice % 4 == 0;
    plan.begin = has_mark ? 3 : 0;
    const usize tile = std::max(wanted, input.size() / 16);  // each tile costs much more than its bytes
    const MemorySource source(input.data(), input.size());
    if (choice % 3 == 0) {
        const auto first = peek_records(source, dialect, Isa::scalar, plan.begin, 1);
        if (!first.empty() && !first[0].malformed) plan.header = first[0].begin;
    }
    std::string expected;
    for (const Isa isa : available_isas()) {
        plan.isa = isa;
        for (const usize tile_bytes : {usize{1} << 18, tile}) {
            plan.tile_bytes = tile_bytes;
            plan.threads = tile_bytes == tile ? threads : 1;
            const std::string picture = picture_of(source, dialect, plan);
            if (expected.empty()) expected = picture;
            REQUIRE(picture == expected);
        }
    }
    return 0;
}
