// Counts the records of a text before any is converted, finds the widest one, and finds where some of them begin.
#pragma once

#include <vector>

#include "core/cpu/isa.hpp"
#include "sources/source.hpp"
#include "structure/dfa.hpp"

namespace headrace {

// Range and resources of a pass over the structure. `end` may lie after the source's end.
struct SurveyPlan {
    std::uint64_t begin = 0;
    std::uint64_t end = ~std::uint64_t{0};
    usize tile_bytes = 0;
    unsigned threads = 1;
    Isa isa = Isa::scalar;
    usize last = 0;  // number of records at the end whose first bytes are wanted
};

struct Survey {
    u64 records = 0;  // data records: neither comments nor blank lines
    u64 comments = 0;
    u64 blank_lines = 0;
    u64 max_fields = 0;     // fields of the widest record
    std::vector<u64> last;  // first bytes of the last records, ascending
};

// Survey the range in one parallel pass over its structure.
Survey survey(const Source& source, const Dialect& dialect, const SurveyPlan& plan);

// Return the first byte of the record with this index, from 0 on; the source's size if there are fewer records.
std::uint64_t record_begin(const Source& source, const Dialect& dialect, const SurveyPlan& plan, u64 index);

// Return the position after `lines` physical lines from `begin` on, whether in quotes or not. `lines` becomes the
// number found. Lines end as the dialect's records do.
std::uint64_t skip_lines(const Source& source, const Dialect& dialect, std::uint64_t begin, u64& lines);

}  // namespace headrace
