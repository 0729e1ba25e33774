// Dates against a calendar that is counted day by day, timestamps against hand-written literals.
#include <cstdio>
#include <string>
#include <vector>

#include "check.hpp"
#include "columns/rules/dates/parse_date.hpp"

using namespace headrace;

namespace {

Parse parse_date(const std::string& text, i32& out) {
    const std::vector<u8> exact(text.begin(), text.end());
    return parse_date32(exact.data(), exact.size(), out);
}

Parse parse_time(const std::string& text, Timestamp& out) {
    const std::vector<u8> exact(text.begin(), text.end());
    return parse_timestamp(exact.data(), exact.size(), out);
}

std::string format_date(int year, int month, int day) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%04d-%02d-%02d", year, month, day);
    return buffer;
}

int month_length(int year, int month) {
    static const int LENGTHS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return LENGTHS[month - 1] + (month == 2 && leap ? 1 : 0);
}

// Every day of the years 0000 to 9999, and every day that a month does not have.
void test_calendar() {
    i32 expected = -719528;  // 0000-01-01
    for (int year = 0; year <= 9999; ++year) {
        for (int month = 1; month <= 12; ++month) {
            const int length = month_length(year, month);
            for (int day = 1; day <= length; ++day, ++expected) {
                i32 actual = 1 << 30;
                const std::string text = format_date(year, month, day);
                CHECK(parse_date(text, actual) == Parse::ok && actual == expected);
            }
            for (int day = length + 1; day <= 33; ++day) {
                i32 untouched = 77;
                CHECK(parse_date(format_date(year, month, day), untouched) == Parse::invalid && untouched == 77);
            }
        }
    }
    CHECK_EQ(expected, 2932897);  // 10000-01-01
    CHECK_EQ(days_from_civil(1970, 1, 1), 0);
    CHECK_EQ(days_from_civil(2000, 3, 1), 11017);
    CHECK_EQ(days_from_civil(-1, 12, 31), -719529);
    CHECK_EQ(days_from_civil(-400, 1, 1), -719528 - 146097);
    CHECK_EQ(days_from_civil(10000, 1, 1), 2932897);
    CHECK(valid_date(2000, 2, 29) && !valid_date(1900, 2, 29) && !valid_date(2023, 0, 1) && !valid_date(2023, 1, 0));
    CHECK(!valid_date(2023, 13, 1));
}

void test_date_shape() {
    i32 out = 77;
    for (const char* text : {"",           "2023",        "2023-01",     "2023-001-1",  "2023--01",
                             "23-01-01",   "2023-01-011", " 2023-01-01", "2023-01-01 ", "2023/01/",
                             "2023-01/01", "2023_01-01",  "20230101",    "2023-00-10",  "2023-13-10",
                             "2023-01-00", "2023-01-32",  "+023-01-01",  "-023-01-01",  "202a-01-01",
                             "2023-0a-01", "2023-01-0a",  "2023-01-1:",  "2023-1/-01",  "10000-01-01",
                             "2023-01-01T"}) {
        CHECK_EQ(parse_date(text, out), Parse::invalid);
    }
    CHECK_EQ(out, 77);
    for (const char* text : {"2023-01-05", "2023-1-5", "2023-01-5", "2023-1-05", "2023/01/05", "2023/1/5"}) {
        CHECK(parse_date(text, out) == Parse::ok && out == 19362);
    }
}

struct Example {
    const char* text;
    i64 seconds;
    u32 nanoseconds;
    int fraction_digits;
    bool has_offset;
};

