// Merges dictionaries in slices, in host memory.
#pragma once
#include "store/dictionary/cpu/dictionary_host.hpp"

namespace headrace {

// Writes the merged dictionary and both tables, as merge_numbers does. `slices`: their number, 1 or more. `sections`
// has room for all values.
u64 merge_in_slices(const NumberDictionaries& dictionaries, u64 slices, void* sections, void* merged,
                    const CodeTables& tables, unsigned threads);

}  // namespace headrace
