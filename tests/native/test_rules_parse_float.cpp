// Text to floating point against strtod and strtof of the C library, which round correctly, and hand-written literals.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "columns/rules/numbers/parse_float.hpp"

using namespace headrace;

namespace {

template <class T>
T reference(const char* text) {
    if constexpr (sizeof(T) == 4) {
        return std::strtof(text, nullptr);
    } else {
        return std::strtod(text, nullptr);
    }
}

template <class T>
bool same_bits(T a, T b) {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
Parse parse(const std::string& text, T& out) {
    const std::vector<u8> exact(text.begin(), text.end());  // on the heap, so that a read after the text is seen
    return parse_float(exact.data(), exact.size(), out);
}

template <class T>
void expect_like_c_as(const std::string& text) {
    const T expected = reference<T>(text.c_str());
    T actual = 77;
    const Parse status = parse(text, actual);
    const bool good = same_bits(actual, expected) && status == (std::isinf(expected) ? Parse::overflow : Parse::ok);
    CHECK(good);
    if (!good && check::failed < 20) std::cerr << "  " << 8 * sizeof(T) << " bits of " << text.substr(0, 80) << '\n';
}

void expect_like_c(const std::string& text) {
    expect_like_c_as<double>(text);
    expect_like_c_as<float>(text);
}

std::string format(const char* pattern, int digits, double value) {
    char buffer[1200];
    const int size = std::snprintf(buffer, sizeof buffer, pattern, digits, value);
    return {buffer, static_cast<usize>(size)};
}

std::string exact_digits(long double value) {
    char buffer[1200];
    const int size = std::snprintf(buffer, sizeof buffer, "%.*Le", 820, value);
    return {buffer, static_cast<usize>(size)};
}

template <class T, class Bits>
T random_finite(check::Random& random) {
    for (;;) {
        const T value = bits_as<T>(static_cast<Bits>(random.next()));
        if (std::isfinite(value)) return value;
    }
}

void test_printed_floats() {
    check::Random random("printed floats");
    for (int i = 0; i < 100000; ++i) {
        const double value = random_finite<double, u64>(random);
        const float narrow = random_finite<float, u32>(random);
        expect_like_c(format("%.*e", static_cast<int>(random.below(25)), value));
        expect_like_c(format("%.*e", static_cast<int>(random.below(25)), static_cast<double>(narrow)));
        // A written number must parse to the same value.
        double back;
        CHECK(parse(format("%.*g", 17, value), back) == Parse::ok && same_bits(back, value));
        float narrow_back;
        CHECK(parse(format("%.*g", 9, static_cast<double>(narrow)), narrow_back) == Parse::ok &&
              same_bits(narrow_back, narrow));
    }
}

// Prices, coordinates, measurements: the usual numbers of files.
void test_everyday_numbers() {
    check::Random random("everyday numbers");
    for (int i = 0; i < 100000; ++i) {
        const double value = (static_cast<double>(random.below(2000000000)) - 1e9) / 1e3;
        const double scaled = value / std::pow(10, static_cast<double>(random.below(9)));
        expect_like_c(format("%.*f", static_cast<int>(random.below(19)), scaled));
    }
}

std::string random_digits(check::Random& random, usize count) {
    std::string digits;
    // Zeros, nines and fives are where carries and ties are.
    const bool plain = random.below(2) != 0;
    for (usize i = 0; i < count; ++i)
        digits += plain ? static_cast<char>('0' + random.below(10)) : "0099591"[random.below(7)];
    return digits;
}

void test_random_texts() {
    check::Random random("random texts");
    for (int i = 0; i < 125000; ++i) {
        std::string text = random.below(2) != 0 ? "" : random.below(2) != 0 ? "-" : "+";
        const usize longest = random.below(20) == 0 ? 900 : 26;
        const usize before = random.below(longest);
        text += random_digits(random, before);
        if (before == 0 || random.below(4) != 0) {
            text += ".";
            text += random_digits(random, random.below(longest) + (before == 0 ? 1 : 0));
        }
        if (random.below(3) != 0) {
            text += random.below(2) != 0 ? "e" : "E";
            const int range = random.below(4) == 0 ? 1000 : 60;
            text += std::to_string(static_cast<int>(random.below(static_cast<u64>(2 * range))) - range);
        }
        expect_like_c(text);
    }
}

// The digit at the end one up or one down, and more digits after it.
void expect_neighbours_like_c(std::string text) {
    const usize exponent = text.find('e');
    const std::string tail = text.substr(exponent);
    text.resize(exponent);
    text.resize(text.find_last_not_of('0') + 1);
    expect_like_c(text + tail);
    expect_like_c("-" + text + "000" + tail);
    expect_like_c(text + "0000000000000000000000000000000000000000001" + tail);
    expect_like_c(text + std::string(900, '0') + "1" + tail);
    const std::string start = text.substr(0, text.size() - 1);
    const char last = text.back();
    for (const char digit : {static_cast<char>(last - 1), static_cast<char>(last + 1)}) {
        if (digit < '0' || digit > '9') continue;
        text = start + digit;
        expect_like_c(text + tail);
        expect_like_c(text + std::string(900, '9') + tail);
    }
}

// Midpoints have one bit more than the type, so a wider type holds them and prints every digit.
void test_midpoints() {
    check::Random random("midpoints");
    for (int i = 0; i < 6000; ++i) {
        u64 bits = random.next() & 0x7FFFFFFFFFFFFFFF;
        if (i % 4 == 0) bits &= 0x000FFFFFFFFFFFFF;                               // subnormal
        if (i % 4 == 1) bits = (bits & 0x007FFFFFFFFFFFFF) + 0x3F80000000000000;  // around 1
        const double low = bits_as<double>(bits);
        const double high = bits_as<double>(bits + 1);
        if (!std::isfinite(high)) continue;
        const long double midpoint = (static_cast<long double>(low) + high) / 2;
        const std::string text = exact_digits(midpoint);
        double value;
        CHECK(parse(text, value) == Parse::ok && same_bits(value, bits % 2 == 0 ? low : high));
        expect_neighbours_like_c(text);
    }
    for (int i = 0; i < 20000; ++i) {
        u32 bits = static_cast<u32>(random.next()) & 0x7FFFFFFF;
        if (i % 4 == 0) bits &= 0x007FFFFF;
        const float low = bits_as<float>(bits);
        const float high = bits_as<float>(bits + 1);
        if (!std::isfinite(high)) continue;
        const std::string text = exact_digits((static_cast<double>(low) + high) / 2);
        float value;
        CHECK(parse(text, value) == Parse::ok && same_bits(value, bits % 2 == 0 ? low : high));
        expect_neighbours_like_c(text);
    }
}

// Ties short enough for 19 digits: the power of five is negative, so the table's entry is not exact.
void test_short_ties() {
    check::Random random("short ties");
    for (int i = 0; i < 50000; ++i) {
        const u64 odd = (u64{1} << 24) + 2 * random.below(u64{1} << 23) + 1;
        const double tie = std::ldexp(static_cast<double>(odd), -static_cast<int>(random.below(13)));
        expect_like_c(format("%.*f", 13, tie));
        const u64 whole =
            (u64{1} << 53) + 2 * random.below(u64{1} << 52) + 1;  // a tie of doubles, and x.5 or x.25 as well
        expect_like_c(std::to_string(whole));
        expect_like_c(std::to_string(whole / 2) + ".5");
        expect_like_c(std::to_string(whole / 4) + ".25");
        expect_like_c(std::to_string(whole / 4) + ".75");
    }
}

void test_limits() {
    const double largest = std::numeric_limits<double>::max();
    const long double beyond = static_cast<long double>(largest) + std::ldexp(1.0L, 970);  // the midpoint with 2^1024
    expect_neighbours_like_c(exact_digits(beyond));
    expect_neighbours_like_c(exact_digits(largest));
    const double narrow_beyond = static_cast<double>(std::numeric_limits<float>::max()) + std::ldexp(1.0, 103);
    expect_neighbours_like_c(exact_digits(narrow_beyond));
    for (const int power :
         {-1075, -1074, -1073, -1023, -1022, -1021, -151, -150, -149, -148, -127, -126, -125, 127, 128, 1023}) {
        expect_neighbours_like_c(exact_digits(std::ldexp(1.0L, power)));
        expect_neighbours_like_c(exact_digits(std::ldexp(1.5L, power)));
        expect_neighbours_like_c(exact_digits(std::ldexp(0.99999999999L, power)));
    }
    for (int power = -400; power <= 400; ++power) {
        for (const char* digits :
             {"1", "9", "1.7976931348623157", "1.7976931348623159", "2.2250738585072011", "4.9", "2.4703282292062327",
              "2.4703282292062328", "3.4028234", "3.4028236", "7.0064923", "7.0064924", "9.999999999999999999",
              "1844674407370955161.5", "18446744073709551616", "0.000000000000000000000000000000000001"}) {
            expect_like_c(std::string(digits) + "e" + std::to_string(power));
        }
    }
}

void test_long_texts() {
    const std::string zeros(5000, '0');
    const std::string nines(5000, '9');
    const std::string ones(5000, '1');
    for (const std::string& digits : {zeros, nines, ones}) {
        for (const char* tail : {"", ".", ".5", "e-5000", "e-4990", "e-5310", "e-5323", "e-5324", "e-5400", "e-4692",
                                 "e-4691", "e-4962"}) {
            expect_like_c(digits + tail);
            expect_like_c("1" + digits + tail);
            if (tail[0] == '.') continue;
            expect_like_c("0." + digits + tail);
            expect_like_c("0." + zeros + digits + tail);
            expect_like_c(digits + "." + digits + tail);
        }
    }
    expect_like_c("0." + zeros + "1e5001");
    expect_like_c("0." + zeros + "123456789012345678901234567890e5010");
    expect_like_c("1" + zeros + "e-5000");
    expect_like_c("1" + zeros + "." + zeros + "1e-5000");
    for (const char* exponent :
         {"999999999999999999999", "-999999999999999999999", "+9223372036854775807", "9223372036854775808",
          "-9223372036854775808", "18446744073709551617", "-18446744073709551615", "4294967296", "-4294967297",
          "2147483648", "00000000000000000000000000000000001", "-0", "+0"}) {
        for (const char* digits : {"1", "0", "0.0", "-0", "-1.5", "123456789012345678901234567890"}) {
            expect_like_c(std::string(digits) + "e" + exponent);
        }
    }
    expect_like_c("1e" + nines);
    expect_like_c("1e-" + nines);
    expect_like_c("0e" + nines);
    expect_like_c("1e" + zeros + "5");
}

template <class T>
void test_grammar() {
    T out = 77;
    for (const char* text :
         {"",    "+",   "-",     ".",         "+.",          "-.",    "e5",    ".e5",     "1e",
          "1e+", "1e-", "1.5e",  "1e5.",      "1e5.0",       "1e5e5", "1.2.3", "..1",     "1..",
          "--1", "+-1", "1-",    " 1",        "1 ",          "1,5",   "0x10",  "0x1p3",   "1f",
          "1d5", "1_0", "na",    "nann",      "nan(1)",      "in",    "infi",  "infinit", "infinityx",
          "i",   "-",   "- nan", "12345678/", "1.12345678:", "n\xC1n"}) {
        CHECK_EQ(parse(text, out), Parse::invalid);
    }
    CHECK_EQ(out, T{77});
    CHECK_EQ(parse(std::string("1\0", 2), out), Parse::invalid);
    for (const char* text : {"1.", ".5", "-.5", "+1.5E+3", "0005", "1e005", "00.50", "-0", "0", "+0.0e-0"})
        expect_like_c_as<T>(text);
    for (const char* text : {"nan", "NaN", "NAN", "+nan", "-nan", "-NaN", "inf", "Inf", "INF", "-inf", "+INF",
                             "infinity", "Infinity", "-INFINITY"}) {
        CHECK_EQ(parse(text, out), Parse::ok);
        CHECK(same_bits(out, reference<T>(text)));
    }
}

// The table against big integers: high * 2^64 + low is 5^q, shifted and rounded down.
void test_powers_of_five() {
    for (i32 q = 0; q <= 308; ++q) {
        BigInteger power;
        set(power, 1);
        multiply_by_power_of_five(power, static_cast<u32>(q));
        const PowerOfFive entry = POWERS_OF_FIVE[q - LOWEST_POWER_OF_FIVE];
        BigInteger low;  // entry * 2^k <= 5^q * 2^128 < (entry + 1) * 2^k
        set(low, entry.high);
        shift_left(low, 64);
        low.words[0] = entry.low;
        shift_left(power, 128);
        const u32 bits = 64 * power.size - static_cast<u32>(leading_zeros(power.words[power.size - 1]));
        shift_left(low, bits - 128);
        CHECK(compare(low, power) <= 0);
        CHECK_EQ(compare(low, power) == 0, q <= LARGEST_EXACT_POWER_OF_FIVE);
        BigInteger unit;
        set(unit, 1);
        shift_left(unit, bits - 128);
        u64 carry = 0;
        for (u32 i = 0; i < low.size; ++i) {
            const u64 sum = low.words[i] + carry;
            carry = sum < carry;
            low.words[i] = sum + (i < unit.size ? unit.words[i] : 0);
            carry += low.words[i] < sum;
        }
        CHECK(carry != 0 || compare(low, power) > 0);
    }
}

}  // namespace

int main() {
    test_printed_floats();
    test_everyday_numbers();
    test_random_texts();
    test_midpoints();
    test_short_ties();
    test_limits();
    test_long_texts();
    test_grammar<double>();
    test_grammar<float>();
    test_powers_of_five();
    return check::finish();
}
