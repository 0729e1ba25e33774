// The text is cut into chunks. Two passes find the right state and the state at each cut, and a third one reads each
// chunk backward and then forward. A cut's state is found by a walk from every state over a window next to the cut. If
// all of them arrive at one state, it is known. Otherwise the whole chunk is walked, and its state map is applied once
// the state at the next cut is known. So usually each byte is read once backward and once forward, by one thread.
//
// If each match has a literal or one of a few windows, only regions near these are read. A region ends at bytes that no
// match has, or at the chunk's ends. The first and the last region of a chunk are always read, for matches that cross a
// cut.
//
// If matches are runs of bytes of one class, vectors read all regions of a chunk except the first and the last one.
//
// A chunk keeps its matches if they are few; one with many is read again once their places in the result are known.
#include "query/match/cpu/match.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "query/match/cpu/run_search.hpp"
#include "query/match/cpu/state_map.hpp"

namespace headrace {
namespace {

constexpr u64 stored_share = 8;  // a chunk keeps one match for 8 bytes at most, which takes a byte a byte
constexpr u64 window = 256;

// The state at a cut: known, or given by the state at the next cut in the direction of the walk.
struct CutState {
    bool is_known = false;
    u8 state = 0;
    std::vector<u8> map;

    void take(StateMap& found, u32 states) {
        is_known = found.is_constant();
        state = static_cast<u8>(found[0]);
        for (u32 i = 0; i < states && !is_known; ++i) map.push_back(static_cast<u8>(found[i]));
    }
    void know(u32 found) {
        is_known = true;
        state = static_cast<u8>(found);
    }
    void resolve(u32 next) {
        if (!is_known) know(map[next]);
    }
};

struct ChunkMatches {
    u64 begin_count = 0, end_count = 0;
    std::vector<u32> begins, ends;  // offsets in the chunk, of all of them if they are few
};

// Walks over a range of text, backward and then forward.
class MatchWalk {
public:
    MatchWalk(const MatchAutomaton& automaton, const MatchText& text)
        : tables_(automaton.tables()),
          steps_(automaton.steps().empty() ? nullptr : automaton.steps().data()),
          text_(text) {}

    // Writes the row of each byte in [begin, end): its class and the right state after it. `right`: that at `end`.
    void find_rows(u64 begin, u64 end, u32 right, u16* rows) const {
        const MatchTables tables = tables_;
        const u8* const text = text_.bytes;
        for (u64 at = end; at-- > begin;) {
            const u32 row = tables.class_of[text[at]] * tables.rights + right;
            rows[at - begin] = static_cast<u16>(row);
            right = tables.backward[row];
        }
    }

    u32 step(u32 row, u32 state) const {
        if (steps_ != nullptr) return steps_[row * tables_.states + state];
        return match_step(tables_, row / tables_.rights, row % tables_.rights, state);
    }

    // Calls begins(position) for the first byte of each match, and ends(position) for the position after its last one.
    // `rows`: those of [begin, end). `state`: that at `begin`. Returns the state at `end`.
    template <class Begins, class Ends>
    u32 run(u64 begin, u64 end, u32 state, const u16* rows, const Begins& begins, const Ends& ends) const {
        const u16 *const row = rows, *const steps = steps_;
        const u32 states = tables_.states;
        const u64 size = end - begin;
        for (u64 at = 0; at < size; ++at) {
            const u32 found = steps != nullptr ? steps[row[at] * states + state] : step(row[at], state);
            state = found & STEP_STATE;
            if (found == state) continue;
            if ((found & STEP_BEGINS) != 0) begins(begin + at);
            if ((found & STEP_ENDS) != 0) ends(begin + at + 1);
        }
        return state;
    }

private:
    MatchTables tables_;
    const u16* steps_;
    MatchText text_;
};

class MatchSearch {
public:
    MatchSearch(const MatchSearcher& searcher, const MatchText& text, const MatchResources& resources)
        : automaton_(searcher.automaton),
          walk_(automaton_, text),
          tables_(automaton_.tables()),
          filter_(searcher.filter, text.bytes, text.size, resources.isa),
          text_(text),
          threads_(resources.threads),
          chunk_(resources.chunk),
          chunks_((text.size + resources.chunk - 1) / resources.chunk),
          rights_(chunks_ + 1),
          states_(chunks_ + 1) {
        if (automaton_.runs()) runs_.emplace(tables_, *automaton_.runs(), resources.isa);
    }