void test_timestamps() {
    const Example examples[] = {
        {"1970-01-01T00:00", 0, 0, 0, false},
        {"1970-01-01 00:00:01", 1, 0, 0, false},
        {"1970-01-01T00:00:00.5", 0, 500000000, 1, false},
        {"1970-01-01T00:00:00.000000001", 0, 1, 9, false},
        {"1970-01-01T00:00:00.120", 0, 120000000, 3, false},
        {"1970-01-01T00:00:00.1234567", 0, 123456700, 7, false},
        {"1969-12-31T23:59:59.999999999", -1, 999999999, 9, false},
        {"1969-12-31T23:59:59Z", -1, 0, 0, true},
        {"2001-09-09T01:46:40z", 1000000000, 0, 0, true},
        {"2001-09-09 01:46:40", 1000000000, 0, 0, false},
        {"2038-01-19T03:14:08+00:00", 2147483648, 0, 0, true},
        {"2024-02-29T12:00+02:00", 1709200800, 0, 0, true},
        {"2024-02-29T12:00:00+0200", 1709200800, 0, 0, true},
        {"2024-02-29 12:00:00.25+02", 1709200800, 250000000, 2, true},
        {"2024-02-29T12:00-05:30", 1709227800, 0, 0, true},
        {"2024-02-29T00:00+23:59", 1709078460, 0, 0, true},
        {"2024-02-29T00:00-23:59", 1709251140, 0, 0, true},
        {"0000-01-01T00:00:00+00:01", -62167219260, 0, 0, true},
        {"9999-12-31T23:59:59.999999", 253402300799, 999999000, 6, false},
        {"9999-12-31T23:59:59-23:59", 253402387139, 0, 0, true},
    };
    for (const Example& example : examples) {
        Timestamp t{};
        CHECK_EQ(parse_time(example.text, t), Parse::ok);
        CHECK_EQ(t.seconds, example.seconds);
        CHECK_EQ(t.nanoseconds, example.nanoseconds);
        CHECK_EQ(int{t.fraction_digits}, example.fraction_digits);
        CHECK_EQ(t.has_offset, example.has_offset);
        CHECK(!t.date_only);
    }
    Timestamp date{};
    CHECK_EQ(parse_time("2000-03-01", date), Parse::ok);
    CHECK(date.date_only && !date.has_offset && date.seconds == 11017LL * 86400 && date.nanoseconds == 0);
}

void test_every_time_of_day() {
    for (int hour = 0; hour <= 99; ++hour) {
        for (int minute = 0; minute <= 99; ++minute) {
            char text[80];
            std::snprintf(text, sizeof text, "1970-01-01T%02d:%02d:%02d", hour, minute, minute);
            Timestamp t{};
            const bool valid = hour < 24 && minute < 60;
            CHECK_EQ(parse_time(text, t), valid ? Parse::ok : Parse::invalid);
            if (valid) CHECK_EQ(t.seconds, hour * 3600 + minute * 61);
            std::snprintf(text, sizeof text, "1970-01-01T00:00+%02d:%02d", hour, minute);
            CHECK_EQ(parse_time(text, t), valid ? Parse::ok : Parse::invalid);
            if (valid) CHECK_EQ(t.seconds, -(hour * 3600 + minute * 60));
        }
    }
}

