// UTF-8 against an independent decoder on every sequence of up to three bytes, and on lists of good and bad texts.
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "columns/rules/common/text_match.hpp"
#include "columns/rules/utf8.hpp"

using namespace headrace;

namespace {

// Length of the first sequence, by decoding it: 0 if the value would be overlong, a surrogate or too large.
usize decoded_length(const u8* p, usize n) {
    static const u32 SMALLEST[] = {0, 0, 0x80, 0x800, 0x10000};
    usize length = 1;
    u32 value = p[0];
    if (value >= 0x80) {
        if ((value & 0xE0) == 0xC0)
            length = 2, value &= 0x1F;
        else if ((value & 0xF0) == 0xE0)
            length = 3, value &= 0x0F;
        else if ((value & 0xF8) == 0xF0)
            length = 4, value &= 0x07;
        else
            return 0;
    }
    if (length > n) return 0;
    for (usize i = 1; i < length; ++i) {
        if ((p[i] & 0xC0) != 0x80) return 0;
        value = value << 6 | (p[i] & 0x3Fu);
    }
    const bool surrogate = value >= 0xD800 && value < 0xE000;
    return value < SMALLEST[length] || value > 0x10FFFF || surrogate ? 0 : length;
}

usize find_by_decoding(const std::vector<u8>& text) {
    usize at = 0;
    while (at < text.size()) {
        const usize length = decoded_length(text.data() + at, text.size() - at);
        if (length == 0) break;
        at += length;
    }
    return at;
}

void expect_like_decoder(const std::vector<u8>& text) {
    CHECK_EQ(find_invalid_utf8(text.data(), text.size()), find_by_decoding(text));
}

void test_every_short_sequence() {
    std::vector<u8> text(2);
    for (u32 value = 0; value < 1u << 16; ++value) {
        text = {static_cast<u8>(value >> 8), static_cast<u8>(value)};
        expect_like_decoder(text);
    }
    for (u32 value = 0x800000; value < 1u << 24; ++value) {
        text = {static_cast<u8>(value >> 16), static_cast<u8>(value >> 8), static_cast<u8>(value)};
        expect_like_decoder(text);
    }
    // Four bytes: every lead and second byte, with the third and fourth at and around the edges.
    for (u32 value = 0x8000; value < 1u << 16; ++value) {
        for (const int third : {0x00, 0x7F, 0x80, 0xBF, 0xC0}) {
            for (const int fourth : {0x41, 0x7F, 0x80, 0xBF, 0xC0, 0xFF}) {
                expect_like_decoder({static_cast<u8>(value >> 8), static_cast<u8>(value), static_cast<u8>(third),
                                     static_cast<u8>(fourth)});
            }
        }
    }
}

std::vector<u8> encode(u32 value) {
    const auto tail = [](u32 bits) { return static_cast<u8>(0x80 | (bits & 0x3F)); };
    if (value < 0x80) return {static_cast<u8>(value)};
    if (value < 0x800) return {static_cast<u8>(0xC0 | value >> 6), tail(value)};
    if (value < 0x10000) return {static_cast<u8>(0xE0 | value >> 12), tail(value >> 6), tail(value)};
    return {static_cast<u8>(0xF0 | value >> 18), tail(value >> 12), tail(value >> 6), tail(value)};
}

void test_every_code_point() {
    for (u32 value = 0; value < 0x110400; ++value) {
        const std::vector<u8> text = encode(value);
        const bool valid = value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
        CHECK_EQ(find_invalid_utf8(text.data(), text.size()), valid ? text.size() : 0);
        if (value % 97 != 0) continue;
        for (usize length = 1; length < text.size(); ++length)
            CHECK_EQ(find_invalid_utf8(text.data(), length), usize{0});
    }
}

// A good or bad sequence in every place around the eight-byte steps.
void test_places() {
    for (const std::string sequence :
         {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\x80", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xC0\x80",
          "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5", "\xFF"}) {
        for (usize before = 0; before <= 20; ++before) {
            for (usize after = 0; after <= 20; ++after) {
                const std::string text = std::string(before, 'x') + sequence + std::string(after, 'y');
                expect_like_decoder({text.begin(), text.end()});
            }
        }
    }
    CHECK_EQ(find_invalid_utf8(nullptr, 0), usize{0});
}

void test_random_texts() {
    check::Random random("utf8");
    for (int i = 0; i < 200000; ++i) {
        std::vector<u8> text;
        const u64 sequences = random.below(20);
        for (u64 k = 0; k < sequences; ++k) {
            u32 value = static_cast<u32>(random.below(random.below(2) != 0 ? 0x80 : 0x110000));
            if (value >= 0xD800 && value < 0xE000) value = 'x';
            for (const u8 byte : encode(value)) text.push_back(byte);
        }
        CHECK_EQ(find_invalid_utf8(text.data(), text.size()), text.size());
        if (!text.empty()) text[random.below(text.size())] = static_cast<u8>(random.next());
        expect_like_decoder(text);
    }
}

// Good sequences and the replacements of bad ones, by the examples of section 3.9, tables 3-8 to 3-11.
void test_replacement() {
    const std::string R = "\xEF\xBF\xBD";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"", ""},
        {"plain", "plain"},
        {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", R + R + R + R + R + R + R + R + "A"},
        {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", R + R + R + R + R + R + R + R + "A"},
        {"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", R + R + R + R + R + "A" + R + R + "B"},
        {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", R + R + R + R + "A"},
        {"\xE2\x82\xAC\xE2\x82", "\xE2\x82\xAC" + R},
        {"\xF0\x9F\x98", R},
    };
    for (const auto& [bytes, expected] : cases) {
        std::string mended(3 * bytes.size(), '\0');
        const auto* p = reinterpret_cast<const u8*>(bytes.data());
        mended.resize(replace_invalid_utf8(p, bytes.size(), reinterpret_cast<u8*>(mended.data())));
        CHECK_EQ(mended, expected);
    }
}

void test_text_match() {
    const auto bytes = [](const char* text) { return reinterpret_cast<const u8*>(text); };
    CHECK(equals(bytes("true"), 4, bytes("true"), 4));
    CHECK(!equals(bytes("true"), 4, bytes("True"), 4));
    CHECK(!equals(bytes("true"), 4, bytes("true"), 3));
    CHECK(!equals(bytes("trux"), 4, bytes("true"), 4));
    CHECK(equals(nullptr, 0, bytes(""), 0));
    CHECK(equals_ignoring_case(bytes("NaN"), 3, "nan"));
    CHECK(!equals_ignoring_case(bytes("NaN"), 2, "nan"));
    CHECK(!equals_ignoring_case(bytes("n\x01n"), 3, "nan"));
    for (int byte = 0; byte < 256; ++byte) {
        const u8 text = static_cast<u8>(byte);
        CHECK_EQ(equals_ignoring_case(&text, 1, "n"), byte == 'n' || byte == 'N');
    }
}

}  // namespace

int main() {
    test_every_short_sequence();
    test_every_code_point();
    test_places();
    test_random_texts();
    test_replacement();
    test_text_match();
    return check::finish();
}
