// Describes date formats whose parts have fixed widths. "%m/%d/%Y" is one, with texts such as "01/31/2024". On the CPU
// a permutation of the bytes brings the parts into a canonical order (convert/cpu/fast_time.hpp). On a GPU a lane reads
// them at their places (convert/gpu/moments.cuh).
#pragma once

#include "columns/rules/dates/date_format.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

// A layout covers texts whose numbers have all their digits. All other texts are left to the format's steps.
struct DateLayout {
    static constexpr usize MAX_SIZE = 32;
    static constexpr u8 NO_PLACE = 0x80;  // permutes to zero

    // Bytes of the part of fixed width. A byte minus `shape` is at most `limit`: '0' and 9 for a digit, a literal and
    // 0. Letters and bytes after the part have the limit 255.
    u8 shape[MAX_SIZE];
    u8 limit[MAX_SIZE];
    // Places of the digits of century, year of the century, month, day, hour, minute, second: two bytes each. `low` has
    // those in the first 16 bytes, `high` those in the second, less 16.
    u8 low[16];
    u8 high[16];
    u8 place[8];          // places of the seven parts, or NO_PLACE; a year has two
    u8 size;              // of the part of fixed width
    u8 month_name;        // place of the three letters, or NO_PLACE
    u8 half;              // place of AM or PM, or NO_PLACE
    bool has_short_year;  // %y: 69 is 1969, and 68 is 2068
    bool has_time;
    // After the part of fixed width: one to nine digits of a second's fraction, and an offset from UTC.
    bool has_fraction;
    bool has_offset;
    usize format;  // index of the format
};

}  // namespace headrace

HR_BEGIN_NAMESPACE

// Months by the hash of the first three letters of their names. An entry has the letters in lower case, and the month
// in its top byte.
HR_TABLE u32 MONTHS_BY_HASH[16] = {0x0372616D, 0x0A74636F, 0x08677561, 0,          0x04727061, 0,
                                   0x0579616D, 0,          0x0B766F6E, 0x09706573, 0x02626566, 0,
                                   0x0C636564, 0x066E756A, 0x076C756A, 0x016E616A};

// Returns the month whose name begins with three letters, of any case; 0 if there is none. The fourth byte is ignored.
HR_FN u32 month_of_letters(u32 letters) {
    const u32 lower = (letters | 0x202020) & 0xFFFFFF;
    const u32 entry = MONTHS_BY_HASH[lower * 0xB2D87D5F >> 28];
    return (entry & 0xFFFFFF) == lower ? entry >> 24 : 0;
}

HR_END_NAMESPACE