void test_timestamp_shape() {
    Timestamp out{77, 77, 7, false, false};
    for (const char* text : {"",
                             "2023-01-01T",
                             "2023-01-01 ",
                             "2023-01-01Z",
                             "2023-01-01+01:00",
                             "2023-01-01T1",
                             "2023-01-01T10",
                             "2023-01-01T10:",
                             "2023-01-01T10:0",
                             "2023-01-01t10:00",
                             "2023-01-01_10:00",
                             "2023-01-01  10:00",
                             "2023-01-01T10:00:",
                             "2023-01-01T10:00:0",
                             "2023-01-01T10:00:60",
                             "2023-01-01T24:00",
                             "2023-01-01T10:60",
                             "2023-01-01T10:00:00.",
                             "2023-01-01T10:00:00.Z",
                             "2023-01-01T10:00:00.1234567890",
                             "2023-01-01T10:00.5",
                             "2023-01-01T10:00:00,5",
                             "2023-01-01T10:00 Z",
                             "2023-01-01T10:00ZZ",
                             "2023-01-01T10:00Z ",
                             "2023-01-01T10:00+",
                             "2023-01-01T10:00+1",
                             "2023-01-01T10:00+1:00",
                             "2023-01-01T10:00+01:0",
                             "2023-01-01T10:00+01:",
                             "2023-01-01T10:00+010",
                             "2023-01-01T10:00+24",
                             "2023-01-01T10:00+01:60",
                             "2023-01-01T10:00+01:000",
                             "2023-01-01T10:00+01000",
                             "2023-01-01T10:00+01-00",
                             "2023-01-01T10:00:00.5 +01",
                             "2023-01-01T-1:00",
                             "2023-01-01T10-00",
                             "2023-02-29T10:00",
                             "2023-01-01T10:00UTC",
                             "10:00",
                             "20230101T100000Z"}) {
        CHECK_EQ(parse_time(text, out), Parse::invalid);
    }
    CHECK(out.seconds == 77 && out.nanoseconds == 77);
    // Every prefix of a timestamp is either a timestamp or not, and parsing it reads nothing after it.
    const std::string full = "2023-01-01T10:00:00.123456789+01:00";
    for (usize length = 0; length <= full.size(); ++length) {
        const bool valid = length == 10 || length == 16 || length == 19 || (length >= 21 && length <= 29) ||
                           length == 32 || length == 35;
        CHECK_EQ(parse_time(full.substr(0, length), out), valid ? Parse::ok : Parse::invalid);
    }
}

void expect_scaled(i64 seconds, u32 nanoseconds, i64 units, bool fits, i64 expected = 0) {
    i64 out = 77;
    CHECK_EQ(scale_timestamp(Timestamp{seconds, nanoseconds, 0, false, false}, units, out),
             fits ? Parse::ok : Parse::overflow);
    CHECK_EQ(out, fits ? expected : 77);
}

void test_scaling() {
    expect_scaled(1, 500000000, 1, false);
    expect_scaled(1, 500000000, 1000, true, 1500);
    expect_scaled(-1, 500000000, 1000, true, -500);
    expect_scaled(-1, 0, 1, true, -1);
    expect_scaled(-1, 999999999, 1000000000, true, -1);
    expect_scaled(0, 1, 1000000, false);
    expect_scaled(0, 1000, 1000000, true, 1);
    expect_scaled(253402300799, 999999000, 1000000, true, 253402300799999999);
    // The ends of 64-bit nanoseconds: 1677-09-21T00:12:43.145224192 and 2262-04-11T23:47:16.854775807.
    constexpr i64 LARGEST = 0x7FFFFFFFFFFFFFFF;
    expect_scaled(9223372036, 854775807, 1000000000, true, LARGEST);
    expect_scaled(9223372036, 854775808, 1000000000, false);
    expect_scaled(-9223372037, 145224192, 1000000000, true, -LARGEST - 1);
    expect_scaled(-9223372037, 145224191, 1000000000, false);
    for (const i64 units : {i64{1}, i64{1000}, i64{1000000}, i64{1000000000}}) {
        // Against 128-bit arithmetic, around both ends of the range.
        for (const __int128 end :
             {static_cast<__int128>(LARGEST), -static_cast<__int128>(LARGEST) - 1, static_cast<__int128>(0)}) {
            for (int step = -2000; step <= 2000; ++step) {
                const __int128 value = end + step;
                __int128 seconds = value / units;
                if (seconds * units > value) seconds -= 1;
                if (seconds > LARGEST || seconds < -static_cast<__int128>(LARGEST) - 1) continue;
                const u32 nanoseconds = static_cast<u32>((value - seconds * units) * (1000000000 / units));
                const bool fits = value <= LARGEST && value >= -static_cast<__int128>(LARGEST) - 1;
                expect_scaled(static_cast<i64>(seconds), nanoseconds, units, fits, static_cast<i64>(value));
            }
        }
    }
}

}  // namespace

int main() {
    test_calendar();
    test_date_shape();
    test_timestamps();
    test_every_time_of_day();
    test_timestamp_shape();
    test_scaling();
    return check::finish();
}
