// Date formats, given as steps, against hand-written timestamps and the rule of ISO 8601.
#include <cstdio>
#include <string>
#include <vector>

#include "check.hpp"
#include "columns/rules/dates/date_format.hpp"

using namespace headrace;

namespace {

// "d1%/m1%/Y1" is day, slash, month, slash, year; a digit is the fewest digits of a number.
std::vector<DateStep> steps_of(const std::string& program) {
    std::vector<DateStep> steps;
    for (usize i = 0; i + 1 < program.size(); i += 2) {
        const bool literal = program[i] == '%';
        steps.push_back(
            {static_cast<u8>(program[i]), static_cast<u8>(literal ? program[i + 1] : program[i + 1] - '0')});
    }
    return steps;
}

bool read(const std::string& program, const std::string& text, Timestamp& out) {
    const std::vector<DateStep> steps = steps_of(program);
    const std::vector<u8> exact(text.begin(), text.end());
    return read_formatted({steps.data(), steps.size(), false}, exact.data(), exact.size(), out);
}

void expect(const std::string& program, const std::string& text, i64 seconds, u32 nanoseconds = 0) {
    Timestamp t{};
    CHECK(read(program, text, t));
    CHECK_EQ(t.seconds, seconds);
    CHECK_EQ(t.nanoseconds, nanoseconds);
}

void refuse(const std::string& program, const std::string& text) {
    Timestamp t{};
    if (read(program, text, t)) std::fprintf(stderr, "%s\n", text.c_str());
    CHECK(!read(program, text, t));
}

constexpr i64 DAY = 86400;
const std::string DMY = "d1%/m1%/Y1";
const std::string FIXED = "Y4m2d2";
const std::string TIMED = "Y4%-m2%-d2% H1%:M1%:S1%.f0";
const std::string HALVES = "Y4%-m2%-d2% I1p0";
const std::string ZONED = "Y4%-m2%-d2% H2z0";

void test_dates() {
    expect(DMY, "31/01/1970", 30 * DAY);
    expect(DMY, "1/2/1970", 31 * DAY);
    expect(DMY, "29/2/2000", 11016 * DAY);
    expect(FIXED, "19700102", DAY);
    expect("d1%.m1%.y2", "1.1.69", -365 * DAY);
    expect("d1%.m1%.y2", "1.1.68", 35794 * DAY);
    expect("Y4j3", "1970365", 364 * DAY);
    expect("Y4% j1", "2000 366", 11322 * DAY);
    expect("B0% _0d1%,% Y4", "january  2, 1970", DAY);
    expect("B0% _0d1%,% Y4", "JANUARY 2, 1970", DAY);
    expect("d1b0Y4", "2Jan1970", DAY);
    expect("%%Y4m2d2", "%19700102", DAY);
    for (const char* text :
         {"31/02/1970", "0/1/1970", "1/0/1970", "32/1/1970", "1/13/1970", "1/1/70", "1/1/01970", "001/1/1970",
          "1/1/1970 ", " 1/1/1970", "1-1-1970", "1/1/", "//1970", "", "a/1/1970", "1/1/197a"}) {
        refuse(DMY, text);
    }
    for (const char* text : {"1970012", "1970010a", "197001022", "19700230"}) refuse(FIXED, text);
    for (const char* text : {"1970366", "1970000", "197036", "2000367", "1970999"}) refuse("Y4j3", text);
    for (const char* text : {"2Jen1970", "2Ja1970", "2January1970", "2", "2J", "2Jan"}) refuse("d1b0Y4", text);
    refuse("B0% d1% Y4", "Jan 2 1970");
}

void test_times() {
    expect(TIMED, "1970-01-01 1:2:3.5", 3723, 500000000);
    expect(TIMED, "1970-01-01 23:59:59.000000001", 86399, 1);
    for (const char* text : {"1970-01-01 24:00:00.0", "1970-01-01 00:60:00.0", "1970-01-01 00:00:60.0",
                             "1970-01-01 00:00:00.", "1970-01-01 00:00:00", "1970-01-01 00:00:00.0123456789"}) {
        refuse(TIMED, text);
    }
    expect(HALVES, "1970-01-01 12am", 0);
    expect(HALVES, "1970-01-01 12PM", 43200);
    expect(HALVES, "1970-01-01 1Pm", 46800);
    for (const char* text : {"1970-01-01 13pm", "1970-01-01 0am", "1970-01-01 1", "1970-01-01 1xm", "1970-01-01 1p"}) {
        refuse(HALVES, text);
    }
    const std::string ends = "Y4m2d2?0% H1%:M1?0%:S1";
    for (const char* text : {"19700101", "19700101 0:00", "19700101 0:00:00"}) expect(ends, text, 0);
    for (const char* text : {"19700101 ", "19700101 0", "19700101 0:00:"}) refuse(ends, text);
    Timestamp t{};
    CHECK(read(ends, "19700101", t) && t.date_only && read(ends, "19700101 0:00", t) && !t.date_only && !t.has_offset);
}

void test_offsets() {
    for (const char* text :
         {"1970-01-01 00Z", "1970-01-01 00z", "1970-01-01 02+02", "1970-01-01 02+0200", "1970-01-01 02+02:00"}) {
        expect(ZONED, text, 0);
    }
    expect(ZONED, "1970-01-01 00-05:30", 5 * 3600 + 1800);
    for (const char* text :
         {"1970-01-01 00", "1970-01-01 00+", "1970-01-01 00+1", "1970-01-01 00+24", "1970-01-01 00+02:60",
          "1970-01-01 00+02:", "1970-01-01 00+020", "1970-01-01 00ZZ", "1970-01-01 00 Z"}) {
        refuse(ZONED, text);
    }
    for (const char* text : {"19700101UTC", "19700101gmt", "19700101Z"}) expect("Y4m2d2Z0", text, 0);
    for (const char* text : {"19700101", "19700101UT", "19700101CET", "19700101UTCC"}) refuse("Y4m2d2Z0", text);
    Timestamp t{};
    CHECK(read(ZONED, "1970-01-01 00Z", t) && t.has_offset && !t.date_only);
}

void test_epoch() {
    expect("s0", "0", 0);
    expect("s0", "-1", -1);
    expect("s0", "999999999999999999", 999999999999999999);
    expect("s0%.f0", "1.25", 1, 250000000);
    expect("s0%.f0", "-1.25", -2, 750000000);
    expect("s0%.f0", "-0.5", -1, 500000000);
    expect("s0%.f0", "-0.0", 0);
    for (const char* text : {"", "-", "+1", "1 ", "1000000000000000000", "1.5"}) refuse("s0", text);
    Timestamp t{};
    CHECK(read("s0", "1", t) && t.has_offset && !t.date_only);
}

// Each day of some years, in both orders, against the rule of ISO 8601.
void test_as_iso() {
    for (const int year : {0, 4, 1900, 1999, 2000, 2024, 9999}) {
        for (int month = 0; month <= 13; ++month) {
            for (int day = 0; day <= 32; ++day) {
                char iso[40], other[40];
                std::snprintf(iso, sizeof iso, "%04d-%02d-%02d", year, month, day);
                std::snprintf(other, sizeof other, "%d/%d/%04d", day, month, year);
                Timestamp by_rule{}, by_format{};
                const std::string text = iso;
                const bool valid =
                    parse_timestamp(reinterpret_cast<const u8*>(text.data()), text.size(), by_rule) == Parse::ok;
                CHECK_EQ(read(DMY, other, by_format), valid);
                CHECK_EQ(read("Y4%-m2%-d2", iso, by_format), valid);
                if (valid) CHECK(by_format.seconds == by_rule.seconds && by_format.date_only);
            }
        }
    }
}

// The first that fits counts, and ISO 8601 only where it is asked for.
void test_order() {
    const std::vector<DateStep> day_first = steps_of(DMY), month_first = steps_of("m1%/d1%/Y4");
    const DateFormat formats[] = {{day_first.data(), day_first.size(), false},
                                  {month_first.data(), month_first.size(), true}};
    const auto parse = [&](bool iso_first, const std::string& text, Timestamp& t, const DateFormat*& used) {
        return parse_formatted({formats, 2, iso_first, false}, reinterpret_cast<const u8*>(text.data()), text.size(), t,
                               used);
    };
    Timestamp t{};
    const DateFormat* used = nullptr;
    CHECK(parse(false, "2/1/1970", t, used) == Parse::ok && t.seconds == DAY && used == formats);
    CHECK(parse(false, "1/13/1970", t, used) == Parse::ok && t.seconds == 12 * DAY && used == formats + 1);
    CHECK(parse(false, "13/13/1970", t, used) == Parse::invalid &&
          parse(false, "1970-01-02", t, used) == Parse::invalid);
    CHECK(parse(true, "1970-01-02", t, used) == Parse::ok && t.seconds == DAY && used == nullptr);
}

// Any bytes: no read past the text, which the sanitizers see, and no invalid day.
void test_any_bytes() {
    check::Random random("date formats");
    const std::string alphabet = "0123456789019701/-.: +ZzjanJANpmPM%\xFF";
    for (int i = 0; i < 200000; ++i) {
        std::string text;
        for (std::uint64_t n = random.below(24); n > 0; --n) text += alphabet[random.below(alphabet.size())];
        for (const std::string& program :
             {DMY, FIXED, TIMED, HALVES, ZONED, std::string("s0%.f0"), std::string("d1b0Y4")}) {
            Timestamp t{};
            if (read(program, text, t)) CHECK(t.nanoseconds < 1000000000);
        }
    }
}

}  // namespace

int main() {
    test_dates();
    test_times();
    test_offsets();
    test_epoch();
    test_as_iso();
    test_order();
    test_any_bytes();
    return check::finish();
}
