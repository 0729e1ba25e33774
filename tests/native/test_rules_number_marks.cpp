// Number marks against hand-written plain forms, and grouped numbers against the number that was written.
#include <string>
#include <vector>

#include "check.hpp"
#include "columns/rules/numbers/number_marks.hpp"

using namespace headrace;

namespace {

std::string plain(const std::string& text, u8 decimal, i16 thousands) {
    const std::vector<u8> exact(text.begin(), text.end());
    std::vector<u8> to(text.size());
    usize size = 0;
    if (!to_plain_number({decimal, thousands}, exact.data(), exact.size(), to.data(), size)) return "refused";
    return std::string(to.begin(), to.begin() + static_cast<long>(size));
}

struct Example {
    const char* text;
    const char* english;   // point and comma
    const char* german;    // comma and point
    const char* decimals;  // comma alone
};

void test_examples() {
    const char* const no = "refused";
    const Example examples[] = {
        {"", "", "", ""},
        {"0", "0", "0", "0"},
        {"-1", "-1", "-1", "-1"},
        {"+12", "+12", "+12", "+12"},
        {"1234", "1234", "1234", "1234"},
        {"1,234", "1234", "1.234", "1.234"},
        {"1.234", "1.234", "1234", no},
        {"1,23", no, "1.23", "1.23"},
        {"12,34", no, "12.34", "12.34"},
        {"1234,567", no, "1234.567", "1234.567"},
        {"1,234,567.5", "1234567.5", no, no},
        {"1.234.567,5", no, "1234567.5", no},
        {"-12.345,678", "-12.345,678", "-12345.678", no},
        {"1.5e3", "1.5e3", no, no},
        {"1,5e3", no, "1.5e3", "1.5e3"},
        {"1,234e5", "1234e5", "1.234e5", "1.234e5"},
        {",5", no, ".5", ".5"},
        {".5", ".5", no, no},
        {"5,", no, "5.", "5."},
        {"1,234,", no, "1.234,", "1.234,"},
        {"1,,234", no, "1.,234", "1.,234"},
        {"-,5", no, "-.5", "-.5"},
        {"nan", "nan", "nan", "nan"},
    };
    for (const Example& example : examples) {
        CHECK_EQ(plain(example.text, '.', ','), std::string(example.english));
        CHECK_EQ(plain(example.text, ',', '.'), std::string(example.german));
        CHECK_EQ(plain(example.text, ',', NO_MARK), std::string(example.decimals));
        const std::string text = example.text;
        if (text.find(',') == std::string::npos) CHECK_EQ(plain(text, '.', NO_MARK), text);
    }
}

// Every way of putting marks between the digits of a number: one of them, at most, is a grouping.
void test_every_place() {
    for (usize digits = 1; digits <= 10; ++digits) {
        const std::string number = std::string("1234567890").substr(0, digits);
        for (u32 marks = 0; marks < 1u << digits; ++marks) {
            std::string text;
            bool right = true;
            for (usize i = 0; i < digits; ++i) {
                const bool due = i > 0 && (digits - i) % 3 == 0;
                const bool there = (marks >> i & 1) != 0;
                if (there) text += '\'';
                right = right && due == there;
                text += number[i];
            }
            CHECK_EQ(plain(text, '.', '\''), right || marks == 0 ? number : std::string("refused"));
            CHECK_EQ(plain("-" + text + ".5", '.', '\''), right || marks == 0 ? "-" + number + ".5" : "refused");
        }
    }
}

// A byte of 0xFF is no mark if there is no mark.
void test_no_mark() {
    CHECK_EQ(plain("1\xFF"
                   "234",
                   '.', NO_MARK),
             std::string("1\xFF"
                         "234"));
}

}  // namespace

int main() {
    CHECK(are_usual({}) && !are_usual({',', NO_MARK}) && !are_usual({'.', ','}));
    test_examples();
    test_every_place();
    test_no_mark();
    return check::finish();
}
