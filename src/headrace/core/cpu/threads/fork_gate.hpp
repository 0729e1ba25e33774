// Makes a fork of the process wait for the calls that it must not cut. A child has none of their threads, so a map that
// one of them was changing would stay half changed, and its lock taken.
#pragma once

#include <condition_variable>
#include <mutex>

namespace headrace {

// Counts the calls under way, and closes when there is none.
class CallCount {
public:
    void enter() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !is_closed_; });
        ++calls_;
    }
    void leave() {
        const std::lock_guard lock(mutex_);
        --calls_;
        if (is_closed_) changed_.notify_all();
    }
    // Wait until only `own` calls, those of this thread, are under way. Later calls wait until `open`.
    void close(unsigned own) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !is_closed_; });  // another thread may be about to fork, too
        is_closed_ = true;
        changed_.wait(lock, [&] { return calls_ == own; });
    }
    void open() {
        const std::lock_guard lock(mutex_);
        is_closed_ = false;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    unsigned calls_ = 0;
    bool is_closed_ = false;
};

class ForkGate {
public:
    // A call, for the life of this object. A call within another one of its thread is a part of that.
    class Call {
    public:
        Call() {
            if (depth_++ == 0) count_->enter();
        }
        ~Call() {
            if (--depth_ == 0) count_->leave();
        }
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;
    };

    // For the thread that forks: before the fork, and after it in the parent. Its own calls in between are a part of
    // the fork, such as those of another module's hooks. They cannot wait for `open`, which comes after them.
    static void close() {
        count_->close(depth_ == 0 ? 0 : 1);
        ++depth_;
    }
    static void open() {
        --depth_;
        count_->open();
    }

    // In the child, whose copy of the count has calls of the parent's threads.
    static void renew() {
        --depth_;
        count_ = new CallCount;
        if (depth_ != 0) count_->enter();
    }

private:
    static inline thread_local unsigned depth_ = 0;   // calls of the thread, one within another
    static inline CallCount* count_ = new CallCount;  // lives as long as the process, like the thread pool
};

}  // namespace headrace
