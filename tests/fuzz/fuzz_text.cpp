// UTF-8, words and the lattice of kinds.
#include <cstring>

#include "columns/rules/common/text_match.hpp"
#include "columns/rules/infer.hpp"
#include "columns/rules/utf8.hpp"
#include "fuzz.hpp"

using namespace headrace;

namespace {

// Length of the sequence at the front by decoding it: the number it stands for must need that many bytes.
usize decoded_length(const u8* p, usize n) {
    int ones = 0;
    while (ones < 8 && (p[0] & 0x80 >> ones)) ++ones;
    if (ones == 0) return 1;
    if (ones == 1 || ones > 4 || n < static_cast<usize>(ones)) return 0;
    u32 number = p[0] & (0x7F >> ones);
    for (int i = 1; i < ones; ++i) {
        if (p[i] >> 6 != 2) return 0;
        number = number << 6 | (p[i] & 0x3F);
    }
    const u32 smallest = ones == 2 ? 0x80 : ones == 3 ? 0x800 : 0x10000;
    const bool surrogate = number >= 0xD800 && number < 0xE000;
    return number < smallest || number > 0x10FFFF || surrogate ? 0 : static_cast<usize>(ones);
}

void check_utf8(const u8* p, usize n) {
    usize at = 0;
    while (at < n) {
        const usize length = decoded_length(p + at, n - at);
        REQUIRE(utf8_sequence_length(p + at, n - at) == length);
        if (length == 0) break;
        at += length;
    }
    REQUIRE(find_invalid_utf8(p, n) == at);
}

void check_words(const u8* p, usize n) {
    const char word[] = "infinity";
    bool same = n == 8;
    for (usize i = 0; same && i < n; ++i) same = (p[i] >= 'A' && p[i] <= 'Z' ? p[i] + 32 : p[i]) == word[i];
    REQUIRE(equals_ignoring_case(p, n, word) == same);
    const usize half = n / 2;
    const bool halves = n % 2 == 0 && std::memcmp(p, p + half, half) == 0;
    REQUIRE(equals(p, half, p + half, n - half) == halves);
}

// The first field's kind, that of the second, and so on: whatever the order, the join is the same and holds each.
void check_lattice(fuzz::Input& input) {
    const Kind a = static_cast<Kind>(input.below(KIND_COUNT)), b = static_cast<Kind>(input.below(KIND_COUNT));
    const Kind c = classify(input.data(), input.size());
    REQUIRE(c != Kind::empty && c != Kind::boolean && static_cast<u32>(c) < KIND_COUNT);
    REQUIRE(join(a, b) == join(b, a));
    REQUIRE(join(a, c) == join(c, a));
    REQUIRE(join(join(a, b), c) == join(a, join(b, c)));
    REQUIRE(join(join(a, c), c) == join(a, c));
    REQUIRE(join(c, c) == c);
    REQUIRE(join(c, Kind::empty) == c);
    REQUIRE(join(c, Kind::text) == Kind::text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    check_utf8(input.data(), input.size());
    check_words(input.data(), input.size());
    check_lattice(input);
    return 0;
}
