// Text to dates and timestamps, against a reader that counts years and months one by one.
#include <string_view>

#include "columns/rules/dates/parse_date.hpp"
#include "columns/rules/infer.hpp"
#include "fuzz.hpp"

using namespace headrace;

namespace {

__extension__ using Wide = __int128;

bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_of_month(int year, int month) {
    static const int DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : DAYS[month - 1];
}

// Days from 1970-01-01 to the first day of each year.
struct YearStarts {
    i64 days[10000];
    YearStarts() {
        i64 before_1970 = 0;
        for (int year = 0; year < 1970; ++year) before_1970 += is_leap(year) ? 366 : 365;
        days[0] = -before_1970;
        for (int year = 1; year < 10000; ++year) days[year] = days[year - 1] + (is_leap(year - 1) ? 366 : 365);
    }
};

// Takes pieces from the front of a text.
class Cursor {
public:
    Cursor(const u8* p, usize n) : text_(reinterpret_cast<const char*>(p), n) {}

    bool at_end() const { return text_.empty(); }

    // A number of exactly `digits` digits from `least` to `most`.
    bool number(usize digits, int least, int most, int& out) {
        if (text_.size() < digits) return false;
        out = 0;
        for (usize i = 0; i < digits; ++i) {
            if (text_[i] < '0' || text_[i] > '9') return false;
            out = out * 10 + (text_[i] - '0');
        }
        text_.remove_prefix(digits);
        return out >= least && out <= most;
    }

    // A number of one or two digits from `least` to `most`.
    bool short_number(int least, int most, int& out) {
        const bool is_long = text_.size() > 1 && text_[1] >= '0' && text_[1] <= '9';
        return number(is_long ? 2 : 1, least, most, out);
    }

    // Takes any of these characters; 0 if the next one is none of them.
    char any_of(std::string_view characters) {
        if (text_.empty() || characters.find(text_.front()) == std::string_view::npos) return 0;
        const char found = text_.front();
        text_.remove_prefix(1);
        return found;
    }

private:
    std::string_view text_;
};

struct Moment {
    i64 days = 0, seconds = 0;  // seconds: from 1970-01-01 on
    u32 nanoseconds = 0;
    int fraction_digits = 0;
    bool has_time = false, has_offset = false;
};

bool read_day(Cursor& cursor, i64& days) {
    static const YearStarts STARTS;
    int year, month, day;
    if (!cursor.number(4, 0, 9999, year)) return false;
    const char mark = cursor.any_of("-/");
    if (mark == 0 || !cursor.short_number(1, 12, month) || cursor.any_of("-/") != mark) return false;
    if (!cursor.short_number(1, days_of_month(year, month), day)) return false;
    days = STARTS.days[year] + day - 1;
    for (int m = 1; m < month; ++m) days += days_of_month(year, m);
    return true;
}

bool read_clock(Cursor& cursor, Moment& moment) {
    int hour, minute, second = 0;
    if (!cursor.number(2, 0, 23, hour) || !cursor.any_of(":") || !cursor.number(2, 0, 59, minute)) return false;
    if (cursor.any_of(":")) {
        if (!cursor.number(2, 0, 59, second)) return false;
        if (cursor.any_of(".")) {
            u32 weight = 100'000'000;
            for (char digit; (digit = cursor.any_of("0123456789")) != 0; weight /= 10) {
                if (++moment.fraction_digits > 9) return false;
                moment.nanoseconds += static_cast<u32>(digit - '0') * weight;
            }
            if (moment.fraction_digits == 0) return false;
        }
    }
    moment.seconds += hour * 3600 + minute * 60 + second;
    return true;
}

bool read_zone(Cursor& cursor, Moment& moment) {
    moment.has_offset = true;
    if (cursor.any_of("Zz")) return cursor.at_end();
    const char sign = cursor.any_of("+-");
    int hours, minutes = 0;
    if (sign == 0 || !cursor.number(2, 0, 23, hours)) return false;
    if (!cursor.at_end()) {
        cursor.any_of(":");
        if (!cursor.number(2, 0, 59, minutes)) return false;
    }
    const int offset = hours * 3600 + minutes * 60;
    moment.seconds -= sign == '-' ? -offset : offset;
    return cursor.at_end();
}

bool read_moment(const u8* p, usize n, Moment& moment) {
    Cursor cursor(p, n);
    if (!read_day(cursor, moment.days)) return false;
    moment.seconds = moment.days * 86400;
    if (cursor.at_end()) return true;
    moment.has_time = true;
    if (!cursor.any_of("T ") || !read_clock(cursor, moment)) return false;
    return cursor.at_end() || read_zone(cursor, moment);
}

void check_scale(const Timestamp& t, i64 units) {
    const Wide nanoseconds = static_cast<Wide>(t.seconds) * 1'000'000'000 + t.nanoseconds;
    const Wide unit = 1'000'000'000 / units;
    i64 value = 77;
    const Parse status = scale_timestamp(t, units, value);
    const bool fits = nanoseconds % unit == 0 && nanoseconds / unit == static_cast<i64>(nanoseconds / unit);
    REQUIRE(status == (fits ? Parse::ok : Parse::overflow));
    REQUIRE(value == (fits ? static_cast<i64>(nanoseconds / unit) : 77));
}

void check_kind(const u8* p, usize n, const Moment& moment) {
    const Kind kind = classify(p, n);
    const Wide nanoseconds = static_cast<Wide>(moment.seconds) * 1'000'000'000 + moment.nanoseconds;
    if (!moment.has_time) {
        REQUIRE(kind == Kind::date);
    } else if (moment.fraction_digits <= 6) {
        REQUIRE(kind == (moment.has_offset ? Kind::timestamp_us_utc : Kind::timestamp_us));
    } else if (nanoseconds != static_cast<i64>(nanoseconds)) {
        REQUIRE(kind == Kind::text);
    } else {
        REQUIRE(kind == (moment.has_offset ? Kind::timestamp_ns_utc : Kind::timestamp_ns));
    }
}

// Any seconds and nanoseconds, which text alone would not reach.
void check_any_scale(const u8* p, usize n) {
    if (n < 12) return;
    Timestamp t{static_cast<i64>(load_word(p)), 0, 0, false, false};
    for (usize i = 8; i < 12; ++i) t.nanoseconds = t.nanoseconds << 8 | p[i];
    t.nanoseconds %= 1'000'000'000;
    if (p[0] & 1) t.nanoseconds -= t.nanoseconds % 1'000'000;
    for (const i64 units : {i64{1}, i64{1'000}, i64{1'000'000}, i64{1'000'000'000}}) check_scale(t, units);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Moment moment;
    const bool valid = read_moment(data, size, moment);
    i32 days = 77;
    const Parse as_date = parse_date32(data, size, days);
    REQUIRE(as_date == (valid && !moment.has_time ? Parse::ok : Parse::invalid));
    REQUIRE(days == (as_date == Parse::ok ? moment.days : 77));
    Timestamp t{};
    REQUIRE(parse_timestamp(data, size, t) == (valid ? Parse::ok : Parse::invalid));
    if (valid) {
        REQUIRE(t.seconds == moment.seconds && t.nanoseconds == moment.nanoseconds);
        REQUIRE(t.fraction_digits == moment.fraction_digits);
        REQUIRE(t.has_offset == moment.has_offset && t.date_only == !moment.has_time);
        for (const i64 units : {i64{1}, i64{1'000}, i64{1'000'000}, i64{1'000'000'000}}) check_scale(t, units);
        check_kind(data, size, moment);
    }
    check_any_scale(data, size);
    return 0;
}
