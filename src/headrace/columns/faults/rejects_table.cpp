// Builds the table of rejects in parallel, the faults of one tile at a time. A first pass sums the bytes of texts, a
// scan gives each tile its place in the columns, and a second pass writes. The faults of a tile are freed once they are
// written.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "columns/faults/faults.hpp"
#include "columns/rules/utf8.hpp"
#include "core/cpu/threads/thread_pool.hpp"

namespace headrace {
namespace {

using Text = std::optional<std::string_view>;

constexpr usize ESCAPE_BYTES = 4;  // an invalid byte is written as \xNN

// Call valid(text) and invalid(byte) for the parts of a text, in order.
template <class Valid, class Invalid>
void for_each_part(std::string_view text, Valid valid, Invalid invalid) {
    const auto* bytes = reinterpret_cast<const u8*>(text.data());
    usize pos = 0;
    while (pos < text.size()) {
        const usize size = find_invalid_utf8(bytes + pos, text.size() - pos);
        if (size != 0) valid(text.substr(pos, size));
        pos += size;
        if (pos < text.size()) invalid(bytes[pos++]);
    }
}

bool is_ascii(std::string_view text) {
    const auto* bytes = reinterpret_cast<const u8*>(text.data());
    u64 bits = 0;
    usize i = 0;
    for (; i + 8 <= text.size(); i += 8) bits |= load_word(bytes + i);
    if (i != 0) {
        bits |= load_word(bytes + text.size() - 8);
    } else {
        for (; i < text.size(); ++i) bits |= bytes[i];
    }
    return (bits & 0x8080808080808080) == 0;
}

usize printable_size(std::string_view text) {
    usize size = text.size();
    for_each_part(text, [](std::string_view) {}, [&](u8) { size += ESCAPE_BYTES - 1; });
    return size;
}

// Copy a text, and return the end of the copy. Most texts are short, and a call would take longer than their copy.
char* copy_short(std::string_view text, char* to) {
    const char* const from = text.data();
    const usize size = text.size();
    const auto copy_ends = [&](auto bytes) {  // the first and the last bytes, which may overlap
        std::memcpy(to, from, bytes);
        std::memcpy(to + size - bytes, from + size - bytes, bytes);
        return to + size;
    };
    if (size > 32) return std::copy(text.begin(), text.end(), to);
    if (size >= 16) return copy_ends(std::integral_constant<usize, 16>{});
    if (size >= 8) return copy_ends(std::integral_constant<usize, 8>{});
    if (size >= 4) return copy_ends(std::integral_constant<usize, 4>{});
    for (usize i = 0; i < size; ++i) to[i] = from[i];
    return to + size;
}

// Write the text with invalid UTF-8 as \xNN. Return the end of what is written.
char* write_printable(std::string_view text, char* to) {
    const auto copy = [&](std::string_view part) { to = std::copy(part.begin(), part.end(), to); };
    for_each_part(text, copy, [&](u8 byte) {
        char escape[ESCAPE_BYTES + 1];
        std::snprintf(escape, sizeof escape, "\\x%02X", static_cast<unsigned>(byte));
        copy({escape, ESCAPE_BYTES});
    });
    return to;
}

// Return the number of line ends: LF, CR LF and CR. One at the end of the text counts only if `with_last`.
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

// Return the text for what an unclosed quoted field lacks. `line`: the line in which its record begins.
std::string missing_quote(const FaultRow& fault, u64 line) {
    const u64 lines = line_ends(fault.text().substr(fault.field_begin), false) + 1;
    const std::string first = std::to_string(line + line_ends(fault.text().substr(0, fault.field_begin), true));
    if (lines == 1) return "a closing quote in line " + first;
    return "a closing quote in the " + std::to_string(lines) + " lines from line " + first + " on";
}

bool is_unclosed(const FaultRow& fault) { return fault.kind == Fault::unclosed_quote; }

enum RejectsText : usize { COLUMN, KIND, EXPECTED, FIELD, TEXT, TEXT_COLUMNS };

// The position of a tile's faults in the table, and whether texts of the preceding tile's faults are not UTF-8.
struct BlockPosition {
    u64 row = 0;
    std::array<u64, TEXT_COLUMNS> bytes{}, nulls{};
    bool has_invalid = false;
};

class RejectsTable {
public:
    RejectsTable(const LoadPlan& plan, LoadResult& result, std::span<const u64> lines)
        : plan_(plan),
          budget_(result.budget),
          blocks_(std::exchange(result.faults, {})),
          lines_(lines),
          places_(blocks_.size() + 1) {
        for (const LoadedColumn& column : result.columns) {
            types_.push_back(column.dictionary ? "string" : type_name(column.type));
        }
    }

