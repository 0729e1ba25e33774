// Keeps the working memory of a pass's threads for the next load. A stream loads one part after the other. Fresh memory
// would cost a page fault for every few KB, and the threads would wait for each other in the kernel.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "structure/cpu/scan.hpp"

namespace headrace {

struct WorkerMemory {
    TileMemory tile;
    std::vector<u8> string_bytes, scratch, number, values;
    std::vector<u32> string_ends;

    usize bytes() const {
        return tile.window.capacity + tile.window.encoded.size() + 4 * sizeof(u32) * tile.capacity +
               string_bytes.size() + scratch.size() + number.size() + values.size() + sizeof(u32) * string_ends.size();
    }
};

// Memory of finished workers. Its size is at most that of the workers of one pass.
class SpareMemory {
public:
    WorkerMemory take() {
        const std::lock_guard lock(mutex_);
        if (waiting_.empty()) return {};
        WorkerMemory memory = std::move(waiting_.back());
        waiting_.pop_back();
        return memory;
    }

    // Keep the memory, unless a long record has made it larger than `max_bytes`.
    void give(WorkerMemory memory, usize max_bytes) {
        if (memory.bytes() > max_bytes) return;
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(memory));
    }

private:
    std::mutex mutex_;
    std::vector<WorkerMemory> waiting_;
};

}  // namespace headrace
