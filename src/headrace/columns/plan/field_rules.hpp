// Prepares a plan's words, number marks and date formats for the converters.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "columns/plan/date_layout.hpp"
#include "columns/plan/load_plan.hpp"
#include "columns/plan/word_table.hpp"

namespace headrace {

// Owns the objects that its rules point to. The plan must outlive it.
class PlanRules {
public:
    explicit PlanRules(const LoadPlan& plan);
    PlanRules(const PlanRules&) = delete;
    PlanRules& operator=(const PlanRules&) = delete;

    // Return the rules with one of the plan's forms, for a column of text or of values.
    const FieldRules& of_forms(usize number, bool is_text) const { return rules_[2 * number + is_text]; }
    const FieldRules& of_raw() const { return raw_; }  // for collected bytes: no text is null

private:
    void add(const ValueForms& forms, const std::vector<std::string>& all_nulls);
    WordList keep(const std::vector<std::string>& texts);

    const LoadPlan& plan_;
    FieldRules shared_{};
    FieldRules raw_{};
    std::vector<FieldRules> rules_;
    std::deque<std::vector<std::string>> nulls_;  // words_ point to them, so they must not move
    std::vector<std::vector<DateFormat>> formats_;
    std::vector<std::vector<Word>> words_;
    std::vector<std::vector<WordSlot>> slots_;
    std::vector<std::vector<DateLayout>> layouts_;
};

}  // namespace headrace