    std::vector<NamedColumn> build() {
        find_unclosed();
        run_each(blocks_.size(), plan_.threads, [&](usize block) { measure(blocks_[block], places_[block + 1]); });
        for (usize i = 1; i < places_.size(); ++i) {
            places_[i].row += places_[i - 1].row;
            for (usize c = 0; c < TEXT_COLUMNS; ++c) {
                places_[i].bytes[c] += places_[i - 1].bytes[c];
                places_[i].nulls[c] += places_[i - 1].nulls[c];
            }
        }
        charge_copies();
        allocate();
        run_each(blocks_.size(), plan_.threads, [&](usize block) {
            const FaultBlock faults = std::move(blocks_[block]);
            const bool has_invalid = places_[block + 1].has_invalid;
            write_words(faults.faults, places_[block].row);
            for (usize c = 0; c < TEXT_COLUMNS; ++c)
                write_texts(faults.faults, places_[block], static_cast<RejectsText>(c), has_invalid);
        });
        return finished();
    }

private:
    // Only the last record of a text has an unclosed quoted field.
    void find_unclosed() {
        if (blocks_.empty()) return;
        const BlockVector<FaultRow>& faults = blocks_.back().faults;
        const auto found = std::find_if(faults.rbegin(), faults.rend(), is_unclosed);
        if (found == faults.rend()) return;
        const auto after = static_cast<usize>(found - faults.rbegin());
        lacking_ = missing_quote(*found, lines_[lines_.size() - 1 - after]);
    }

    Text text_of(RejectsText column, const FaultRow& fault) const {
        const bool of_field = fault.column != NO_COLUMN;
        const auto number = static_cast<usize>(fault.column);
        switch (column) {
            case COLUMN:
                return of_field ? Text(plan_.columns[number].name) : std::nullopt;
            case KIND:
                return fault_name(fault.kind);
            case EXPECTED:
                if (is_unclosed(fault)) return lacking_;
                return of_field ? Text(types_[number]) : std::nullopt;
            case FIELD:
                return of_field || is_unclosed(fault) ? Text(fault.field()) : std::nullopt;
            case TEXT:
            case TEXT_COLUMNS:
                break;
        }
        return fault.text();
    }

    // Only texts of the source may have invalid UTF-8.
    static bool is_source_text(RejectsText column) { return column == FIELD || column == TEXT; }

    // A field is a part of its record's text, so both are ASCII if that is.
    void measure(const FaultBlock& block, BlockPosition& place) const {
        BlockPosition found;
        found.row = block.faults.size();
        for (const FaultRow& fault : block.faults) {
            const bool ascii = is_ascii(fault.text());
            for (usize c = 0; c < TEXT_COLUMNS; ++c) {
                const auto column = static_cast<RejectsText>(c);
                const Text text = text_of(column, fault);
                const usize written = !text ? 0 : text->size();
                const usize size = ascii || !is_source_text(column) || !text ? written : printable_size(*text);
                found.bytes[c] += size;
                found.nulls[c] += text ? 0 : 1;
                found.has_invalid |= size != written;
            }
        }
        place = found;
    }

    u64 rows() const { return places_.back().row; }

    // Faults of one record share its text, and the table has a copy for each. The first copy has been charged.
    void charge_copies() const {
        usize bytes = places_.back().bytes[TEXT];
        for (const FaultBlock& block : blocks_) bytes -= std::min(bytes, block.texts.bytes());
        if (budget_ && budget_->is_limited()) {
            budget_->charge(bytes);
        } else {
            require_group_memory(bytes);
        }
    }

    // Each region has its own purpose, by which freed memory is reused.
    Region region_of(usize bytes, Region::Content content = Region::Content::any) {
        Region region(bytes, nullptr, content, FIRST_USE + regions_++);
        region.ensure(bytes);
        return region;
    }

