#include "columns/dictionary/thread_texts.hpp"

#include <algorithm>
#include <array>

namespace headrace {
namespace {

constexpr usize FEW_TEXTS = 64, LANES = 16;

std::string_view text_at(const TextSpans& texts, usize at) {
    return {reinterpret_cast<const char*>(texts.bytes) + texts.start(at), texts.size(at)};
}

// Nulls are empty.
bool is_null(std::string_view text, const u64* nulls, usize at) {
    return text.empty() && (nulls[at / 64] >> (at % 64) & 1) != 0;
}

}  // namespace

usize ThreadTexts::encode(const TextSpans& texts, const TextRun& run, const u64* nulls, FewTexts& known, u32* codes) {
    return count() <= FEW_TEXTS ? encode_few(texts, run, nulls, known, codes) : encode_many(texts, run, nulls, codes);
}

usize ThreadTexts::encode_few(const TextSpans& texts, const TextRun& run, const u64* nulls, FewTexts& known,
                              u32* codes) {
    const TextSpans spans = texts;  // the compiler cannot know that codes are not written to `texts`
    usize absent = 0;
    for (usize i = 0; i < run.count; ++i) {
        const std::string_view text = text_at(spans, run.from + i);
        if (is_null(text, nulls, run.from + i)) {
            codes[i] = 0;
            ++absent;
        } else if (!known.find(reinterpret_cast<const u8*>(text.data()), text.size(), codes[i])) [[unlikely]] {
            if (count() > FEW_TEXTS) {
                const TextRun rest = {run.from + i, run.count - i, run.row + i};
                return i - absent + encode_many(texts, rest, nulls, codes + i);
            }
            codes[i] = look_up(text, run.row + i);
            known.add(text, codes[i]);
        }
    }
    return run.count - absent;
}

// The keys of several texts are made before the first is looked up, so that the instructions and cache misses overlap.
usize ThreadTexts::encode_many(const TextSpans& texts, const TextRun& run, const u64* nulls, u32* codes) {
    const TextSpans spans = texts;
    std::array<std::string_view, LANES> given;
    std::array<TextKey, LANES> keys;
    usize absent = 0;
    for (usize first = 0; first < run.count; first += LANES) {
        const usize count = std::min(LANES, run.count - first);
        for (usize i = 0; i < count; ++i) {
            given[i] = text_at(spans, run.from + first + i);
            keys[i] = TextKey::of(given[i], seed_);
            __builtin_prefetch(&slots_[keys[i].hash & (slots_.size() - 1)]);
        }
        for (usize i = 0; i < count; ++i) {
            const usize at = first + i;
            const bool null = is_null(given[i], nulls, run.from + at);
            codes[at] = null ? 0 : code_of(given[i], keys[i], run.row + at);
            absent += null ? 1 : 0;
        }
    }
    return run.count - absent;
}

// Return the number of a text, which gets one if it has none.
inline u32 ThreadTexts::code_of(std::string_view given, const TextKey& key, u64 row) {
    const usize mask = slots_.size() - 1;
    for (usize at = key.hash & mask;; at = (at + 1) & mask) {
        CodeSlot& slot = slots_[at];
        if (slot.code == NO_CODE) {
            slot = {key, static_cast<u32>(given.size()), static_cast<u32>(count())};
            return add(given, row);
        }
        if (slot.key.low != key.low || slot.key.high != key.high || slot.size != given.size()) continue;
        if (TextKey::has_all(given.size()) || text(slot.code) == given) return slot.code;
    }
}

// Number a text that has its slot.
u32 ThreadTexts::add(std::string_view given, u64 row) {
    bytes_.insert(bytes_.end(), given.begin(), given.end());
    texts_.push_back({row, bytes_.size()});
    if (count() * 4 > slots_.size()) grow();
    return static_cast<u32>(count() - 1);
}

void ThreadTexts::grow() {
    std::vector<CodeSlot> old(slots_.size() * 2);
    old.swap(slots_);
    const usize mask = slots_.size() - 1;
    for (const CodeSlot& slot : old) {
        if (slot.code == NO_CODE) continue;
        usize at = slot.key.hash & mask;
        while (slots_[at].code != NO_CODE) at = (at + 1) & mask;
        slots_[at] = slot;
    }
}

}  // namespace headrace
