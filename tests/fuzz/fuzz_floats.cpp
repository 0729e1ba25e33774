// Text to float and double, against a grammar by hand and the C library's strtod, which rounds correctly.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "columns/rules/numbers/parse_float.hpp"
#include "fuzz.hpp"

using namespace headrace;

namespace {

constexpr usize LONGEST = 2000;

bool is_word(const char* text) {
    static const char* const WORDS[] = {"nan", "inf", "infinity"};
    for (const char* word : WORDS) {
        if (strcasecmp(text, word) == 0) return true;
    }
    return false;
}

usize skip_digits(const char*& p) {
    const char* const from = p;
    while (*p >= '0' && *p <= '9') ++p;
    return static_cast<usize>(p - from);
}

// [+-]? (digits [. digits*] | . digits) ([eE][+-]?digits)?, or a word.
bool is_float(const char* p) {
    if (*p == '+' || *p == '-') ++p;
    if (is_word(p)) return true;
    usize digits = skip_digits(p);
    if (*p == '.') digits += skip_digits(++p);
    if (digits == 0) return false;
    if (*p == 'e' || *p == 'E') {
        ++p;
        if (*p == '+' || *p == '-') ++p;
        if (skip_digits(p) == 0) return false;
    }
    return *p == '\0';
}

template <class T, class Convert>
void check_type(const u8* p, usize n, const char* text, bool valid, Convert convert) {
    T value = 77;
    const Parse status = parse_float<T>(p, n, value);
    if (!valid) {
        REQUIRE(status == Parse::invalid);
        return;
    }
    const T expected = convert(text, nullptr);
    if (std::isnan(expected)) {
        REQUIRE(status == Parse::ok && std::isnan(value) && std::signbit(value) == (text[0] == '-'));
        return;
    }
    REQUIRE(std::memcmp(&value, &expected, sizeof(T)) == 0);
    const bool infinite_word = text[1] == 'i' || text[1] == 'I' || text[0] == 'i' || text[0] == 'I';
    REQUIRE(status == (std::isinf(expected) && !infinite_word ? Parse::overflow : Parse::ok));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > LONGEST) return 0;
    char text[LONGEST + 1];
    std::memcpy(text, data, size);
    text[size] = '\0';
    const bool valid = std::strlen(text) == size && is_float(text);
    check_type<double>(data, size, text, valid, std::strtod);
    check_type<float>(data, size, text, valid, std::strtof);
    return 0;
}
