// Codes of keys: their order is the keys', and every key comes back. All keys of 8 and 16 bits, and those of 32 and 64
// at every place where an order turns.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "arrange/sort/sort_key.hpp"
#include "check.hpp"

using namespace headrace;

namespace {

template <class To, class From>
To as(From from) {
    To to;
    std::memcpy(&to, &from, sizeof(to));
    return to;
}

// The words as key_order.py has them.
template <class Bits>
KeyRule<Bits> rule(char kind, int mantissa, bool descending, bool total) {
    const Bits ones = static_cast<Bits>(~Bits{0}), sign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
    const Bits toggle = static_cast<Bits>((kind == 'u' ? 0 : sign) ^ (descending ? ones : 0));
    if (kind == 't') return {0, toggle, descending || total ? Bits{0} : ones, 0};
    if (kind != 'f') return {0, toggle, 0, 0};
    const Bits fold = static_cast<Bits>(sign - 1), nans = static_cast<Bits>((Bits{1} << mantissa) - 1);
    if (total) return {fold, toggle, 0, 0};
    const Bits infinity = static_cast<Bits>(fold - nans);
    return {fold, toggle, static_cast<Bits>(descending ? sign + infinity + 1 : 0 - nans), infinity};
}

template <class Bits>
std::vector<Bits> edges() {
    std::vector<Bits> found;
    constexpr int width = sizeof(Bits) * 8;
    if constexpr (width <= 16) {
        for (u32 key = 0; key < 1u << width; ++key) found.push_back(static_cast<Bits>(key));
    } else {
        constexpr Bits sign = Bits{1} << (width - 1), infinity = sign - (Bits{1} << (width == 32 ? 23 : 52));
        for (int bit = 0; bit < width; ++bit) {
            for (int past = -2; past <= 2; ++past) {
                const Bits at = (Bits{1} << bit) + static_cast<Bits>(past);
                for (const Bits key : {at, static_cast<Bits>(~at), static_cast<Bits>(at | sign)}) found.push_back(key);
            }
        }
        for (int past = -3; past <= 3; ++past) {
            for (const Bits from : {infinity, infinity | sign}) found.push_back(from + static_cast<Bits>(past));
        }
        check::Random random("sort keys");
        for (int i = 0; i < 2000; ++i) found.push_back(static_cast<Bits>(random.next()));
    }
    return found;
}

// The keys in the order of the codes given for them.
template <class Bits>
std::vector<Bits> in_order_of(const std::vector<Bits>& codes, const std::vector<Bits>& keys) {
    std::vector<std::pair<Bits, Bits>> pairs;
    for (usize i = 0; i < keys.size(); ++i) pairs.emplace_back(codes[i], keys[i]);
    std::sort(pairs.begin(), pairs.end());
    std::vector<Bits> found;
    for (const auto& [code, key] : pairs) found.push_back(key);
    return found;
}

// Codes come back, and `before` of two neighbours in the order of equal codes never holds the other way round.
template <class Bits, class Before>
void check_order(const KeyRule<Bits>& by, Before before) {
    const std::vector<Bits> keys = edges<Bits>();
    std::vector<Bits> codes, equal_codes;
    for (const Bits key : keys) {
        CHECK_EQ(by.key(by.code(key)), key);
        const Bits equal = by.key(by.equal_code(key));
        CHECK(!before(key, equal) && !before(equal, key));
        if (by.infinity == 0) CHECK_EQ(equal, key);
        codes.push_back(by.code(key));
        equal_codes.push_back(by.equal_code(key));
    }
    const std::vector<Bits> ordered = in_order_of(codes, keys), equals_together = in_order_of(equal_codes, keys);
    for (usize i = 1; i < keys.size(); ++i) {
        CHECK(!before(ordered[i], ordered[i - 1]));
        const Bits key = equals_together[i], last = equals_together[i - 1];
        CHECK(!before(key, last));
        CHECK_EQ(by.equal_code(key) == by.equal_code(last), !before(last, key));
    }
}

template <class Value, class Bits>
void check_whole(char kind) {
    for (const bool total : {false, true}) {
        check_order(rule<Bits>(kind, 0, false, total), [](Bits a, Bits b) { return as<Value>(a) < as<Value>(b); });
        check_order(rule<Bits>(kind, 0, true, total), [](Bits a, Bits b) { return as<Value>(a) > as<Value>(b); });
    }
}

template <class Float, class Bits>
void check_floats(int mantissa) {
    const auto less = [](Bits a, Bits b) { return as<Float>(a) < as<Float>(b); };
    const auto is_nan = [](Bits a) { return std::isnan(as<Float>(a)); };
    check_order(rule<Bits>('f', mantissa, false, false),
                [=](Bits a, Bits b) { return less(a, b) || (is_nan(b) && !is_nan(a)); });
    check_order(rule<Bits>('f', mantissa, true, false),
                [=](Bits a, Bits b) { return less(b, a) || (is_nan(b) && !is_nan(a)); });
}

// totalOrder of IEEE 754-2019, 5.10: by sign, then by magnitude, which is the order of the bits as a whole number.
template <class Signed, class Bits>
void check_total(int mantissa) {
    const auto before = [](Bits a, Bits b) {
        const Signed x = as<Signed>(a), y = as<Signed>(b);
        if ((x < 0) != (y < 0)) return x < 0;
        return x < 0 ? a > b : a < b;
    };
    check_order(rule<Bits>('f', mantissa, false, true), before);
    check_order(rule<Bits>('f', mantissa, true, true), [=](Bits a, Bits b) { return before(b, a); });
}

template <class Signed, class Bits>
void check_times() {
    const Bits none = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
    const auto less = [](Bits a, Bits b) { return as<Signed>(a) < as<Signed>(b); };
    check_order(rule<Bits>('t', 0, false, false),
                [=](Bits a, Bits b) { return a != none && (b == none ? a != b : less(a, b)); });
    check_order(rule<Bits>('t', 0, true, false),
                [=](Bits a, Bits b) { return a != none && (b == none ? a != b : less(b, a)); });
    check_order(rule<Bits>('t', 0, false, true), less);
}

void test_halves() {
    const auto up = rule<u16>('f', 10, false, false), down = rule<u16>('f', 10, true, false);
    CHECK_EQ(up.code(0xFC00), 0);  // -inf
    CHECK_EQ(up.code(0x8000), 0x7C00);
    CHECK_EQ(up.code(0x0000), 0x7C01);
    CHECK_EQ(up.code(0x7C00), 0xF801);
    CHECK_EQ(up.code(0x7C01), 0xF802);
    CHECK_EQ(up.code(0xFFFF), 0xFC01);
    CHECK_EQ(up.code(0xFC01), 0xFFFF);
    CHECK_EQ(down.code(0x7C00), 0);
    CHECK_EQ(down.code(0xFC00), 0xF801);
    CHECK_EQ(down.code(0xFC01), 0xF802);
    CHECK_EQ(down.code(0x7C01), 0xFFFF);
    CHECK_EQ(up.equal_code(0x8000), 0x7C01);
    CHECK_EQ(up.equal_code(0x7E00), 0xFFFF);
    CHECK_EQ(up.key(up.equal_code(0x8000)), 0);
    CHECK_EQ(up.key(up.equal_code(0x7C00)), 0x7C00);
    // The order of halves is that of their bits' magnitude.
    const auto size = [](u16 a) { return a & 0x8000 ? -(a & 0x7FFF) : a & 0x7FFF; };
    const auto is_nan = [](u16 a) { return (a & 0x7FFF) > 0x7C00; };
    check_order(up, [=](u16 a, u16 b) { return !is_nan(a) && (is_nan(b) || size(a) < size(b)); });
    check_order(down, [=](u16 a, u16 b) { return !is_nan(a) && (is_nan(b) || size(a) > size(b)); });
}

}  // namespace

int main() {
    check_whole<u8, u8>('u');
    check_whole<i8, u8>('i');
    check_whole<u16, u16>('u');
    check_whole<i16, u16>('i');
    check_whole<u32, u32>('u');
    check_whole<i32, u32>('i');
    check_whole<u64, u64>('u');
    check_whole<i64, u64>('i');
    check_floats<float, u32>(23);
    check_floats<double, u64>(52);
    check_total<i16, u16>(10);
    check_total<i32, u32>(23);
    check_total<i64, u64>(52);
    check_times<i64, u64>();
    test_halves();
    return check::finish();
}
