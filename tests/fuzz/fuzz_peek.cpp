// Fuzzes the first records that a header is read from, the survey of all records, and lines.
#include <algorithm>
#include <string>
#include <vector>

#include "columns/faults/faults.hpp"
#include "columns/load/peek.hpp"
#include "dialects.hpp"
#include "fuzz.hpp"
#include "structure/cpu/survey.hpp"
#include "walk.hpp"

using namespace headrace;

namespace {

std::string slice(const fuzz::Input& input, usize from, usize to) {
    return {reinterpret_cast<const char*>(input.data()) + from, to - from};
}

// A field without quotes, escapes and skipped spaces is its own text; any other is at most as long as its bytes.
void compare_field(const Dialect& dialect, const std::string& text, const std::string& raw) {
    const bool quotes = dialect.quote >= 0 && raw.find(static_cast<char>(dialect.quote)) != std::string::npos;
    const bool escapes = dialect.escape >= 0 && raw.find(static_cast<char>(dialect.escape)) != std::string::npos;
    const bool spaces = (dialect.skip_initial_space && raw.starts_with(' ')) || (dialect.strip && raw.ends_with(' '));
    REQUIRE(quotes || escapes || spaces ? text.size() <= raw.size() : text == raw);
}

void check_peek(const fuzz::Input& input, const Dialect& dialect, usize count) {
    const MemorySource source(input.data(), input.size());
    const Structure expected = fuzz::Walk(dialect, input.data(), input.size()).structure();
    std::vector<PeekedRecord> first;
    for (const Isa isa : available_isas()) {
        const std::vector<PeekedRecord> peeked = peek_records(source, dialect, isa, 0, count);
        usize field = 0, next = 0;
        for (usize r = 0; r < expected.record_starts.size() && next < count; ++r) {
            const usize fields = expected.field_counts[r];
            field += fields;
            if (expected.comments[r]) continue;
            REQUIRE(next < peeked.size());
            const PeekedRecord& record = peeked[next++];
            REQUIRE(record.begin == expected.record_starts[r]);
            REQUIRE(record.fields.size() == fields);
            usize start = record.begin;
            REQUIRE(record.text == slice(input, start, expected.field_ends[field - 1]));
            for (usize f = 0; f < fields; ++f) {
                const usize end = expected.field_ends[field - fields + f];
                compare_field(dialect, record.fields[f], slice(input, start, end));
                start = end + dialect.separator_length;
            }
            if (isa == available_isas().front()) continue;
            REQUIRE(record.malformed == first[next - 1].malformed);
            // Names are never taken from a record whose quotes are malformed, so its texts may be anything.
            REQUIRE(record.malformed || record.fields == first[next - 1].fields);
        }
        REQUIRE(next == peeked.size());
        if (isa == available_isas().front()) first = peeked;
    }
}

// A line ends with LF, CR LF or CR; the line of a position is one more than the line ends before it.
void check_lines(const fuzz::Input& input, unsigned threads, usize step) {
    const u8* const p = input.data();
    std::vector<u64> positions, lines;
    u64 line = 1;
    for (usize at = 0; at <= input.size(); ++at) {
        const bool after_feed = at > 0 && p[at - 1] == '\n';
        const bool after_return = at > 0 && p[at - 1] == '\r' && (at == input.size() || p[at] != '\n');
        if (after_feed || after_return) ++line;
        if (at % step != 0 || at == input.size()) continue;
        positions.push_back(at);
        lines.push_back(line);
    }
    const MemorySource source(input.data(), input.size());
    number_lines(source, positions, threads);
    REQUIRE(positions == lines);
}

// Counts, and where records begin, of the text from `plan.begin` on.
void check_survey(const fuzz::Input& input, const Dialect& dialect, SurveyPlan plan, usize index) {
    const MemorySource source(input.data(), input.size());
    const u8* const text = input.data() + plan.begin;
    const Structure expected = fuzz::Walk(dialect, text, input.size() - plan.begin).structure();
    std::vector<u64> begins;
    u64 max_fields = 0, comments = 0;
    for (usize r = 0; r < expected.record_starts.size(); ++r) {
        comments += expected.comments[r];
        if (expected.comments[r]) continue;
        begins.push_back(plan.begin + expected.record_starts[r]);
        max_fields = std::max<u64>(max_fields, expected.field_counts[r]);
    }
    const std::vector<u64> last(begins.end() - static_cast<i64>(std::min(plan.last, begins.size())), begins.end());
    for (const Isa isa : available_isas()) {
        plan.isa = isa;
        const Survey found = survey(source, dialect, plan);
        REQUIRE(found.records == begins.size() && found.comments == comments);
        REQUIRE(found.blank_lines == expected.blank_lines && found.max_fields == max_fields);
        REQUIRE(found.last == last);
        const u64 begin = index < begins.size() ? begins[index] : u64{input.size()};
        REQUIRE(record_begin(source, dialect, plan, index) == begin);
    }
}

// Lines end as the dialect's do, inside quotes too.
void check_skipped_lines(const fuzz::Input& input, const Dialect& dialect, u64 wanted) {
    const std::string text = slice(input, 0, input.size());
    const std::string own(reinterpret_cast<const char*>(dialect.line_end_text), dialect.line_end_length);
    usize at = 0;
    u64 lines = 0;
    for (; lines < wanted && at < text.size(); ++lines) {
        const usize end = dialect.universal_line_end ? text.find_first_of("\r\n", at) : text.find(own, at);
        const bool both = dialect.universal_line_end && end != std::string::npos && text.compare(end, 2, "\r\n") == 0;
        at = end == std::string::npos ? text.size() : end + (both ? 2 : dialect.line_end_length);
    }
    const MemorySource source(input.data(), input.size());
    u64 found = wanted;
    REQUIRE(skip_lines(source, dialect, 0, found) == at);
    REQUIRE(found == lines);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    const Dialect dialect = fuzz::dialect_of(input.take());
    const usize count = 1 + input.below(4);
    const u8 choice = input.take();
    SurveyPlan plan;
    plan.last = choice % 4;
    plan.threads = choice < 250 ? 1 : choice - 248u;
    plan.tile_bytes = std::max<usize>(1 + input.below(200), input.size() / 16);
    plan.begin = std::min<usize>(input.size(), choice / 4 % 4);
    check_survey(input, dialect, plan, count);
    check_skipped_lines(input, dialect, count);
    check_peek(input, dialect, count);
    check_lines(input, choice < 250 ? 1 : choice - 248u, 1 + choice % 16);
    return 0;
}
