// What the first records of a text let one expect of all others.
#pragma once

#include <string_view>
#include <vector>

#include "structure/dfa.hpp"

namespace headrace {

// Bytes of several things, and the squares of each.
struct Sizes {
    u64 sum = 0, squares = 0;
    void add(u64 size) {
        sum += size;
        squares += size * size;
    }
};

struct Beginning {
    u64 records = 0;            // whole ones; comments and blank lines are none
    u64 bytes = 0;              // up to the end of the last of them
    Sizes lengths;              // of records, with what is left out before each
    std::vector<Sizes> fields;  // of each place in a record, its fields without quotes
};

// Reads the first bytes of a text, of which a record is the first thing; what was read goes on where more are asked
// for. Fields behind `width` are left out. The quotes that enclose a field are not counted, nor are those in it: the
// bytes are a guess of those of the fields' texts.
class BeginningReader {
public:
    BeginningReader(const Dialect& dialect, std::string_view text, usize width)
        : dialect_(dialect), text_(text), record_(width) {
        found_.fields.resize(width);
    }

    // What the first `known` bytes show, which are at least as many as before.
    const Beginning& read(usize known);

private:
    void end_field(usize behind, usize delimiter);
    void end_record(usize behind, bool counts);

    const Dialect& dialect_;
    std::string_view text_;
    Beginning found_;
    std::vector<u64> record_;  // bytes of each field of the record at hand, which counts when it ends
    usize at_ = 0, column_ = 0, begin_ = 0, quotes_ = 0;
    u8 state_ = 0;
};

// How many fields the first record has; 0 if none ends in these first bytes of a text. `dialect` is not lenient.
usize first_width(const Dialect& dialect, std::string_view text);

}  // namespace headrace
