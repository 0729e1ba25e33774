#include "core/cpu/threads/thread_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "core/cpu/threads/spin_wait.hpp"

namespace headrace {
namespace {

// Never destroyed, since workers may wait in it while the process exits.
class Pool {
public:
    // Start the first jobs on a thread each, and return their number. Each job has its own thread even while others
    // run, because jobs of one call wait for each other in tile order.
    std::size_t submit(std::vector<std::function<void()>> jobs) {
        std::size_t count = 0;
        {
            const std::lock_guard lock(mutex_);
            const std::size_t free = free_workers(jobs.size());
            try {
                for (; count < free; ++count) jobs_.push_back(std::move(jobs[count]));
            } catch (const std::bad_alloc&) {  // the caller runs the others
            }
            waiting_.store(jobs_.size(), std::memory_order_relaxed);
        }
        for (std::size_t job = 0; job < count; ++job)
            wake_.notify_one();  // notify_all would let all sleeping workers contend for the lock
        return count;
    }

private:
    // Return the number of workers without a job, at most `wanted`. Missing workers are started if the system allows.
    std::size_t free_workers(std::size_t wanted) {
        const std::size_t needed = busy_ + jobs_.size();
        try {
            for (; workers_ < needed + wanted; ++workers_) std::thread([this] { serve(); }).detach();
        } catch (const std::system_error&) {
        } catch (const std::bad_alloc&) {
        }
        return std::min(wanted, workers_ - needed);
    }

    void serve() {
        std::unique_lock lock(mutex_, std::defer_lock);
        while (true) {
            spin_until([this] { return waiting_.load(std::memory_order_relaxed) != 0; });
            lock.lock();
            wake_.wait(lock, [this] { return !jobs_.empty(); });
            const auto job = std::move(jobs_.front());
            jobs_.pop_front();
            waiting_.store(jobs_.size(), std::memory_order_relaxed);
            ++busy_;
            lock.unlock();
            job();
            lock.lock();
            --busy_;
            lock.unlock();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> jobs_;
    std::atomic<std::size_t> waiting_{0};  // number of jobs, for spinning workers
    std::size_t workers_ = 0;
    std::size_t busy_ = 0;
};

// The pool of the process. A forked child has none of its parent's threads, and its copy of the pool may be locked, so
// it gets a new pool.
std::atomic<Pool*> pool{new Pool};

[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, [] { pool = new Pool; });

}  // namespace

std::size_t run_beside(std::vector<std::function<void()>> jobs) { return pool.load()->submit(std::move(jobs)); }

void run_parallel(unsigned threads, const std::function<void(unsigned)>& work) {
    if (threads <= 1) {
        work(0);
        return;
    }
    std::vector<std::exception_ptr> errors(threads);
    std::mutex mutex;
    std::condition_variable done;
    std::atomic<unsigned> running{threads - 1};
    const auto guarded = [&](unsigned worker) {
        try {
            work(worker);
        } catch (...) {
            errors[worker] = std::current_exception();
        }
    };
    std::vector<std::function<void()>> jobs;
    for (unsigned worker = 1; worker < threads; ++worker) {
        jobs.push_back([&, worker] {
            guarded(worker);
            const std::lock_guard lock(mutex);
            if (running.fetch_sub(1, std::memory_order_release) == 1) done.notify_one();
        });
    }
    const unsigned alone = threads - 1 - static_cast<unsigned>(pool.load()->submit(std::move(jobs)));
    running.fetch_sub(alone, std::memory_order_relaxed);
    guarded(0);
    for (unsigned worker = threads - alone; worker < threads; ++worker) guarded(worker);
    const auto are_done = [&] { return running.load(std::memory_order_acquire) == 0; };
    spin_until(are_done);
    std::unique_lock lock(mutex);
    done.wait(lock, are_done);
    for (const auto& error : errors) {
        if (error) std::rethrow_exception(error);
    }
}

}  // namespace headrace
