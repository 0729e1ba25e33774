// Kinds of texts by example, and the laws of their join on all triples.
#include <string>
#include <vector>

#include "check.hpp"
#include "columns/rules/infer.hpp"

using namespace headrace;

namespace {

Kind kind_of(const std::string& text) {
    const std::vector<u8> exact(text.begin(), text.end());
    return classify(exact.data(), exact.size());
}

struct Examples {
    Kind kind;
    std::vector<std::string> texts;
};

void test_classes() {
    const std::vector<Examples> examples = {
        {Kind::natural, {"0", "5", "42", "9223372036854775807"}},
        {Kind::negative, {"-1", "-0", "-9223372036854775808"}},
        {Kind::uint64, {"9223372036854775808", "18446744073709551615"}},
        {Kind::float64,
         {"0.5", "-0.5", ".5", "5.", "1e5", "1E+05", "-1.5e-3", "1e-400", "0e999", "0.0", "nan", "NaN", "inf", "-inf",
          "Infinity", "1.7976931348623157e308", "123456789012345678901234567890.0"}},
        {Kind::date, {"2024-02-29", "0000-01-01", "0001-01-01", "9999-12-31", "2024-1-1", "2024/02/29", "2024/2/9"}},
        {Kind::timestamp_us,
         {"2024-02-29T12:00", "2024-02-29 12:00:00", "2024-02-29T12:00:00.123456", "0001-01-01T00:00:00.5",
          "2024/2/9 12:00"}},
        {Kind::timestamp_ns,
         {"2024-02-29T12:00:00.1234567", "2024-02-29 12:00:00.000000000", "1677-09-21T00:12:43.145224192",
          "2262-04-11T23:47:16.854775807"}},
        {Kind::timestamp_us_utc, {"2024-02-29T12:00Z", "2024-02-29 12:00:00.5+02:00", "0000-01-01T00:00+23:59"}},
        {Kind::timestamp_ns_utc, {"2024-02-29T12:00:00.1234567z", "2262-04-12T00:47:16.854775807+01"}},
        {Kind::time_us, {"12:00", "12:00:00", "00:00:00", "23:59:59.5", "23:59:59.999999"}},
        {Kind::time_ns, {"12:00:00.0000000", "23:59:59.999999999"}},
        {Kind::duration_us,
         {"P1D", "-P1DT2H", "PT0.5S", "P1W", "PT1H2M3.000004S", "1 day, 2:03:04", "0 days 00:00:01",
          "-1 days +23:59:59", "-2 days -00:00:01.5"}},
        {Kind::duration_ns, {"PT0.1234567S", "1 days 00:00:00.123456789", "P106751DT0.0000001S"}},
        {Kind::hex, {"0x0", "0x1F", "0XfF", "0x007FFFFFFFFFFFFFFF"}},
        {Kind::hex_uint64, {"0x8000000000000000", "0xFFFFFFFFFFFFFFFF"}},
        {Kind::text,
         {"",
          "18446744073709551616",
          "-9223372036854775809",
          "123456789012345678901234567890",
          std::string(400, '9'),
          "+1234567",
          "+1234567.5",
          "+05",
          "007",
          "-01",
          "00.5",
          "-00.5",
          "00",
          "1e400",
          "-1e400",
          "1,5",
          "12x",
          "x",
          "-",
          ".",
          "e5",
          " 1",
          "1 ",
          "true",
          "-+5",
          "--5",
          "2023-02-29",
          "2024-02-29T24:00",
          "1677-09-21T00:12:43.145224191",
          "2262-04-11T23:47:16.854775808",
          "1066-10-14T09:00:00.0000001",
          "2024-02-29T12:00:00.1234567891",
          "infinite",
          "-0x10",
          "+0x10",
          "0x",
          "0xg",
          "0x10000000000000000",
          "9:00",
          "24:00",
          "24:00:00",
          "1:02:03",
          "12:00:60",
          "12:00:00.",
          "12:00:00.1234567891",
          "P",
          "PT",
          "P1Y",
          "P1M",
          "Peter",
          "5 days",
          "1 day",
          "-0:00:01",
          "26:00:00",
          "P300000000D",
          "P200000DT0.1234567S",
          "\xC3\xA9"}},
    };
    for (const Examples& group : examples) {
        for (const std::string& text : group.texts) {
            CHECK_EQ(kind_of(text), group.kind);
            if (kind_of(text) != group.kind) std::cerr << "  text: " << text << '\n';
        }
    }
}

Kind kind(u32 number) { return static_cast<Kind>(number); }

void test_join_laws() {
    for (u32 a = 0; a < KIND_COUNT; ++a) {
        CHECK_EQ(join(kind(a), kind(a)), kind(a));
        CHECK_EQ(join(Kind::empty, kind(a)), kind(a));
        CHECK_EQ(join(kind(a), Kind::text), Kind::text);
        for (u32 b = 0; b < KIND_COUNT; ++b) {
            const Kind both = join(kind(a), kind(b));
            CHECK_EQ(join(kind(b), kind(a)), both);
            CHECK_EQ(join(kind(a), both), both);
            for (u32 c = 0; c < KIND_COUNT; ++c) {
                CHECK_EQ(join(both, kind(c)), join(kind(a), join(kind(b), kind(c))));
            }
        }
    }
}

void test_joins() {
    struct Join {
        Kind a, b, result;
    };
    const Join joins[] = {
        {Kind::natural, Kind::negative, Kind::negative},
        {Kind::natural, Kind::uint64, Kind::uint64},
        {Kind::natural, Kind::float64, Kind::float64},
        {Kind::negative, Kind::float64, Kind::float64},
        {Kind::date, Kind::timestamp_us, Kind::timestamp_us},
        {Kind::date, Kind::timestamp_ns, Kind::timestamp_ns},
        {Kind::timestamp_us, Kind::timestamp_ns, Kind::timestamp_ns},
        {Kind::timestamp_us_utc, Kind::timestamp_ns_utc, Kind::timestamp_ns_utc},
        {Kind::time_us, Kind::time_ns, Kind::time_ns},
        {Kind::duration_us, Kind::duration_ns, Kind::duration_ns},
        {Kind::hex, Kind::hex_uint64, Kind::hex_uint64},
    };
    u32 comparable = 0;
    for (const Join& example : joins) {
        CHECK_EQ(join(example.a, example.b), example.result);
        CHECK_EQ(join(example.b, example.a), example.result);
    }
    // All other pairs of different kinds, none of them empty, are text.
    for (u32 a = 1; a < KIND_COUNT; ++a) {
        for (u32 b = a + 1; b < KIND_COUNT; ++b) comparable += join(kind(a), kind(b)) != Kind::text;
    }
    CHECK_EQ(comparable, u32{sizeof joins / sizeof joins[0]});
}

// A plain text has a kind of the set only if `classify` says so, for every text of up to six of these characters.
void test_plain_kinds_are_classified() {
    const char characters[] = {'0', '7', '.', '-', 'e', '+'};
    const u32 base = sizeof characters;
    u32 natural = 0, floats = 0;
    for (u32 n = 0; n <= 6; ++n) {
        u32 texts = 1;
        for (u32 i = 0; i < n; ++i) texts *= base;
        for (u32 number = 0; number < texts; ++number) {
            u8 text[8] = {};
            for (u32 i = 0, rest = number; i < n; ++i, rest /= base) text[i] = static_cast<u8>(characters[rest % base]);
            const Kind found = classify(text, n);
            if (is_plainly_of(set_of(Kind::natural), text, n)) CHECK_EQ(found, Kind::natural), ++natural;
            if (is_plainly_of(set_of(Kind::float64), text, n)) CHECK_EQ(found, Kind::float64), ++floats;
            CHECK(!is_plainly_of(0, text, n));
        }
    }
    // 0 and 7, and numbers of up to six digits without a leading zero.
    CHECK_EQ(natural, 2u + 2u + 4u + 8u + 16u + 32u);
    CHECK(floats > 50);
    const u8 long_digits[] = "123456789012345678";
    CHECK(is_plainly_of(set_of(Kind::natural), long_digits, 18));
}

}  // namespace

int main() {
    test_classes();
    test_plain_kinds_are_classified();
    test_join_laws();
    test_joins();
    return check::finish();
}
