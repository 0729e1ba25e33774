// The state after a range of text for each state before it. Few distinct states are left after a few bytes, so that a
// step takes little longer than one from a known state (ParPaRaw, section 3.1; Mytkowicz, Musuvathi and Schulte 2014,
// "Data-parallel finite-state machines", for the merging of equal states).
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "core/cpu/portable.hpp"

namespace headrace {

class StateMap {
public:
    explicit StateMap(u32 states) : place_of_(states), distinct_(states) {
        for (u32 i = 0; i < states; ++i) place_of_[i] = distinct_[i] = static_cast<u8>(i);
    }

    // `next(state)` is the state after the next byte.
    template <class Next>
    void step(const Next& next) {
        if (distinct_.size() == 1) {
            distinct_[0] = static_cast<u8>(next(distinct_[0]));
            return;
        }
        for (u8& state : distinct_) state = static_cast<u8>(next(state));
        if (++steps_ < until_merge) return;
        merge();
    }

    u32 operator[](u32 before) const { return distinct_[place_of_[before]]; }

    // Returns whether the state after the range does not depend on the one before it.
    bool is_constant() {
        merge();
        return distinct_.size() == 1;
    }

private:
    static constexpr u32 until_merge = 8;

    void merge() {
        steps_ = 0;
        std::array<i16, 256> place{};
        place.fill(-1);
        std::vector<u8> merged, moved(distinct_.size());
        for (usize i = 0; i < distinct_.size(); ++i) {
            i16& found = place[distinct_[i]];
            if (found < 0) {
                found = static_cast<i16>(merged.size());
                merged.push_back(distinct_[i]);
            }
            moved[i] = static_cast<u8>(found);
        }
        if (merged.size() == distinct_.size()) return;
        for (u8& each : place_of_) each = moved[each];
        distinct_ = merged;
    }

    std::vector<u8> place_of_;  // by state before the range: index in `distinct_`
    std::vector<u8> distinct_;  // states after the range
    u32 steps_ = 0;
};

}  // namespace headrace
