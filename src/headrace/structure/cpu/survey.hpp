// What is to be known of a text's records before any is converted: how many there are, how wide, where some begin.
#pragma once

#include <vector>

#include "core/cpu/isa.hpp"
#include "sources/source.hpp"
#include "structure/dfa.hpp"

namespace headrace {

// What a survey looks at: the text from `begin` up to `end`, or to the source's.
struct SurveyPlan {
    std::uint64_t begin = 0;
    std::uint64_t end = ~std::uint64_t{0};
    usize tile_bytes = 0;
    unsigned threads = 1;
    Isa isa = Isa::scalar;
    usize last = 0;  // of so many records at the end it says where they begin
};

struct Survey {
    u64 records = 0;  // comments and blank lines are none
    u64 comments = 0;
    u64 blank_lines = 0;
    u64 most_fields = 0;    // of any record
    std::vector<u64> last;  // where the last records begin, ascending
};

// One parallel pass over the structure.
Survey survey(const Source& source, const Dialect& dialect, const SurveyPlan& plan);

// Where the record with this index (from 0) begins; the source's end if there are not so many.
std::uint64_t record_begin(const Source& source, const Dialect& dialect, const SurveyPlan& plan, u64 index);

// Behind so many physical lines from `begin` on, quotes or not; `lines` becomes how many there were. Lines end as the
// dialect's do.
std::uint64_t skip_lines(const Source& source, const Dialect& dialect, std::uint64_t begin, u64& lines);

}  // namespace headrace
