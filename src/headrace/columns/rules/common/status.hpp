// Declares the result of parsing a field's text.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

enum class Parse : u8 {
    ok = 0,
    invalid = 1,  // not text of this type: "12x" as an integer, "2023-02-29" as a date
    overflow = 2  // the right shape, but the type cannot hold the value: "300" as an 8-bit integer
};

HR_END_NAMESPACE
