// What a thread of a pass works in, kept for the next load of the same text: where parts of a text are loaded one after
// the other, to take it anew costs a page's first touch for every few KB, and threads wait for each other in the
// kernel.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "structure/cpu/scan.hpp"

namespace headrace {

struct WorkerMemory {
    TileMemory tile;
    std::vector<u8> string_bytes, scratch, number;
    std::vector<u32> string_ends;

    usize bytes() const {
        return tile.window.room + tile.window.encoded.size() + 4 * sizeof(u32) * tile.capacity + string_bytes.size() +
               scratch.size() + number.size() + sizeof(u32) * string_ends.size();
    }
};

// Memory that waits for the next worker. It has at most as much as the workers of one pass had.
class SpareMemory {
public:
    WorkerMemory take() {
        const std::lock_guard lock(mutex_);
        if (waiting_.empty()) return {};
        WorkerMemory memory = std::move(waiting_.back());
        waiting_.pop_back();
        return memory;
    }

    // What a long record has made larger than `most` is let go of.
    void give(WorkerMemory memory, usize most) {
        if (memory.bytes() > most) return;
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(memory));
    }

private:
    std::mutex mutex_;
    std::vector<WorkerMemory> waiting_;
};

}  // namespace headrace
