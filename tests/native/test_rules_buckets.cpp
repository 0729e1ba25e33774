// Remainders by multiplication, at every place where they could be off by one, and hashes.
#include "arrange/bucket/rules.hpp"
#include "check.hpp"

using namespace headrace;

namespace {

using u128 = unsigned __int128;

ModuloOf<u32> by_short(u32 divisor, u32 flip) {
    const u64 multiplier = static_cast<u64>(((u128{1} << 64) + divisor - 1) / divisor);
    return {multiplier, flip, flip == 0 ? 0 : static_cast<u32>((divisor - flip % divisor) % divisor), divisor, 0};
}

ModuloOf<u64> by_long(u32 divisor, u64 flip) {
    const u128 all = ~u128{0};  // ceil(2^128 / d) for d > 1
    const u128 multiplier = all / divisor + 1;
    const u32 plus = flip == 0 ? 0 : static_cast<u32>((divisor - flip % divisor) % divisor);
    return {static_cast<u64>(multiplier >> 64), static_cast<u64>(multiplier), flip, plus, divisor};
}

template <class Signed, class Unsigned>
u32 remainder(Unsigned key, u32 divisor) {
    const __int128 found = static_cast<Signed>(key) % static_cast<__int128>(divisor);
    return static_cast<u32>(found < 0 ? found + divisor : found);
}

void test_remainders() {
    for (const u32 divisor : {2u, 3u, 7u, 10u, 255u, 256u, 641u, 65537u, (1u << 24) - 1, 1u << 24}) {
        const auto shorter = by_short(divisor, 0), signed_short = by_short(divisor, 1u << 31);
        const auto longer = by_long(divisor, 0), signed_long = by_long(divisor, u64{1} << 63);
        for (u64 many : {u64{0}, u64{1}, u64{1} << 31, (u64{1} << 32) - 1, u64{1} << 63, ~u64{0}}) {
            for (u64 past = 0; past < 5; ++past) {
                for (const u64 key : {many + past, many - past, many / divisor * divisor + past - 2}) {
                    CHECK_EQ(longer.of(key), static_cast<u32>(key % divisor));
                    CHECK_EQ(signed_long.of(key), remainder<i64>(key, divisor));
                    const u32 word = static_cast<u32>(key);
                    CHECK_EQ(shorter.of(word), word % divisor);
                    CHECK_EQ(signed_short.of(word), remainder<i32>(word, divisor));
                }
            }
        }
    }
}

void test_hashes() {
    CHECK_EQ(mix_bits(u32{1}), 0x514E28B7u);  // as MurmurHash3's fmix32 and fmix64 have it
    CHECK_EQ(mix_bits(u64{1}), u64{0xB456BCFC34C2CB2C});
    CHECK_EQ(HashOf<float>({1000, 0}).of(0.0f), HashOf<float>({1000, 0}).of(-0.0f));
    CHECK_EQ(HashOf<double>({1000, 0}).of(bits_as<double>(u64{0x7FF8000000000001})),
             HashOf<double>({1000, 0}).of(bits_as<double>(u64{0xFFF0000000000001})));
    for (u32 key = 0; key < 1000; ++key) CHECK(HashOf<u32>({7, 0}).of(key) < 7);
}

void test_identity() {
    CHECK_EQ(IdentityOf<u64>({5, 0}).of(4), 4u);
    CHECK_EQ(IdentityOf<u64>({5, 0}).of(u64{1} << 32), 5u);
    CHECK_EQ(IdentityOf<u8>({256, 0}).of(255), 255u);
}

}  // namespace

int main() {
    test_remainders();
    test_hashes();
    test_identity();
    return check::finish();
}
