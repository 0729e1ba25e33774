// Tables of any types and texts, written and read back: the same fields, and where a type has a reader, the same
// values.
#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "arrow_stream.hpp"
#include "columns/load/load.hpp"
#include "columns/load/peek.hpp"
#include "columns/rules/utf8.hpp"
#include "dialects.hpp"
#include "export/text/write_csv.hpp"
#include "fuzz.hpp"

using namespace headrace;
using fuzz::ArrowInput;
using fuzz::Cell;
using fuzz::Layout;

namespace {

constexpr i64 ANY = 0, SECONDS = 62'135'596'800;  // from year 1 to 1970; as many after it are in the calendar, too

// A type of Arrow: `width` bytes a value (texts: 0), values from -most to most, and the type to read it as, if there is
// a reader.
struct Form {
    const char* format;
    Layout layout;
    usize width;
    i64 most = ANY;
    std::optional<ColumnType> type = std::nullopt;
};

const Form FORMS[] = {
    {"u", Layout::offsets32, 0, ANY, ColumnType{.id = TypeId::string}},
    {"U", Layout::offsets64, 0, ANY, ColumnType{.id = TypeId::large_string}},
    {"vu", Layout::views, 0, ANY, ColumnType{.id = TypeId::string}},
    {"c", Layout::dictionary, 0, ANY, ColumnType{.id = TypeId::string}},
    {"z", Layout::offsets32, 0},
    {"w:3", Layout::fixed, 3},
    {"n", Layout::none, 0},
    {"b", Layout::bits, 1, ANY, ColumnType{.id = TypeId::boolean}},
    {"c", Layout::fixed, 1, ANY, ColumnType{.id = TypeId::int8}},
    {"s", Layout::fixed, 2, ANY, ColumnType{.id = TypeId::int16}},
    {"i", Layout::fixed, 4, ANY, ColumnType{.id = TypeId::int32}},
    {"l", Layout::fixed, 8, ANY, ColumnType{.id = TypeId::int64}},
    {"C", Layout::fixed, 1, ANY, ColumnType{.id = TypeId::uint8}},
    {"S", Layout::fixed, 2, ANY, ColumnType{.id = TypeId::uint16}},
    {"I", Layout::fixed, 4, ANY, ColumnType{.id = TypeId::uint32}},
    {"L", Layout::fixed, 8, ANY, ColumnType{.id = TypeId::uint64}},
    {"e", Layout::fixed, 2},
    {"f", Layout::fixed, 4, ANY, ColumnType{.id = TypeId::float32}},
    {"g", Layout::fixed, 8, ANY, ColumnType{.id = TypeId::float64}},
    {"tdD", Layout::fixed, 4, SECONDS / 86400, ColumnType{.id = TypeId::date32}},
    {"tdm", Layout::fixed, 8},
    {"tts", Layout::fixed, 4},
    {"ttn", Layout::fixed, 8},
    {"tss:", Layout::fixed, 8, SECONDS, ColumnType{.id = TypeId::timestamp, .units_per_second = 1}},
    {"tsm:UTC", Layout::fixed, 8, SECONDS * 1'000,
     ColumnType{.id = TypeId::timestamp, .units_per_second = 1'000, .utc = true}},
    {"tsu:", Layout::fixed, 8, SECONDS * 1'000'000, ColumnType{.id = TypeId::timestamp, .units_per_second = 1'000'000}},
    {"tsn:Europe/Berlin", Layout::fixed, 8, ANY,
     ColumnType{.id = TypeId::timestamp, .units_per_second = 1'000'000'000, .utc = true}},
    {"tss:", Layout::fixed, 8},
    {"tDm", Layout::fixed, 8, ANY, ColumnType{.id = TypeId::duration, .units_per_second = 1'000}},
    {"tDn", Layout::fixed, 8, ANY, ColumnType{.id = TypeId::duration, .units_per_second = 1'000'000'000}},
    {"d:9,2,32", Layout::fixed, 4},
    {"d:18,-3,64", Layout::fixed, 8},
    {"d:38,10", Layout::fixed, 16},
    {"d:76,40,256", Layout::fixed, 32},
};

std::string text_of(fuzz::Input& input, bool any_bytes) {
    const usize choice = input.take();
    std::string text;
    for (usize n = choice < 250 ? choice % 20 : 300; n > 0; --n) text += static_cast<char>(input.take());
    const auto* const bytes = reinterpret_cast<const u8*>(text.data());
    for (usize at; !any_bytes && (at = find_invalid_utf8(bytes, text.size())) < text.size();) text[at] = '?';
    return text;
}

std::string value_of(fuzz::Input& input, const Form& form) {
    std::string bytes;
    const usize given = input.below(9);  // the others are those of a small number
    for (usize i = 0; i < form.width; ++i) bytes += static_cast<char>(i % 8 < given ? input.take() : 0);
    if (form.most == ANY) return bytes;
    i64 value = 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    value %= form.most;
    return std::string(reinterpret_cast<const char*>(&value), form.width);
}

ArrowInput column_of(fuzz::Input& input, const Form& form, usize number, usize rows) {
    ArrowInput column{form.format, form.layout, "c" + std::to_string(number), {}};
    const bool any_bytes = !form.type;
    const u8 choice = input.take();
    if (choice & 1) column.name = text_of(input, false).c_str();
    for (usize row = 0; row < rows; ++row) {
        const bool null = form.layout == Layout::none || (choice >= 128 && input.below(4) == 0);
        column.cells.push_back({null, form.width == 0 ? text_of(input, any_bytes) : value_of(input, form)});
    }
    return column;
}

TextOptions options_of(fuzz::Input& input, const Dialect& dialect, u8 number) {
    static const char* const NULLS[] = {"", "NA", "-", "0", "nan", "true"};
    static const char* const LINE_ENDS[] = {"\n", "\r\n", "\r"};
    const u8 choice = input.take();
    TextOptions options;
    options.sep.assign(reinterpret_cast<const char*>(dialect.separator_text), dialect.separator_length);
    options.line_end.assign(reinterpret_cast<const char*>(dialect.line_end_text), dialect.line_end_length);
    if (dialect.universal_line_end) options.line_end = LINE_ENDS[choice % 3];
    options.comment = fuzz::hex_text(fuzz::DIALECT_TEXTS[fuzz::dialect_number(number)].comment_text);
    options.null = NULLS[choice / 4 % std::size(NULLS)];
    options.has_quote = dialect.quote >= 0;
    options.quote = options.has_quote ? static_cast<u8>(dialect.quote) : u8{0};
    options.quoting = !options.has_quote || choice >= 224 ? Quoting::none
                      : choice >= 160                     ? Quoting::all
                                                          : Quoting::minimal;
    options.header = choice & 8;
    return options;
}

// Reading back needs a dialect without escapes, whose doubled quotes are quotes; and no reader that skips spaces where
// quotes may not keep them.
bool can_be_written(const Dialect& dialect, const TextOptions& options) {
    const bool keeps_spaces = options.quoting != Quoting::none || !dialect.skip_initial_space;
    return dialect.escape < 0 && (dialect.quote < 0 || dialect.double_quote) && keeps_spaces;
}

std::string written(const std::vector<ArrowInput>& columns, const std::vector<fuzz::BatchRows>& batches,
                    const TextOptions& options, unsigned threads) {
    fuzz::TableStream table(columns, batches);
    CsvWriter writer(&table.stream, options);
    std::string text;
    for (const TextBlock& block : writer.all_blocks(threads, [] {}))
        text.append(reinterpret_cast<const char*>(block.bytes.get()), block.size);
    return text;
}

// The texts of all fields, null or not.
void check_fields(const Source& source, const Dialect& dialect, const std::vector<ArrowInput>& columns,
                  const std::vector<const Form*>& forms, const TextOptions& options) {
    const usize rows = columns.front().cells.size(), header = options.header;
    const auto records = peek_records(source, dialect, available_isas().back(), 0, rows + 10);
    REQUIRE(records.size() == rows + header);
    for (const PeekedRecord& record : records) REQUIRE(record.fields.size() == columns.size() && !record.malformed);
    for (usize c = 0; c < columns.size(); ++c) {
        if (header) REQUIRE(records[0].fields[c] == columns[c].name);
        const bool is_text = forms[c]->width == 0 || forms[c]->format[0] == 'w';
        for (usize row = 0; row < rows; ++row) {
            const Cell& cell = columns[c].cells[row];
            const std::string& field = records[row + header].fields[c];
            if (cell.null || is_text) REQUIRE(field == (cell.null ? options.null : cell.bytes));
        }
    }
}

bool same_value(const Form& form, const Cell& cell, const LoadedColumn& column, usize row) {
    const char* const values = reinterpret_cast<const char*>(column.values.data());
    const auto text = [&](auto* offsets) {
        return cell.bytes == std::string(values + offsets[row], static_cast<usize>(offsets[row + 1] - offsets[row]));
    };
    if (column.type.id == TypeId::string) return text(column.offsets.as<i32>());
    if (column.type.id == TypeId::large_string) return text(column.offsets.as<i64>());
    if (form.layout == Layout::bits) return (values[row / 8] >> (row % 8) & 1) == (cell.bytes[0] & 1);
    const char* const value = values + row * form.width;
    return std::memcmp(value, cell.bytes.data(), form.width) == 0;
}

void check_values(const Source& source, const Dialect& dialect, const std::vector<ArrowInput>& columns,
                  const std::vector<const Form*>& forms, const TextOptions& options) {
    LoadPlan plan;
    for (usize c = 0; c < columns.size(); ++c) {
        const bool wanted = forms[c]->type.has_value();
        plan.columns.push_back(
            {.name = columns[c].name, .type = wanted ? *forms[c]->type : ColumnType{}, .wanted = wanted});
    }
    plan.rows.base_columns = columns.size();
    plan.forms.front().null_texts = {options.null};
    plan.true_words = {"true"};
    plan.false_words = {"false"};
    plan.tile_bytes = 1 << 16;
    plan.isa = available_isas().back();
    if (options.header) plan.data_begin = peek_records(source, dialect, plan.isa, 0, 1).front().begin + 1;
    const LoadResult result = load(source, dialect, plan);
    REQUIRE(!result.raised && result.counts.rows == columns.front().cells.size());
    for (usize c = 0; c < columns.size(); ++c) {
        if (!plan.columns[c].wanted) continue;
        const LoadedColumn& column = result.columns[c];
        for (usize row = 0; row < columns[c].cells.size(); ++row) {
            const Cell& cell = columns[c].cells[row];
            const u8* const validity = column.validity.as<u8>();
            const bool null = validity != nullptr && !(validity[row / 8] >> (row % 8) & 1);
            REQUIRE(null == cell.null);
            REQUIRE(null || same_value(*forms[c], cell, column, row));
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const u8 number = input.take();
    const Dialect dialect = fuzz::dialect_of(number);
    const TextOptions options = options_of(input, dialect, number);
    if (!can_be_written(dialect, options)) return 0;
    const u8 choice = input.take();
    const usize rows = input.below(24), cut = rows == 0 ? 0 : input.below(rows + 1);
    std::vector<const Form*> forms;
    std::vector<ArrowInput> columns;
    for (usize count = 1 + choice % 4; count > 0; --count) {
        forms.push_back(&input.one_of(FORMS));
        columns.push_back(column_of(input, *forms.back(), columns.size(), rows));
    }
    std::vector<fuzz::BatchRows> batches;
    if (cut > 0) batches.push_back({0, cut, choice / 4 % 3u});
    if (cut < rows) batches.push_back({cut, rows, choice / 16 % 9u});
    std::string text;
    try {
        text = written(columns, batches, options, choice < 250 ? 1 : 2);
    } catch (const std::invalid_argument&) {
        return 0;  // a text that cannot be read back is refused
    }
    const MemorySource source(text.data(), text.size());
    check_fields(source, dialect, columns, forms, options);
    check_values(source, dialect, columns, forms, options);
    return 0;
}
