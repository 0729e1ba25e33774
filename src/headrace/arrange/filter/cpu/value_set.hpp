// Hash sets of the values of `is_in`, with open addressing. At most an eighth of a small table's slots is taken. So the
// first slot decides nearly always, and branches do not depend on the values of the rows.
#pragma once
#include <bit>
#include <cstring>
#include <vector>

#include "arrange/filter/cpu/text_prefix.hpp"
#include "arrange/filter/filter.hpp"

namespace headrace {

// Finds values in a set. A copy of its own lets a loop hold the members in registers.
class ValueLookup {
public:
    struct SetSlot {
        u64 key;
        u64 number;  // that of the value, from 1 on; 0 in an empty slot, for which there is an empty text
    };
    struct ListedText {
        TextRef text;
        u64 prefix;
    };

    static u64 key_of(i64 value) { return static_cast<u64>(value); }
    static u64 key_of(u64 value) { return value; }
    // The sum turns -0 into 0, which equals it.
    static u64 key_of(double value) {
        const double sum = value + 0.0;
        u64 bits;
        std::memcpy(&bits, &sum, sizeof(bits));
        return bits;
    }
    static u64 key_of(float value) { return key_of(static_cast<double>(value)); }
    static u64 key_of(u64 prefix, u64 size) { return prefix + size * 0xD6E8FEB86659FD93ull; }

    ValueLookup(const std::vector<SetSlot>& slots, const std::vector<ListedText>& texts)
        : slots_(slots.data()),
          texts_(texts.data()),
          last_(slots.size() - 1),
          shift_(64 - static_cast<unsigned>(std::bit_width(last_))) {}

    u64 slot_of(u64 key) const { return key * 0x9E3779B97F4A7C15ull >> shift_; }

    template <class Value>
    bool has(Value value) const {
        const u64 key = key_of(value), at = slot_of(key);
        const SetSlot slot = slots_[at];
        const bool is_taken = slot.number != 0, is_same = slot.key == key;
        if (is_taken & !is_same) [[unlikely]]
            return find(key, at + 1, [](u64) { return true; });
        return is_taken;
    }
    // `prefix`: that of the text.
    bool has(TextRef text, u64 prefix) const {
        const u64 key = key_of(prefix, text.size), at = slot_of(key);
        const SetSlot slot = slots_[at];
        const ListedText& first = texts_[slot.number];
        const bool is_taken = slot.number != 0;
        const bool is_same = (first.text.size == text.size) & (first.prefix == prefix) & (text.size <= 8);
        if (is_taken & !is_same) [[unlikely]] {
            return find(key, at, [&](u64 number) {
                const ListedText& found = texts_[number];
                return found.text.size == text.size && found.prefix == prefix && has_same_rest(found.text, text);
            });
        }
        return is_taken;
    }

private:
    template <class IsSame>
    bool find(u64 key, u64 at, IsSame is_same) const {
        for (;; ++at) {
            const SetSlot slot = slots_[at & last_];
            if (slot.number == 0) return false;
            if (slot.key == key && is_same(slot.number)) return true;
        }
    }

    const SetSlot* slots_;
    const ListedText* texts_;
    u64 last_;
    unsigned shift_;
};

class ValueSet {
public:
    // The values of a step of `is_in`.
    ValueSet(const FilterStep& step, const u8* constants);

    ValueLookup lookup() const { return {slots_, texts_}; }

private:
    template <class Value>
    void add_numbers(const u8* values, u64 count);
    void add_texts(const u64* places, u64 count, const u8* constants);
    void add(u64 key, u64 number);

    std::vector<ValueLookup::SetSlot> slots_;
    std::vector<ValueLookup::ListedText> texts_;
};

}  // namespace headrace
