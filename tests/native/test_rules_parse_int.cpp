// Text to integer, at every boundary of every width.
#include <string>

#include "check.hpp"
#include "columns/rules/numbers/parse_int.hpp"

using namespace headrace;

namespace {

using i128 = __int128;

std::string decimal(i128 value) {
    if (value < 0) return std::string("-") += decimal(-value);
    const std::string last(1, static_cast<char>('0' + static_cast<int>(value % 10)));
    return value < 10 ? last : decimal(value / 10) + last;
}

template <class T>
Parse parse(const std::string& text, T& out) {
    // A copy of the exact size, so that a read after the text is seen.
    const std::string exact(text);
    return parse_int(reinterpret_cast<const u8*>(exact.data()), exact.size(), out);
}

template <class T>
void expect(const std::string& text, i128 value, i128 lowest, i128 highest) {
    T out = 77;
    const bool fits = lowest <= value && value <= highest;
    CHECK_EQ(parse(text, out), fits ? Parse::ok : Parse::overflow);
    CHECK(out == (fits ? static_cast<T>(value) : T{77}));
}

template <class T>
void test_boundaries() {
    constexpr bool IS_SIGNED = static_cast<T>(-1) < 0;
    const i128 range = i128{1} << (8 * sizeof(T));
    const i128 lowest = IS_SIGNED ? -range / 2 : 0;
    const i128 highest = lowest + range - 1;
    for (const i128 centre : {lowest, i128{0}, highest, lowest * 10, highest * 10, highest * 2}) {
        for (int step = -1100; step <= 1100; ++step) {
            const i128 value = centre + step;
            const std::string text = decimal(value);
            expect<T>(text, value, lowest, highest);
            const usize sign = value < 0 ? 1 : 0;
            std::string padded = text;
            padded.insert(sign, static_cast<usize>(step + 1100) % 41, '0');
            expect<T>(padded, value, lowest, highest);
            if (value >= 0) expect<T>("+" + padded, value, lowest, highest);
        }
    }
}

template <class T>
void test_powers_of_ten() {
    constexpr bool IS_SIGNED = static_cast<T>(-1) < 0;
    const i128 range = i128{1} << (8 * sizeof(T));
    i128 power = 1;
    for (int digits = 0; digits < 36; ++digits, power *= 10) {
        for (const i128 value : {power - 1, power, power + 1, -power, -power + 1, -power - 1}) {
            expect<T>(decimal(value), value, IS_SIGNED ? -range / 2 : 0, IS_SIGNED ? range / 2 - 1 : range - 1);
        }
    }
}

template <class T>
void test_shape() {
    T out = 77;
    for (const char* text : {"",
                             "+",
                             "-",
                             "--1",
                             "+-1",
                             "-+1",
                             " 1",
                             "1 ",
                             "1.0",
                             "1e3",
                             "0x",
                             "-0x",
                             "0xg",
                             "0x1G",
                             "0x@",
                             "0x`",
                             "00x1",
                             "0x-1",
                             "x10",
                             "0x1 ",
                             "0xFFFFFFFFFFFFFFFFFFFF.",
                             "1_000",
                             "1,000",
                             "/",
                             ":",
                             "12345678/",
                             "1234567:",
                             "123456789012345678a",
                             "99999999999999999999999x",
                             "x99999999999999999999",
                             "12345678\xFA",
                             "\xFA\xFB\xFC\xFD\xFE\xFF\x30\x31",
                             "1234567-",
                             "1-2"}) {
        CHECK_EQ(parse(text, out), Parse::invalid);
    }
    CHECK_EQ(out, T{77});
    CHECK_EQ(parse(std::string("1\0", 2), out), Parse::invalid);
    CHECK_EQ(parse("-0", out), Parse::ok);
    CHECK_EQ(out, T{0});
    CHECK_EQ(parse("+007", out), Parse::ok);
    CHECK_EQ(out, T{7});
    CHECK_EQ(parse(std::string(5000, '9'), out), Parse::overflow);
    CHECK_EQ(parse("-" + std::string(5000, '9'), out), Parse::overflow);
    CHECK_EQ(parse(std::string(5000, '0') + "12", out), Parse::ok);
    CHECK_EQ(out, T{12});
    // 2^64 + 5 and 2^128 + 5 must not pass for 5.
    CHECK_EQ(parse("18446744073709551621", out), Parse::overflow);
    CHECK_EQ(parse("340282366920938463463374607431768211461", out), Parse::overflow);
}

// Numbers near every power of two, with both signs, in capital and small letters, with leading zeros.
template <class T>
void test_hex() {
    constexpr bool IS_SIGNED = static_cast<T>(-1) < static_cast<T>(0);
    const i128 range = static_cast<i128>(1) << (8 * sizeof(T));
    const i128 low = IS_SIGNED ? -range / 2 : 0, high = IS_SIGNED ? range / 2 - 1 : range - 1;
    for (int bits = 0; bits <= 68; ++bits) {
        for (int near = -1; near <= 1; ++near) {
            const i128 value = (static_cast<i128>(1) << bits) + near;
            std::string small;
            for (i128 rest = value; rest > 0; rest /= 16)
                small.insert(small.begin(), "0123456789abcdef"[static_cast<int>(rest % 16)]);
            std::string capital = small;
            for (char& c : capital) c = static_cast<char>(std::toupper(c));
            expect<T>("0x0" + small, value, low, high);
            expect<T>("+0X" + capital + (capital.empty() ? "0" : ""), value, low, high);
            expect<T>("-0x" + std::string(30, '0') + small, -value, low, high);
        }
    }
}

template <class T>
void test_type() {
    test_hex<T>();
    test_boundaries<T>();
    test_powers_of_ten<T>();
    test_shape<T>();
}

// Every byte in every place of eight digits.
void test_digit_words() {
    for (int place = 0; place < 8; ++place) {
        for (int byte = 0; byte < 256; ++byte) {
            std::string text = "91827364";
            text[static_cast<usize>(place)] = static_cast<char>(byte);
            const u64 word = load_word(reinterpret_cast<const u8*>(text.data()));
            const bool digit = byte >= '0' && byte <= '9';
            CHECK_EQ(is_eight_digits(word), digit);
            if (digit) CHECK_EQ(value_of_eight_digits(word), std::stoull(text));
        }
    }
}

void test_leading_zeros() {
    const auto leading_zero = [](std::string_view text) {
        return has_leading_zero(reinterpret_cast<const u8*>(text.data()), text.size());
    };
    for (const char* text : {"007", "-01", "+01", "00.5", "00", "-00"}) CHECK(leading_zero(text));
    for (const char* text : {"", "0", "-0", "0.5", "-0.5", "10", "0e5", "-", "--01", "a01", ".00"})
        CHECK(!leading_zero(text));
}

}  // namespace

int main() {
    test_type<i8>();
    test_type<i16>();
    test_type<i32>();
    test_type<i64>();
    test_type<u8>();
    test_type<u16>();
    test_type<u32>();
    test_type<u64>();
    test_digit_words();
    test_leading_zeros();
    return check::finish();
}
