// Notes the changes of a batch, so that they are undone if memory is refused.
#pragma once
#include <atomic>
#include <exception>
#include <mutex>

#include "core/cpu/memory.hpp"

namespace headrace {

// The first error of several threads.
class FirstError {
public:
    bool is_set() const { return is_set_.load(std::memory_order_relaxed); }
    void set(std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::move(error);
        is_set_.store(true, std::memory_order_relaxed);
    }
    void rethrow() const { std::rethrow_exception(error_); }

private:
    std::mutex mutex_;
    std::exception_ptr error_;
    std::atomic<bool> is_set_{false};
};

// The effect of an operation.
enum class Change : u8 { replaced, added };

// The changes of a batch and the replaced values, by the positions of its operations in their parts. Its memory is a
// region, whose pages a later batch uses again.
template <class Value>
class UndoLog {
public:
    // `count`: number of operations; 0 for a log that notes nothing.
    explicit UndoLog(u64 count) : count_(count), region_(count * (sizeof(Value) + 1), nullptr) {
        region_.ensure(count * (sizeof(Value) + 1));
    }
    bool notes() const { return count_ > 0; }
    Value* replaced() const { return region_.template as<Value>(); }
    Change* changes() const { return reinterpret_cast<Change*>(replaced() + count_); }

private:
    u64 count_;
    Region region_;
};

}  // namespace headrace
