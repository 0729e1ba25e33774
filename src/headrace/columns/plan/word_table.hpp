// Builds the table of a column's words (rules/word_table.hpp).
#pragma once

#include <string>
#include <vector>

#include "columns/rules/word_table.hpp"

namespace headrace {

struct MeaningTexts {
    const std::vector<std::string>& texts;
    u8 meaning;
};

// Build the table of several lists of texts. `slots` receives its slots.
WordTable build_word_table(const std::vector<MeaningTexts>& lists, std::vector<WordSlot>& slots);

}  // namespace headrace
