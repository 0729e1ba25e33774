#include "core/pool.hpp"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/wait.hpp"

namespace headrace {
namespace {

class Pool {
public:
    // One for the process. It is never destroyed: workers may still wait in it while the process exits. A child of
    // fork() has none of its parent's threads, so it gets a pool of its own.
    static Pool& instance() {
        static std::mutex guard;
        static Pool* pool = nullptr;
        static pid_t owner = 0;
        const std::lock_guard lock(guard);
        if (pool == nullptr || owner != getpid()) {
            pool = new Pool;
            owner = getpid();
        }
        return *pool;
    }

    void submit(std::vector<std::function<void()>> jobs) {
        const std::size_t count = jobs.size();
        {
            const std::lock_guard lock(mutex_);
            for (auto& job : jobs) jobs_.push_back(std::move(job));
            waiting_.store(jobs_.size(), std::memory_order_relaxed);
            // Every job gets a thread even while others run: jobs of one call wait for each other in tile order.
            while (workers_ < busy_ + jobs_.size()) {
                std::thread([this] { serve(); }).detach();
                ++workers_;
            }
        }
        for (std::size_t job = 0; job < count; ++job) wake_.notify_one();  // all of them would wait for one another
    }

private:
    void serve() {
        std::unique_lock lock(mutex_, std::defer_lock);
        while (true) {
            look_for([this] { return waiting_.load(std::memory_order_relaxed) != 0; });
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
    std::atomic<std::size_t> waiting_{0};  // as many as there are jobs, for those who only look
    std::size_t workers_ = 0;
    std::size_t busy_ = 0;
};

}  // namespace

unsigned hardware_threads() {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<unsigned>(CPU_COUNT(&allowed));
    return std::max(1u, std::thread::hardware_concurrency());
}

void run_beside(std::vector<std::function<void()>> jobs) { Pool::instance().submit(std::move(jobs)); }

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
    Pool::instance().submit(std::move(jobs));
    guarded(0);
    const auto are_done = [&] { return running.load(std::memory_order_acquire) == 0; };
    look_for(are_done);
    std::unique_lock lock(mutex);
    done.wait(lock, are_done);
    for (const auto& error : errors) {
        if (error) std::rethrow_exception(error);
    }
}

}  // namespace headrace
