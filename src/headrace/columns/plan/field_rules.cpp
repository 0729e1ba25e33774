#include "columns/plan/field_rules.hpp"

#include <algorithm>

namespace headrace {
namespace {

// Return whether a text has only characters that the fast conversion accepts, and a digit. Such a null text might be
// read as a value. All other texts, such as "-", reach the rules, which check for nulls first.
bool looks_like_value(const std::string& text, const NumberMarks& marks) {
    constexpr const char* DIGITS = "0123456789";
    std::string value_bytes = "0123456789+-.eE:T ";
    value_bytes += static_cast<char>(marks.decimal);
    if (marks.thousands != NO_MARK) value_bytes += static_cast<char>(marks.thousands);
    if (text.starts_with("0x") || text.starts_with("0X")) return true;
    return text.find_first_of(DIGITS) != std::string::npos && text.find_first_not_of(value_bytes) == std::string::npos;
}

bool is_date(const std::string& text, const DateFormats& formats) {
    Timestamp t;
    const DateFormat* used;
    return parse_formatted(formats, reinterpret_cast<const u8*>(text.data()), text.size(), t, used) == Parse::ok;
}

bool contains(const std::vector<std::string>& texts, const std::string& text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
}

}  // namespace

PlanRules::PlanRules(const LoadPlan& plan) : plan_(plan) {
    shared_.true_words = keep(plan.true_words);
    shared_.false_words = keep(plan.false_words);
    shared_.quoted_may_be_null = plan.quoted_null;
    shared_.marks = plan.marks;
    shared_.replace_invalid = plan.replace_invalid;
    for (const auto* words : {&plan.true_words, &plan.false_words}) {
        for (const std::string& text : *words) shared_.words_look_like_values |= looks_like_value(text, plan.marks);
    }
    for (const ValueForms& forms : plan.forms) {
        std::vector<std::string> of_values = forms.null_texts;
        of_values.insert(of_values.end(), forms.null_words.begin(), forms.null_words.end());
        add(forms, of_values);
        add(forms, forms.null_texts);
    }
    raw_.usual_forms = true;
    raw_.words = build_word_table({}, slots_.emplace_back());
}

void PlanRules::add(const ValueForms& forms, const std::vector<std::string>& all_nulls) {
    std::vector<std::string>& nulls = nulls_.emplace_back();
    std::vector<std::string>& written = nulls_.emplace_back();
    for (const std::string& text : all_nulls) {
        const bool has_escape = !forms.escape.empty() && text.find(forms.escape) != std::string::npos;
        (has_escape ? written : nulls).push_back(text);
    }
    const DateFormatSet& set = forms.dates;
    std::vector<DateFormat>& formats = formats_.emplace_back();
    for (usize i = 0; i < set.programs.size(); ++i) {
        const std::string& steps = set.programs[i];
        formats.push_back(
            {reinterpret_cast<const DateStep*>(steps.data()), steps.size() / sizeof(DateStep), set.may_be_number[i]});
    }
    FieldRules rules = shared_;
    rules.dates = {formats.data(), formats.size(), set.iso_first, set.before_numbers};
    rules.usual_forms = are_usual(rules.marks) && set.iso_first && formats.empty();
    rules.nulls = keep(nulls);
    rules.written_nulls = keep(written);
    for (const std::string& text : nulls) {
        rules.empty_is_null |= text.empty();
        const bool is_word = contains(plan_.true_words, text) || contains(plan_.false_words, text);
        const bool is_value = looks_like_value(text, plan_.marks) || is_date(text, rules.dates);
        rules.nulls_look_like_values |= is_value || is_word;
    }
    for (const auto* words : {&plan_.true_words, &plan_.false_words}) {
        for (const std::string& text : *words) rules.words_look_like_values |= is_date(text, rules.dates);
    }
    rules.words = build_word_table({{nulls, NULL_WORD}, {plan_.true_words, TRUE_WORD}, {plan_.false_words, FALSE_WORD}},
                                   slots_.emplace_back());
    for (const std::string& text : written) rules.words.null_sizes |= u64{1} << std::min<usize>(text.size(), 63);
    if (rules.empty_is_null) {
        rules.words.of_empty |= NULL_WORD;
        rules.words.sizes |= 1;
    }
    std::vector<DateLayout>& layouts = layouts_.emplace_back();
    for (usize i = 0; i < rules.dates.count; ++i) add_date_layouts(rules.dates.formats[i], i, layouts);
    // ISO 8601 has '-' or '/' at byte 4; a layout that may have one too is left to the rules, which try ISO 8601 first.
    const auto may_be_iso = [](const DateLayout& layout) {
        return layout.shape[4] == '-' || layout.shape[4] == '/' || layout.limit[4] == 255;
    };
    if (rules.dates.iso_first) std::erase_if(layouts, may_be_iso);
    rules.layouts = layouts.data();
    rules.layout_count = layouts.size();
    rules_.push_back(rules);
}

WordList PlanRules::keep(const std::vector<std::string>& texts) {
    std::vector<Word>& words = words_.emplace_back();
    for (const std::string& text : texts) words.push_back({reinterpret_cast<const u8*>(text.data()), text.size()});
    return {words.data(), words.size()};
}

}  // namespace headrace
