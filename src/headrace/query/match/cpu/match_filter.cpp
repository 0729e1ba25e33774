#include "query/match/cpu/match_filter.hpp"

#include "query/find/cpu/probes.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const PatternKernels&(), pattern_kernels)
HR_FOR_EACH_ISA(const WindowKernels&(), window_kernels)

namespace {

constexpr u64 many_share = 32;  // with more than one place in as many bytes, an automaton takes less than both

}  // namespace

FilterSearch::FilterSearch(const MatchFilter& filter, const u8* text, u64 size, Isa isa)
    : text_(text), pattern_kernels_(&pattern_kernels_for(isa)()), window_kernels_(&window_kernels_for(isa)()) {
    if (filter.pattern) {
        if (size != 0) plan_ = find_plan(*filter.pattern, {text, size});
        width_ = filter.pattern->bytes.size();
    } else if (filter.windows) {
        windows_ = &*filter.windows;
        width_ = windows_->width;
    }
}

bool FilterSearch::find(u64 begin, u64 end, std::vector<u64>& places) const {
    places.clear();
    if (!plan_ && windows_ == nullptr) return false;
    if (end - begin < width_) return true;
    const u64 limit = (end - begin) / many_share + 1;
    places.resize(limit);
    FoundPositions found{places.data(), limit, limit};
    const FindRange range{text_, begin, end - width_ + 1};
    if (plan_) {
        pattern_kernels_->find(*plan_, range, found);
    } else {
        window_kernels_->find(*windows_, range, found);
    }
    places.resize(found.count);
    return found.count < limit;
}

}  // namespace headrace
