// Days of the calendar.
#pragma once

#include "core/portable.hpp"

namespace headrace {

// Days of a date of the years 1 to 9999; false if there is none.
HR_FN bool days_of(u32 year, u32 month, u32 day, i32& days) {
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    const u32 most = month == 2 ? 28u + leap : 30 + ((month + month / 8) & 1);
    if (year == 0 || month - 1 > 11 || day - 1 >= most) return false;
    const u32 y = year - (month <= 2 ? 1 : 0);
    const u32 since_march = month + (month <= 2 ? 9 : -3);
    const u32 century = y / 100;
    days = static_cast<i32>(y * 365 + y / 4 - century + century / 4 + (153 * since_march + 2) / 5 + day) - 719469;
    return true;
}

}  // namespace headrace
