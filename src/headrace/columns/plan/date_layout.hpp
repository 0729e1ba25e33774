// Describes date formats whose parts have fixed widths. "%m/%d/%Y" is one, with texts such as "01/31/2024". A
// permutation of the bytes brings the parts into a canonical order; convert/cpu/fast_time.hpp applies it.
#pragma once

#include <vector>

#include "columns/rules/dates/date_format.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

// A layout covers texts whose numbers have all their digits. All other texts are left to the format's steps.
struct DateLayout {
    static constexpr usize MAX_SIZE = 32;
    static constexpr u8 NO_PLACE = 0x80;  // permutes to zero

    // Bytes of the part of fixed width. A byte minus `shape` is at most `limit`: '0' and 9 for a digit, a literal and
    // 0. Letters and bytes after the part have the limit 255.
    alignas(16) u8 shape[MAX_SIZE];
    alignas(16) u8 limit[MAX_SIZE];
    // Places of the digits of century, year of the century, month, day, hour, minute, second: two bytes each. `low` has
    // those in the first 16 bytes, `high` those in the second, less 16.
    alignas(16) u8 low[16];
    alignas(16) u8 high[16];
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

// Append the layouts of a format: one for each place where its texts may end, as far as it has a layout.
void add_date_layouts(const DateFormat& format, usize number, std::vector<DateLayout>& layouts);

}  // namespace headrace
