// Tests the whole native path on random and malformed text. Every instruction set, tile size and thread count gives the
// same result, and no byte outside the text is touched. The text lies at the very end of its allocation, for the
// sanitizers.
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "columns/faults/faults.hpp"
#include "columns/load/load.hpp"
#include "structure/cpu/scan.hpp"

using namespace headrace;

// Blocks of memory that the system still grants to this thread.
static thread_local int blocks_left = INT_MAX;

// The linker gives these names to aligned_alloc.
extern "C" void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
extern "C" void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
    if (blocks_left == 0) return nullptr;
    --blocks_left;
    return __real_aligned_alloc(alignment, size);
}

namespace {

// RFC 4180 with any line end: START CR FIELD_START UNQUOTED QUOTED QUOTE_END; groups LF CR , " other.
Dialect csv(bool plain) {
    constexpr u8 STRAY = EMIT_STRAY, OPEN = EMIT_OPEN, BLANK = EMIT_BLANK, FIELD = EMIT_FIELD, RECORD = EMIT_RECORD;
    const u8 next[5][6] = {
        {0, 0, 0, 0, 4, 0}, {1, 1, 1, 1, 4, 1}, {2, 2, 2, 2, 4, 2}, {4, 4, 4, 3, 5, 4}, {3, 3, 3, 3, 4, 3}};
    const u8 emit[5][6] = {{BLANK, 0, RECORD, RECORD, 0, RECORD},
                           {BLANK, BLANK, RECORD, RECORD, 0, RECORD},
                           {OPEN | FIELD, OPEN | FIELD, FIELD, FIELD, 0, FIELD},
                           {OPEN, OPEN, 0, 0, 0, 0},
                           {OPEN, OPEN, 0, 0, 0, STRAY}};
    Dialect dialect{};
    Automaton& a = dialect.automaton;
    a.states = 6;
    a.groups = 5;
    a.idle = 0b000011;
    a.quoted = 0b010000;
    for (int g = 0; g < 5; ++g) {
        std::memcpy(a.next[g], next[g], 6);
        std::memcpy(a.emit[g], emit[g], 6);
    }
    std::memset(a.class_of, 4, 256);
    const std::string special = "\n\r,\"";
    for (usize i = 0; i < special.size(); ++i) {
        a.class_of[static_cast<u8>(special[i])] = static_cast<u8>(i);
        dialect.special[dialect.special_count++] = static_cast<u8>(special[i]);
    }
    dialect.separator_length = dialect.line_end_length = 1;
    dialect.quote = '"';
    dialect.escape = -1;
    dialect.double_quote = dialect.skip_blank_lines = dialect.universal_line_end = true;
    dialect.separator = ',';
    dialect.line_end = '\n';
    dialect.plain = plain;
    return dialect;
}

LoadPlan plan_of(std::mt19937& random, usize columns) {
    const std::vector<ColumnType> types = {{TypeId::int64},
                                           {TypeId::float64},
                                           {TypeId::string},
                                           {TypeId::uint8},
                                           {TypeId::float32},
                                           {TypeId::date32},
                                           {TypeId::boolean},
                                           {TypeId::timestamp, 1'000'000, false},
                                           {TypeId::timestamp, 1'000'000'000, true},
                                           {TypeId::int16}};
    LoadPlan plan;
    for (usize c = 0; c < columns; ++c) {
        PlannedColumn column;
        column.name = "c" + std::to_string(c);
        column.inferred = random() % 2 == 0;
        if (!column.inferred) column.type = types[random() % types.size()];
        plan.columns.push_back(column);
    }
    plan.forms.front().null_texts = {"", "NA", "0"};
    plan.forms.front().null_texts.resize(1 + random() % 3);
    plan.true_words = {"true"};
    plan.false_words = {"false"};
    plan.on_error = random() % 2 ? OnError::null : OnError::reject;
    if (random() % 3 == 0) plan.max_rejects = random() % 8;
    plan.rows.base_columns = columns > 1 && random() % 4 == 0 ? columns - 1 : columns;
    plan.rows.fill_short = random() % 3 == 0;
    plan.rows.collect_long = random() % 4 == 0;
    if (plan.rows.collect_long) {
        plan.columns.push_back({"extra", {TypeId::string}});
        plan.rows.base_columns = columns;
    }
    plan.rows.on_short = plan.rows.on_malformed = Outcome::reject;
    plan.rows.on_long = random() % 2 ? Outcome::keep : Outcome::reject;
    if (random() % 2) plan.row_index = -3;
    plan.shrink = random() % 3 == 0;
    plan.exact_memory = random() % 3 == 0;
    return plan;
}

std::string random_text(std::mt19937& random, usize columns) {
    const std::vector<std::string> fields = {"1",
                                             "-7",
                                             "007",
                                             "12345678",
                                             "123456789012345",
                                             "9223372036854775808",
                                             "3.25",
                                             "-0.5",
                                             "1e5",
                                             "73.98765432101",
                                             ".5",
                                             "2019-01-31",
                                             "2020-02-30",
                                             "2019-01-31 23:59:58",
                                             "2019-01-31T23:59:58.123456789Z",
                                             "true",
                                             "false",
                                             "NA",
                                             "0",
                                             "",
                                             "text",
                                             "\"quoted\"",
                                             "\"a\"\"b\"",
                                             "\"x,\ny\"",
                                             "\"2019-01-31\"",
                                             "\"12\"",
                                             "\"",
                                             "a\"b",
                                             "caf\xC3\xA9",
                                             "\xFF\xFE",
                                             std::string("nul\0l", 5),
                                             std::string(300, 'x'),
                                             "\"\""};
    std::string text;
    const usize records = random() % 60;
    for (usize r = 0; r < records; ++r) {
        const usize width = random() % 20 == 0 ? random() % 5 : columns;
        // Runs of equal fields make the columns of equal shape that the vector forms are for.
        const std::string& common = fields[random() % fields.size()];
        for (usize c = 0; c < width; ++c) {
            if (c) text += ',';
            text += random() % 3 ? common : fields[random() % fields.size()];
        }
        text += random() % 8 == 0 ? "\r\n" : random() % 20 == 0 ? "\r" : random() % 20 == 0 ? "\n\n" : "\n";
    }
    if (random() % 2 && !text.empty()) text.resize(text.size() - random() % std::min<usize>(text.size(), 9));
    return text;
}

void append(std::string& to, const Region& region) {
    to.append(reinterpret_cast<const char*>(region.data()), region.size());
    to += '|';
}

// Everything that a load gives, as bytes that can be compared.
std::string picture(const Source& source, const LoadPlan& plan, LoadResult& result) {
    std::string shown = std::to_string(result.counts.records) + " " + std::to_string(result.counts.rows) + " " +
                        std::to_string(result.rejected) + " " + std::to_string(result.counts.blank) + "|";
    for (const LoadedColumn& column : result.columns) {
        shown += type_name(column.type) + " " + std::to_string(column.null_count) + " ";
        append(shown, column.values);
        append(shown, column.offsets);
        append(shown, column.validity);
        if (column.evidence) shown += std::to_string(column.evidence->record) + column.evidence->text;
    }
    const BlockVector<u64> lines = lines_of_faults(source, plan, result);
    for (const NamedColumn& column : rejects_table(plan, result, lines)) {
        append(shown, column.column.values);
        append(shown, column.column.offsets);
        append(shown, column.column.validity);
    }
    return shown;
}

// Returns the text as it is, or each of its bytes as a unit of UTF-16. Sometimes a surrogate is among the units, or
// half a unit at the end.
std::string encoded(std::mt19937& random, const std::string& text, EncodingId id) {
    if (id == EncodingId::utf8 || id == EncodingId::single_byte) return text;
    std::string units;
    for (const char c : text) {
        const char top = random() % 30 == 0 ? static_cast<char>(0xD8 + random() % 8) : '\0';
        units += id == EncodingId::utf16_le ? std::string{c, top} : std::string{top, c};
    }
    if (random() % 8 == 0) units += 'x';
    return units;
}

// A code page of characters of one to three bytes.
ByteTable code_page() {
    ByteTable table{};
    table.keeps_ascii = true;
    for (u32 byte = 0; byte < 256; ++byte) {
        table.text[byte] = byte < 0x80 ? byte : byte < 0xC0 ? 0xAFC3 : byte < 0xFF ? 0xAC82E2 : 0xFF;
        table.length[byte] = byte < 0x80 || byte == 0xFF ? 1 : byte < 0xC0 ? 2 : 3;
    }
    return table;
}

void check_one(std::mt19937& random) {
    const usize columns = 1 + random() % 4;
    const EncodingId id = static_cast<EncodingId>(random() % 4);
    const std::string text = encoded(random, random_text(random, columns), id);
    const auto exact = std::make_unique<char[]>(text.size());
    std::copy(text.begin(), text.end(), exact.get());
    MemorySource source(exact.get(), text.size());
    LoadPlan plan = plan_of(random, columns);
    plan.replace_invalid = random() % 2;
    std::string expected;
    for (const Isa isa : available_isas()) {
        for (const usize tile : {usize{1 << 18}, usize{1}, usize{7}, usize{64}, usize{200}}) {
            plan.isa = isa;
            source.set_encoding(Encoding(id, code_page(), isa));
            plan.tile_bytes = tile;
            plan.threads = 1 + static_cast<unsigned>(random() % 3);
            const Dialect dialect = csv(random() % 2);
            LoadResult result = load(source, dialect, plan);
            CHECK_EQ(result.counts.records, result.counts.rows + result.rejected);
            const std::string shown = picture(source, plan, result);
            if (expected.empty()) expected = shown;
            CHECK(shown == expected);
        }
    }
}

// A tile whose memory is refused fails alone: after it, the same reader has memory for all of the next one.
void check_refused_tile() {
    constexpr usize TILE = 1 << 15, RECORDS = TILE / 4;
    std::string text;
    for (usize i = 0; i < 2 * RECORDS; ++i) text += "1,2\n";
    const MemorySource source(text.data(), text.size());
    const Dialect dialect = csv(true);
    int refused = 0;
    for (int blocks = 0;; ++blocks) {
        release_unused_memory();
        TileScan scan(source, dialect, available_isas().front(), TilePart{}, TILE);
        TileReader reader(scan);
        bool is_refused = false;
        blocks_left = blocks;
        try {
            reader.next();
        } catch (const std::bad_alloc&) {
            is_refused = true;
        }
        blocks_left = INT_MAX;
        const Tile* const tile = reader.next();
        CHECK(tile != nullptr && tile->records == RECORDS && tile->starts[RECORDS - 1] == TILE - 4);
        if (!is_refused) break;
        ++refused;
    }
    CHECK(refused >= 4);  // each array of a reader, at least
}

void check_memory_limit() {
    std::string text;
    for (int i = 0; i < 400'000; ++i) text += std::to_string(i) + ",abc\n";
    const MemorySource source(text.data(), text.size());
    const Dialect dialect = csv(true);
    LoadPlan plan;
    plan.columns = {{"a", {TypeId::int64}, false}, {"b", {TypeId::string}, false}};
    plan.rows.base_columns = plan.columns.size();
    plan.tile_bytes = 1 << 16;
    plan.threads = 3;
    plan.isa = available_isas().front();
    plan.memory_limit = 1 << 20;
    bool refused = false;
    try {
        load(source, dialect, plan);
    } catch (const MemoryLimitExceeded&) {
        refused = true;
    }
    CHECK(refused);
    plan.memory_limit = 0;
    CHECK_EQ(load(source, dialect, plan).counts.rows, 400'000u);
}

}  // namespace

// The first argument: texts, fewer than usual where a sanitizer is slow.
int main(int count, char** arguments) {
    std::mt19937 random(20260101);
    const int texts = check::first_argument(count, arguments, 600);
    for (int i = 0; i < texts; ++i) check_one(random);
    check_memory_limit();
    check_refused_tile();
    return check::finish();
}
