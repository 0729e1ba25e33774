#include "columns/plan/pack_rules.hpp"

#include <cstddef>
#include <cstring>

#include "columns/plan/field_rules.hpp"

namespace headrace {
namespace {

class Packer {
public:
    explicit Packer(usize bytes) { packed_.bytes.resize(bytes); }

    // Append items; return their offset.
    template <class T>
    usize add(const T* items, usize count) {
        const usize at = (packed_.bytes.size() + 7) / 8 * 8;
        packed_.bytes.resize(at + count * sizeof(T));
        if (count != 0) std::memcpy(packed_.bytes.data() + at, items, count * sizeof(T));
        return at;
    }

    template <class T>
    void put(usize at, const T& item) {
        std::memcpy(packed_.bytes.data() + at, &item, sizeof(T));
    }

    // Set the pointer at offset `at` to offset `to`.
    void point(usize at, usize to) {
        put(at, u64{to});
        packed_.pointers.push_back(at);
    }

    // Append the items of the list at offset `at`.
    void add_words(usize at, const WordList& list) {
        const usize words = add(list.words, list.count);
        for (usize i = 0; i < list.count; ++i)
            point(words + i * sizeof(Word) + offsetof(Word, text), add(list.words[i].text, list.words[i].size));
        point(at + offsetof(WordList, words), words);
    }

    void add_dates(usize at, const DateFormats& dates) {
        const usize formats = add(dates.formats, dates.count);
        for (usize i = 0; i < dates.count; ++i) {
            const DateFormat& format = dates.formats[i];
            point(formats + i * sizeof(DateFormat) + offsetof(DateFormat, steps), add(format.steps, format.count));
        }
        point(at + offsetof(DateFormats, formats), formats);
    }

    void add_rules(usize at, const FieldRules& rules) {
        put(at, rules);
        // A word's last probe is at most this far from the last slot that words hash to.
        const usize slots = (usize{1} << (64 - rules.words.shift)) + rules.words.probes;
        add_words(at + offsetof(FieldRules, nulls), rules.nulls);
        add_words(at + offsetof(FieldRules, written_nulls), rules.written_nulls);
        add_words(at + offsetof(FieldRules, true_words), rules.true_words);
        add_words(at + offsetof(FieldRules, false_words), rules.false_words);
        add_dates(at + offsetof(FieldRules, dates), rules.dates);
        point(at + offsetof(FieldRules, layouts), add(rules.layouts, rules.layout_count));
        point(at + offsetof(FieldRules, words) + offsetof(WordTable, slots), add(rules.words.slots, slots));
    }

    void add_zone(usize at, const Zone& zone) {
        put(at, zone);
        put(at + offsetof(Zone, name), u64{0});
        point(at + offsetof(Zone, begins), add(zone.begins, zone.count));
        point(at + offsetof(Zone, ends), add(zone.ends, zone.count));
        point(at + offsetof(Zone, offsets), add(zone.offsets, zone.count));
    }

    PackedRules take() { return std::move(packed_); }

private:
    PackedRules packed_;
};

}  // namespace

PackedRules pack_rules(const LoadPlan& plan) {
    const PlanRules rules(plan);
    const usize forms = 2 * plan.forms.size() + 1;
    Packer packer(forms * sizeof(FieldRules) + plan.zones.size() * sizeof(Zone));
    for (usize i = 0; i + 1 < forms; ++i) packer.add_rules(i * sizeof(FieldRules), rules.of_forms(i / 2, i % 2 != 0));
    packer.add_rules((forms - 1) * sizeof(FieldRules), rules.of_raw());
    usize at = forms * sizeof(FieldRules);
    for (const ZoneTable& table : plan.zones) {
        packer.add_zone(at, table.zone);
        at += sizeof(Zone);
    }
    return packer.take();
}

}  // namespace headrace
