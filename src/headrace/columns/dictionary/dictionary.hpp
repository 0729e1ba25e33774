// Declares dictionaries of text columns.
#pragma once

#include "columns/dictionary/text_column.hpp"

namespace headrace {

// Codes (i32), and the texts that they index, in the order of their first rows.
struct TextDictionary {
    EncodedTexts codes;
    EncodedTexts texts;
    u64 count = 0;
};

// Returns codes and distinct texts. Throws `length_error` if there are more texts than codes.
TextDictionary make_dictionary(const TextColumn& texts, unsigned threads);

}  // namespace headrace
