// The plan of a sort, made on the device from the counts of all digits, so that the host never waits. The host
// launches every kernel that the plan might need; a kernel that the plan does not need ends at once.
#pragma once
#include "arrange/sort/gpu/common/sort_task.hpp"
#include "gpu/block/memory_access.cuh"

namespace headrace {

// A load that the compiler does not move: it would sink a plain load below branches that do not need it.
template <class Word>
HR_FN Word load_now(const Word& word) {
    static_assert(sizeof(Word) == 4);
    return static_cast<Word>(tile::load_relaxed(reinterpret_cast<const u32*>(&word)));
}

}  // namespace headrace
