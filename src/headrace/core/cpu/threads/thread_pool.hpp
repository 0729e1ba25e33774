// Runs functions on a pool of persistent threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

namespace headrace {

// Run work(0) on the calling thread and work(1) .. work(threads - 1) on the pool; return when all are finished. If
// workers throw, the exception of the lowest one is rethrown. Calls from several threads may overlap.
//
// If the system refuses a thread, the calling thread runs the remaining workers one after another, after work(0). So a
// worker may wait only for workers that have started, for example for a tile that another one has taken.
void run_parallel(unsigned threads, const std::function<void(unsigned)>& work);

// Run work(i) for each i < count, on at most `threads` threads. Each takes the next number that is free, so a slow
// thread takes fewer, and work on one number may wait for lower ones.
template <class Work>
void run_each(std::size_t count, unsigned threads, const Work& work) {
    std::atomic<std::size_t> next{0};
    run_parallel(static_cast<unsigned>(std::clamp<std::size_t>(count, 1, threads)), [&](unsigned) {
        for (std::size_t i = next++; i < count; i = next++) work(i);
    });
}

// Start each job on a thread of the pool without waiting; jobs must not throw. Return the number started: the first
// ones. The others got no thread and do not run.
std::size_t run_beside(std::vector<std::function<void()>> jobs);

}  // namespace headrace
