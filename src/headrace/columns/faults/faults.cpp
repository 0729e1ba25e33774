#include "columns/faults/faults.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "columns/load/pass.hpp"
#include "columns/rules/utf8.hpp"
#include "core/pool.hpp"
#include "sources/window.hpp"

namespace headrace {

std::string fault_name(Fault fault) {
    switch (fault) {
        case Fault::type:
            return "type";
        case Fault::overflow:
            return "overflow";
        case Fault::encoding:
            return "encoding";
        case Fault::quote:
            return "quote";
        case Fault::unclosed_quote:
            return "unclosed_quote";
        case Fault::too_few_fields:
            return "too_few_fields";
        case Fault::too_many_fields:
            return "too_many_fields";
    }
    return "";
}

std::string type_name(const ColumnType& type) {
    std::string name;
    switch (type.id) {
#define HR_TYPE(id, text, bits) \
    case TypeId::id:            \
        name = text;            \
        break;
#include "core/types.def"
#undef HR_TYPE
    }
    if (type.id == TypeId::decimal128) {
        return name + "(" + std::to_string(type.precision) + ", " + std::to_string(type.scale) + ")";
    }
    if (type.units_per_second == 0) return name;
    const char* unit = type.units_per_second == 1           ? "s"
                       : type.units_per_second == 1'000     ? "ms"
                       : type.units_per_second == 1'000'000 ? "us"
                                                            : "ns";
    return name + "[" + unit +
           (type.zone != nullptr ? std::string(", ") + type.zone->name + "]"
            : type.utc           ? ", UTC]"
                                 : "]");
}

std::string printable(const std::string& bytes) {
    std::string shown;
    usize pos = 0;
    while (pos < bytes.size()) {
        const auto* rest = reinterpret_cast<const u8*>(bytes.data()) + pos;
        const usize valid = find_invalid_utf8(rest, bytes.size() - pos);
        shown.append(bytes, pos, valid);
        pos += valid;
        if (pos == bytes.size()) break;
        char escape[5];
        std::snprintf(escape, sizeof escape, "\\x%02X", static_cast<unsigned>(static_cast<u8>(bytes[pos++])));
        shown += escape;
    }
    return shown;
}

namespace {

constexpr usize LINE_CHUNK = usize{1} << 20;
constexpr usize ONE_CHARACTER = 4;  // in any encoding

// Sixteen bytes by GCC's vectors, which every processor has.
typedef u8 Bytes16 __attribute__((vector_size(16)));

Bytes16 load16(const u8* p) {
    Bytes16 bytes;
    std::memcpy(&bytes, p, sizeof bytes);
    return bytes;
}

// Line ends that are complete before `size`: LF, and CR that no LF follows. One byte behind is readable.
u64 count_line_ends(const u8* text, usize size) {
    constexpr usize MOST_STEPS = 255;  // as many as a byte counts
    u64 count = 0;
    usize at = 0;
    while (at + 16 <= size) {
        const usize steps = std::min((size - at) / 16, MOST_STEPS);
        Bytes16 counts{};
        for (usize step = 0; step < steps; ++step, at += 16) {
            const Bytes16 bytes = load16(text + at);
            counts -= (bytes == '\n') | ((bytes == '\r') & (load16(text + at + 1) != '\n'));
        }
        for (usize lane = 0; lane < 16; ++lane) count += counts[lane];
    }
    for (; at < size; ++at) count += (text[at] == '\n') | ((text[at] == '\r') & (text[at + 1] != '\n'));
    return count;
}

}  // namespace

std::vector<u64> line_numbers(const Source& source, const std::vector<u64>& positions, unsigned threads, u64 first) {
    if (positions.empty()) return {};
    const usize chunks = (positions.back() - first) / LINE_CHUNK + 1;
    std::vector<u64> ends(chunks + 1, 0);
    std::vector<u64> lines(positions.size());
    std::atomic<usize> next{0};
    run_parallel(threads, [&](unsigned) {
        Window window(source);
        for (usize chunk = next++; chunk < chunks; chunk = next++) {
            const u64 begin = first + chunk * LINE_CHUNK;
            window.open(begin, LINE_CHUNK, ONE_CHARACTER);
            auto at = std::lower_bound(positions.begin(), positions.end(), begin);
            u64 counted = 0;
            usize from = 0;
            for (; at != positions.end() && *at < begin + LINE_CHUNK; ++at) {
                const usize place = window.place_of(*at, from);
                counted += count_line_ends(window.data() + from, place - from);
                from = place;
                lines[static_cast<usize>(at - positions.begin())] = counted;
            }
            ends[chunk + 1] = counted + count_line_ends(window.data() + from, window.owned() - from);
        }
    });
    for (usize chunk = 0; chunk < chunks; ++chunk) ends[chunk + 1] += ends[chunk];
    for (usize i = 0; i < positions.size(); ++i) lines[i] += ends[(positions[i] - first) / LINE_CHUNK] + 1;
    return lines;
}

namespace {

LoadedColumn column_of(const std::vector<u64>& values) {
    LoadedColumn column;
    column.type.id = TypeId::uint64;
    column.values = Region(values.size() * 8, nullptr);
    column.values.ensure(values.size() * 8);
    std::copy(values.begin(), values.end(), column.values.as<u64>());
    column.values.trim(values.size() * 8);
    return column;
}

LoadedColumn column_of(const std::vector<bool>& values) {
    LoadedColumn column;
    column.type.id = TypeId::boolean;
    const usize bytes = (values.size() + 7) / 8;
    column.values = Region(bytes, nullptr, Region::Content::zero);
    column.values.ensure(bytes);
    for (usize i = 0; i < values.size(); ++i) column.values.as<u8>()[i / 8] |= static_cast<u8>(values[i] << (i % 8));
    column.values.trim(bytes);
    return column;
}

LoadedColumn column_of(const std::vector<std::optional<std::string>>& values) {
    LoadedColumn column;
    column.type.id = TypeId::large_string;
    usize bytes = 0;
    for (const auto& value : values) bytes += value ? value->size() : 0;
    column.values = Region(bytes, nullptr);
    column.offsets = Region((values.size() + 1) * 8, nullptr);
    column.validity = Region((values.size() + 7) / 8, nullptr, Region::Content::zero);
    column.values.ensure(bytes);
    column.offsets.ensure((values.size() + 1) * 8);
    column.validity.ensure((values.size() + 7) / 8);
    column.offsets.as<i64>()[0] = 0;
    i64 end = 0;
    for (usize i = 0; i < values.size(); ++i) {
        if (values[i]) {
            std::memcpy(column.values.data() + end, values[i]->data(), values[i]->size());
            end += static_cast<i64>(values[i]->size());
            column.validity.as<u8>()[i / 8] |= static_cast<u8>(1 << (i % 8));
        } else {
            ++column.null_count;
        }
        column.offsets.as<i64>()[i + 1] = end;
    }
    column.values.trim(bytes);
    column.offsets.trim((values.size() + 1) * 8);
    column.validity.trim((values.size() + 7) / 8);
    if (column.null_count == 0) column.validity = Region{};
    return column;
}

}  // namespace

std::vector<u64> lines_of_faults(const Source& source, const LoadPlan& plan, const LoadResult& result) {
    std::vector<u64> begins;
    for (const FaultRow& fault : result.faults) begins.push_back(fault.record_begin);
    std::vector<u64> lines = line_numbers(source, begins, plan.threads, plan.before.line_begin);
    for (u64& line : lines) line += plan.before.lines;
    return lines;
}

std::vector<NamedColumn> rejects_table(const LoadPlan& plan, const LoadResult& result, const std::vector<u64>& lines) {
    std::vector<u64> records, begins, bytes;
    std::vector<bool> kept;
    std::vector<std::optional<std::string>> columns, kinds, expected, fields, texts;
    for (const FaultRow& fault : result.faults) {
        records.push_back(plan.before.records + fault.record);
        kept.push_back(fault.outcome == Outcome::keep);
        begins.push_back(plan.before.bytes + fault.record_begin);
        bytes.push_back(plan.before.bytes + fault.at);
        kinds.emplace_back(fault_name(fault.kind));
        texts.emplace_back(printable(fault.text));
        const bool of_field = fault.column != NO_COLUMN;
        const usize c = of_field ? static_cast<usize>(fault.column) : 0;
        columns.push_back(of_field ? std::optional(plan.columns[c].name) : std::nullopt);
        expected.push_back(of_field ? std::optional(type_name(result.columns[c].type)) : std::nullopt);
        fields.push_back(of_field ? std::optional(printable(fault.field)) : std::nullopt);
    }
    std::vector<NamedColumn> table;
    table.push_back({"record", column_of(records)});
    table.push_back({"kept", column_of(kept)});
    table.push_back({"line", column_of(lines)});
    table.push_back({"line_byte", column_of(begins)});
    table.push_back({"byte", column_of(bytes)});
    table.push_back({"column", column_of(columns)});
    table.push_back({"kind", column_of(kinds)});
    table.push_back({"expected", column_of(expected)});
    table.push_back({"field", column_of(fields)});
    table.push_back({"text", column_of(texts)});
    return table;
}

void keep_first_raised(LoadResult& result) {
    const auto raises = [](const FaultRow& fault) { return fault.outcome == Outcome::raise; };
    const auto first = std::find_if(result.faults.begin(), result.faults.end(), raises);
    result.faults = {std::move(*first)};
}

}  // namespace headrace
