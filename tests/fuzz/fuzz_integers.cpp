// Text to integers of every width, against a loop over 128 bits.
#include <limits>

#include "columns/rules/infer.hpp"
#include "columns/rules/numbers/parse_int.hpp"
#include "fuzz.hpp"

using namespace headrace;

namespace {

__extension__ using Wide = __int128;

bool is_hexadecimal(const u8* p, usize n) {
    const usize sign = n > 0 && (p[0] == '+' || p[0] == '-') ? 1 : 0;
    return n > sign + 2 && p[sign] == '0' && (p[sign + 1] | 0x20) == 'x';
}

// The digit's value, or 99.
int digit_of(u8 byte) {
    if (byte >= '0' && byte <= '9') return byte - '0';
    const int letter = (byte | 0x20) - 'a';
    return letter >= 0 && letter < 6 ? letter + 10 : 99;
}

// Returns the number of the text, clamped to +-10^20; false if the text is not a number.
bool number_of(const u8* p, usize n, Wide& out) {
    const Wide most = static_cast<Wide>(10'000'000'000) * 10'000'000'000;
    usize at = n > 0 && (p[0] == '+' || p[0] == '-') ? 1 : 0;
    if (at == n) return false;
    out = 0;
    const int base = is_hexadecimal(p, n) ? 16 : 10;
    if (base == 16) at += 2;
    for (; at < n; ++at) {
        if (digit_of(p[at]) >= base) return false;
        out = out * base + digit_of(p[at]);
        if (out > most) out = most;
    }
    if (p[0] == '-') out = -out;
    return true;
}

template <class T>
void check_type(const u8* p, usize n, bool is_number, Wide number) {
    T value = 77;
    const Parse status = parse_int<T>(p, n, value);
    if (!is_number) {
        REQUIRE(status == Parse::invalid);
    } else if (number < static_cast<Wide>(std::numeric_limits<T>::min()) ||
               number > static_cast<Wide>(std::numeric_limits<T>::max())) {
        REQUIRE(status == Parse::overflow);
    } else {
        REQUIRE(status == Parse::ok && static_cast<Wide>(value) == number);
    }
    REQUIRE(status == Parse::ok || value == 77);
}

// Checks the kind that is inferred from an integer: its range decides the kind, unless it is written as a code.
void check_kind(const u8* p, usize n, Wide number) {
    const usize sign = p[0] == '-' || p[0] == '+' ? 1 : 0;
    const bool is_code = (n > sign + 1 && p[sign] == '0') || (p[0] == '+' && n > 7);
    const Kind kind = classify(p, n);
    if (is_hexadecimal(p, n)) {
        const bool fits = p[0] == '0' && number <= static_cast<Wide>(std::numeric_limits<u64>::max());
        const bool small = number <= static_cast<Wide>(std::numeric_limits<i64>::max());
        REQUIRE(kind == (!fits ? Kind::text : small ? Kind::hex : Kind::hex_uint64));
    } else if (is_code) {
        REQUIRE(kind == Kind::text);
    } else if (number < static_cast<Wide>(std::numeric_limits<i64>::min())) {
        REQUIRE(kind == Kind::text);
    } else if (p[0] == '-') {
        REQUIRE(kind == Kind::negative);
    } else if (number <= static_cast<Wide>(std::numeric_limits<i64>::max())) {
        REQUIRE(kind == Kind::natural);
    } else {
        REQUIRE(kind == (number <= static_cast<Wide>(std::numeric_limits<u64>::max()) ? Kind::uint64 : Kind::text));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Wide number = 0;
    const bool is_number = number_of(data, size, number);
    check_type<i8>(data, size, is_number, number);
    check_type<i16>(data, size, is_number, number);
    check_type<i32>(data, size, is_number, number);
    check_type<i64>(data, size, is_number, number);
    check_type<u8>(data, size, is_number, number);
    check_type<u16>(data, size, is_number, number);
    check_type<u32>(data, size, is_number, number);
    check_type<u64>(data, size, is_number, number);
    if (is_number) check_kind(data, size, number);
    return 0;
}
