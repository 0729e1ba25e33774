#include "columns/faults/faults.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "columns/rules/utf8.hpp"
#include "core/cpu/thread_pool.hpp"
#include "sources/window.hpp"

namespace headrace {

std::string_view fault_name(Fault fault) {
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

std::string printable(std::string_view bytes) {
    std::string shown;
    usize pos = 0;
    while (pos < bytes.size()) {
        const auto* rest = reinterpret_cast<const u8*>(bytes.data()) + pos;
        const usize valid = find_invalid_utf8(rest, bytes.size() - pos);
        shown.append(bytes.substr(pos, valid));
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

}  // namespace

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

// A column of `rows` words, each given by its row.
template <class Word>
LoadedColumn words_column(usize rows, Word word) {
    LoadedColumn column;
    column.type.id = TypeId::uint64;
    column.values = Region(rows * 8, nullptr);
    column.values.ensure(rows * 8);
    for (usize i = 0; i < rows; ++i) column.values.as<u64>()[i] = word(i);
    column.values.trim(rows * 8);
    return column;
}

template <class Bit>
LoadedColumn bits_column(usize rows, Bit bit) {
    LoadedColumn column;
    column.type.id = TypeId::boolean;
    const usize bytes = (rows + 7) / 8;
    column.values = Region(bytes, nullptr, Region::Content::zero);
    column.values.ensure(bytes);
    for (usize i = 0; i < rows; ++i) column.values.as<u8>()[i / 8] |= static_cast<u8>(bit(i) << (i % 8));
    column.values.trim(bytes);
    return column;
}

// A column of raw texts, or nulls, as `printable` shows them.
template <class RawText>
LoadedColumn texts_column(usize rows, RawText raw) {
    constexpr usize LONGEST_ESCAPE = 4;
    usize bound = 0;
    for (usize i = 0; i < rows; ++i) bound += LONGEST_ESCAPE * raw(i).value_or(std::string_view{}).size();
    LoadedColumn column;
    column.type.id = TypeId::large_string;
    column.values = Region(bound, nullptr);
    column.offsets = Region((rows + 1) * 8, nullptr);
    column.validity = Region((rows + 7) / 8, nullptr, Region::Content::zero);
    column.values.ensure(0);
    column.offsets.ensure((rows + 1) * 8);
    column.validity.ensure((rows + 7) / 8);
    column.offsets.as<i64>()[0] = 0;
    usize end = 0;
    std::string escaped;
    for (usize i = 0; i < rows; ++i) {
        if (std::optional<std::string_view> text = raw(i)) {
            const auto* bytes = reinterpret_cast<const u8*>(text->data());
            if (find_invalid_utf8(bytes, text->size()) != text->size()) text = escaped = printable(*text);
            column.values.ensure(end + text->size());
            if (!text->empty()) std::memcpy(column.values.data() + end, text->data(), text->size());
            end += text->size();
            column.validity.as<u8>()[i / 8] |= static_cast<u8>(1 << (i % 8));
        } else {
            ++column.null_count;
        }
        column.offsets.as<i64>()[i + 1] = static_cast<i64>(end);
    }
    column.values.trim(end);
    column.offsets.trim((rows + 1) * 8);
    column.validity.trim((rows + 7) / 8);
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

namespace {

// LF, CR LF and CR; a line end at the text's end counts only if `with_last`.
u64 line_ends(std::string_view text, bool with_last) {
    u64 count = 0;
    for (usize at = 0; at < text.size(); ++at) {
        const bool is_pair = text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
        const bool is_end = text[at] == '\n' || text[at] == '\r';
        if (is_pair) ++at;
        count += is_end && (with_last || at + 1 < text.size()) ? 1 : 0;
    }
    return count;
}

// What a quoted field that never ends lacks; its record begins in this line.
std::string closing_quote(const FaultRow& fault, u64 line) {
    const u64 taken = line_ends(fault.text().substr(fault.field_begin), false) + 1;
    const std::string first = std::to_string(line + line_ends(fault.text().substr(0, fault.field_begin), true));
    if (taken == 1) return "a closing quote in line " + first;
    return "a closing quote in the " + std::to_string(taken) + " lines from line " + first + " on";
}

bool never_ends(const FaultRow& fault) { return fault.kind == Fault::unclosed_quote; }

}  // namespace

std::vector<NamedColumn> rejects_table(const LoadPlan& plan, const LoadResult& result, const std::vector<u64>& lines) {
    const std::deque<FaultRow>& faults = result.faults;
    std::vector<std::string> types;
    for (const LoadedColumn& column : result.columns) types.push_back(type_name(column.type));
    using Text = std::optional<std::string_view>;
    const auto words = [&](auto word) { return words_column(faults.size(), [&](usize i) { return word(faults[i]); }); };
    const auto texts = [&](auto text) {
        return texts_column(faults.size(), [&](usize i) -> Text { return text(faults[i]); });
    };
    // Of faults of one field only.
    const auto of_fields = [&](auto text) {
        return texts([&](const FaultRow& fault) { return fault.column == NO_COLUMN ? Text{} : Text(text(fault)); });
    };
    std::vector<NamedColumn> table;
    table.push_back({"record", words([&](const FaultRow& fault) { return plan.before.records + fault.record; })});
    table.push_back({"kept", bits_column(faults.size(), [&](usize i) { return faults[i].outcome == Outcome::keep; })});
    table.push_back({"line", words_column(faults.size(), [&](usize i) { return lines[i]; })});
    table.push_back(
        {"line_byte", words([&](const FaultRow& fault) { return plan.before.bytes + fault.record_begin; })});
    table.push_back({"byte", words([&](const FaultRow& fault) { return plan.before.bytes + fault.at; })});
    const auto column = [](const FaultRow& fault) { return static_cast<usize>(fault.column); };
    table.push_back({"column", of_fields([&](const FaultRow& fault) -> std::string_view {
                         return plan.columns[column(fault)].name;
                     })});
    table.push_back({"kind", texts([](const FaultRow& fault) { return fault_name(fault.kind); })});
    // At most one quoted field of a text never ends.
    const auto unclosed = std::find_if(faults.begin(), faults.end(), never_ends);
    std::string lacking;
    if (unclosed != faults.end())
        lacking = closing_quote(*unclosed, lines[static_cast<usize>(unclosed - faults.begin())]);
    table.push_back({"expected", texts([&](const FaultRow& fault) -> Text {
                         if (never_ends(fault)) return lacking;
                         return fault.column == NO_COLUMN ? Text{} : Text(types[column(fault)]);
                     })});
    table.push_back({"field", texts([](const FaultRow& fault) {
                         const bool has_field = fault.column != NO_COLUMN || never_ends(fault);
                         return has_field ? Text(fault.field()) : Text{};
                     })});
    table.push_back({"text", texts([](const FaultRow& fault) { return fault.text(); })});
    return table;
}

}  // namespace headrace