    u64 count() {
        find_cuts();
        std::atomic<u64> total{0};
        for_each_chunk([&](Scratch& own, u64 chunk) {
            u64 ends = 0;
            run(chunk, own, [](u64) {}, [&](u64) { ++ends; });
            total += ends;
        });
        return total;
    }

    void find(const std::function<MatchArrays(u64)>& allocate) {
        find_cuts();
        found_.resize(chunks_);
        for_each_chunk([&](Scratch& own, u64 chunk) { collect(chunk, own); });
        u64 begins = 0, ends = 0;
        std::vector<MatchArrays> places;
        std::vector<std::pair<u64, u64>> before;
        for (const ChunkMatches& each : found_) {
            before.emplace_back(begins, ends);
            begins += each.begin_count;
            ends += each.end_count;
        }
        const MatchArrays out = allocate(std::max(begins, ends));
        for_each_chunk([&](Scratch& own, u64 chunk) {
            write(chunk, own, {out.begins + before[chunk].first, out.ends + before[chunk].second});
        });
    }

private:
    // Memory of a thread.
    struct Scratch {
        std::vector<u16> rows;    // of the bytes of a region
        std::vector<u64> places;  // of the filter, or masks of runs
    };

    // Calls work(scratch, chunk).
    template <class Work>
    void for_each_chunk(const Work& work) const {
        for_each_piece(chunks_, threads_, [&] { return Scratch{std::vector<u16>(chunk_), {}}; }, work);
    }

    u64 begin_of(u64 chunk) const { return std::min(chunk * chunk_, text_.size); }

    void find_cuts() {
        if (chunks_ == 0) return;
        rights_[chunks_].know(0);
        for_each_piece(chunks_, threads_, [&](u64 chunk) { find_right(chunk); });
        for (u64 cut = chunks_; cut-- > 0;) rights_[cut].resolve(rights_[cut + 1].state);
        states_[0].know(tables_.idles - 1);
        for_each_chunk([&](Scratch& own, u64 chunk) { find_state(chunk + 1, own.rows); });
        for (u64 cut = 1; cut <= chunks_; ++cut) states_[cut].resolve(states_[cut - 1].state);
    }

    // Position of the first byte in [begin, end) that no match has; `end` if there is none.
    u64 break_after(u64 begin, u64 end) const {
        while (begin < end && !automaton_.breaks(text_.bytes[begin])) ++begin;
        return begin;
    }

    // Position after the last such byte; `begin` if there is none.
    u64 break_before(u64 begin, u64 end) const {
        while (end > begin && !automaton_.breaks(text_.bytes[end - 1])) --end;
        return end;
    }

    // Finds the right state at the begin of a chunk.
    void find_right(u64 chunk) {
        const u64 begin = begin_of(chunk), end = begin_of(chunk + 1), near = std::min(begin + window, end);
        if (const u64 stop = break_after(begin, near); stop < near) {
            u32 right = 0;
            for (u64 at = stop + 1; at-- > begin;) right = right_before(tables_, text_.bytes[at], right);
            return rights_[chunk].know(right);
        }
        for (u64 upto = near;; upto = end) {
            StateMap map(tables_.rights);
            for (u64 at = upto; at-- > begin;) {
                map.step([this, byte = text_.bytes[at]](u32 right) { return right_before(tables_, byte, right); });
            }
            if (upto == end || map.is_constant()) return rights_[chunk].take(map, tables_.rights);
        }
    }

    // Finds the state at a cut, the end of a chunk.
    void find_state(u64 cut, std::vector<u16>& rows) {
        const u64 begin = begin_of(cut - 1), end = begin_of(cut), near = end - std::min(window, end - begin);
        if (const u64 start = break_before(near, end); start > near) {
            walk_.find_rows(start, end, rights_[cut].state, rows.data());
            const auto ignore = [](u64) {};
            return states_[cut].know(walk_.run(start, end, idle_at(start), rows.data(), ignore, ignore));
        }
        for (u64 from = near;; from = begin) {
            walk_.find_rows(from, end, rights_[cut].state, rows.data());
            StateMap map(tables_.states);
            for (u64 at = from; at < end; ++at) {
                map.step([this, row = rows[at - from]](u32 state) { return walk_.step(row, state) & STEP_STATE; });
            }
            if (from == begin || map.is_constant()) return states_[cut].take(map, tables_.states);
        }
    }

