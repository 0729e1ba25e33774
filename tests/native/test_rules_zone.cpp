// Local times of a small zone, second by second near its changes.
#include <vector>

#include "check.hpp"
#include "columns/rules/dates/zone.hpp"

using namespace headrace;

namespace {

constexpr i64 CYCLE = i64{146097} * 86400;
constexpr i64 EVER = i64{1} << 62;

// An hour ahead of UTC; from UTC 1000000 on two hours (local 1003600 to 1007200 are skipped); from UTC 2000000 on one
// hour again (local 2003600 to 2007200 come twice).
const i64 BEGINS[] = {-EVER, 1007200, 2007200};
const i64 ENDS[] = {1003600, 2003600, CYCLE};
const i64 OFFSETS[] = {3600, 7200, 3600};
const Zone ZONE = {"", BEGINS, ENDS, OFFSETS, 3};

// Computes the expected result by trying each offset: a local time stands for the instants that show it.
bool expected(i64 local, i64& utc) {
    int found = 0;
    for (const i64 offset : {i64{3600}, i64{7200}}) {
        const i64 instant = local - offset;
        const i64 holds = instant >= 1000000 && instant < 2000000 ? 7200 : 3600;
        if (holds != offset) continue;
        utc = instant;
        ++found;
    }
    return found == 1;
}

void check_one(i64 local, usize& piece) {
    i64 right = 0, utc = 0;
    const bool valid = expected(local, right);
    CHECK_EQ(to_utc(ZONE, piece, local, utc), valid);
    if (valid) CHECK_EQ(utc, right);
}

}  // namespace

int main() {
    usize piece = 0;
    for (i64 local = 990000; local < 2020000; ++local) check_one(local, piece);
    for (const i64 local : {i64{-1} << 40, i64{0}, i64{5000000}, i64{-7200}}) check_one(local, piece);
    check::Random random("zones");
    for (int i = 0; i < 100000; ++i) check_one(static_cast<i64>(random.below(3000000)), piece);
    // Cycles later the same pieces hold.
    for (const i64 cycles : {1, 2, 19}) {
        i64 utc = 0;
        CHECK(to_utc(ZONE, piece, 1500000 + cycles * CYCLE, utc));
        CHECK_EQ(utc, 1500000 + cycles * CYCLE - 7200);
        CHECK(!to_utc(ZONE, piece, 1005000 + cycles * CYCLE, utc) &&
              !to_utc(ZONE, piece, 2005000 + cycles * CYCLE, utc));
    }
    return check::finish();
}
