// Times of day counted second by second, durations against hand-written literals.
#include <cstdio>
#include <string>
#include <vector>

#include "check.hpp"
#include "columns/rules/dates/parse_duration.hpp"
#include "columns/rules/dates/parse_time.hpp"

using namespace headrace;

namespace {

constexpr i64 LARGEST = 0x7FFFFFFFFFFFFFFF;
constexpr i64 SMALLEST = -LARGEST - 1;

template <class T>
Parse time_of(const std::string& text, i64 units, T& out) {
    const std::vector<u8> exact(text.begin(), text.end());
    return parse_time(exact.data(), exact.size(), units, out);
}

Parse duration_of(const std::string& text, i64 units, i64& out) {
    const std::vector<u8> exact(text.begin(), text.end());
    Duration duration;
    const Parse status = parse_duration(exact.data(), exact.size(), duration);
    return status == Parse::ok ? scale_duration(duration, units, out) : status;
}

void test_every_second() {
    i32 expected = 0;
    for (int hour = 0; hour < 30; ++hour) {
        for (int minute = 0; minute < 65; ++minute) {
            for (int second = 0; second < 65; ++second) {
                char text[40];
                std::snprintf(text, sizeof text, "%02d:%02d:%02d", hour, minute, second);
                i32 value = -1;
                const bool exists = hour < 24 && minute < 60 && second < 60;
                CHECK_EQ(time_of(text, 1, value), exists ? Parse::ok : Parse::invalid);
                CHECK_EQ(value, exists ? expected++ : -1);
            }
        }
    }
    CHECK_EQ(expected, 86400);
}

void test_times() {
    i64 value = 7;
    CHECK_EQ(time_of("23:59", i64{1}, value), Parse::ok);
    CHECK_EQ(value, 86340);
    CHECK_EQ(time_of("00:00:00.5", i64{1000}, value), Parse::ok);
    CHECK_EQ(value, 500);
    CHECK_EQ(time_of("23:59:59.999999999", i64{1000000000}, value), Parse::ok);
    CHECK_EQ(value, 86399999999999);
    CHECK_EQ(time_of("00:00:01.500000000", i64{10}, value), Parse::ok);
    CHECK_EQ(value, 15);
    value = 7;
    CHECK_EQ(time_of("00:00:00.5", i64{1}, value), Parse::overflow);
    CHECK_EQ(time_of("00:00:00.0000001", i64{1000000}, value), Parse::overflow);
    for (const char* text : {"",
                             "1",
                             "12",
                             "12:",
                             "12:3",
                             "1:30",
                             "12:30:",
                             "12:30:5",
                             "12:30:05.",
                             "12:30.5",
                             "12:30:05.0123456789",
                             "12:30:05 ",
                             " 12:30:05",
                             "12:30:05Z",
                             "12-30-05",
                             "ab:cd:ef",
                             "-12:30:05",
                             "+12:30",
                             "12:30:05PM",
                             "T12:30:05"}) {
        CHECK_EQ(time_of(text, i64{1000000000}, value), Parse::invalid);
    }
    CHECK_EQ(value, 7);
}

struct Example {
    const char* text;
    i64 units;
    i64 value;
};

void test_durations() {
    const i64 s = 1, ms = 1000, us = 1000000, ns = 1000000000;
    const Example examples[] = {
        {"P1W", s, 604800},
        {"P1D", s, 86400},
        {"P1W2DT3H4M5S", s, 604800 + 2 * 86400 + 3 * 3600 + 4 * 60 + 5},
        {"PT36H", s, 129600},
        {"PT0.5S", ms, 500},
        {"-PT0.5S", ms, -500},
        {"-P1DT0.000000001S", ns, -86400 * ns - 1},
        {"PT000000000000000000000000000001S", s, 1},
        {"P0D", us, 0},
        {"-P0D", us, 0},
        {"26:00:00", s, 93600},
        {"-0:00:01.5", ms, -1500},
        {"0:00:00.000001", us, 1},
        {"1000000:00:00", s, 3600000000},
        {"1 day", s, 86400},
        {"-2 days", s, -172800},
        {"1 day, 2:03:04", s, 86400 + 7384},
        {"-1 day, 23:59:59", s, -1},
        {"-1 days +23:59:59.999999999", ns, -1},
        {"-1 days -00:00:00.5", ms, -86400500},
        {"1 days -0:00:00.5", ms, 86399500},
        {"0 days 00:00:01", s, 1},
        {"3 day 00:00:01", s, 259201},
        {"-PT9223372036854775808S", s, SMALLEST},
        {"PT9223372036854775807S", s, LARGEST},
        {"-PT9223372036.854775808S", ns, SMALLEST},
        {"PT9223372036.854775807S", ns, LARGEST},
        // The days alone are out of reach, the sum is not.
        {"-106751991167301 days +08:29:52", s, SMALLEST},
        {"106751991167301 days -08:29:53", s, LARGEST},
    };
    for (const Example& example : examples) {
        i64 value = 77;
        CHECK_EQ(duration_of(example.text, example.units, value), Parse::ok);
        CHECK_EQ(value, example.value);
        if (value != example.value) std::cerr << "  text: " << example.text << '\n';
    }
}

void test_durations_out_of_reach() {
    i64 value = 77;
    const Example examples[] = {{"PT0.5S", 1, 0},
                                {"PT0.0000001S", 1000000, 0},
                                {"PT9223372036854775808S", 1, 0},
                                {"-PT9223372036854775808.5S", 1, 0},
                                {"-PT9223372036854775809S", 1, 0},
                                {"PT9223372036.854775808S", 1000000000, 0},
                                {"P106752D", 1000000000, 0},
                                {"PT18446744073709551616S", 1, 0},
                                {"P18446744073709551615W", 1, 0},
                                {"99999999999999999999999:00:00", 1, 0},
                                {"99999999999999999999999 days", 1, 0}};
    for (const Example& example : examples) {
        CHECK_EQ(duration_of(example.text, example.units, value), Parse::overflow);
    }
    CHECK_EQ(value, 77);
}

void test_what_is_no_duration() {
    i64 value = 77;
    for (const char* text : {"",
                             "-",
                             "P",
                             "-P",
                             "PT",
                             "P1",
                             "P1DT",
                             "P1Y",
                             "P1M",
                             "PT1D",
                             "P1H",
                             "P1D2W",
                             "P1D1D",
                             "PT1S1M",
                             "P1.5D",
                             "PT1.S",
                             "PT.5S",
                             "PT1,5S",
                             "PT1.5M",
                             "PT1.5H",
                             "P1.5D",
                             "P0.5W",
                             "PT0.1234567891S",
                             "P-1D",
                             "+P1D",
                             "p1d",
                             "P1DT1HT1M",
                             "PTT1H",
                             "P1D ",
                             "5",
                             "-5",
                             "1:02",
                             "1:2:03",
                             "1:02:3",
                             "1:60:00",
                             "1:00:60",
                             "1:02:03.",
                             "1:02:03x",
                             ":02:03",
                             "1 ",
                             "1 d",
                             "1 dayx",
                             "1 dayss",
                             "1  day",
                             "1day",
                             "1 day,",
                             "1 day, ",
                             "1 day ",
                             "1 day,2:03:04",
                             "1 day  2:03:04",
                             "1 day, 2:03",
                             "1 day, +-2:03:04",
                             "+1 day",
                             "+1:02:03",
                             "1 month",
                             "2024-01-01"}) {
        CHECK_EQ(duration_of(text, 1000000000, value), Parse::invalid);
        if (duration_of(text, 1000000000, value) != Parse::invalid) std::cerr << "  text: " << text << '\n';
    }
    CHECK_EQ(value, 77);
}

}  // namespace

int main() {
    test_every_second();
    test_times();
    test_durations();
    test_durations_out_of_reach();
    test_what_is_no_duration();
    return check::finish();
}