    // The state after a byte that no match has, or that ends one.
    u32 idle_at(u64 position) const { return tables_.idle_after[tables_.class_of[text_.bytes[position - 1]]]; }

    // Calls begins(position) and ends(position) for the matches that begin or end in a chunk.
    template <class Begins, class Ends>
    void run(u64 chunk, Scratch& own, const Begins& begins, const Ends& ends) const {
        const u64 begin = begin_of(chunk), end = begin_of(chunk + 1), width = filter_.width();
        u64 at = begin;
        u32 state = states_[chunk].state;
        const auto read_upto = [&](u64 stop) {
            const u32 right = stop == end ? rights_[chunk + 1].state : right_before(tables_, text_.bytes[stop], 0);
            walk_.find_rows(at, stop, right, own.rows.data());
            state = walk_.run(at, stop, state, own.rows.data(), begins, ends);
            at = stop;
        };
        const bool is_filtered = filter_.find(begin, end, own.places);
        if (!is_filtered && !runs_) return read_upto(end);
        read_upto(break_after(begin, end));
        if (!is_filtered) {
            if (const u64 start = break_before(at, end); start > at) {
                runs_->find(text_.bytes, at, start, own.places, begins, ends);
                at = start;
                state = idle_at(start);
            }
            return read_upto(end);
        }
        own.places.push_back(end);
        for (const u64 place : own.places) {
            const u64 stop = std::min(place + width, end);
            if (stop <= at) continue;
            if (const u64 start = break_before(at, std::max(place, at)); start > at) {
                at = start;
                state = idle_at(start);
            }
            read_upto(break_after(stop, end));
        }
    }

    void collect(u64 chunk, Scratch& own) {
        ChunkMatches& found = found_[chunk];
        const u64 begin = begin_of(chunk), stored = chunk_ / stored_share + 1;
        const auto keep = [&](std::vector<u32>& list, u64& count, u64 position) {
            if (count++ < stored) list.push_back(static_cast<u32>(position - begin));
        };
        run(
            chunk, own, [&](u64 at) { keep(found.begins, found.begin_count, at); },
            [&](u64 at) { keep(found.ends, found.end_count, at); });
    }

    void write(u64 chunk, Scratch& own, MatchArrays out) const {
        const ChunkMatches& found = found_[chunk];
        if (found.begins.size() == found.begin_count && found.ends.size() == found.end_count) {
            const u64 begin = begin_of(chunk);
            for (const u32 offset : found.begins) *out.begins++ = begin + offset;
            for (const u32 offset : found.ends) *out.ends++ = begin + offset;
            return;
        }
        // A text that changes meanwhile has other matches; no more are written than there is memory for.
        const u64 *const begins_end = out.begins + found.begin_count, *const ends_end = out.ends + found.end_count;
        run(
            chunk, own,
            [&](u64 at) {
                if (out.begins < begins_end) *out.begins++ = at;
            },
            [&](u64 at) {
                if (out.ends < ends_end) *out.ends++ = at;
            });
    }

    const MatchAutomaton& automaton_;
    MatchWalk walk_;
    MatchTables tables_;
    FilterSearch filter_;
    std::optional<RunSearch> runs_;
    MatchText text_;
    unsigned threads_;
    u64 chunk_, chunks_;
    std::vector<CutState> rights_, states_;  // at the begin of each chunk, and at the end of the text
    std::vector<ChunkMatches> found_;
};

}  // namespace

void find_matches(const MatchSearcher& searcher, const MatchText& text, const std::function<MatchArrays(u64)>& allocate,
                  const MatchResources& resources) {
    MatchSearch(searcher, text, resources).find(allocate);
}

u64 count_matches(const MatchSearcher& searcher, const MatchText& text, const MatchResources& resources) {
    return MatchSearch(searcher, text, resources).count();
}

}  // namespace headrace
