// Hits are found in the bytes of all records at once. A record with a hit stays, so the search goes on after it as soon
// as some of its hits are known.
#include "query/find/cpu/record_search.hpp"

#include <algorithm>
#include <span>

#include "query/find/cpu/probes.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const PatternKernels&(), pattern_kernels)

namespace {

constexpr u64 hits_at_once = 64;
constexpr u64 searched_at_once = 4096;  // bytes, of several patterns before it is known whether there is a hit

void invert(std::vector<u8>& flags) {
    for (u8& flag : flags) flag ^= 1;
}

FindText text_of(const RecordList& records) {
    return {records.text, records.count == 0 ? 0 : records.end(records.count - 1)};
}

}  // namespace

RecordsWithPattern::RecordsWithPattern(std::vector<FindPattern> patterns, bool is_inverted, Isa isa)
    : patterns_(std::move(patterns)), is_inverted_(is_inverted), kernel_(pattern_kernels_for(isa)().find) {}

// The first text decides which bytes of a pattern are compared first.
const std::vector<FindPlan>& RecordsWithPattern::plans_for(const FindText& text) const {
    std::call_once(planned_, [&] {
        for (const FindPattern& pattern : patterns_) plans_.push_back(find_plan(pattern, text));
    });
    return plans_;
}

void RecordsWithPattern::choose(const RecordList& records, std::vector<u8>& stays) const {
    for (const FindPlan& plan : plans_for(text_of(records))) choose(plan, records, stays);
    if (is_inverted_) invert(stays);
}

void RecordsWithPattern::choose(const FindPlan& plan, const RecordList& records, std::vector<u8>& stays) const {
    const FindText text = text_of(records);
    const u64 length = plan.length;
    const u64 end = text.size < length ? 0 : text.size - length + 1;  // of positions where a hit may begin
    usize record = 0;
    u64 hits[hits_at_once];
    for (u64 at = records.count == 0 ? end : records.begin(0); at < end;) {
        FoundPositions found{hits, hits_at_once, hits_at_once};
        kernel_(plan, {text.bytes, at, end}, found);
        if (found.count == 0) break;
        for (const u64 hit : std::span(hits, found.count)) {
            while (records.end(record) < hit + length) ++record;
            if (records.begin(record) <= hit) stays[record] = 1;
        }
        at = found.count < hits_at_once ? end : hits[hits_at_once - 1] + 1;
        if (stays[record] != 0) at = std::max(at, records.end(record));
    }
}

bool RecordsWithPattern::drops_all(const u8* text, u64 size) const {
    if (is_inverted_) return false;
    const auto lacks = [&](const FindPlan& plan) {
        FoundPositions found{nullptr, 0, 1};
        if (plan.length <= size) kernel_(plan, {text, 0, size - plan.length + 1}, found);
        return found.count == 0;
    };
    const std::vector<FindPlan>& plans = plans_for({text, size});
    return std::all_of(plans.begin(), plans.end(), lacks);
}

void RecordsWithAnyPattern::choose(const RecordList& records, std::vector<u8>& stays) const {
    const FindText text = text_of(records);
    usize record = 0;
    // Hits are nearly ascending.
    const auto keep = [&](u64 hit, u32 pattern) {
        while (record > 0 && records.begin(record) > hit) --record;
        while (record + 1 < records.count && records.begin(record + 1) <= hit) ++record;
        const u64 hit_end = hit + patterns_.patterns()[pattern].length;
        if (records.begin(record) <= hit && hit_end <= records.end(record)) stays[record] = 1;
    };
    if (records.count != 0) SetSearch(patterns_, text).run(records.begin(0), text.size, keep);
    if (is_inverted_) invert(stays);
}

bool RecordsWithAnyPattern::drops_all(const u8* text, u64 size) const {
    if (is_inverted_) return false;
    const SetSearch search(patterns_, {text, size});
    bool has_hit = false;
    for (u64 at = 0; at < size && !has_hit; at += searched_at_once) {
        search.run(at, std::min(at + searched_at_once, size), [&](u64, u32) { has_hit = true; });
    }
    return !has_hit;
}

}  // namespace headrace
