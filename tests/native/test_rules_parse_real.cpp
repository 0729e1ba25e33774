// NaN with payloads against strtod and strtof of the C library, which read quiet ones, and against bits by hand.
#include <cstdlib>
#include <string>
#include <vector>

#include "check.hpp"
#include "columns/rules/numbers/parse_real.hpp"

using namespace headrace;

namespace {

template <class T>
Parse parse(const std::string& text, T& out) {
    const std::vector<u8> exact(text.begin(), text.end());  // on the heap, so that a read after the text is seen
    return parse_real(exact.data(), exact.size(), out);
}

template <class T>
typename FloatFormat<T>::Bits bits_of(T value) {
    return bits_as<typename FloatFormat<T>::Bits>(value);
}

void expect_like_c(const std::string& text) {
    double wide = 7;
    CHECK_EQ(parse(text, wide), Parse::ok);
    CHECK_EQ(bits_of(wide), bits_of(std::strtod(text.c_str(), nullptr)));
    float narrow = 7;
    CHECK_EQ(parse(text, narrow), Parse::ok);
    CHECK_EQ(bits_of(narrow), bits_of(std::strtof(text.c_str(), nullptr)));
}

void test_quiet() {
    for (const char* text :
         {"nan", "-NaN", "nan(0x0)", "nan(0x1)", "-NaN(0X3fffff)", "+NAN(0xaB)", "nan(0x00000000000000000001)"})
        expect_like_c(text);
}

void test_signaling() {
    double wide = 7;
    CHECK_EQ(parse("sNaN(0x1)", wide), Parse::ok);
    CHECK_EQ(bits_of(wide), u64{0x7FF0000000000001});
    CHECK_EQ(parse("-SNAN(0x7FFFFFFFFFFFF)", wide), Parse::ok);
    CHECK_EQ(bits_of(wide), u64{0xFFF7FFFFFFFFFFFF});
    float narrow = 7;
    CHECK_EQ(parse("+snan(0x3fffff)", narrow), Parse::ok);
    CHECK_EQ(bits_of(narrow), u32{0x7FBFFFFF});
}

void test_invalid() {
    double wide = 7;
    float narrow = 7;
    for (const char* text :
         {"snan", "snan(0x0)", "nan(", "nan()", "nan(0x)", "nan(0xg)", "nan(1)", "nan(0x1", "nan0x1)", "nan(0x1)1",
          "nan(0x8000000000000)", "nan(0x10000000000000001)", "ssnan(0x1)", "s", "-s",
          "nan\x08"
          "0x1)",
          "(0x1)"}) {
        CHECK_EQ(parse(text, wide), Parse::invalid);
        CHECK_EQ(parse(text, narrow), Parse::invalid);
    }
    CHECK_EQ(parse("nan(0x400000)", narrow), Parse::invalid);
    CHECK_EQ(parse("nan(0x400000)", wide), Parse::ok);
    CHECK_EQ(parse("1.5", narrow), Parse::ok);
    CHECK_EQ(narrow, 1.5F);
}

}  // namespace

int main() {
    test_quiet();
    test_signaling();
    test_invalid();
    return check::finish();
}
