// Decimals against hand-written literals, against every position of the point, and against digits moved as text.
#include <string>
#include <vector>

#include "check.hpp"
#include "columns/rules/numbers/parse_decimal.hpp"

using namespace headrace;

namespace {

__extension__ using i128 = __int128;
__extension__ using u128 = unsigned __int128;

u128 wrapping_value(Int128 value) { return static_cast<u128>(value.high) << 64 | value.low; }
i128 signed_value(Int128 value) { return static_cast<i128>(wrapping_value(value)); }

Parse parse(const std::string& text, i32 precision, i32 scale, i128& out) {
    const std::vector<u8> exact(text.begin(), text.end());
    Int128 value = {7, 7};
    const Parse status = parse_decimal128(exact.data(), exact.size(), precision, scale, value);
    out = signed_value(value);
    return status;
}

i128 number(const std::string& digits) {
    i128 value = 0;
    for (const char c : digits) {
        if (c != '-') value = value * 10 + (c - '0');
    }
    return digits[0] == '-' ? -value : value;
}

struct Example {
    std::string text;
    i32 precision, scale;
    Parse status;
    std::string value;
};

void test_examples() {
    const Parse ok = Parse::ok, overflow = Parse::overflow, invalid = Parse::invalid;
    const std::string nines(38, '9');
    const std::vector<Example> examples = {
        {"1.5", 5, 2, ok, "150"},
        {"-1.50", 5, 2, ok, "-150"},
        {"+.5", 5, 2, ok, "50"},
        {"5.", 5, 2, ok, "500"},
        {"1.250", 5, 2, ok, "125"},
        {"0.125", 5, 2, overflow, ""},
        {"999.99", 5, 2, ok, "99999"},
        {"1000", 5, 2, overflow, ""},
        {"00000000000000000000000000000000000001", 1, 0, ok, "1"},
        {"1e2", 5, 2, ok, "10000"},
        {"1E+3", 5, 2, overflow, ""},
        {"1e-2", 5, 2, ok, "1"},
        {"1e-3", 5, 2, overflow, ""},
        {"1000e-3", 5, 2, ok, "100"},
        {"0e999999999999999999999999", 5, 2, ok, "0"},
        {"1e999999999999999999999999", 5, 2, overflow, ""},
        {"1e-999999999999999999999999", 5, 2, overflow, ""},
        {"-0.000", 5, 2, ok, "0"},
        {nines, 38, 0, ok, nines},
        {"-" + nines, 38, 0, ok, "-" + nines},
        {nines + "0", 38, 0, overflow, ""},
        {nines + ".0", 38, 0, ok, nines},
        {nines + ".00000000000000000001", 38, 0, overflow, ""},
        {"1" + std::string(38, '0'), 38, 0, overflow, ""},
        {"0." + nines, 38, 38, ok, nines},
        {"1", 38, 38, overflow, ""},
        {"1" + std::string(500, '0') + "e-500", 38, 2, ok, "100"},
        {"0." + std::string(500, '0') + "15e501", 38, 2, ok, "150"},
        {"123456789012345678901.50", 38, 1, ok, "1234567890123456789015"},
        {"12345678901234567890.1234567890000", 38, 9, ok, "12345678901234567890123456789"},
        {"12345678901234567890.1234567890000", 38, 8, overflow, ""},
        {"12345678901234567890.1234567890000", 38, 10, ok, "123456789012345678901234567890"},
        {"", 5, 2, invalid, ""},
        {"-", 5, 2, invalid, ""},
        {".", 5, 2, invalid, ""},
        {"1e", 5, 2, invalid, ""},
        {"e5", 5, 2, invalid, ""},
        {"1.2.3", 5, 2, invalid, ""},
        {"nan", 5, 2, invalid, ""},
        {"inf", 5, 2, invalid, ""},
        {"1,5", 5, 2, invalid, ""},
        {" 1", 5, 2, invalid, ""},
        {"0x1", 5, 2, invalid, ""},
        {"1000000x", 5, 2, invalid, ""},
    };
    for (const Example& example : examples) {
        i128 value;
        const Parse status = parse(example.text, example.precision, example.scale, value);
        CHECK_EQ(status, example.status);
        if (status == Parse::ok) CHECK(value == number(example.value));
        if (status != example.status) std::cerr << "  text: " << example.text << '\n';
    }
}

// Digits with a point anywhere, zeros around them, for every precision and scale. The value is the digits with the
// zeros that the scale asks for, if only zeros would have to go.
void test_every_scale() {
    check::Random random("decimals");
    for (int round = 0; round < 60; ++round) {
        std::string digits(1, static_cast<char>('1' + random.below(9)));
        for (u64 more = random.below(38); more > 0; --more) digits += static_cast<char>('0' + random.below(10));
        digits.back() = static_cast<char>('1' + random.below(9));
        const int length = static_cast<int>(digits.size());
        const int behind = static_cast<int>(random.below(static_cast<u64>(length) + 1));
        const std::string zeros(random.below(12), '0');
        std::string text = zeros + digits.substr(0, static_cast<usize>(length - behind)) + "." +
                           digits.substr(static_cast<usize>(length - behind)) + std::string(random.below(12), '0');
        for (i32 precision = 1; precision <= 38; ++precision) {
            for (i32 scale = 0; scale <= precision; ++scale) {
                i128 value;
                const bool fits = scale >= behind && length + scale - behind <= precision;
                CHECK_EQ(parse(text, precision, scale, value), fits ? Parse::ok : Parse::overflow);
                if (fits) CHECK(value == number(digits + std::string(static_cast<usize>(scale - behind), '0')));
                CHECK_EQ(parse("-" + text, precision, scale, value), fits ? Parse::ok : Parse::overflow);
                if (fits) CHECK(value == -number(digits + std::string(static_cast<usize>(scale - behind), '0')));
            }
        }
    }
}

void test_int128() {
    check::Random random("int128");
    for (int round = 0; round < 10000; ++round) {
        const Int128 a = {random.next() >> random.below(64), random.next()};
        const Int128 b = {random.next(), random.next() >> random.below(64)};
        const u64 factor = random.next() >> random.below(64);
        CHECK(wrapping_value(add(a, b)) == wrapping_value(a) + wrapping_value(b));
        CHECK(wrapping_value(negate(a)) == 0 - wrapping_value(a));
        CHECK(wrapping_value(multiply(a, factor)) == wrapping_value(a) * factor);
        CHECK(wrapping_value(multiply(b.low, factor)) == static_cast<u128>(b.low) * factor);
    }
    for (const i128 value : {i128{0}, i128{-1}, i128{1} << 63, -(i128{1} << 63), (i128{1} << 63) - 1}) {
        const Int128 made = {static_cast<u64>(value), static_cast<u64>(value >> 64)};
        CHECK_EQ(fits_64_bits(made), value == static_cast<i64>(value));
    }
}

}  // namespace

int main() {
    test_examples();
    test_every_scale();
    test_int128();
    return check::finish();
}
