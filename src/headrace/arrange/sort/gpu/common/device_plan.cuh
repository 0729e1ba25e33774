// What a sort does, decided on the device from the counts of all digits, so that the host waits for nothing: it
// launches all that may be done, and a launch that the plan has no use for ends at once.
#pragma once
#include "gpu/block/memory_access.cuh"

namespace headrace {

constexpr u32 most_steps = 16;

enum class How : u32 { undecided, straight, reversed, by_digits, by_parts };

struct Disorder {
    u32 falls;  // whether a key comes before a lower one
    u32 rises;  // whether one comes before a higher one, or before its equal where that counts
};

// Where keys are, and what goes with them.
enum class Place : u32 { source, target, between };

struct Step {
    u32 digit;  // 0 is the lowest
    Place from, to;
    u32 unused;
};

struct Plan {
    How how;
    u32 steps;
    u32 takes_heads;  // whether to count heads of keys first
    u32 has_heads;    // whether the plan is made of them: then they tell how many keys each bucket of two digits has
    Step step[most_steps];
    float crowding;  // as plan_steps.cuh has it, of a sample
    u32 heavy;       // values whose keys are set aside (heavy/heavy.cuh)
    u32 lights;      // the other keys, if there are any: these are sorted, from `between` to `between`
    u32 repeats;     // whether keys that are not of heavy values have others' values so often that parts would be alike
};

// A load that stays where it is written: a plain one goes behind the branches that do not need it.
template <class Word>
static __device__ __forceinline__ Word load_now(const Word& word) {
    static_assert(sizeof(Word) == 4);
    return static_cast<Word>(tile::load_relaxed(reinterpret_cast<const u32*>(&word)));
}

// One array that is sorted or goes with what is: in, out, and as large as these. Without `source`: numbers of rows.
struct Moved {
    const void* source;
    void* target;
    void* between;
    u32 width;
    u32 unused;

    __device__ __forceinline__ const void* from(Place place) const {
        return place == Place::source ? source : to(place);
    }
    __device__ __forceinline__ void* to(Place place) const { return place == Place::target ? target : between; }
};

constexpr u32 most_moved = 8;

// Keys, and what goes with them.
struct Arrays {
    Moved keys;
    Moved column[most_moved];
    u32 columns;
    u32 unused;
};

}  // namespace headrace
