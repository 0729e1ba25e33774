// The next state depends on the one before, so a reader waits for memory at each byte. Four parts of a text are
// therefore read side by side, four bytes each between two tests. A test finds lines that are done and states that are
// not made yet. Bytes moved per byte of text: 1, and an entry of a table that usually is in the L1 cache.
#include "query/lines/line_walk.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace headrace {
namespace {

constexpr u32 lane_count = 4;
constexpr u32 stride = 4;  // bytes between two tests
constexpr u64 min_lane_bytes = 1024;

class LineWalk {
public:
    LineWalk(LineStates& states, std::string_view text, bool at_line_start, std::vector<u64>& found)
        : states_(states), begin_(bytes_of(text.data())), found_(found) {
        rows_.fill(states.at_line_start());
        if (!at_line_start) rows_[0] = states.in_line();
        ends_.fill(begin_ + text.size());
        if (text.size() >= lane_count * min_lane_bytes) {
            for (u32 i = 1; i < lane_count; ++i) ends_[i - 1] = line_end(begin_ + text.size() * i / lane_count - 1);
        }
        at_[0] = begin_;
        std::copy_n(ends_.begin(), lane_count - 1, at_.begin() + 1);
        while (last_ != 0 && at_[last_] == ends_[last_]) --last_;
    }

    void run() {
        while (smallest_rest() >= stride) {
            walk<lane_count>(0);
            for (u32 i = 0; i < lane_count; ++i) read_stride(i);
        }
        for (u32 i = 0; i < lane_count; ++i) {
            while (at_[i] < ends_[i]) {
                walk<1>(i);
                read_stride(i);
            }
        }
        const u8* const end = ends_.back();
        const bool is_open = end > begin_ && end[-1] != '\n' && rows_[last_] >= states_.first_state();
        if (is_open && states_.accepts_at_end(rows_[last_])) hits_[last_].push_back(static_cast<u64>(end - 1 - begin_));
        for (const auto& hits : hits_) found_.insert(found_.end(), hits.begin(), hits.end());
    }

private:
    static const u8* bytes_of(const void* p) { return static_cast<const u8*>(p); }

    u64 left(u32 lane) const { return static_cast<u64>(ends_[lane] - at_[lane]); }

    u64 smallest_rest() const {
        u64 least = left(0);
        for (u32 i = 1; i < lane_count; ++i) least = std::min(least, left(i));
        return least;
    }

    const u8* line_end(const u8* at) const {
        const void* const feed = std::memchr(at, '\n', static_cast<usize>(ends_.back() - at));
        return feed == nullptr ? ends_.back() : bytes_of(feed) + 1;
    }

    // Reads strides of `count` lanes from `first` on, up to one that needs read_stride or ends past its lane.
    template <u32 count>
    void walk(u32 first) {
        const u32 *const next = states_.next(), first_state = states_.first_state();
        const u8* const class_of = states_.class_of();
        std::array<const u8*, count> at;
        std::array<u32, count> rows, after;
        u64 strides = ~u64{0};
        for (u32 i = 0; i < count; ++i) {
            at[i] = at_[first + i];
            rows[i] = rows_[first + i];
            strides = std::min(strides, left(first + i) / stride);
        }
        for (; strides != 0; --strides) {
            after = rows;
            for (u32 k = 0; k < stride; ++k) {
                for (u32 i = 0; i < count; ++i) after[i] = next[after[i] + class_of[at[i][k]]];
            }
            bool is_plain = true;
            for (u32 i = 0; i < count; ++i) is_plain &= after[i] >= first_state;
            if (!is_plain) break;
            rows = after;
            for (u32 i = 0; i < count; ++i) at[i] += stride;
        }
        for (u32 i = 0; i < count; ++i) {
            at_[first + i] = at[i];
            rows_[first + i] = rows[i];
        }
    }

    // Reads a stride of a lane, or up to the end of a line that is done or of the lane.
    void read_stride(u32 lane) {
        for (u32 k = 0; k < stride && at_[lane] < ends_[lane]; ++k) {
            const u8 byte = *at_[lane]++;
            u32 after = states_.next()[rows_[lane] + states_.class_of()[byte]];
            if (after == states_.unknown()) after = states_.make(rows_, lane, byte);
            rows_[lane] = after;
            if (after >= states_.first_state()) continue;
            if (after == states_.matched() || after == states_.ended()) {
                hits_[lane].push_back(static_cast<u64>(at_[lane] - 1 - begin_));
            }
            if (after != states_.ended()) at_[lane] = line_end(at_[lane]);
            if (at_[lane][-1] == '\n') rows_[lane] = states_.at_line_start();
            return;
        }
    }

    LineStates& states_;
    const u8* const begin_;
    std::vector<u64>& found_;
    std::array<const u8*, lane_count> at_, ends_;
    std::array<u32, lane_count> rows_;
    std::array<std::vector<u64>, lane_count> hits_;
    u32 last_ = lane_count - 1;  // lane of the last line
};

}  // namespace

void select_lines(LineStates& states, std::string_view text, bool at_line_start, std::vector<u64>& found) {
    LineWalk(states, text, at_line_start, found).run();
}

CandidateEnd read_candidate(LineStates& states, std::string_view text, u64 begin, u64 candidate) {
    const u8* const class_of = states.class_of();
    std::array<u32, 1> row{begin == 0 || text[begin - 1] == '\n' ? states.at_line_start() : states.in_line()};
    u64 at = begin;
    // Reads up to `end`, or to a row below `least`.
    const auto read = [&](u64 end, u32 least) {
        while (at < end) {
            const u8 byte = static_cast<u8>(text[at++]);
            u32 after = states.next()[row[0] + class_of[byte]];
            if (after == states.unknown()) after = states.make(row, 0, byte);
            row[0] = after;
            if (after < least) return;
        }
    };
    read(candidate + 1, states.first_state());
    if (row[0] >= states.first_state()) read(text.size(), states.in_line() + 1);
    if (row[0] < states.first_state()) return {at, row[0] != states.failed()};
    const bool is_open = at == text.size() && text.back() != '\n';
    return {at, is_open && states.accepts_at_end(row[0])};
}

}  // namespace headrace
