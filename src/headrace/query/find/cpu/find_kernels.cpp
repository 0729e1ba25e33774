// Finds a pattern in one range of positions; compiled once per instruction set.
//
// Compares up to 16 bytes of the pattern, the rarest first, each at 64 positions at once. The first ones, more if their
// bytes are frequent, are compared without a branch. It then stops when no position is left, or soon if only one is.
// The method is Mula's ("SIMD-friendly algorithms for substring searching"), the choice by rarity memchr's. If these
// are all bytes of the pattern, the positions left are hits. Otherwise words of 8 bytes are compared, under a budget of
// bytes a position. Past the budget, a linear algorithm searches the rest of the range. So no text takes quadratic
// time:
// - A pattern of period p <= length / 2 occurs only inside runs of text[i] == text[i + p]. In a run, hits are p apart.
// - Others are found by Knuth, Morris and Pratt's automaton.
// Bytes moved per position: 1, from memory.
#include "query/find/cpu/find_kernels.hpp"

#include "core/cpu/simd.hpp"
#include "core/cpu/vectors.hpp"
#include "query/find/pattern/fold.hpp"

HR_BEGIN_NAMESPACE
namespace {

// Bytes that verification may read per position, and in addition per range and per pattern.
constexpr u64 budget_per_position = 8, budget_per_range = 16384, budget_per_pattern = 2;
constexpr u32 probes_of_one = 3;    // compared at one position that is left; verification of it takes less than more
constexpr u64 followed_length = 8;  // masks find the hits of shorter patterns faster than comparisons one after another
constexpr u32 few_probes = 3;       // before the first branch, after which few blocks have a position left
constexpr u32 blocks_at_once = 4;   // tested by one branch after those
constexpr u64 candidate_cost = 16;  // bytes that could be compared in the time of starting a comparison

template <bool ignore_case>
HR_HOT u64 word_at(const u8* p) {
    u64 word;
    __builtin_memcpy(&word, p, 8);
    return ignore_case ? fold_word(word) : word;
}

template <bool ignore_case>
HR_HOT u8 byte_at(const u8* p) {
    return ignore_case ? fold_byte(*p) : *p;
}

template <bool ignore_case>
HR_HOT Places probed(const Probe& probe, const u8* text) {
    const Block block(text + probe.offset);
    if constexpr (ignore_case) return block.places(probe.byte) | block.places(probe.other);
    return block.places(probe.byte);
}

// The first probes, in registers.
template <u32 count>
struct FirstProbes {
    Probe probes[count];
    explicit HR_MEMBER FirstProbes(const FindPlan& plan) {
        for (u32 i = 0; i < count; ++i) probes[i] = plan.probes[i];
    }
};

template <bool ignore_case>
class RangeSearch {
public:
    RangeSearch(const FindPlan& plan, const FindRange& range, FoundPositions& found)
        : plan_(plan),
          step_((plan.length + plan.period - 1) / plan.period * plan.period),
          text_(range.text),
          begin_(range.begin < found.entry ? found.entry : range.begin),
          end_(range.end),
          found_(found),
          skips_(found.gap != 0 || found.by_line),
          follows_(found.gap != 0 && plan.length >= followed_length) {}

    // `head`: probes that are compared before the first branch.
    template <u32 head>
    void run() {
        if (begin_ >= end_) return;
        if (end_ < BLOCK) {
            // A block would begin before the text.
            check(begin_, low_bits(end_ - begin_), true);
            return;
        }
        const FirstProbes<head> first(plan_);
        if (plan_.length == head && is_count()) return count(first);
        bool is_empty = true;  // the last block had no candidate
        for (u64 at = begin_; at < end_; at += BLOCK) {
            if (head <= few_probes && is_empty) at = skip_blocks(first, at);
            // The last block of a range begins earlier, so that it ends in the text.
            const u64 block = at + BLOCK <= end_ ? at : end_ - BLOCK;
            bool verify = plan_.probe_count < plan_.length;
            u64 mask = candidates(first, text_ + block, verify);
            is_empty = mask == 0;
            if (is_empty) continue;
            mask &= ~low_bits(at - block);
            if (mask != 0 && !check(block, mask, verify)) return;
            if (found_.entry > at + BLOCK) at = found_.entry - BLOCK;
        }
    }

private:
    template <u32 head>
    HR_MEMBER u64 first_candidates(const FirstProbes<head>& first, const u8* text) const {
        Places places = probed<ignore_case>(first.probes[0], text);
        for (u32 i = 1; i < head; ++i) places = places & probed<ignore_case>(first.probes[i], text);
        return places.bits();
    }

