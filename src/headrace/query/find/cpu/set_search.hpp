// Finds the hits of many patterns in a range of positions, on one thread.
#pragma once

#include <algorithm>

#include "query/find/cpu/find.hpp"
#include "query/find/pattern/fold.hpp"
#include "query/find/pattern/pattern_set.hpp"

namespace headrace {

class SetSearch {
public:
    SetSearch(const FindPatterns& patterns, const FindText& text) : table_(patterns.table()), text_(text) {}

    // Calls hit(position, pattern) for each hit that begins in the range.
    template <class OnHit>
    void run(u64 begin, u64 end, const OnHit& hit) const {
        if (text_.size < table_.width) return;
        if (table_.stride == 1) return run_words<1, 1>(begin, end, hit);
        if (table_.stride == 2) return run_words<2, 1>(begin, end, hit);
        if (table_.width == 4) return run_words<4, 1>(begin, end, hit);
        if (table_.width <= 8) return run_words<4, 2>(begin, end, hit);
        run_words<4, 4>(begin, end, hit);
    }

private:
    template <u64 stride, u32 words, class OnHit>
    void run_words(u64 begin, u64 end, const OnHit& hit) const {
        const u64 last = std::min(end - 1 + table_.max_offset, text_.size - table_.width);
        const u32 letter_bits = table_.letter_bits, mask = table_.mask, slot_bits = table_.slot_bits;
        const u32* const bits = table_.bits;
        const auto probe = [&](u64 at, const auto& word) {
            u32 print = 0;
            for (u32 i = 0; i + 1 < words; ++i) print = next_print(print, word(at + 4 * i) | letter_bits);
            print = next_print(print, (word(at + 4 * (words - 1)) | letter_bits) & mask);
            const u32 slot = slot_of(print, slot_bits);
            if ((bits[slot / 32] >> (slot % 32) & 1) != 0) [[unlikely]]
                check({begin, end}, at, print, hit);
        };
        const u8* const text = text_.bytes;
        const auto whole_word = [text](u64 at) { return static_cast<u32>(load_bytes(text + at, 4)); };
        u64 at = (begin + stride - 1) / stride * stride;
        for (; at <= last && at + 4 * words <= text_.size; at += stride) probe(at, whole_word);
        for (; at <= last; at += stride) probe(at, [this](u64 place) { return word_at(place); });
    }

    // Four bytes from `at` on; bytes past the text are 0.
    u32 word_at(u64 at) const {
        if (at + 4 <= text_.size) return static_cast<u32>(load_bytes(text_.bytes + at, 4));
        return static_cast<u32>(load_bytes(text_.bytes + at, text_.size - at));
    }

    struct StartRange {
        u64 begin, end;
    };

    template <class OnHit>
    [[gnu::noinline]] void check(StartRange range, u64 at, u32 print, const OnHit& hit) const {
        const u32 bucket = slot_of(print, table_.bucket_bits);
        for (u32 i = table_.buckets[bucket]; i < table_.buckets[bucket + 1]; ++i) {
            const WindowEntry& entry = table_.entries[i];
            if (entry.print != print || at < range.begin + entry.offset) continue;
            const u64 position = at - entry.offset;
            if (position < range.end && occurs(table_.patterns[entry.pattern], position)) hit(position, entry.pattern);
        }
    }

    bool occurs(const PatternBytes& pattern, u64 position) const {
        if (pattern.length > text_.size - position) return false;
        const u8 *const text = text_.bytes + position, *const bytes = table_.bytes + pattern.begin;
        if (table_.ignore_case == 0) return std::equal(text, text + pattern.length, bytes);
        return std::equal(text, text + pattern.length, bytes, [](u8 a, u8 b) { return fold_byte(a) == b; });
    }

    PatternTable table_;
    FindText text_;
};

}  // namespace headrace
