// Plans of loads, chosen by bytes of the input. A new type is a line of TYPES, a new kind of source one of SOURCES.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "columns/plan/load_plan.hpp"
#include "dialects.hpp"
#include "fuzz.hpp"
#include "sources/source.hpp"

namespace fuzz {

inline constexpr ColumnType TYPES[] = {
    {.id = TypeId::boolean},
    {.id = TypeId::int8},
    {.id = TypeId::int16},
    {.id = TypeId::int32},
    {.id = TypeId::int64},
    {.id = TypeId::uint8},
    {.id = TypeId::uint16},
    {.id = TypeId::uint32},
    {.id = TypeId::uint64},
    {.id = TypeId::float32},
    {.id = TypeId::float64},
    {.id = TypeId::date32},
    {.id = TypeId::timestamp, .units_per_second = 1},
    {.id = TypeId::timestamp, .units_per_second = 1'000},
    {.id = TypeId::timestamp, .units_per_second = 1'000'000},
    {.id = TypeId::timestamp, .units_per_second = 1'000'000'000},
    {.id = TypeId::timestamp, .units_per_second = 1'000, .utc = true},
    {.id = TypeId::timestamp, .units_per_second = 1'000'000'000, .utc = true},
    {.id = TypeId::time32, .units_per_second = 1},
    {.id = TypeId::time32, .units_per_second = 1'000},
    {.id = TypeId::time64, .units_per_second = 1'000'000},
    {.id = TypeId::time64, .units_per_second = 1'000'000'000},
    {.id = TypeId::duration, .units_per_second = 1},
    {.id = TypeId::duration, .units_per_second = 1'000'000'000},
    {.id = TypeId::decimal128, .precision = 12, .scale = 2},
    {.id = TypeId::decimal128, .precision = 38, .scale = 10},
    {.id = TypeId::string},
    {.id = TypeId::large_string},
    {.id = TypeId::binary},
    {.id = TypeId::large_binary},
    {.id = TypeId::null},
};

constexpr bool has_line(TypeId id) {
    return std::any_of(std::begin(TYPES), std::end(TYPES), [&](const ColumnType& type) { return type.id == id; });
}
#define HR_TYPE(id, ...) static_assert(has_line(TypeId::id), "a type without a line in TYPES");
#include "core/types.def"
#undef HR_TYPE

// Bytes that have to be asked for, as those of a file: windows copy them.
class ReadSource final : public Source {
public:
    ReadSource(const void* data, std::uint64_t size) : data_(static_cast<const u8*>(data)) { size_ = size; }
    void read(std::uint64_t offset, std::size_t n, std::uint8_t* to) const override {
        REQUIRE(offset <= size_ && n <= size_ - offset);
        if (n != 0) std::memcpy(to, data_ + offset, n);
    }

private:
    const u8* data_;
};

using SourceMaker = std::unique_ptr<Source> (*)(const u8* data, usize size);

template <class Made, EncodingId id>
std::unique_ptr<Source> made_source(const u8* data, usize size) {
    auto source = std::make_unique<Made>(data, size);
    if (id != EncodingId::utf8) source->set_encoding(Encoding(id, {}, available_isas().back()));
    return source;
}

inline constexpr SourceMaker SOURCES[] = {
    made_source<MemorySource, EncodingId::utf8>,     made_source<ReadSource, EncodingId::utf8>,
    made_source<MemorySource, EncodingId::utf8>,     made_source<ReadSource, EncodingId::utf16_le>,
    made_source<MemorySource, EncodingId::utf16_be>,
};

// A date format as formats.inc has it.
struct FormatText {
    const char* steps;
    bool may_be_number;
};
inline constexpr FormatText FORMATS[] = {
#include "formats.inc"
};

// Local times with a repeated hour, a skipped hour, and a rule that repeats every 400 years.
inline void add_zone(LoadPlan& plan) {
    constexpr i64 FOREVER = i64{1} << 62, CHANGE = 1'548'979'200, HOUR = 3600;
    ZoneTable& table = plan.zones.emplace_back();
    table.name = "Somewhere";
    table.begins = {-FOREVER, 0, CHANGE + HOUR};
    table.ends = {-HOUR, CHANGE, 8'000'000'000};
    table.offsets = {-1800, HOUR, 2 * HOUR};
    table.zone = {table.name.c_str(), table.begins.data(), table.ends.data(), table.offsets.data(), 3};
}

inline PlannedColumn column_of(Input& input, LoadPlan& plan) {
    PlannedColumn column;
    column.name = "c" + std::to_string(plan.columns.size());
    const u8 choice = input.take();
    column.inferred = choice & 0x80;
    column.wanted = choice % 64 != 63;
    if (column.inferred) return column;
    column.type = input.one_of(TYPES);
    if (!column.type.utc || choice % 4 != 0) return column;
    if (plan.zones.empty()) add_zone(plan);
    column.type.zone = &plan.zones.front().zone;
    return column;
}

inline void add_dates(Input& input, LoadPlan& plan) {
    const u8 choice = input.take();
    DateFormatSet set;
    set.iso_first = choice & 1;
    set.before_numbers = choice & 2;
    for (usize count = 1 + choice / 4 % 3; count > 0; --count) {
        const FormatText& format = input.one_of(FORMATS);
        set.programs.push_back(hex_text(format.steps));
        set.may_be_number.push_back(format.may_be_number);
    }
    if (choice & 0x80) {
        plan.forms.front().dates = set;
        return;
    }
    plan.forms.push_back({plan.forms.front().null_texts, {}, set});
    if (choice & 0x20) plan.forms.back().null_words = {"NA", "-"};
    if (choice & 0x40) plan.forms.back().null_texts = {"NA", "2019-01-31"};
    for (PlannedColumn& column : plan.columns) column.forms = input.below(2);
}

// Adds rows as columns/plan/row_policy.py makes them from policies.
inline void add_rows(Input& input, LoadPlan& plan) {
    RowRules& rules = plan.rows;
    const usize choice = input.take();
    const Outcome otherwise = plan.on_error == OnError::raise ? Outcome::raise : Outcome::reject;
    rules.base_columns = plan.columns.size();
    rules.on_short = rules.on_long = rules.on_malformed = otherwise;
    rules.fill_short = choice % 4 == 1;
    if (choice % 4 == 2) rules.on_short = Outcome::reject;
    if (choice % 4 == 3) rules.on_short = Outcome::raise;
    switch (choice / 4 % 8) {
        case 1:
            rules.on_long = Outcome::keep;
            break;
        case 2:
            rules.on_long = Outcome::reject;
            break;
        case 3:
            rules.on_long = Outcome::raise;
            break;
        case 4:
            rules.collect_long = true;
            plan.columns.push_back({"extra_fields", {TypeId::string}});
            break;
        case 5:  // widened: the columns of the longest record
            for (usize more = 1 + choice / 32 % 2; more > 0; --more) {
                plan.columns.push_back({"wide" + std::to_string(more), {}, true});
            }
            break;
    }
}

inline NumberMarks marks_of(u8 choice) {
    static constexpr NumberMarks MARKS[] = {{'.', NO_MARK}, {',', '.'}, {'.', ','},
                                            {',', NO_MARK}, {',', ' '}, {'.', '\''}};
    return choice < 128 ? MARKS[0] : MARKS[choice % std::size(MARKS)];
}

inline LoadPlan plan_of(Input& input) {
    LoadPlan plan;
    const u8 options = input.take();
    plan.on_error = static_cast<OnError>((options & 3) % 3);
    plan.shrink = options & 4;
    plan.exact_memory = options & 8;
    plan.quoted_null = options & 16;
    const std::string nulls[] = {"", "NA", "0", "-", "2019-01-31"};
    for (usize i = 0; i <= static_cast<usize>(options >> 5) && i < std::size(nulls); ++i)
        plan.forms.front().null_texts.push_back(nulls[i]);
    plan.true_words = {"true", "1"};
    plan.false_words = {"false", "no"};
    const usize columns = 1 + input.below(4);
    for (usize c = 0; c < columns; ++c) plan.columns.push_back(column_of(input, plan));
    const u8 extras = input.take();
    plan.marks = marks_of(input.take());
    if (extras & 1) add_dates(input, plan);
    if (extras & 2) add_rows(input, plan);
    plan.rows.base_columns = extras & 2 ? plan.rows.base_columns : columns;
    if (extras & 4) plan.row_index = -3;
    return plan;
}

}  // namespace fuzz