    // Returns the begin of the first blocks from `at` on of which one may have a candidate, or of the last few blocks.
    template <u32 head>
    HR_MEMBER u64 skip_blocks(const FirstProbes<head>& first, u64 at) const {
        for (; at + blocks_at_once * BLOCK <= end_; at += blocks_at_once * BLOCK) {
            u64 any = 0;
            for (u32 i = 0; i < blocks_at_once; ++i) {
                read_ahead(text_ + at + i * BLOCK);
                any |= first_candidates(first, text_ + at + i * BLOCK);
            }
            if (any != 0) break;
        }
        return at;
    }

    // Sets `verify` if not all bytes of the pattern were compared.
    template <u32 head>
    HR_MEMBER u64 candidates(const FirstProbes<head>& first, const u8* text, bool& verify) const {
        u64 mask = first_candidates(first, text);
        if (mask == 0) return mask;
        u32 i = head;
        const u32 of_one = was_hit_ ? head : head + probes_of_one;
        for (; mask != 0 && i < plan_.probe_count && i < of_one; ++i) {
            mask &= probed<ignore_case>(plan_.probes[i], text).bits();
        }
        for (; (mask & (mask - 1)) != 0 && i < plan_.probe_count; ++i) {
            mask &= probed<ignore_case>(plan_.probes[i], text).bits();
        }
        verify = verify || (mask != 0 && i < plan_.probe_count);
        return mask;
    }

    bool is_count() const { return found_.capacity == 0 && found_.limit == ~u64{0} && !skips_; }

    // Counts the hits of a pattern of `head` bytes, without a branch that depends on the text.
    template <u32 head>
    HR_MEMBER void count(const FirstProbes<head>& first) {
        u64 at = begin_, total = 0;
        for (; at + BLOCK <= end_; at += BLOCK) {
            read_ahead(text_ + at);
            total += static_cast<u64>(count_ones(first_candidates(first, text_ + at)));
        }
        if (at < end_) {
            const u64 block = end_ - BLOCK;
            total += static_cast<u64>(count_ones(first_candidates(first, text_ + block) & ~low_bits(at - block)));
        }
        found_.count += total;
    }

    // Adds the hits among the positions base + i of the set bits i. Returns whether the search goes on after them.
    bool check(u64 base, u64 mask, bool verify) {
        if (!verify && is_count()) {
            found_.count += static_cast<u64>(count_ones(mask));
            return true;
        }
        return verify || follows_ ? add_each<true>(base, mask, verify) : add_each<false>(base, mask, false);
    }

    // `is_checked`: whether a position may have to be verified, or hits after it to be looked for.
    template <bool is_checked>
    bool add_each(u64 base, u64 mask, bool verify) {
        for (; mask != 0; mask &= mask - 1) {
            if (skips_ && found_.entry > base) {
                if (found_.entry >= base + BLOCK) break;
                mask &= ~low_bits(found_.entry - base);
                if (mask == 0) break;
            }
            const u64 position = base + static_cast<u64>(trailing_zeros(mask));
            if (is_checked && verify) {
                const u64 allowed = budget_per_range + budget_per_pattern * plan_.length;
                if (spent_ > allowed + budget_per_position * (position - begin_)) {
                    search_linear(position);
                    return false;
                }
                const u64 equal = equal_bytes(text_ + position);
                spent_ += candidate_cost + equal;
                was_hit_ = equal == plan_.length;
                if (!was_hit_) continue;
            }
            if (!add(position) || (is_checked && follows_ && !add_following(position))) return false;
        }
        return true;
    }

    // Adds the hits that follow one in a run of the pattern's period. No other hit between two of them counts: it would
    // overlap the later one by more than the period allows.
    bool add_following(u64 position) {
        for (u64 next = position + step_; next < end_; next += step_) {
            if (equal_bytes(text_ + next) < plan_.length) return true;
            if (!add(next)) return false;
        }
        return true;
    }

    bool add(u64 position) {
        if (position < found_.entry) return true;
        found_.entry = found_.by_line ? line_end(position) : position + found_.gap;
        if (found_.count < found_.capacity) found_.out[found_.count] = position;
        return ++found_.count < found_.limit;
    }

    // Returns the end of the range if the line does not end before it.
    u64 line_end(u64 position) const {
        const void* const feed = __builtin_memchr(text_ + position, '\n', end_ - position);
        return feed == nullptr ? end_ : static_cast<u64>(static_cast<const u8*>(feed) - text_) + 1;
    }