    Region bits_region() { return region_of((rows() + 63) / 64 * 8, Region::Content::zero); }

    void allocate() {
        for (LoadedColumn* column : {&record_, &line_, &line_byte_, &byte_}) {
            column->type.id = TypeId::uint64;
            column->values = region_of(rows() * 8);
        }
        retained_.type.id = TypeId::boolean;
        retained_.values = bits_region();
        for (usize c = 0; c < TEXT_COLUMNS; ++c) {
            LoadedColumn& column = texts_[c];
            column.type.id = TypeId::large_string;
            column.null_count = places_.back().nulls[c];
            column.values = region_of(places_.back().bytes[c]);
            column.offsets = region_of((rows() + 1) * 8);
            column.offsets.as<i64>()[0] = 0;
            if (column.null_count != 0) column.validity = bits_region();
        }
    }

    // Set bits of the word that has a row's bit. Two blocks may share it, hence the atomic or.
    static void set_bits(const Region& bits, u64 row, u64 word) {
        __atomic_fetch_or(bits.as<u64>() + row / 64, word, __ATOMIC_RELAXED);
    }

    void write_words(const BlockVector<FaultRow>& faults, u64 row) const {
        u64 retained = 0;  // bits of the rows since the last multiple of 64
        for (const FaultRow& fault : faults) {
            record_.values.as<u64>()[row] = plan_.before.records + fault.record;
            line_.values.as<u64>()[row] = lines_[row];
            line_byte_.values.as<u64>()[row] = plan_.before.bytes + fault.record_begin;
            byte_.values.as<u64>()[row] = plan_.before.bytes + fault.at;
            retained |= u64{fault.outcome == Outcome::keep} << (row % 64);
            if (++row % 64 == 0) set_bits(retained_.values, row - 1, std::exchange(retained, 0));
        }
        if (retained != 0) set_bits(retained_.values, row, retained);
    }

    void write_texts(const BlockVector<FaultRow>& faults, const BlockPosition& place, RejectsText number,
                     bool has_invalid) const {
        const LoadedColumn& column = texts_[number];
        char* const begin = column.values.as<char>();
        char* to = begin + place.bytes[number];
        u64 row = place.row;
        for (const FaultRow& fault : faults) {
            if (const Text text = text_of(number, fault)) {
                to = has_invalid && is_source_text(number) ? write_printable(*text, to) : copy_short(*text, to);
                if (column.null_count != 0) set_bits(column.validity, row, u64{1} << (row % 64));
            }
            column.offsets.as<i64>()[++row] = to - begin;
        }
    }

    std::vector<NamedColumn> finished() {
        retained_.values.trim((rows() + 7) / 8);
        for (LoadedColumn& column : texts_) {
            if (column.null_count != 0) column.validity.trim((rows() + 7) / 8);
        }
        std::vector<NamedColumn> table;
        const auto add = [&](const char* name, LoadedColumn& column) { table.push_back({name, std::move(column)}); };
        add("record", record_);
        add("kept", retained_);
        add("line", line_);
        add("line_byte", line_byte_);
        add("byte", byte_);
        add("column", texts_[COLUMN]);
        add("kind", texts_[KIND]);
        add("expected", texts_[EXPECTED]);
        add("field", texts_[FIELD]);
        add("text", texts_[TEXT]);
        return table;
    }

    static constexpr u32 FIRST_USE = u32{1} << 31;  // after those of the load's columns

    const LoadPlan& plan_;
    const std::shared_ptr<Budget> budget_;
    std::vector<FaultBlock> blocks_;
    const std::span<const u64> lines_;
    std::vector<BlockPosition> places_;  // of each block, and of the end
    std::vector<std::string> types_;
    u32 regions_ = 0;
    std::string lacking_;  // what the unclosed quoted field lacks
    LoadedColumn record_, retained_, line_, line_byte_, byte_;
    std::array<LoadedColumn, TEXT_COLUMNS> texts_;
};

}  // namespace

std::vector<NamedColumn> rejects_table(const LoadPlan& plan, LoadResult& result, std::span<const u64> lines) {
    return RejectsTable(plan, result, lines).build();
}

}  // namespace headrace
