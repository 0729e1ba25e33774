// Tests decoding by every instruction set against one character at a time. The texts of adjacent windows, concatenated,
// are that of the whole source, and their places map to the source's bytes. Sources lie at the end of their allocation,
// for the sanitizers.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "check.hpp"
#include "sources/window.hpp"

using namespace headrace;

namespace {

struct Decoded {
    std::string text;
    std::vector<std::uint64_t> origins;  // of each byte of the text
};

// Converts units of UTF-16 to UTF-8, as the standard defines it.
Decoded decode_plainly(const std::string& data, bool big) {
    Decoded made;
    const auto unit = [&](usize at) {
        const u32 a = static_cast<u8>(data[at]), b = static_cast<u8>(data[at + 1]);
        return big ? a << 8 | b : b << 8 | a;
    };
    for (usize at = 0; at < data.size();) {
        const usize left = data.size() - at;
        u32 c = left < 2 ? 0xD800 : unit(at);
        usize taken = std::min<usize>(left, 2);
        std::string bytes;
        if (c >= 0xD800 && c < 0xDC00 && left >= 4 && unit(at + 2) >= 0xDC00 && unit(at + 2) < 0xE000) {
            c = 0x10000 + (c - 0xD800) * 0x400 + (unit(at + 2) - 0xDC00);
            taken = 4;
        } else if (c >= 0xD800 && c < 0xDC00 && left == 3) {
            taken = 3;
        }
        const auto tail = [](u32 bits) { return static_cast<char>(0x80 | (bits & 0x3F)); };
        if (c < 0x80) {
            bytes = {static_cast<char>(c)};
        } else if (c < 0x800) {
            bytes = {static_cast<char>(0xC0 | c >> 6), tail(c)};
        } else if (c >= 0xD800 && c < 0xE000) {
            bytes = {static_cast<char>(0xFF)};
        } else if (c < 0x10000) {
            bytes = {static_cast<char>(0xE0 | c >> 12), tail(c >> 6), tail(c)};
        } else {
            bytes = {static_cast<char>(0xF0 | c >> 18), tail(c >> 12), tail(c >> 6), tail(c)};
        }
        made.origins.insert(made.origins.end(), bytes.size(), at);
        made.text += bytes;
        at += taken;
    }
    return made;
}

std::string random_units(check::Random& random, bool big) {
    std::string data;
    const u64 runs = random.below(12);
    for (u64 run = 0; run < runs; ++run) {
        constexpr u64 LIMITS[] = {0x7F, 0x80, 0x7FF, 0x800};  // of characters of one, two and three bytes
        const u64 kind = random.below(8), length = random.below(90);
        for (u64 i = 0; i < length; ++i) {
            u64 unit = kind == 0   ? 0xD800 + random.below(0x800)
                       : kind == 1 ? random.below(0x10000)
                       : kind == 2 ? random.below(0x800)
                       : kind == 3 ? 0x800 + random.below(0xD000)
                       : kind == 4 ? (i % 2 ? 0xDC00 : 0xD800) + random.below(0x400)
                       : kind == 5 ? LIMITS[random.below(4)]
                                   : 0x20 + random.below(0x5F);
            const char low = static_cast<char>(unit), top = static_cast<char>(unit >> 8);
            data += big ? std::string{top, low} : std::string{low, top};
        }
    }
    if (random.below(4) == 0) data += static_cast<char>(random.next());
    return data;
}

// Windows of n bytes each, with some text ahead, hold every character once.
void check_windows(const Source& source, const Decoded& expected, usize n, usize ahead) {
    std::string text;
    for (u64 begin = 0; begin < source.size(); begin += n) {
        Window window(source);
        window.open(begin, n, ahead);
        const usize place = text.size();
        text.append(reinterpret_cast<const char*>(window.data()), window.owned());
        window.extend(window.size() + 1);
        CHECK(expected.text.compare(place, window.size(), reinterpret_cast<const char*>(window.data()),
                                    window.size()) == 0);
        for (usize at = 0; at < window.size(); at += 1 + at / 7) {
            if ((window.data()[at] & 0xC0) == 0x80) continue;
            CHECK_EQ(window.origin(at), expected.origins[place + at]);
            CHECK_EQ(window.place_of(expected.origins[place + at]), at);
        }
    }
    CHECK(text == expected.text);
}

void test_utf16() {
    check::Random random("utf16");
    for (int i = 0; i < 160; ++i) {
        const bool big = random.below(2) != 0;
        const std::string data = random_units(random, big);
        const auto exact = std::make_unique<char[]>(data.size());
        std::copy(data.begin(), data.end(), exact.get());
        const Decoded expected = decode_plainly(data, big);
        for (const Isa isa : available_isas()) {
            MemorySource source(exact.get(), data.size());
            source.set_encoding(Encoding(big ? EncodingId::utf16_be : EncodingId::utf16_le, ByteTable{}, isa));
            for (const usize n : {usize{1}, usize{2}, usize{3}, usize{62}, usize{64}, usize{129}, usize{1 << 20}}) {
                check_windows(source, expected, n, random.below(100));
            }
        }
    }
}

// Longer than the distance between the marks by which places are found.
void test_places_in_a_long_text() {
    check::Random random("long");
    std::string data;
    while (data.size() < 60'000) data += random_units(random, false);
    const Decoded expected = decode_plainly(data, false);
    MemorySource source(data.data(), data.size());
    source.set_encoding(Encoding(EncodingId::utf16_le, ByteTable{}, available_isas().front()));
    check_windows(source, expected, data.size(), 0);
    check_windows(source, expected, 20'001, 4096);
    Window window(source);
    window.open(0, data.size(), 0);
    CHECK_EQ(window.origin(window.size()), data.size());
    CHECK_EQ(window.place_of(data.size()), window.size());
    window.open(1000, 1000);
    CHECK_EQ(window.place_of(10), usize{0});
    CHECK_EQ(window.place_of(5000), window.size());
}

}  // namespace

int main() {
    test_utf16();
    test_places_in_a_long_text();
    return check::finish();
}
