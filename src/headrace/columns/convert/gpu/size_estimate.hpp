// What a conversion that is launched before anything is counted goes by (estimate.py): room was made ready for so many
// rows and bytes of strings as were expected, and a word of device memory says whether it does.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// What room does for: no more than there is, and not so little that too much of it would be left.
struct RoomRange {
    u64 least, most;
};
static_assert(sizeof(RoomRange) == 16);

// In place of the number of rows: nothing is to be converted.
constexpr u64 ROOM_REFUSED = ~u64{0};

// `rows`: null where the host has counted.
HR_FN bool is_refused(const u64* rows) { return rows != nullptr && *rows == ROOM_REFUSED; }

HR_END_NAMESPACE
