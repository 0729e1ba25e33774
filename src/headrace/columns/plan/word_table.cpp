#include "columns/plan/word_table.hpp"

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

constexpr u32 TRIES = 64;
constexpr u32 MIN_SLOT_BITS = 6;

struct Placement {
    std::vector<WordSlot> slots;
    u32 probes = 1;
};

// Put the words into 2^bits slots and as many more as probing needs.
Placement place(const std::vector<WordSlot>& words, u64 multiplier, u32 bits) {
    Placement placed;
    placed.slots.resize((usize{1} << bits) + words.size() + 1);
    for (const WordSlot& word : words) {
        const usize home = static_cast<usize>(word.word * multiplier >> (64 - bits));
        usize at = home;
        while (placed.slots[at].size != 0) ++at;
        placed.slots[at] = word;
        placed.probes = std::max(placed.probes, static_cast<u32>(at - home + 1));
    }
    return placed;
}

// Return a text as a word, shifted to the top as `meaning_of_word` does.
u64 word_of(const std::string& text) {
    u64 word = 0;
    for (usize i = text.size(); i-- > 0;) word = word << 8 | static_cast<u8>(text[i]);
    return word << (64 - 8 * text.size());
}

void add_word(std::vector<WordSlot>& words, const std::string& text, u8 meaning) {
    const WordSlot added = {word_of(text), static_cast<u8>(text.size()), meaning};
    for (WordSlot& known : words) {
        if (known.word != added.word || known.size != added.size) continue;
        known.meaning |= meaning;
        return;
    }
    words.push_back(added);
}

}  // namespace

WordTable build_word_table(const std::vector<MeaningTexts>& lists, std::vector<WordSlot>& slots) {
    WordTable table;
    std::vector<WordSlot> words;
    for (const MeaningTexts& list : lists) {
        for (const std::string& text : list.texts) {
            const u64 size = u64{1} << std::min<usize>(text.size(), 63);
            table.sizes |= size;
            if (list.meaning == NULL_WORD) table.null_sizes |= size;
            if (text.empty()) {
                table.of_empty |= list.meaning;
            } else if (text.size() > 8) {
                table.has_long = true;
            } else {
                add_word(words, text, list.meaning);
            }
        }
    }
    u32 bits = MIN_SLOT_BITS;
    while (usize{1} << bits < 4 * words.size()) ++bits;
    table.shift = 64 - bits;
    u64 multiplier = 0x9E3779B97F4A7C15;  // the golden ratio, as in Fibonacci hashing
    for (u32 i = 0; i < TRIES && table.probes != 1; ++i, multiplier = multiplier * 6364136223846793005 + 2) {
        Placement placed = place(words, multiplier, bits);
        if (table.probes != 0 && placed.probes >= table.probes) continue;
        table.multiplier = multiplier;
        table.probes = placed.probes;
        slots = std::move(placed.slots);
    }
    table.slots = slots.data();
    return table;
}

}  // namespace headrace
