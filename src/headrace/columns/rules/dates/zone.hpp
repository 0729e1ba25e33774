// Converts local times of a time zone to instants. columns/zone.py builds the table.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

// Periods of local time with one offset from UTC each, in order: from begins[i] to before ends[i], in seconds of local
// time since 1970. A local time between two periods was skipped or shown twice by the clocks. After the last end, the
// rules repeat every 400 years (a cycle of the calendar, in whole weeks).
struct Zone {
    const char* name;
    const i64* begins;
    const i64* ends;
    const i64* offsets;
    usize count;
};

}  // namespace headrace

HR_BEGIN_NAMESPACE

// Returns the first period that ends after `local`; count if there is none.
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

// Converts local seconds to seconds of UTC. Returns false for a local time that does not exist or is ambiguous.
// `piece`: the period found last, initially any number below count. Neighbouring rows often have neighbouring times.
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
