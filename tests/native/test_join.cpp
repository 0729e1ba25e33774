// Tests joined parts of a column. Parts have any lengths, so that bits are joined at any place in a word. Also tests
// rows, repeated values and nulls, and the limit at which offsets become wide.
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "columns/finish/concat.hpp"

using namespace headrace;

namespace {

using Values = std::vector<std::optional<std::string>>;

Region region_of(const std::string& bytes) {
    Region region(bytes.size(), nullptr, Region::Content::zero);
    region.ensure(bytes.size());
    if (!bytes.empty()) std::memcpy(region.data(), bytes.data(), bytes.size());
    return region;
}

std::string bits_of(const std::vector<bool>& bits) {
    std::string bytes((bits.size() + 7) / 8, '\0');
    for (usize i = 0; i < bits.size(); ++i) bytes[i / 8] = static_cast<char>(bytes[i / 8] | bits[i] << (i % 8));
    return bytes;
}

// A column of texts: as strings, or their first byte as an int8, or that byte's lowest bit.
LoadedColumn column_of(TypeId type, const Values& values) {
    LoadedColumn column;
    column.type.id = type;
    std::string text, fixed, narrow(4, '\0'), wide(8, '\0');
    std::vector<bool> bits, valid;
    for (const auto& value : values) {
        valid.push_back(value.has_value());
        column.null_count += value ? 0 : 1;
        const std::string shown = value.value_or("");
        text += shown;
        fixed += shown.empty() ? '\0' : shown[0];
        bits.push_back(!shown.empty() && (shown[0] & 1));
        const u64 end = text.size();
        narrow.append(reinterpret_cast<const char*>(&end), 4);
        wide.append(reinterpret_cast<const char*>(&end), 8);
    }
    const bool strings = type == TypeId::string || type == TypeId::large_string;
    column.values = region_of(strings ? text : type == TypeId::boolean ? bits_of(bits) : fixed);
    if (strings) column.offsets = region_of(type == TypeId::string ? narrow : wide);
    if (column.null_count != 0) column.validity = region_of(bits_of(valid));
    return column;
}

std::string used(const Region& region) {
    return region.data() == nullptr ? "" : std::string(reinterpret_cast<const char*>(region.data()), region.size());
}

JoinPart part_of(const LoadedColumn& column, u64 length) {
    JoinPart part;
    part.what = JoinPart::What::rows;
    part.length = length;
    part.type = column.type;
    part.null_count = column.null_count;
    part.values = &column.values;
    part.offsets = &column.offsets;
    part.validity = column.null_count != 0 ? &column.validity : nullptr;
    return part;
}

Values some_values(std::mt19937& random, usize count) {
    Values values;
    for (usize i = 0; i < count; ++i) {
        const bool null = random() % 8 == 0;
        values.push_back(null ? std::nullopt
                              : std::optional(std::string(1 + random() % 9, static_cast<char>('a' + random() % 26))));
    }
    return values;
}

void check_joined(std::mt19937& random, TypeId type) {
    std::vector<LoadedColumn> columns;
    std::vector<JoinPart> parts;
    Values all;
    const usize count = 1 + random() % 8;
    columns.reserve(count);
    for (usize i = 0; i < count; ++i) {
        const usize length = random() % 3 == 0 ? random() % 3 : random() % 300;
        const Values values = some_values(random, length + 1);
        const bool mixed = type == TypeId::string && random() % 2 == 0;
        const Values rows(values.begin(), values.end() - 1);
        const auto what = random() % 4;
        columns.push_back(column_of(mixed ? TypeId::large_string : type, what == 1 ? values : rows));
        JoinPart part = part_of(columns.back(), length);
        if (what == 1) {
            part.what = JoinPart::What::repeated;
            part.row = random() % values.size();
            all.insert(all.end(), length, values[part.row]);
        } else if (what == 2) {
            part = JoinPart{};
            part.length = length;
            all.insert(all.end(), length, std::nullopt);
        } else {
            all.insert(all.end(), rows.begin(), rows.end());
        }
        parts.push_back(part);
    }
    JoinPlan plan;
    plan.type.id = type;
    plan.threads = static_cast<unsigned>(1 + random() % 3);
    const LoadedColumn joined = join_parts(parts, plan).column;
    const LoadedColumn expected = column_of(type, all);
    CHECK(joined.type.id == type);
    CHECK(joined.null_count == expected.null_count);
    CHECK(used(joined.values) == used(expected.values));
    CHECK(used(joined.offsets) == used(expected.offsets));
    CHECK(used(joined.validity) == used(expected.validity));
}

void check_wide_offsets() {
    const Values values = {"abc", std::nullopt, "de"};
    const LoadedColumn column = column_of(TypeId::string, values);
    JoinPlan plan;
    plan.type.id = TypeId::string;
    plan.max_small_text = 10;
    CHECK(join_parts({part_of(column, 3), part_of(column, 3)}, plan).column.type.id == TypeId::string);
    plan.max_small_text = 9;
    const LoadedColumn joined = join_parts({part_of(column, 3), part_of(column, 3)}, plan).column;
    Values twice = values;
    twice.insert(twice.end(), values.begin(), values.end());
    CHECK(joined.type.id == TypeId::large_string);
    CHECK(used(joined.offsets) == used(column_of(TypeId::large_string, twice).offsets));
}

// More rows than one thread takes at a time.
void check_many_rows(const std::vector<TypeId>& types) {
    const usize rows = (usize{1} << 20) + 77;
    Values values(rows, "b");
    for (usize i = 0; i < rows; i += 3) values[i] = std::nullopt;
    for (const TypeId type : types) {
        const LoadedColumn column = column_of(type, values);
        JoinPlan plan;
        plan.type.id = type;
        plan.threads = 3;
        Values twice = values;
        twice.insert(twice.end(), values.begin(), values.end());
        const LoadedColumn joined = join_parts({part_of(column, rows), part_of(column, rows)}, plan).column;
        const LoadedColumn expected = column_of(type, twice);
        CHECK(used(joined.values) == used(expected.values));
        CHECK(used(joined.offsets) == used(expected.offsets));
        CHECK(used(joined.validity) == used(expected.validity));
    }
}

}  // namespace

// The first argument: rounds. With few, many rows are joined of columns of bits and of strings alone.
int main(int count, char** arguments) {
    const int rounds = check::first_argument(count, arguments, 2000);
    std::mt19937 random(1);
    for (int round = 0; round < rounds; ++round) {
        const TypeId types[] = {TypeId::boolean, TypeId::int8, TypeId::string, TypeId::large_string};
        check_joined(random, types[round % 4]);
    }
    check_wide_offsets();
    check_many_rows({TypeId::boolean, TypeId::string});
    if (rounds >= 2000) check_many_rows({TypeId::int8});
    return check::finish();
}
