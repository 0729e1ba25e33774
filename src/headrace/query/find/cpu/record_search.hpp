// Chooses the records in whose bytes a pattern occurs.
#pragma once

#include <mutex>

#include "query/find/cpu/find.hpp"
#include "query/find/cpu/find_kernels.hpp"
#include "query/find/cpu/set_search.hpp"
#include "structure/cpu/record_filter.hpp"

namespace headrace {

// Records in which a pattern of a few occurs, which are searched one after another. A hit lies in one record and has
// none of its line end.
class RecordsWithPattern final : public RecordFilter {
public:
    // `is_inverted`: whether records without a hit stay.
    RecordsWithPattern(std::vector<FindPattern> patterns, bool is_inverted, Isa isa);
    void choose(const RecordList& records, std::vector<u8>& stays) const override;
    bool drops_all(const u8* text, u64 size) const override;

private:
    const std::vector<FindPlan>& plans_for(const FindText& text) const;
    void choose(const FindPlan& plan, const RecordList& records, std::vector<u8>& stays) const;

    const std::vector<FindPattern> patterns_;
    const bool is_inverted_;
    decltype(PatternKernels::find) kernel_;
    mutable std::once_flag planned_;
    mutable std::vector<FindPlan> plans_;
};

// The same with any of many patterns. Refers to their memory.
class RecordsWithAnyPattern final : public RecordFilter {
public:
    RecordsWithAnyPattern(const FindPatterns& patterns, bool is_inverted)
        : patterns_(patterns), is_inverted_(is_inverted) {}
    void choose(const RecordList& records, std::vector<u8>& stays) const override;
    bool drops_all(const u8* text, u64 size) const override;

private:
    const FindPatterns& patterns_;
    const bool is_inverted_;
};

}  // namespace headrace
