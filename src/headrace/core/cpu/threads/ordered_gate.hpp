// Lets workers through one at a time in the order of their numbers: an exclusive scan whose step is the worker's code.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <set>

#include "core/cpu/threads/thread_pool.hpp"

namespace headrace {

// Thrown in workers that wait for one that failed. The failed worker throws the actual error.
struct GateClosed {};

// Orders workers by number, for example by tile. Every number from 0 on must be entered and left, or skipped, exactly
// once.
class OrderedGate {
public:
    // Wait for the turn of `number`. Throws GateClosed after close().
    void enter(std::uint64_t number);
    // Pass the turn to the next number.
    void leave();
    // Pass the turn of `number` to the next number, at once or when it comes. The worker does not wait.
    void skip(std::uint64_t number);
    // Make all present and later calls of enter throw GateClosed.
    void close();

private:
    void pass(std::uint64_t turn);

    static constexpr std::uint64_t CLOSED = ~std::uint64_t{0};
    std::atomic<std::uint64_t> turn_{0};
    std::mutex mutex_;  // of `skipped_`, and of changes to `turn_`
    std::set<std::uint64_t> skipped_;
};

// Run work(worker) on threads that pass gates. If one throws, the gates close, so that the others end.
template <class Work>
void run_gated(std::initializer_list<OrderedGate*> gates, unsigned threads, const Work& work) {
    run_parallel(threads, [&](unsigned worker) {
        try {
            work(worker);
        } catch (const GateClosed&) {
        } catch (...) {
            for (OrderedGate* const gate : gates) gate->close();
            throw;
        }
    });
}

}  // namespace headrace