    // Number of bytes compared equal: the length of the pattern if it occurs, otherwise less.
    u64 equal_bytes(const u8* text) const {
        const u8* const pattern = plan_.pattern;
        u64 i = 0;
        for (; !ignore_case && i + BLOCK <= plan_.length; i += BLOCK) {
            if (!(Block(text + i) == Block(pattern + i))) return i;
        }
        for (; i + 8 <= plan_.length; i += 8) {
            if (word_at<ignore_case>(text + i) != word_at<false>(pattern + i)) return i;
        }
        for (; i < plan_.length; ++i) {
            if (byte_at<ignore_case>(text + i) != pattern[i]) return i;
        }
        return i;
    }

    void search_linear(u64 begin) {
        if (plan_.period <= plan_.length / 2) {
            search_runs(begin);
        } else {
            search_automaton(begin, end_, plan_.length, [&](u64 position) { return add(position); });
        }
    }

    // Calls hit(position) for each position from begin to end where the first `length` bytes of the pattern occur,
    // until it returns false.
    template <class Hit>
    void search_automaton(u64 begin, u64 end, u64 length, const Hit& hit) const {
        u64 matched = 0;
        for (u64 i = begin; i < end + length - 1; ++i) {
            const u8 byte = byte_at<ignore_case>(text_ + i);
            while (matched > 0 && plan_.pattern[matched] != byte) matched = plan_.borders[matched];
            if (plan_.pattern[matched] == byte) ++matched;
            if (matched < length) continue;
            if (!hit(i + 1 - length)) return;
            matched = plan_.borders[length];
        }
    }

    // Finds a periodic pattern. It occurs at r if its first period does, and all pairs from r to r + length - period
    // are equal.
    void search_runs(u64 begin) {
        const u64 pairs = plan_.length - plan_.period, last = end_ + pairs - 1;
        while (begin < end_) {
            const u64 stop = first_unequal_pair(begin, last);
            if (stop - begin >= pairs && !add_run(begin, stop - pairs + 1)) return;
            begin = stop + 1;
        }
    }

    // Smallest i from begin on with text[i] != text[i + period]; `last` if there is none before it.
    u64 first_unequal_pair(u64 begin, u64 last) const {
        u64 i = begin;
        for (; i + 8 <= last; i += 8) {
            const u64 unlike = word_at<ignore_case>(text_ + i) ^ word_at<ignore_case>(text_ + i + plan_.period);
            if (unlike != 0) return i + static_cast<u64>(trailing_zeros(unlike)) / 8;
        }
        while (i < last && byte_at<ignore_case>(text_ + i) == byte_at<ignore_case>(text_ + i + plan_.period)) ++i;
        return i;
    }

    // Adds the hits from begin to end, which begin in one run. The first period of the pattern equals none of its own
    // rotations. So it occurs in the run's first period at most once. After that it occurs every period.
    bool add_run(u64 begin, u64 end) {
        const u64 period = plan_.period, near = end - begin < period ? end : begin + period;
        u64 first = end;
        search_automaton(begin, near, period, [&](u64 position) {
            first = position;
            return false;
        });
        if (first < found_.entry) first += (found_.entry - first + period - 1) / period * period;
        const u64 step = found_.gap == 0 ? period : step_;
        for (u64 position = first; position < end; position += step) {
            if (!add(position)) return false;
        }
        return true;
    }

    const FindPlan& plan_;
    const u64 step_;  // distance of two hits in a run of the pattern's period that do not overlap
    const u8* const text_;
    const u64 begin_, end_;
    FoundPositions& found_;
    const bool skips_;    // whether positions after one that counts may not count
    const bool follows_;  // whether hits in a run of the pattern's period are looked for after each hit
    u64 spent_ = 0;
    bool was_hit_ = false;  // the last verification
};

template <bool ignore_case>
void find_in(const FindPlan& plan, const FindRange& range, FoundPositions& found) {
    RangeSearch<ignore_case> search(plan, range, found);
    if (plan.head == 1) return search.template run<1>();
    if (plan.head == 2) return search.template run<2>();
    if (plan.head == 3) return search.template run<3>();
    if (plan.head <= 5) return search.template run<4>();
    if (plan.head <= 7) return search.template run<6>();
    search.template run<8>();
}

void find(const FindPlan& plan, const FindRange& range, FoundPositions& found) {
    if (plan.ignore_case) return find_in<true>(plan, range, found);
    find_in<false>(plan, range, found);
}

}  // namespace

const PatternKernels& pattern_kernels() {
    static constexpr PatternKernels kernels = {find};
    return kernels;
}

HR_END_NAMESPACE
