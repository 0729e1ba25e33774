// Fuzzes the ways to write numbers, dates and local times: marks, formats, zones. Numbers are compared with a reader of
// groups by hand, formats to a writer of the same formats, zones to a search through all pieces.
#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "columns/rules/dates/zone.hpp"
#include "columns/rules/infer.hpp"
#include "dialects.hpp"
#include "fuzz.hpp"
#include "plans.hpp"

using namespace headrace;

namespace {

bool all_digits(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The digits of a whole number, or nothing: "1.234" with '.' between thousands is "1234".
bool ungrouped(const std::string& text, i16 thousands, std::string& out) {
    const char mark = static_cast<char>(thousands);
    out.clear();
    if (thousands == NO_MARK || text.find(mark) == std::string::npos) {
        out = text;
        return all_digits(text);
    }
    for (usize from = 0;;) {
        const usize end = std::min(text.find(mark, from), text.size());
        const std::string group = text.substr(from, end - from);
        const bool right_size = from == 0 ? !group.empty() && group.size() <= 3 : group.size() == 3;
        if (!right_size || !all_digits(group)) return false;
        out += group;
        if (end == text.size()) return true;
        from = end + 1;
    }
}

// Returns the text with a point for the decimal mark; false if a mark is in a wrong place.
bool plain_number(const NumberMarks& marks, const std::string& text, std::string& out) {
    const bool has_sign = !text.empty() && (text[0] == '-' || text[0] == '+');
    const auto may_stand = [&](char c) { return (c >= '0' && c <= '9') || static_cast<u8>(c) == marks.thousands; };
    const auto end = std::find_if_not(text.begin() + has_sign, text.end(), may_stand);
    if (!ungrouped(std::string(text.begin() + has_sign, end), marks.thousands, out)) return false;
    std::string rest(end, text.end());
    if (!rest.empty() && static_cast<u8>(rest[0]) == marks.decimal) {
        if (rest.find('.', 1) != std::string::npos) return false;
        rest[0] = '.';
    } else if (rest.find('.') != std::string::npos) {
        return false;
    }
    out = text.substr(0, has_sign) + out + rest;
    return true;
}

void check_marks(const fuzz::Input& input, const NumberMarks& marks) {
    const std::string text(reinterpret_cast<const char*>(input.data()), input.size());
    const auto plain = std::make_unique<u8[]>(input.size());
    usize size = 0;
    std::string expected;
    const bool fits = plain_number(marks, text, expected);
    REQUIRE(to_plain_number(marks, input.data(), input.size(), plain.get(), size) == fits);
    if (fits) REQUIRE(std::string(reinterpret_cast<const char*>(plain.get()), size) == expected);
}

std::string padded(i64 value, usize digits) {
    const std::string text = std::to_string(value);
    return std::string(text.size() < digits ? digits - text.size() : 0, '0') + text;
}

struct Moment {
    i64 seconds = 0;
    u32 nanoseconds = 0;
    std::tm parts{};
};

// One step of a format, written; `seed` chooses among the ways to write it. Parts of the moment that the step lacks are
// zero.
std::string written(const DateStep& step, const Moment& moment, u8 seed) {
    static const char* const MONTHS[] = {"January", "february", "MARCH",     "April",   "May",      "June",
                                         "July",    "August",   "September", "October", "November", "December"};
    const std::tm& t = moment.parts;
    const usize digits = seed & 1 ? 2 : step.least;
    switch (step.what) {
        case 'Y':
            return padded(t.tm_year + 1900, 4);
        case 'y':
            return padded(t.tm_year % 100, 2);
        case 'm':
            return padded(t.tm_mon + 1, digits);
        case 'd':
            return padded(t.tm_mday, digits);
        case 'j':
            return padded(t.tm_yday + 1, seed & 1 ? 3 : step.least);
        case 'H':
            return padded(t.tm_hour, digits);
        case 'I':
            return padded((t.tm_hour + 11) % 12 + 1, digits);
        case 'M':
            return padded(t.tm_min, digits);
        case 'S':
            return padded(t.tm_sec, digits);
        case 'p':
            return t.tm_hour < 12 ? "am" : "PM";
        case 'B':
            return MONTHS[t.tm_mon];
        case 'b':
            return std::string(MONTHS[t.tm_mon]).substr(0, 3);
        case 'f':
            return padded(moment.nanoseconds, 9);
        case 's':
            return std::to_string(moment.seconds);
        case 'z':
            return seed & 1 ? "Z" : seed & 2 ? "+00:00" : "-0000";
        case 'Z':
            return seed & 1 ? "UTC" : "gmt";
        case '_':
            return seed & 1 ? " " : "";
        default:
            return std::string(1, static_cast<char>(step.least));
    }
}

// Keeps only the parts that the format has. Others are as at the beginning of the day, of the minute, of the second.
void forget_unsaid(const std::vector<DateStep>& steps, usize count, Moment& moment) {
    std::string said;
    for (usize i = 0; i < count; ++i) said += static_cast<char>(steps[i].what);
    const auto says = [&](const char* letters) { return said.find_first_of(letters) != std::string::npos; };
    if (!says("fs") || !says("f")) moment.nanoseconds = 0;
    if (says("s")) return;
    std::tm& t = moment.parts;
    if (!says("HI")) t.tm_hour = 0;
    if (!says("M")) t.tm_min = 0;
    if (!says("S")) t.tm_sec = 0;
    if (says("y") && (t.tm_year < 69 || t.tm_year > 168)) t.tm_year = 100 + (t.tm_year + 1900) % 50;
    moment.seconds = timegm(&t);  // and 29 February of another year becomes a day
}

std::vector<DateStep> steps_of(const fuzz::FormatText& format) {
    std::vector<DateStep> steps;
    const std::string bytes = fuzz::hex_text(format.steps);
    for (usize i = 0; i < bytes.size(); i += 2)
        steps.push_back({static_cast<u8>(bytes[i]), static_cast<u8>(bytes[i + 1])});
    return steps;
}

// Checks that a moment written by a format is read by it, and is that moment again.
void check_written(fuzz::Input input, const std::vector<DateStep>& steps) {
    Moment moment;
    u64 number = 0;
    for (int i = 0; i < 5; ++i) number = number << 8 | input.take();
    moment.seconds = static_cast<i64>(number % 315'537'897'600) - 62'135'596'800;  // years 1 to 9999
    moment.nanoseconds = static_cast<u32>(number * 7919 % 1'000'000'000);
    const auto seconds = static_cast<std::time_t>(moment.seconds);
    gmtime_r(&seconds, &moment.parts);
    const auto may_end =
        std::find_if(steps.begin(), steps.end(), [](const DateStep& step) { return step.what == '?'; });
    const usize count = input.flag() ? static_cast<usize>(may_end - steps.begin()) : steps.size();
    forget_unsaid(steps, count, moment);
    std::string text;
    for (usize i = 0; i < count; ++i) {
        if (steps[i].what != '?') text += written(steps[i], moment, input.take());
    }
    // Seconds below zero with a fraction are written as the number that they are: -1.25.
    if (steps[0].what == 's' && moment.seconds < 0) moment.nanoseconds = 0;
    if (steps[0].what == 's' && text.find('.') != std::string::npos && moment.seconds < 0) return;
    Timestamp found{};
    const DateFormat format = {steps.data(), steps.size(), true};
    REQUIRE(read_formatted(format, reinterpret_cast<const u8*>(text.data()), text.size(), found));
    REQUIRE(found.seconds == moment.seconds && found.nanoseconds == moment.nanoseconds);
}

// Any text: its inferred kind is the same if it is inferred twice, and a date has no time.
void check_any(const fuzz::Input& input, const std::vector<DateStep>& steps, const NumberMarks& marks, u8 choice) {
    const DateFormat format = {steps.data(), steps.size(), true};
    const DateFormats dates = {&format, 1, (choice & 1) != 0, (choice & 2) != 0};
    const auto scratch = std::make_unique<u8[]>(input.size());
    Timestamp t{};
    const DateFormat* used = nullptr;
    const bool is_time = parse_formatted(dates, input.data(), input.size(), t, used) == Parse::ok;
    const Kind kind = classify(input.data(), input.size(), marks, dates, scratch.get());
    REQUIRE(kind != Kind::empty && kind != Kind::boolean && static_cast<u32>(kind) < KIND_COUNT);
    if (!is_time) REQUIRE(kind < Kind::date || kind > Kind::timestamp_ns_utc);
    if (!is_time) return;
    REQUIRE(t.nanoseconds < 1'000'000'000 && t.fraction_digits <= 9);
    REQUIRE(used == nullptr ? dates.iso_first : used == &format);
    if (t.date_only) REQUIRE(t.seconds % 86400 == 0 && t.nanoseconds == 0 && !t.has_offset);
    if (dates.before_numbers) REQUIRE(kind == kind_of_time(t));
}

// A local time lies in the one piece that holds it, 400 years earlier as often as it takes.
void check_zone(fuzz::Input input) {
    constexpr i64 FOREVER = i64{1} << 62, CYCLE = i64{146097} * 86400;
    std::vector<i64> begins{-FOREVER}, ends, offsets;
    i64 at = -4'000'000'000;
    for (usize pieces = input.below(6); pieces > 0; --pieces) {
        at += input.take() * i64{20'000'000};
        ends.push_back(at);
        at += input.take() * i64{60};
        begins.push_back(at);
        at += 1;
    }
    ends.push_back(at + CYCLE);
    for (usize i = 0; i < begins.size(); ++i) offsets.push_back((i64{input.take()} - 128) * 900);
    const Zone zone = {"z", begins.data(), ends.data(), offsets.data(), begins.size()};
    usize piece = input.below(begins.size());
    for (int times = 0; times < 6; ++times) {
        i64 local = 0;
        for (int i = 0; i < 5; ++i) local = local * 256 + input.take();
        local -= 500'000'000'000;
        i64 known = local;
        while (known >= ends.back()) known -= CYCLE;
        usize expected = 0;
        while (expected < begins.size() && !(begins[expected] <= known && known < ends[expected])) ++expected;
        i64 utc = 77;
        REQUIRE(to_utc(zone, piece, local, utc) == (expected < begins.size()));
        REQUIRE(expected == begins.size() || utc == local - offsets[expected]);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<std::vector<DateStep>> FORMATS = [] {
        std::vector<std::vector<DateStep>> all;
        for (const fuzz::FormatText& format : fuzz::FORMATS) all.push_back(steps_of(format));
        return all;
    }();
    fuzz::Input input(data, size);
    const u8 choice = input.take();
    const NumberMarks marks = fuzz::marks_of(static_cast<u8>(choice | 0x80));
    const std::vector<DateStep>& steps = FORMATS[input.below(FORMATS.size())];
    check_marks(input, marks);
    check_any(input, steps, marks, choice);
    check_written(input, steps);
    check_zone(input);
    return 0;
}
