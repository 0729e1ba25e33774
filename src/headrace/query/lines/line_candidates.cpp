// A search for a pattern or for windows takes a small part of an automaton's time.
#include "query/lines/line_candidates.hpp"

#include <algorithm>

namespace headrace {

HR_FOR_EACH_ISA(const PatternKernels&(), pattern_kernels)
HR_FOR_EACH_ISA(const WindowKernels&(), window_kernels)

namespace {

// With more than one candidate in as many bytes, an automaton reads all bytes: it then reads most of them anyway, or
// begins too often.
constexpr u64 many_share = 128, many_share_within_reach = 32;
constexpr u64 max_short_reach = 16;
constexpr u64 batch_bytes = 32 << 10;  // least bytes of text for a batch of candidates

}  // namespace

LineCandidates::LineCandidates(std::string_view block, const FindPlan* plan, const LineWindows* windows, u64 reach,
                               Isa isa)
    : block_(block), plan_(plan), windows_(windows), reach_(reach), isa_(isa) {
    if (plan != nullptr) width_ = plan->length;
    if (plan != nullptr || windows == nullptr) return;
    width_ = windows->width;
    lead_ = windows->lead;
}

// Finds places of the part whose first byte is in [begin, end).
void LineCandidates::search(u64 begin, u64 end, FoundPositions& found) const {
    if (width_ > block_.size()) return;
    end = std::min(end, block_.size() - width_ + 1);
    if (begin >= end) return;
    const FindRange range{reinterpret_cast<const u8*>(block_.data()), begin, end};
    if (plan_ != nullptr) return pattern_kernels_for(isa_)().find(*plan_, range, found);
    window_kernels_for(isa_)().find(*windows_, range, found);
}

// Returns where a window with a line end may begin that the last line of the block lacks; `end` if it lacks none.
u64 LineCandidates::last_place(u64 end) const {
    const bool lacks_end = windows_ != nullptr && plan_ == nullptr && windows_->has_tail && end == block_.size() &&
                           end != 0 && block_.back() != '\n';
    return lacks_end ? end - std::min<u64>(std::max<u64>(width_ - 1, 1), end) : end;
}

bool LineCandidates::find(u64 begin, u64 end, std::vector<u64>& found, bool& is_more) const {
    if (!has_part()) return false;
    const u64 share = reach_ <= max_short_reach ? many_share_within_reach : many_share;
    const u64 limit = std::min(end - begin, batch_bytes) / share + 1;
    // The text lacks the line end before its first line.
    const u64 first = lead_ != 0 && begin == 0 ? 1 : 0;
    found.resize(first + limit);
    FoundPositions hits{found.data() + first, limit, limit};
    search(begin - std::min(lead_, begin), end, hits);
    is_more = hits.count == limit;
    if (is_more && found.back() - begin < batch_bytes) return false;
    found.resize(first + hits.count);
    for (u64& at : found) at += lead_;
    if (first != 0) found[0] = 0;
    if (const u64 last = last_place(end); !is_more && last < end) found.push_back(std::max(last, begin));
    return true;
}

u64 LineCandidates::next(u64 begin, u64 end) const {
    if (lead_ != 0 && begin == 0) return begin;
    u64 at = end;
    FoundPositions found{&at, 1, 1};
    search(begin - lead_, end, found);
    if (found.count != 0 && at + lead_ < end) return at + lead_;
    return found.count == 0 ? std::max(begin, last_place(end)) : end;
}

}  // namespace headrace
