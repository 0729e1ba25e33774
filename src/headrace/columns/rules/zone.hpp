// Local times of a time zone as instants. columns/zone.py makes the table.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

// Pieces of local time that each lie at one offset from UTC, in order: from begins[i], before ends[i], in seconds of
// local time since 1970. What lies between two pieces is a local time that the clocks skipped or showed twice. From the
// last end on, the rules go on as 400 years before (a cycle of the calendar, whole weeks long).
struct Zone {
    const char* name;
    const i64* begins;
    const i64* ends;
    const i64* offsets;
    usize count;
};

}  // namespace headrace

HR_BEGIN_NAMESPACE

// The first piece that ends behind `local`; count if there is none.
HR_FN usize find_piece(const Zone& zone, i64 local) {
    usize low = 0, high = zone.count;
    while (low < high) {
        const usize middle = (low + high) / 2;
        if (local < zone.ends[middle]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

// Local seconds to seconds of UTC; false for a time that is none or two. `piece` is where the last one was found, any
// number below count at first: neighbours in a column are often neighbours in time.
HR_COLD bool to_utc(const Zone& zone, usize& piece, i64 local, i64& utc) {
    constexpr i64 CYCLE = i64{146097} * 86400;
    const i64 end = zone.ends[zone.count - 1];
    i64 known = local;
    if (local >= end) known -= ((local - end) / CYCLE + 1) * CYCLE;
    if (known < zone.begins[piece] || known >= zone.ends[piece]) {
        const usize found = find_piece(zone, known);
        if (known < zone.begins[found]) return false;
        piece = found;
    }
    utc = local - zone.offsets[piece];
    return true;
}

HR_END_NAMESPACE
