#include "columns/dictionary/thread_texts.hpp"

#include "core/hash.hpp"

namespace headrace {

usize ThreadTexts::encode(const TextSpans& texts, const TextRun& run, const u64* nulls, FewTexts& known, u32* codes) {
    const TextSpans spans = texts;  // the compiler cannot know that codes are not written to `texts`
    usize absent = 0;
    for (usize i = 0; i < run.count; ++i) {
        const usize at = run.from + i;
        const u8* const bytes = spans.bytes + spans.start(at);
        const usize size = spans.size(at);
        if (size == 0 && (nulls[at / 64] >> (at % 64) & 1) != 0) {
            codes[i] = 0;
            ++absent;
        } else if (!known.find(bytes, size, codes[i])) [[unlikely]] {
            const std::string_view text(reinterpret_cast<const char*>(bytes), size);
            codes[i] = code_of(text, run.row + i);
            known.add(text, codes[i]);
        }
    }
    return run.count - absent;
}

// Return the number of a text, which gets one if it has none.
u32 ThreadTexts::code_of(std::string_view given, u64 row) {
    const u64 hash = hash_text(reinterpret_cast<const u8*>(given.data()), given.size(), seed_);
    const usize mask = slots_.size() - 1;
    usize at = hash & mask;
    for (; slots_[at] != 0; at = (at + 1) & mask) {
        const u32 code = slots_[at] - 1;
        if (texts_[code].hash == hash && text(code) == given) return code;
    }
    bytes_.insert(bytes_.end(), given.begin(), given.end());
    texts_.push_back({hash, row, bytes_.size()});
    const u32 code = static_cast<u32>(texts_.size() - 1);
    slots_[at] = code + 1;
    if (texts_.size() * 2 > slots_.size()) grow();
    return code;
}

void ThreadTexts::grow() {
    slots_.assign(slots_.size() * 4, 0);
    const usize mask = slots_.size() - 1;
    for (usize code = 0; code < texts_.size(); ++code) {
        usize at = texts_[code].hash & mask;
        while (slots_[at] != 0) at = (at + 1) & mask;
        slots_[at] = static_cast<u32>(code + 1);
    }
}

}  // namespace headrace
