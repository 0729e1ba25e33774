// Declares the type of a column and the rules for its fields: null texts, words for bools, number marks, date formats.
#pragma once

#include "columns/rules/dates/date_layout.hpp"
#include "columns/rules/dates/zone.hpp"
#include "columns/rules/numbers/number_marks.hpp"
#include "columns/rules/word_table.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

enum class TypeId : u8 {
#define HR_TYPE(id, ...) id,
#include "core/types.def"
};

// `units_per_second` of a timestamp, time or duration is 1, 1'000, 1'000'000 or 1'000'000'000. `utc`: the timestamp is
// an instant. `zone`: text without an offset is local time of this zone, if that is not UTC. A decimal128 has up to
// `precision` digits, `scale` of them after the point.
struct ColumnType {
    TypeId id = TypeId::string;
    i64 units_per_second = 0;
    bool utc = false;
    const Zone* zone = nullptr;
    u8 precision = 0;
    u8 scale = 0;
};

// A text with a special meaning.
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
    WordList written_nulls;  // null texts with the escape, such as \N: compared before escapes are removed
    WordList true_words;
    WordList false_words;
    bool empty_is_null;
    bool quoted_may_be_null;
    // Some null text consists of characters that occur in numbers or dates, so null texts are looked up before parsing.
    bool nulls_look_like_values;
    // The same of some word for a bool; matters if the type is inferred.
    bool words_look_like_values;
    // Form of numbers, dates and times. `usual_forms`: a decimal point, no grouping, and ISO 8601.
    NumberMarks marks;
    DateFormats dates;
    const DateLayout* layouts;  // of those formats that have one
    usize layout_count;
    WordTable words;  // all words above
    bool usual_forms;
    bool replace_invalid;  // invalid UTF-8 is replaced by U+FFFD and is no fault
};

}  // namespace headrace
