// Pieces of keys that threads sort together by quicksort. A thread that has halved a piece puts the lower half here
// for an idle thread.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "arrange/sort/cpu/sort_kernels.hpp"

namespace headrace {

class PieceQueue {
public:
    struct QueuedPiece {
        u64 begin;
        QuickPiece piece;
    };

    // Reserves space for all pieces that may wait (a step of quicksort leaves one half), so no thread runs out of
    // memory while others wait.
    explicit PieceQueue(const QueuedPiece& all) {
        waiting_.reserve(4096);
        waiting_.push_back(all);
    }

    // Returns nothing if all is done, or a thread has failed.
    std::optional<QueuedPiece> next() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !waiting_.empty() || working_ == 0 || has_failed_; });
        if (waiting_.empty() || has_failed_) return std::nullopt;
        const QueuedPiece found = waiting_.back();
        waiting_.pop_back();
        ++working_;
        return found;
    }
    void add(const QueuedPiece& queued) {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(queued);
        changed_.notify_one();
    }
    void finish() {
        const std::lock_guard lock(mutex_);
        if (--working_ == 0) changed_.notify_all();
    }
    // Stops all threads. The current piece of this thread stays as it is, and no thread takes another.
    void fail() {
        const std::lock_guard lock(mutex_);
        has_failed_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<QueuedPiece> waiting_;
    unsigned working_ = 0;
    bool has_failed_ = false;
};

}  // namespace headrace
