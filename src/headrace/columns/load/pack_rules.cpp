#include "columns/load/pack_rules.hpp"

#include <cstring>

#include "columns/load/field_rules.hpp"

namespace headrace {
namespace {

class Packer {
public:
    Packer(u64 address, usize room) : address_(address), bytes_(room, '\0') {}

    // Where `count` items of these lie.
    template <class T>
    const T* add(const T* items, usize count) {
        const usize at = (bytes_.size() + 7) / 8 * 8;
        bytes_.resize(at + count * sizeof(T));
        if (count != 0) std::memcpy(bytes_.data() + at, items, count * sizeof(T));
        return reinterpret_cast<const T*>(address_ + at);
    }

    WordList add(const WordList& list) {
        std::vector<Word> words;
        for (usize i = 0; i < list.count; ++i)
            words.push_back({add(list.words[i].text, list.words[i].size), list.words[i].size});
        return {add(words.data(), words.size()), list.count};
    }

    DateFormats add(const DateFormats& dates) {
        std::vector<DateFormat> formats;
        for (usize i = 0; i < dates.count; ++i) {
            DateFormat format = dates.formats[i];
            format.steps = add(format.steps, format.count);
            formats.push_back(format);
        }
        DateFormats packed = dates;
        packed.formats = add(formats.data(), formats.size());
        return packed;
    }

    template <class T>
    void put(usize at, const T& item) {
        std::memcpy(bytes_.data() + at, &item, sizeof(T));
    }

    std::string take() { return std::move(bytes_); }

private:
    u64 address_;
    std::string bytes_;
};

}  // namespace

std::string pack_rules(const LoadPlan& plan, u64 address) {
    const PlanRules rules(plan);
    const usize forms = plan.forms.size() + 1;
    Packer packer(address, forms * sizeof(FieldRules) + plan.zones.size() * sizeof(Zone));
    for (usize i = 0; i < forms; ++i) {
        FieldRules packed = i < plan.forms.size() ? rules.of_forms(i) : rules.of_raw();
        packed.nulls = packer.add(packed.nulls);
        packed.true_words = packer.add(packed.true_words);
        packed.false_words = packer.add(packed.false_words);
        packed.dates = packer.add(packed.dates);
        packer.put(i * sizeof(FieldRules), packed);
    }
    usize at = forms * sizeof(FieldRules);
    for (const ZoneTable& table : plan.zones) {
        Zone zone = table.zone;
        zone.name = nullptr;
        zone.begins = packer.add(zone.begins, zone.count);
        zone.ends = packer.add(zone.ends, zone.count);
        zone.offsets = packer.add(zone.offsets, zone.count);
        packer.put(at, zone);
        at += sizeof(Zone);
    }
    return packer.take();
}

}  // namespace headrace
