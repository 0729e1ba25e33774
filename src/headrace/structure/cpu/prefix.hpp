// Measures the first records of a text: their bytes, and those of each field. Output buffers are sized from it.
#pragma once

#include <string_view>
#include <vector>

#include "structure/dfa.hpp"

namespace headrace {

// Sum of several sizes in bytes, and sum of their squares, for mean and variance.
struct Sizes {
    u64 sum = 0, squares = 0;
    void add(u64 size) {
        sum += size;
        squares += size * size;
    }
};

struct PrefixSample {
    u64 records = 0;            // complete data records
    u64 bytes = 0;              // bytes up to the end of the last one
    Sizes lengths;              // of records, including skipped lines before each
    std::vector<Sizes> fields;  // for each position in a record, its fields without quotes, escapes and padding
};

// Reads the first bytes of a text, which begins with a record, by the automaton. Each call continues where the last one
// ended. Fields after the first `width` are ignored. Quotes and escapes are not counted, so the sizes estimate those of
// the fields' texts. An escape and one more byte, such as \N, usually is a null.
class PrefixReader {
public:
    PrefixReader(const Dialect& dialect, std::string_view text, usize width)
        : dialect_(dialect), text_(text), record_(width) {
        found_.fields.resize(width);
    }

    // Return the measurements of the first `known` bytes; `known` may not decrease.
    const PrefixSample& read(usize known);

private:
    // Return the bytes of a field without the spaces around it that the dialect skips.
    usize without_padding(std::string_view field) const;
    // Count a byte if it is a quote or an escape, and no escape precedes it.
    void count_mark(u8 byte) {
        marks_ += !escaped_ && (byte == dialect_.quote || byte == dialect_.escape) ? 1 : 0;
        escaped_ = !escaped_ && byte == dialect_.escape;
    }
    void end_field(usize end, usize delimiter);
    void end_record(usize end, bool counts);

    const Dialect& dialect_;
    std::string_view text_;
    PrefixSample found_;
    std::vector<u64> record_;  // bytes of each field of the current record, added when the record ends
    usize at_ = 0, column_ = 0, begin_ = 0, marks_ = 0;
    u8 state_ = 0;
    bool escaped_ = false;
};

// Return the number of fields of the first record; 0 if no record ends in `text`. `dialect` must not be lenient.
usize first_width(const Dialect& dialect, std::string_view text);

}  // namespace headrace
