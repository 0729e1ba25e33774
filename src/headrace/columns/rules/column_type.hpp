// The type of a column, and how its fields are written: null texts, words for bools, number marks, date formats.
#pragma once

#include "columns/rules/date_format.hpp"
#include "columns/rules/number_marks.hpp"
#include "columns/rules/zone.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

enum class TypeId : u8 {
#define HR_TYPE(id, name, bits) id,
#include "core/types.def"
#undef HR_TYPE
};

// A column's type: units_per_second of a timestamp, time or duration is 1, 1'000, 1'000'000 or 1'000'000'000; `utc` if
// it is an instant; `zone` if text without an offset is local time of a zone other than UTC; a decimal128 has up to
// `precision` digits, `scale` of them behind the point.
struct ColumnType {
    TypeId id = TypeId::string;
    i64 units_per_second = 0;
    bool utc = false;
    const Zone* zone = nullptr;
    u8 precision = 0;
    u8 scale = 0;
};

// Texts that mean something of their own.
struct Word {
    const u8* text;
    usize size;
};
struct WordList {
    const Word* words;
    usize count;
};

struct FieldRules {
    WordList nulls;
    WordList true_words;
    WordList false_words;
    bool empty_is_null;
    bool quoted_may_be_null;
    // Some null text has characters that numbers or dates are made of, so it must be looked for before parsing.
    bool nulls_look_like_values;
    // Likewise some word for a bool, which counts where types are inferred.
    bool words_look_like_values;
    // How numbers, dates and times are written; `usual_forms` if with a point, without thousands, and as ISO 8601 says.
    NumberMarks marks;
    DateFormats dates;
    bool usual_forms;
    bool replace_invalid;  // text that is no UTF-8 is mended with U+FFFD, and no fault
};

}  // namespace headrace
