// Lists the faults of fields and records.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

// In the order of `FAULT_KINDS` (columns/faults/rejects.py), which has the names that users see.
enum class Fault : u8 { type, overflow, encoding, quote, unclosed_quote, too_few_fields, too_many_fields };

}  // namespace headrace
